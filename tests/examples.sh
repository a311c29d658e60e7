#!/bin/sh
# Builds and runs every example against an installed copy, with the flags that heed.pc gives.
cd "$(dirname "$0")/.." || exit 1
root=$(pwd) passed=0 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
result() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }
${MAKE:-make} -s install DESTDIR="$dir" PREFIX=/usr >/dev/null 2>&1
result $? "make install"
flags="-I$dir/usr/include -L$dir/usr/lib -Wl,-rpath,$dir/usr/lib -lheed"
if command -v pkg-config >/dev/null 2>&1; then
    flags="$(PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir pkg-config --cflags --libs heed) -Wl,-rpath,$dir/usr/lib"
fi
build() { # SOURCES...: the first names the program
    ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -O1 "$@" -Imodels -o "$dir/$(basename "$1" .c)" $flags -lm
    result $? "building $1"
}
run() { (cd "$dir" && "$@" >"$dir/out" 2>&1); s=$?; [ $s = 0 ] || cat "$dir/out"; result $s "$*"; }
for f in xor own_op own_loop own_model; do build examples/$f.c; done
build examples/embedded.c models/gpt.c models/generate.c models/common.c
printf '%s\n' "Paris is the capital of France ." "Rome is the capital of Italy ." "Madrid is the capital of Spain ." \
    "France lies in Europe ." "Italy lies in Europe ." "Kenya lies in Africa ." >"$dir/facts.txt"
run "$dir/xor"
run "$dir/own_op"
run "$dir/own_loop" facts.txt
run "$dir/own_model" run
"$dir/usr/bin/heed" train gpt "$dir/facts.txt" -o "$dir/gpt" --tokenizer word --layers 1 --width 32 --heads 2 --block 8 \
    --packing lines --batch 8 --steps 60 --val-split 0 >"$dir/out" 2>&1
result $? "training a run for embedded"
run "$dir/embedded" gpt "Paris is the capital of"
# Every header alone, as C and as C++; only marked symbols leave the shared library.
for h in "$dir"/usr/include/heed/*.h; do
    printf '#include <heed/%s>\n' "$(basename "$h")" >"$dir/h.c"
    ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -I"$dir/usr/include" -fsyntax-only "$dir/h.c"
    result $? "$(basename "$h") alone in C"
    if command -v g++ >/dev/null 2>&1; then
        g++ -Wall -Wextra -Werror -I"$dir/usr/include" -fsyntax-only -x c++ "$dir/h.c"
        result $? "$(basename "$h") alone in C++"
    fi
done
nm -D --defined-only "$dir/usr/lib/libheed.so.0" | awk '{print $3}' | grep -vE '^heed_[a-z]|^_(init|fini)$|^heed_' >"$dir/out"
[ -s "$dir/out" ] && cat "$dir/out"
[ ! -s "$dir/out" ]
result $? "libheed.so shows only heed_ names"
nm -D --defined-only "$dir/usr/lib/libheed.so.0" | grep -q ' heed__'
[ $? = 1 ]
result $? "libheed.so hides heed__ names"
size=$(stat -c %s "$dir/usr/lib/libheed.so.0")
[ "$size" -lt 1000000 ]
result $? "libheed.so has $size bytes: at least 1 MB"
"$dir/usr/bin/heed" --version >/dev/null
result $? "installed heed --version"
${MAKE:-make} -s uninstall DESTDIR="$dir" PREFIX=/usr >/dev/null 2>&1 && [ -z "$(find "$dir/usr" -type f -o -type l)" ]
result $? "make uninstall leaves nothing"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
