/* nn/block.h -- what the blocks of encoder and decoder share. */
#ifndef HEED_NN_BLOCK_H
#define HEED_NN_BLOCK_H

#include <heed/nn.h>

/* Without W_h the heads' values themselves are added to x: their width must be its own. */
void heed__check_sum(heed_store *s, const heed_mha *l);

#endif
