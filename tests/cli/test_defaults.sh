# Settings chosen from the data, an estimate, a schedule started anew, and what a training run says of its course.
facts >facts.txt
run data check mlm facts.txt --json
json chosen.0.settings "packing lines, block 16, batch 64"
run data check mlm facts.txt
says "Chosen for this data:"
says "96 lines, each a sentence of at most 7 words"
run data check mlm facts.txt --packing blocks --batch 8
hides "packing lines,"
sed 's/ \.$//' facts.txt >plain.txt # lines that are no sentences
run data check gpt plain.txt
hides "packing lines,"
says "batch 8, steps 4,000"
says "layers 2, width 64, lr 0.004"
run data check gpt plain.txt --steps 100
hides "batch 8"
run data check gpt plain.txt --minutes 1
says "batch 8, warmup 0.15: smaller batches reach a lower loss in the same time"
for i in $(seq 30); do cat plain.txt; done >long.txt # 90 KB
run data check gpt long.txt
says "batch 8, steps 4,000, lr 0.002, warmup 0.15"
hides "layers 2"
run data check mlm long.txt
says "positions rotary, layers 2, lr 0.002"
hides "batch 16"
hides "width 64"
for i in 1 2 3 4 5; do cat long.txt; done >book.txt # 460 KB
run data check mlm book.txt
says "batch 16, steps 2,000"
run data check mlm long.txt --positions learned # BERT
hides "layers 2"
run data check mlm long.txt --preset tiny # a preset is a whole model
hides "positions rotary"
run data check mlm long.txt --width 12 # heads of an odd width cannot be turned in pairs
hides "positions rotary"
run data check mlm plain.txt
says "width 64"
says "positions rotary"
says "batch 8, steps 1,500"
for i in $(seq 42); do cat facts.txt; done >many.txt # 4,032 sentences
run data check mlm many.txt
says "packing lines"
says "layers 2, width 64"
hides "epochs"
for i in $(seq 5); do cat many.txt; done >more.txt # 20,160 sentences
run data check mlm more.txt
says "packing lines"
says "positions rotary"
hides "epochs"
run init mlm --lr 0.5
says "# packing = blocks"
says "chosen from the data, else"
holds grep -qx 'lr = 0.5' out
cp out mlm.conf
run train mlm --help
says "[chosen from the data, else 64]"

run train mlm facts.txt --estimate -c mlm.conf --lr 0.004 --json
status 0
json seconds
json memory
json disk
json steps 1000
json chosen.0.settings
run train mlm facts.txt --estimate --steps 5
status 0
says "disk"
says "time"
absent runs

run train mlm facts.txt -o run -c mlm.conf --lr 0.004 --layers 1 --width 16 --heads 2 --steps 60
status 0
warns "96 lines, each a sentence"
holds grep -qx 'packing = lines' run/config.conf
holds grep -qx 'block = 16' run/config.conf
holds grep -qx 'tokenizer = word' run/config.conf
run train mlm facts.txt --from run -o taken --steps 1
status 0
holds grep -qx 'tokenizer = run' taken/config.conf
run train mlm -c run/config.conf -o again
status 0
hides "chosen"
holds cmp -s run/model.safetensors again/model.safetensors
run resume run --steps 90 --lr 0.002
status 0
warns "starts anew at step 60"
holds grep -qx 'schedule-from = 60' run/config.conf
says "loss fell by"
run train gpt facts.txt -o stuck $SMALL --steps 60 --lr 1e-9 --json
status 0
warns "is not below that of guessing"
json judgement
