#!/bin/sh
# Allocator calls counted, and each failing in turn, in the serial build.
cd "$(dirname "$0")/../.." || exit 1
${MAKE:-make} -s VARIANT=serial test-program >/dev/null || exit 1
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
for i in 1 2 3 4 5 6; do
    printf 'Paris is the capital of France .\nRome is the capital of Italy .\nKenya lies in Africa .\n'
done >"$dir/text"
${CC:-gcc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -O1 -g -Iinclude -Imodels tests/alloc/alloc.c tests/alloc/images.c tests/alloc/pairs.c tests/alloc/interpose.c \
    build/serial/models/*.o build/serial/libheed.a -ljansson -lutf8proc -lz -lm -lpthread -o "$dir/alloc" || exit 1
"$dir/alloc" "$dir"
