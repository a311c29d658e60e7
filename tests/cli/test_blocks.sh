# Rotary positions, heads that share keys and values, gated feed-forward networks: in every transformer.
BLOCKS="--norm pre --norm-kind rms --positions rotary --ff-kind swiglu --kv-heads 1 --no-bias"
facts >facts.txt
ok train gpt facts.txt -o llama --preset llama-nano --steps 6 --batch 4 --block 16 --progress none
ok info llama
says "decoder.0.attn.qkv.weight"
says "(128,64)" # 64 queries, 2 x 16 keys and as many values
says "decoder.1.mlp.gate.weight"
says "(176,64)" # 8/3 of 64, rounded up to a multiple of 8
hides "bias"
hides "embed.position"
ok generate llama --prompt "Paris is" --n 12 --temperature 0
cp out cached
run generate llama --prompt "Paris is" --n 12 --temperature 0 --no-cache
holds cmp -s out cached

ok explain llama "Rome is" --layer 2 --head 3
says "share their keys and values; their queries differ"
says "6. Positions: Q_R, K_R"
says "7. Scores: raw = Q_R K_R'"
says "X above is RMS norm(stream)"
# The file of a head knows its layer and what the model does after it.
run explain llama "Rome is" --layer 2 --head 3 --json
json place.stack decoder
cp out head.json
run view head.json
says "decoder, layer 2: 1 head of"
for place in '{"stack":"decoder","layer":0}' '{"stack":"other","layer":2}' '[]'; do
    sed "s/\"place\":{[^}]*}/\"place\":$place/" head.json >wrong.json
    run view wrong.json
    refuses 3 "place is wrong: wrong.json: expected a stack (encoder, decoder or cross) and a layer from 1"
done
run explain --from head.json --json
json pre_norm true
run explain --from head.json
says "X above is RMS norm(stream)"
run explain llama "Rome is" --cell "Q_R:3,2"
says "Q_R[m, 2] = "
says "cos(0.6325) - "
run explain llama "Rome is" --backward --json
json rotary 10000.0
json_has Q_R.6.15 backward.dK_R.0.0
cp out rome.json
ok explain --from rome.json --backward
says "22. Queries: dQ is dQ_R rotated back"
sed 's/"rotary": *[0-9.]*/"rotary": -1/' rome.json >bad.json
run explain --from bad.json
refuses 3 "rotary is wrong: bad.json: expected a number above 0, theta"

ok attend llama "Rome is" --html rome.html
holds grep -q '"rotary":10000' rome.html
# the other transformers: read in both directions, or pairs, or pictures
printf 'a b c\tc b a\nb c d\td c b\nc d a\ta d c\n' >pairs.tsv
for i in 1 2 3 4 5; do cat pairs.tsv; done >many.tsv
printf 'a b\tyes\nb c\tno\nc d\tyes\nd a\tno\na c\tyes\nb d\tno\n' >classes.tsv
TINY="--layers 1 --heads 2 --width 16 --batch 4 --steps 2 --progress none"
ok train mlm facts.txt -o mlm $TINY --block 16 $BLOCKS
ok attend mlm "Paris is the [MASK] of France ."
ok train seq2seq many.tsv -o pairs $TINY --block 8 --val-split 0.2 $BLOCKS
ok translate pairs "a b c" --beam 2
ok explain pairs "a b c" --stack decoder
says "6. Positions: Q_R, K_R"
ok attend pairs "a b c" --target "c b"
ok train textcls classes.tsv -o classes $TINY --block 8 --val-split 0.2 $BLOCKS
ok heads classes classes.tsv

run explain llama "Rome is" --cell "Q_R:90,2"
refuses 2 "one of Q K V Q_R K_R raw"

# what does not fit, and what there is not
refused <<'END'
2 train gpt facts.txt -o no --heads 4 --kv-heads 3 | expected kv-heads that divide heads, found heads 4, kv-heads 3
2 train gpt facts.txt -o no --positions rotary --key-width 5 | an even key-width
2 train gpt facts.txt -o no --positions rotary --rope-theta 0 | rope-theta
2 train gpt facts.txt -o no --ff-kind glu | plain, swiglu
END
echo 'rope_scaling = 2' > blocks.conf
run train gpt facts.txt -o no -c blocks.conf
refuses 3 "scaled rotary positions are not supported"
refuses 3 "blocks.conf:1"
absent no
