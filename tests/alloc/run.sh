#!/bin/sh
# Allocator calls counted, and many failing in turn, in the build of double precision, which has tables to tell a stack by. One thread needs no OpenMP.
cd "$(dirname "$0")/../.." || exit 1
${MAKE:-make} -s VARIANT=f64 build/f64/libheed.a >/dev/null || exit 1
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
for i in 1 2 3 4 5 6; do
    printf 'Paris is the capital of France .\nRome is the capital of Italy .\nKenya lies in Africa .\n'
done >"$dir/text"
${CC:-gcc} -std=c11 -D_GNU_SOURCE -DHEED_F64 -Wall -Wextra -O1 -g -Iinclude -Isrc -Imodels tests/alloc/*.c \
    build/f64/libheed.a -fopenmp -ljansson -lutf8proc -lz -lm -lpthread -Wl,--wrap=json_loadb,--wrap=json_loads -o "$dir/alloc" || exit 1
"$dir/alloc" "$dir"
