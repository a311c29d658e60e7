# heed view: weights from files, as a page.
cat >w.json <<'END'
{"tokens": ["[CLS]", "</script><script>alert(1)</script>", "b"],
 "attention": [[[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], [[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]]],
               [[[1, 0, 0], [0.25, 0.75, 0], [0.1, 0.1, 0.8]], [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]]]}
END
ok view w.json
says "attention.0                  encoder, layer 1: 2 heads of 3 x 3, causal"
warns "--html OUT.html"
ok view w.json --html w.html
quiet
says "wrote w.html"
holds grep -q "Content-Security-Policy" w.html
holds grep -q 'u003c/script>' w.html
holds test "$(grep -c '<script>alert' w.html)" = 0
holds test "$(grep -c 'octet-stream+b64" id="w' w.html)" = 4
holds test "$(grep -c 'id="steps-data"' w.html)" = 0
ok view w.json --layers 2 --heads 2 --html part.html --json
json files.0.layers.0.layer 2
json files.0.layers.0.heads 1
json html part.html
holds test "$(grep -c 'octet-stream+b64" id="w' part.html)" = 1
ok view w.json w.json --html two.html
holds test "$(grep -c 'octet-stream+b64" id="w' two.html)" = 8

# Sizes are checked, and both numbers named.
echo '{"tokens": ["a", "b", "c", "d"], "attention": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}' >count.json
run view count.json --html count.html
refuses 3 "tokens has 4 labels, but array \"attention\" has 3 queries"
absent count.html
# Unequal sides are of two texts, whatever the array is called.
echo '{"source": ["a", "b", "c"], "target": ["x", "y"], "attention": [[1, 0, 0], [0, 1, 0]]}' >pair.json
ok view pair.json
says "cross, layer 1: 1 head of 2 x 3"
echo '{"source": ["x", "y"], "target": ["a", "b", "c"], "attention": [[1, 0, 0], [0, 1, 0]]}' >swap.json
run view swap.json
refuses 3 "target has 3 labels, but array \"attention\" has 2 queries"
# Labels under a name that is not read would be missed without a word.
echo '{"words": ["a", "b"], "attention": [[1, 0], [0, 1]]}' >words.json
ok view words.json
warns "Not read: \"words\"; labels are read from tokens"
# What is odd is reported, and not changed.
echo '[[0.5, 0.7], [1, -0.5]]' >odd.json
ok view odd.json --html odd.html
warns "1 of 4 values are not in [0, 1]"
warns "2 of 2 rows do not sum to 1 (0.5 to 1.2)"

# attend --json prints an object for each input.
printf '%s\n' '{"attention": [[1]]}' '{"attention": [[1]]}' >two.json
run view two.json
refuses 3 "two.json has several objects, one on each line: expected one, of one input; hint: --line 1 reads the first"
printf '%s\n' '{"attention": [[[1]]]}' '{"attention": [[[1, 0], [0, 1]]]}' '{"attention": [[[1, 0]}' >two.json
ok view two.json --line 2
says "1 head of 2 x 2"
run view two.json --line 1 --html two.html
says "1 head of 1 x 1"
says "wrote two.html"
refused <<'END'
3 view two.json --line 3 | two.json is not valid JSON: line 3, column 23
3 view two.json --line 4 | two.json has fewer than 4 lines
END
printf '%s\r\n' '{"attention": [[[1]]]} ' '' '{"attention": [[[1, 0], [0, 1]]]}' >apart.json
refused <<'END'
3 view apart.json | apart.json has several objects, one on each line
3 view apart.json --line 2 | line 2 of apart.json is blank: expected an object
END
run view apart.json --line 3
says "1 head of 2 x 2"
# A picture beside the weights: the page lays them over it.
echo '{"attention": [[0.2, 0.2, 0.2, 0.2, 0.2], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]],
       "picture": [[0, 99, 0], [99, 0, 255]]}' >picture.json
ok view picture.json --html picture.html
quiet
holds grep -q 'octet-stream+b64" id="p0"' picture.html
holds grep -q '"grid":{"rows":2,"cols":2,"first":1}' picture.html

# What is no number, and what is no weight.
npy() { # NAME TYPE: 2 x 2 elements of zero bits except for the first, which has all
    head="{'descr': '$2', 'fortran_order': False, 'shape': (2, 2), }"
    { printf '\223NUMPY\001\000%b\000%s' "\\0$(printf %o ${#head})" "$head"
      printf '\377\377\377\377\000\000\000\000\000\000\000\000\000\000\000\000'; } >"$1"
}
npy nan.npy '<f4'
ok view nan.npy
warns "1 of 4 values are not numbers"
for type in '>f4' '<i4'; do
    npy odd.npy "$type"
    run view odd.npy
    refuses 3 "(2, 2) of type \"$type\"; hint: make it real in NumPy: weights.astype(float)"
done
npy more.npy '<f4'
echo >>more.npy
run view more.npy
refuses 3 'array "weights" is damaged: more.npy: bytes follow its elements'
npy version.npy '<f4'
printf '\011' | dd of=version.npy bs=1 seek=6 conv=notrunc 2>/dev/null
run view version.npy
refuses 3 "version.npy: expected version 1.0, 2.0 or 3.0"
npy odd.npy '<U1'
run view odd.npy
refuses 3 "of type \"<U1\""
hides astype
COLUMNS=40 run view w.json
status 0
holds awk 'length($0) > 40 { exit 1 }' out
echo '{"words": ["a"], "step": 3}' >words.json
run view words.json
refuses 3 'found "words", "step"'
for bad in '{' '[]' '[1, 2]' '{"a": 1}' '[[1, "x"]]' '[[[[[[1]]]]]]' '{"heed": "attention 2"}'; do
    echo "$bad" >bad.json
    run view bad.json --html bad.html
    refuses 3 bad.json
    absent bad.html
done
printf 'PK\003\004 and no more' >bad.npz
run view bad.npz --html bad.html
refuses 3 "not an NPZ file: expected a directory at its end, found 16 bytes without one"
for kind in npz npy json; do
    : >empty.$kind
    run view empty.$kind
    article=an && [ $kind = json ] && article=a
    refuses 3 "empty.$kind is not $article $(echo $kind | tr a-z A-Z) file: expected "
    warns "found an empty file"
done
printf 'P' >cut.npz
refused <<'END'
3 view bad.npz --line 2 | bad.npz has no lines: expected a JSON file for --line
3 view cut.npz | cut.npz is not an NPZ file: expected PK at its start, found "P"
END
printf '\223NUM' >cut.npy
run view cut.npy
refuses 3 'cut.npy is not an NPY file: expected \x93NUMPY at its start'
echo "a page" >page.txt
run view page.txt
refuses 3 'page.txt is not a file of weights: expected PK of NPZ, \x93NUMPY of NPY, or { or [ of JSON at its start, found "a page?"'
cp w.json json.npz
ok view json.npz
run view nowhere.npz
refuses 3 nowhere.npz
run view w.json --html /proc/none/w.html
holds test "$STATUS" = 1

# What heed attend wrote comes back whole.
facts >facts.txt
train_mlm run
ok attend run "Paris is the capital of [MASK] ." --npz a.npz --json
head -1 out >a.json
ok view a.npz --html a.html
says "encoder.0"
holds grep -q 'id="w0.0.q.0"' a.html
run view a.npz --no-qk --html lean.html
holds test "$(grep -c 'id="x0' lean.html)" = 0
ok view a.json --html b.html
holds cmp -s a.html b.html

# What explain prints as JSON is drawn as its attention, not as any other of its matrices.
run explain --json
mv out lion.json
ok view lion.json --html lion.html
quiet
says "  lion                         encoder, layer 1: 1 head of 11 x 11"
hides W_Q
run explain paris --json
mv out paris.json
run view paris.json
says "cross, layer 1: 1 head of 1 x 5"
run explain heads --json
mv out heads.json
run view heads.json
says "encoder, layer 1: 3 heads of 4 x 4"
run explain variance --json
mv out variance.json
run view variance.json
refuses 3 'expected its attention under `weights`'

# A file of torch.save is named, with a command that converts it: the entry is that of PyTorch 2, the pickle that of version 1.
printf 'PK\003\004\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\012\000\000\000a/data.pkl and tensors' >a.pt
printf '\200\002\212\012l\374\234F' >old.pth
for file in a.pt old.pth; do
    run view $file
    refuses 3 "$file is a file of torch.save: expected NPZ, NPY or JSON; hint: \`python3 -c "
    warns "\` writes ${file%.*}.npz"
done
# The command takes the tensors of nested lists, tuples and dicts, here of stubs.
cat >torch.py <<'END'
class T:
    def detach(self): return self
    float = numpy = detach
def is_tensor(a): return isinstance(a, T)
def load(*_): return {'attn': (T(), [T()]), 'n': 3, 'tokens': ['a'], 'x': {'y': T()}}
END
echo 'def savez(name, **arrays): print(name, *arrays)' >numpy.py
if command -v python3 >where; then
    sed -n 's/.*hint: `\(.*\)` writes .*/\1/p' err | sh >names
    holds test "$(cat names)" = "old.npz attn.0 attn.1.0 x.y"
fi
