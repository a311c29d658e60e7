/* set.h -- the kernels of one instruction set. Their contracts are in list.h. */
#ifndef HEED_SET_H
#define HEED_SET_H

#include "isa.h"

#define KERNEL(result, name, ...) result K(name)(__VA_ARGS__);
#include "list.h"
#undef KERNEL

extern const heed_kernels K(table);

#endif
