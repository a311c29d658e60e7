#!/bin/sh
# The Python package: its declarations, its tests, its notebooks, its page in a frame; and the wheel, alone
# in a folder. Needs python3 with NumPy. Ends with "N passed, N failed".
cd "$(dirname "$0")/.." || exit 1
root=$(pwd) passed=0 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
result() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }
count() { # count NAME COMMAND...: a command whose own last counts are added
    name=$1
    shift
    "$@" >"$dir/out" 2>&1
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$dir/out" | tail -1)
    p=${line%% *} f=${line#*, } f=${f%% *}
    [ -n "$line" ] || { p=0; f=1; }
    [ "$f" = 0 ] || cat "$dir/out"
    echo "        $name: $p passed, $f failed"
    passed=$((passed + p)) failed=$((failed + f))
}
unset HEED_LIBRARIES PYTHONPATH
export OMP_NUM_THREADS=1 # spinning teams would crowd out whatever else the machine does
python3 -c 'import numpy' 2>/dev/null || { echo "skip    python: no python3 with NumPy here"; echo "0 passed, 0 failed"; exit 0; }
${MAKE:-make} -s heed lib || exit 1

python3 python/declare.py --layout >"$dir/layout.c" && ${CC:-cc} -w -Iinclude -o "$dir/layout" "$dir/layout.c" && "$dir/layout" >"$dir/layout.txt" &&
    python3 tests/python/layout.py "$dir/layout.txt"
result $? "structs have the sizes and the fields that the compiler gives them"
python3 tests/python/functions.py
result $? "the libraries have every function that is declared"
count "tests" python3 tests/python/run.py
# The wheel, from a folder that knows nothing of the checkout.
make -s wheel >"$dir/out" 2>&1 && python3 -m zipfile -e build/heed_attention-*.whl "$dir/wheel"
result $? "make wheel: $(cat "$dir/out")"
(cd "$dir" && PYTHONPATH=$dir/wheel python3 "$root/tests/python/wheel.py")
result $? "the wheel works alone"
export PYTHONPATH="$dir/wheel"
count "notebooks and the guide" python3 tests/python/notebooks.py examples/*.ipynb docs/python.md
if command -v chromium >/dev/null 2>&1; then
    count "the page in a notebook" sh -c "cd '$dir' && python3 '$root/tests/python/record.py' record.npz && python3 '$root/tests/page/notebook.py' record.npz"
else
    echo "skip    the page in a notebook: no Chromium here"
fi
if python3 -c 'import torch' 2>/dev/null; then
    python3 tests/python/beside_torch.py
    result $? "beside torch, both are right"
else
    echo "skip    beside torch: no torch here"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
