/* table.c -- one instruction set's table of kernels. */
#include "set.h"

#define HEED__TEXT_(x) #x
#define HEED__TEXT(x)  HEED__TEXT_(x)

const heed_kernels K(table) = {
    .isa = HEED__TEXT(HEED_ISA),
#define KERNEL(result, name, ...) .name = K(name),
#include "list.h"
#undef KERNEL
};
