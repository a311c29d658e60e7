# Settings chosen from the data, an estimate, a schedule started anew, and what a training run says of its course.
facts >facts.txt
run data check mlm facts.txt --json
json chosen.0.settings "packing lines, block 16, batch 64"
run data check mlm facts.txt
says "Chosen for this data:"
says "96 lines, each a sentence of at most 7 words"
says "lr 0.004: a small model tolerates a high rate"
run data check gpt facts.txt
says "96 lines, each a sentence of at most 35 bytes"
for i in 1 2 3 4 5 6 7 8 9 10; do printf '柏林是德国的首都。\n巴黎是法国的首都。\n罗马是意大利的首都。\n'; done >chinese.txt
run data check mlm chinese.txt
says "30 lines, each a sentence of at most 10 characters"
run data check mlm facts.txt --packing blocks --batch 8
hides "packing lines,"
sed 's/ \.$//' facts.txt >plain.txt # lines that are no sentences
run data check gpt plain.txt
hides "packing lines,"
says "batch 8, steps 4,000"
says "layers 2, width 64: a small model learns 3.1 KB fastest"
says "lr 0.004: a small model tolerates a high rate"
run data check gpt plain.txt --steps 100
hides "batch 8"
run data check gpt plain.txt --minutes 1
says "batch 8: smaller batches reach a lower loss in the same time"
says "warmup 0.15: a slower rise of the rate"
for i in $(seq 30); do cat plain.txt; done >long.txt # 90 KB
run data check gpt long.txt
says "batch 8, steps 4,000: reaches a lower loss"
says "lr 0.002: a lower rate suits smaller batches"
says "warmup 0.15: a slower rise of the rate"
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
head -n 960 many.txt >some.txt
run data check mlm some.txt
says "steps 1,950: 130 epochs"
run data check mlm some.txt --batch 16
says "steps 1,950: 32 epochs"
run data check mlm some.txt --epochs 3
hides "steps"
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

run data check mlm facts.txt -c mlm.conf --heads 2
says "-o runs/first -c mlm.conf --heads 2"
ok train mlm facts.txt --estimate -c mlm.conf --lr 0.004 --json
json_has seconds memory disk
json steps 1000
json chosen.0.settings
for steps in 1 2 5; do
    ok train mlm facts.txt --estimate --steps $steps --json
    holds grep -q '"step_seconds":0\.[0-9]' out
done
run train mlm facts.txt --estimate --steps 11 --val-split 0.1 --json # one after every second step, and at the end
json evaluations 6.0
run train mlm facts.txt --estimate --steps 5
says "disk"
says "time"
absent runs
quiet
ok train mlm facts.txt --estimate --steps 1 --batch 1 --block 8 --packing blocks --layers 7 --width 512
warns "22,"
warns "parameters need at least 1"
warns "of memory; a step is tried to measure how much more"
run train mlm facts.txt --estimate --steps 1 --batch 1 --block 8 --packing blocks --layers 7 --width 512 --freeze 'encoder.*'
warns "parameters need at least 8" # no gradients

ok train mlm facts.txt -o run -c mlm.conf --lr 0.004 --layers 1 --width 16 --heads 2 --steps 60
warns "96 lines, each a sentence"
holds grep -qx 'packing = lines' run/config.conf
holds grep -qx 'block = 16' run/config.conf
holds grep -qx 'tokenizer = word' run/config.conf
ok train mlm facts.txt --from run -o taken --steps 1
holds grep -qx 'tokenizer = run' taken/config.conf
ok train mlm -c run/config.conf -o again
hides "chosen"
holds cmp -s run/model.safetensors again/model.safetensors
ok resume run --steps 90 --lr 0.002
warns "starts anew at step 60"
holds grep -qx 'schedule-from = 60' run/config.conf
says "the training loss "
ok train gpt facts.txt -o stuck $SMALL --steps 60 --lr 1e-9 --json
warns "is not below that of guessing"
json judgement

# Pairs of sentences are of word pieces; dates, letters and a few pairs of characters.
facts | awk '{ print "the " $1 " of " $5 "\tof " $5 ", the " $1; print $5 " has " $1 "\t" $1 " has it , " $5; print $1 "\t" $5 $1 }' >short.tsv
grep ' ' short.tsv >sentences.tsv
cat sentences.tsv sentences.tsv >many.tsv
(echo src,tgt && sed 's/.*/"&"/; s/\t/","/' many.tsv) >many.csv
cut -f 1 many.tsv >many.en
cut -f 2 many.tsv >many.fr
for data in many.tsv many.csv "many.en many.fr"; do
    for task in seq2seq rnn; do
        ok data check $task $data
        says "tokenizer wordpiece, vocab 2,000: texts of words that repeat"
    done
done
# Chinese has more characters.
for i in a b c d e f g h i j; do
    for a in 我 你 他 她; do for b in 爱 看 吃; do for c in 书 鱼; do printf "we do it %s\t%s%s%s。\n" $i $a $b $c; done; done; done
done >chinese.tsv
run data check seq2seq chinese.tsv
says "tokenizer wordpiece, vocab 4,000: texts of words that repeat, and of thousands of characters"
run train seq2seq many.tsv -o pieces --steps 1 --width 8 --heads 2 --layers 1
holds grep -qx 'tokenizer = wordpiece' pieces/config.conf
ok train seq2seq many.tsv -o from-pieces --from pieces --steps 1
hides "texts of words"
run data check seq2seq sentences.tsv # too few
hides "wordpiece"
awk -F '\t' '{ gsub(" ", "", $1); gsub(" ", "", $2); print $1 "\t" $2 }' many.tsv >letters.tsv
awk -F '\t' -v OFS='\t' '{ print $1 " 1999-03-0" NR % 9, NR % 31 " 03 1999" }' many.tsv >dates.tsv
awk -F '\t' -v OFS='\t' '{ print "w" NR " x" NR " of", "y" NR " z" NR " v" NR }' many.tsv | tr 0-9 a-j >once.tsv
for data in letters dates once; do
    ok data check seq2seq $data.tsv
    hides "wordpiece"
done

# Pictures: few of them are learned by heart.
digits_maker
./digits idx --train 120 --test 30
./digits many --train 1200 --test 30
run data check vit idx
says "dropout 0.2: 110 pictures are soon learned by heart"
run data check vit idx --dropout 0
hides "learned by heart"
run data check vit many
hides "dropout"
run train vit idx -o vit --steps 1 --layers 1 --width 8 --heads 2 --batch 8
holds grep -qx 'dropout = 0.2' vit/config.conf
run train vit many -o more --steps 1 --layers 1 --width 8 --heads 2 --batch 8
run train vit idx --from more -o taken --steps 1 --batch 8 # keeps the settings of that run's model
holds grep -qx 'dropout = 0' taken/config.conf
run init autoencoder
holds grep -qx 'lr = 0.002' out

# data/defaults.sh: a search of twelve, or of nine where dropout has no effect; the loss of the same runs without training again.
search() {
    COMMAND="defaults.sh $*"
    sh "$here/../../data/defaults.sh" "$@" >out 2>err </dev/null
    STATUS=$?
}
search autoencoder idx --quick --seeds 1 -o code -- --hidden 8
status 0
quiet
holds test "$(grep -c "batch x" out)" = 9
says "1 seeds: chosen 0.0"
SETTINGS="--layers 1 --width 8 --heads 2"
search vit idx --quick --seeds 1 -o patches -- $SETTINGS
status 0
says "accuracy"
holds test "$(grep -c "batch x" out)" = 12
trained=$(stat -c %y patches/run-1-1-0-1.csv)
search vit idx --quick --seeds 1 --loss -o patches -- $SETTINGS
status 0
says "1 seeds: chosen 2."
holds test "$trained" = "$(stat -c %y patches/run-1-1-0-1.csv)"

# A training run that diverged.
ok train gpt facts.txt -o far --layers 1 --heads 2 --width 16 --lr 50 --steps 100 --clip 0
warns "is not below that of guessing by frequency, "
warns "hint: a lower --lr, such as --lr 5"
holds grep -q "^diverged: the loss, [0-9.e+]*, is far above that of guessing by frequency, [0-9.]*; try a" out
