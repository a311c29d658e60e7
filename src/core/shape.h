/* shape.h -- what shape rules say of an op's inputs: their kinds, messages with their shapes. */
#ifndef HEED_CORE_SHAPE_H
#define HEED_CORE_SHAPE_H

#include <heed/op.h>

/* True if every input that is not NULL has the kind given in kinds: r reals, i indices; the last
 * letter applies to all further inputs. */
bool heed__accepts(heed_node *n, const char *kinds);

/* Records the error "(2,3) x (4): WHY" for inputs a and b. Returns false. */
HEED_PRINTF(4, 5)
bool heed__bad_shapes(heed_node *n, int a, int b, const char *why, ...);
/* Records the error "(2,3): WHY" for input a. Returns false. */
HEED_PRINTF(3, 4)
bool heed__bad_shape(heed_node *n, int a, const char *why, ...);

#endif
