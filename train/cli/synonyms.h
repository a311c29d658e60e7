/* synonyms.h -- the table of settings as other programs call them. */
#ifndef HEED_SYNONYMS_H
#define HEED_SYNONYMS_H

#include "cli/program.h"

typedef struct {
    const char *theirs; /* names between spaces, in lower case, with dashes */
    const char *ours; /* settings, of which the first that the command has is meant; one may have a
                         value, "precision=bf16"; or NULL */
    const char *note; /* what to say if the command has none of them; NAMELESS; or NULL */
} synonym;

extern const char NAMELESS[];            /* a note: it is given without a name */
extern const synonym setting_synonyms[]; /* ended by NULLs */

#endif
