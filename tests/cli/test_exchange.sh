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
run import "$GOLDEN/gpt2" -o gpt2 --json
status 0
json task gpt
json params 7248
json tokenizer false
run generate gpt2 --prompt "3 1 4" --n 3 --temperature 0
status 0
says "3 1 4 "
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
refuses 2 "run cannot be exported: --norm pre: expected post for BertForMaskedLM"
absent pre-folder

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
run embed gpt2 "3 1"
refuses 2 "there is no vector of a text: gpt makes none"
