# Models of transformers: import, use without a tokenizer, export, training from one; refusals.
GOLDEN=$here/../golden/exchange
run import "$GOLDEN/bert" -o bert
status 0
quiet
says "bert: mlm of 4,973 parameters, without a tokenizer"
run info bert
says "bert: mlm, layers 2, heads 2, width 16, block 12, vocab 29"
run attend bert "3 1 4 15 9" --layer 1
status 0
says "encoder, layer 1 of 2"
run attend bert "3 29"
refuses 3 "expected numbers below 29, found 29"
run attend bert "3 x"
refuses 3 "the run has no tokenizer: expected numbers below 29, found x"
run attend bert "3 1"
says "Nothing is predicted: the run has no tokenizer, so that no id is known as [MASK]"
run fill bert "3 1"
refuses 3 "fill requires a tokenizer with a mask token: bert has none"
run import "$GOLDEN/gpt2" -o gpt2 --json
status 0
json task gpt
json params 7248
json tokenizer false
for analysis in heads ablate eval; do
    run $analysis bert
    refuses 3 "the run names no data: bert: expected the path of data; hint: \`heed $analysis bert PATH\`, where PATH is a text file"
done
run resume gpt2
refuses 3 "there is no training to resume: gpt2 has a model without its training, as of an import; hint: start a new run from its weights with --from gpt2"
run generate gpt2 --prompt "3 1 4" --n 3 --temperature 0
status 0
says "3 1 4 "
run generate gpt2 --prompt "3 1 4" --n 3 --temperature 0 --attention
status 0
says "attention of "
run generate gpt2 --prompt "3 1 4" --n 1 --temperature 0 --json
status 0
hides '"tokens":[""]'
run generate gpt2
refuses 2 'missing --prompt: the run has no tokenizer: expected ids; hint: `heed generate gpt2 --prompt "3 1 4"`'
facts >ids.txt
run heads gpt2 ids.txt --sort induction
status 0
says "induction"
run import "$GOLDEN/vit" -o vit
status 0
says "vit: vit of 4,883 parameters"
holds grep -qx "red bird" vit/labels.txt

# An export is what was imported; a second one needs --force.
run export bert -o folder
status 0
says "folder: mlm of 4,973 parameters, for transformers"
run import folder -o again
status 0
holds cmp -s bert/model.safetensors again/model.safetensors
run export bert -o folder
refuses 2 "folder is not empty: folder: expected a new one; hint: --force replaces the model in it"
run export bert -o folder --force
status 0
run export bert -o bert
refuses 2 "folder is not empty: bert"
holds [ -s bert/config.conf ]
holds grep -q '"layer_norm_eps": 1e-12,' folder/config.json

# It leaves nothing of the model before, and what is no part of a model as it is.
mkdir folder/1_Pooling
echo '[]' >folder/modules.json
echo mine >folder/README.md
run export bert -o folder --force
status 0
absent folder/modules.json
absent folder/1_Pooling
holds grep -qx mine folder/README.md
# An export that was killed left no config.json, and a folder beside that one.
rm folder/config.json
mkdir folder.heed-export
echo cut >folder.heed-export/model.safetensors
run export bert -o folder
refuses 2 "folder is not empty: folder"
run export bert -o folder --force
status 0
absent folder.heed-export
run import folder -o whole
status 0

# An ONNX file is new, or replaced by --force.
run export bert --onnx bert.onnx
status 0
says "bert.onnx: mlm of 4,973 parameters, for ONNX"
holds grep -q "encoder.1.attn.weights" bert.onnx
run export bert --onnx bert.onnx
refuses 2 "file exists: bert.onnx: expected a new one; hint: --force"
run export bert --onnx bert.onnx --force --json
status 0
json format ONNX
json parameters 4973
run export gpt2 --onnx gpt2.onnx --cache
status 0
holds grep -q "decoder.1.attn.k.past" gpt2.onnx
run export bert --onnx cached.onnx --cache
refuses 2 "mlm has no cache: expected a model that predicts the next token, such as gpt"
absent cached.onnx
run export bert --onnx two.onnx -o two
refuses 2 "two outputs: expected -o FOLDER or --onnx FILE"
run export bert
refuses 2 "missing output: expected -o FOLDER or --onnx FILE"
run export bert -o two --cache
refuses 2 "--cache is of an ONNX file"
run export bert --onnx bert/vocab.onnx/x
refuses 1 "there is no folder bert/vocab.onnx"
run export bert --onnx bert/model.safetensors --force
refuses 2 "output would replace a file of the run: --onnx bert/model.safetensors"

# Training goes on from an imported run.
facts >facts.txt
run train mlm facts.txt --from bert --tokenizer word --steps 2 --packing lines -o more
status 0
warns "from       bert: mlm, best weights"

# ---- refusals ----
run import "$GOLDEN/bert" -o bert
refuses 2 "run exists already: bert"
run import "$GOLDEN/bert"
refuses 2 "missing -o"
run import nowhere -o run
refuses 3 "model is missing: nowhere: expected a folder with config.json, found nothing"
mkdir empty
run import empty -o run
refuses 3 "empty/config.json"
absent run
mkdir bare
sed 's/"gelu"/"quick_gelu"/' "$GOLDEN/bert/config.json" >bare/config.json
run import bare -o run
refuses 3 "model cannot be represented: bare/config.json: hidden_act: expected gelu=gelu"
cp "$GOLDEN/bert/config.json" bare
run import bare -o run
refuses 3 "weights are missing: bare: expected model.safetensors"
absent run
run train mlm facts.txt $SMALL --norm pre -o pre
run export pre -o pre-folder
refuses 2 "run cannot be exported as BertForMaskedLM: expected --norm post --transform-head, found --norm pre --no-transform-head"
warns "hint: \`heed train mlm -c pre/config.conf --norm post --transform-head -o pre-exportable\` makes one that can be; \`heed export pre --onnx model.onnx\` writes"
absent pre-folder
run train mlm -c pre/config.conf --norm post --transform-head -o pre-exportable # as the hint says
status 0
run export pre-exportable -o pre-folder
status 0
rm -r pre-folder
run export pre -o pre.onnx
refuses 2 "-o pre.onnx: expected a folder, found the name of an ONNX file; hint: --onnx pre.onnx"
absent pre.onnx

# With rotary positions a masked model is a RoFormer.
run train mlm facts.txt $SMALL $BERT --positions rotary -o rotary
run export rotary -o roformer
status 0
holds grep -q '"RoFormerForMaskedLM"' roformer/config.json
run import roformer -o again-rotary
status 0
holds cmp -s rotary/model.safetensors again-rotary/model.safetensors

# ---- vectors of texts ----
run import "$GOLDEN/bert-encoder" -o encoder
status 0
run embed encoder "3 1 4 15 9"
status 0
holds [ "$(wc -w <out)" = 16 ]
run embed encoder "3 1 4 15 9" --json
status 0
json text "3 1 4 15 9"
json vector.15
printf '3 1 4\n5 6\n' >ids.txt
run_with ids.txt embed encoder --npy vectors.npy
status 0
says "vectors.npy: 2 vectors of 16 numbers"
run embed encoder "3 1" --npy v.npy --json
refuses 2 "two outputs"
run embed encoder "3 1" --npy encoder/model.safetensors
refuses 2 "output would replace a file of the run"
run embed gpt2 "3 1"
refuses 2 "there is no vector of a text: gpt makes none"
# A vector for each input, or no file: the rows belong to the inputs.
printf '3 1 4\n99\n5 6\n' >ids.txt
run_with ids.txt embed encoder --npy gap.npy
refuses 3 "expected numbers below"
absent gap.npy

# An empty line is an input, too: without [CLS] and [SEP] one without tokens.
printf '3 1 4\n\n5 6\n' >ids.txt
run_with ids.txt embed encoder --npy gap.npy
refuses 3 "line 2: the input is empty"
absent gap.npy
# An encoder has no head that could fill anything.
run fill encoder "3 1"
refuses 2 "encoder was imported without a head, as an encoder; hint: \`heed embed encoder\`"

# A value that the architecture cannot have.
sed 's/"rope_type": "default"/"rope_type": "yarn"/' "$GOLDEN/llama/config.json" >wide.json
holds grep -q yarn wide.json
cp -r "$GOLDEN/llama" yarn
cp wide.json yarn/config.json
run import yarn -o run
refuses 3 'rope_parameters.rope_type: expected "default", found "yarn"'

# Sizes of config.json that the model refuses.
cp -r "$GOLDEN/llama" thirds
sed 's/"num_key_value_heads": [0-9]*/"num_key_value_heads": 3/' "$GOLDEN/llama/config.json" >thirds/config.json
run import thirds -o run
refuses 3 "model cannot be represented: thirds/config.json: heads do not share keys"
warns "found heads 4, kv-heads 3 (heads is num_attention_heads, kv-heads is num_key_value_heads)"

# Sizes of config.json that no tensor has are refused before any value is drawn.
cp -r "$GOLDEN/llama" wide
sed 's/"head_dim": [0-9]*/"head_dim": 65536/' "$GOLDEN/llama/config.json" >wide/config.json
holds grep -q 65536 wide/config.json
run import wide -o run
refuses 3 "tensor has another shape: model.layers.0.self_attn.q_proj.weight"

# What is no file might never end.
cp -r "$GOLDEN/llama" pipe
rm pipe/config.json
mkfifo pipe/config.json
run import pipe -o run
refuses 3 "cannot read pipe/config.json: expected a file, found a pipe or a device"
cp -r "$GOLDEN/llama" endless
rm endless/model.safetensors
ln -s /dev/zero endless/model.safetensors
run import endless -o run
refuses 3 "cannot read endless/model.safetensors: expected a file, found a pipe or a device"
cp -r "$GOLDEN/llama" waiting
mkfifo waiting/tokenizer.json
run import waiting -o run
refuses 3 "cannot read waiting/tokenizer.json: expected a file, found a pipe or a device"
absent run

# ---- pictures ----
mkdir processed
cp "$GOLDEN/vit/config.json" "$GOLDEN/vit/model.safetensors" processed
cp "$GOLDEN/vit/crop.json" processed/preprocessor_config.json
run import processed -o pictures
status 0
holds grep -q '^resize-to = 12' pictures/config.conf
holds grep -q '^resample = bicubic' pictures/config.conf
digits_maker
./digits few --train 2 --test 1 --png >/dev/null
one=$(find few -name '*.png' | head -1)
run classify pictures "$one"
status 0
says "red bird"
run export pictures -o pictures-folder
status 0
holds grep -q '"shortest_edge": 12' pictures-folder/preprocessor_config.json

# ---- classifiers of texts and of tokens ----
run import "$GOLDEN/bert-class" -o class
status 0
run classify class "3 1 4 15 9"
status 0
says "may be"
cp -r class bytes
printf 'yes\nn\377o\nmay be\n' >bytes/labels.txt
run export bytes -o bytes-folder --edited
status 3
warns "run cannot be exported: labels.txt: line 2: expected UTF-8, found"
absent bytes-folder
absent bytes-folder.heed-export
run import "$GOLDEN/bert-tags" -o tags
status 0
run info tags
says "classes 3"
lines() { for i in 1 2 3 4 5 6 7 8; do printf 'a good day\tyes\na bad night\tno\nso and so\tmay be\n'; done; }
lines >labelled.tsv
run train textcls labelled.tsv --from class --tokenizer word --steps 3 -o trained
status 0
run classify trained "a good day"
status 0
run attend trained "a good day"
status 0
says "[CLS]"
run export trained -o trained-folder
status 0
run import trained-folder -o trained-again
status 0
holds cmp -s trained/labels.txt trained-again/labels.txt
