# Models of transformers: import, use without a tokenizer, export, training from one; refusals.
GOLDEN=$here/../golden/exchange
ok import "$GOLDEN/bert" -o bert
quiet
says "bert: mlm of 4,973 parameters, without a tokenizer"
run info bert
says "bert: mlm, layers 2, heads 2, width 16, block 12, vocab 29"
ok attend bert "3 1 4 15 9" --layer 1
says "encoder, layer 1 of 2"
refused <<'END'
3 attend bert "3 29" | expected numbers below 29, found 29
3 attend bert "3 x" | the run has no tokenizer: expected numbers below 29, found x
END
run attend bert "3 1"
says "Nothing is predicted: the run has no tokenizer, so that no id is known as [MASK]"
run fill bert "3 1"
refuses 3 "fill requires a tokenizer with a mask token: bert has none"
ok import "$GOLDEN/gpt2" -o gpt2 --json
json task gpt
json params 7248
json tokenizer false
for analysis in heads ablate eval; do
    run $analysis bert
    refuses 3 "the run names no data: bert: expected the path of data; hint: \`heed $analysis bert PATH\`, where PATH is a text file"
done
run resume gpt2
refuses 3 "there is no training to resume: gpt2 has a model without its training, as of an import; hint: start a new run from its weights with --from gpt2"
ok generate gpt2 --prompt "3 1 4" --n 3 --temperature 0
says "3 1 4 "
ok generate gpt2 --prompt "3 1 4" --n 3 --temperature 0 --attention
says "attention of "
run generate gpt2
refuses 2 'missing --prompt: the run has no tokenizer: expected ids; hint: `heed generate gpt2 --prompt "3 1 4"`'
facts >ids.txt
ok heads gpt2 ids.txt --sort induction
says "induction"
ok import "$GOLDEN/vit" -o vit
says "vit: vit of 4,883 parameters"
holds grep -qx "red bird" vit/labels.txt

# An export is what was imported; a second one needs --force.
ok export bert -o folder
says "folder: mlm of 4,973 parameters, for transformers"
ok import folder -o again
holds cmp -s bert/model.safetensors again/model.safetensors
run export bert -o folder
refuses 2 "folder is not empty: folder: expected a new one; hint: --force replaces the model in it"
ok export bert -o folder --force
holds grep -q '"layer_norm_eps": 1e-12,' folder/config.json

# It leaves nothing of the model before, and what is no part of a model as it is.
mkdir folder/1_Pooling
echo '[]' >folder/modules.json
echo mine >folder/README.md
ok export bert -o folder --force
absent folder/modules.json
absent folder/1_Pooling
holds grep -qx mine folder/README.md
# An export that was killed left no config.json, and a folder beside that one.
rm folder/config.json
mkdir folder.heed-export
echo cut >folder.heed-export/model.safetensors
run export bert -o folder
refuses 2 "folder is not empty: folder"
ok export bert -o folder --force
absent folder.heed-export
ok import folder -o whole

# An ONNX file is new, or replaced by --force.
ok export bert --onnx bert.onnx
says "bert.onnx: mlm of 4,973 parameters, for ONNX"
holds grep -q "encoder.1.attn.weights" bert.onnx
run export bert --onnx bert.onnx
refuses 2 "file exists: bert.onnx: expected a new one; hint: --force"
ok export bert --onnx bert.onnx --force --json
json format ONNX
json parameters 4973
ok export gpt2 --onnx gpt2.onnx --cache
holds grep -q "decoder.1.attn.k.past" gpt2.onnx
run export bert --onnx cached.onnx --cache
refuses 2 "mlm has no cache: expected a model that predicts the next token, such as gpt"
absent cached.onnx
refused <<'END'
2 export bert --onnx two.onnx -o two | two outputs: expected -o FOLDER or --onnx FILE
2 export bert | missing output: expected -o FOLDER or --onnx FILE
2 export bert -o two --cache | --cache is of an ONNX file
1 export bert --onnx bert/vocab.onnx/x | there is no folder bert/vocab.onnx
2 export bert --onnx bert/model.safetensors --force | output would replace a file of the run: --onnx bert/model.safetensors
END

# Training goes on from an imported run.
facts >facts.txt
ok train mlm facts.txt --from bert --tokenizer word --steps 2 --packing lines -o more
warns "from       bert: mlm, best weights"

# ---- refusals ----
refused <<'END'
2 import "$GOLDEN/bert" -o bert | run exists already: bert
2 import "$GOLDEN/bert" | missing -o
3 import nowhere -o run | model is missing: nowhere: expected a folder with config.json, found nothing
END
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
ok export pre-exportable -o pre-folder
rm -r pre-folder
run export pre -o pre.onnx
refuses 2 "-o pre.onnx: expected a folder, found the name of an ONNX file; hint: --onnx pre.onnx"
absent pre.onnx

# With rotary positions a masked model is a RoFormer.
run train mlm facts.txt $SMALL $BERT --positions rotary -o rotary
ok export rotary -o roformer
holds grep -q '"RoFormerForMaskedLM"' roformer/config.json
ok import roformer -o again-rotary
holds cmp -s rotary/model.safetensors again-rotary/model.safetensors

# ---- vectors of texts ----
ok import "$GOLDEN/bert-encoder" -o encoder
ok embed encoder "3 1 4 15 9"
holds [ "$(wc -w <out)" = 16 ]
ok embed encoder "3 1 4 15 9" --json
json text "3 1 4 15 9"
json vector.15
printf '3 1 4\n5 6\n' >ids.txt
ok_with ids.txt embed encoder --npy vectors.npy
says "vectors.npy: 2 vectors of 16 numbers"
refused <<'END'
2 embed encoder "3 1" --npy v.npy --json | two outputs
2 embed encoder "3 1" --npy encoder/model.safetensors | output would replace a file of the run
2 embed gpt2 "3 1" | there is no vector of a text: gpt makes none
END
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
ok import processed -o pictures
holds grep -q '^resize-to = 12' pictures/config.conf
holds grep -q '^resample = bicubic' pictures/config.conf
digits_maker
./digits few --train 2 --test 1 --png >/dev/null
one=$(find few -name '*.png' | head -1)
ok classify pictures "$one"
says "red bird"
ok export pictures -o pictures-folder
holds grep -q '"shortest_edge": 12' pictures-folder/preprocessor_config.json

# ---- classifiers of texts and of tokens ----
ok import "$GOLDEN/bert-class" -o class
ok classify class "3 1 4 15 9"
says "may be"
cp -r class bytes
printf 'yes\nn\377o\nmay be\n' >bytes/labels.txt
run export bytes -o bytes-folder --edited
status 3
warns "run cannot be exported: labels.txt: line 2: expected UTF-8, found"
absent bytes-folder
absent bytes-folder.heed-export
ok import "$GOLDEN/bert-tags" -o tags
run info tags
says "classes 3"
lines() { for i in 1 2 3 4 5 6 7 8; do printf 'a good day\tyes\na bad night\tno\nso and so\tmay be\n'; done; }
lines >labelled.tsv
ok train textcls labelled.tsv --from class --tokenizer word --steps 3 -o trained
ok classify trained "a good day"
ok attend trained "a good day"
says "[CLS]"
ok export trained -o trained-folder
ok import trained-folder -o trained-again
holds cmp -s trained/labels.txt trained-again/labels.txt
