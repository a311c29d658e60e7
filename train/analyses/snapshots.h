/* snapshots.h -- attention on fixed inputs while a model learns, kept in RUN/snapshots. */
#ifndef HEED_SNAPSHOTS_H
#define HEED_SNAPSHOTS_H

#include "cli/files.h"
#include "kinds/inspect.h"
#include "kinds/training.h"

enum { SNAPSHOT_ITEMS = 8 };

/* Of one training. Each snapshot is a pass in eval mode on a tape of its own, so that the training
 * has the same bits with and without; on all other steps there is one comparison. */
struct snapshots {
    heed_ctx *c, *disk; /* disk: of the files, so that a full disk ends no training */
    heed_run run;       /* the model at hand, for capture */
    const char *dir;
    int64_t count, next; /* asked for; the number of the next one */
    int items;
    heed_inspection item[SNAPSHOT_ITEMS];
    heed_picture picture[SNAPSHOT_ITEMS]; /* become subjects when the model stands */
    char name[SNAPSHOT_ITEMS][160];
    bool started;
};

/* Reads the inputs by the settings snapshots, snapshot-items and snapshot-input: before anything of
 * the run is written. False: see the context; snapshots_close in any case. */
bool snapshots_open(snapshots *s, const heed_model *m, const heed_data *d, heed_config *f,
                    const char *run);
void snapshots_close(snapshots *s);
/* After heed_fit's report of a start or a step. */
void snapshots_report(snapshots *s, const heed_report *r);

/* The files RUN/snapshots/ITEM-STEP.npz of an item from 1, or of all (0); there may be none. */
bool snapshots_list(heed_ctx *c, const char *run, int item, paths *out);

/* The k-th of count steps, spread evenly from 0 to the last; one alone is the last. */
int64_t snapshot_step(int64_t k, int64_t count, int64_t steps);

#endif
