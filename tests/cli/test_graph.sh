# heed graph: what a training step computes, of every task and of a run.
for task in mlm gpt vit cnn mlp seq2seq rnn textcls tag; do
    run graph $task --layers 1 --width 16 --heads 2 --block 4
    [ "$STATUS" = 0 ] || run graph $task --width 16
    status 0
    quiet
    says "xent"
    says "$task: "
done
run graph gpt --layers 3 --width 16 --heads 2 --block 8 --json
status 0
json heed "graph 1"
json model gpt
json nodes.0.op indices
json nodes.2.name embed.token
json nodes.2.shape.2 16
json nodes.2.parameters.0.name embed.token.weight
json edges.0.from 0
json groups.0.path ""
says '"path":"decoder.2","parent":2,"nodes":9,"like":"decoder.0"'
json nodes.11.activation gelu_tanh
run graph gpt --layers 3 --width 16 --heads 2 --block 8 --activation silu
says "affine+silu"
run graph gpt --layers 3 --width 16 --heads 2 --block 8 --svg gpt.svg --backward
holds grep -q ">affine+gelu_tanh<" gpt.svg
status 0
says "wrote gpt.svg"
holds grep -q "</svg>" gpt.svg
holds grep -q "the same as decoder.0" gpt.svg
holds grep -q "self_attention&#39;" gpt.svg
holds test "$(grep -c 'https\{0,1\}:' gpt.svg)" = 1
run graph gpt --layers 3 --backward
status 0
says "backward, from the loss up"
says "d embed.token.weight"
# A run is drawn with its own settings.
facts >facts.txt
train_gpt book
run graph book
status 0
says "gpt of book: "
run graph book --depth 1 --svg book.svg
status 0
holds grep -q 'class="shut"' book.svg
run graph book --layers 2
refuses 2 "--layers cannot be given with a run"
for width in 40 80; do
    fits_in $width graph mlm --tokens 4
    says "from, parameters"
    fits_in $width graph book --backward
done
# What is wrong is said, and nothing is written.
run graph
refuses 2 "missing TASK"
run graph gtp
refuses 2 "did you mean gpt"
run graph nowhere/run
refuses 2 "neither a task nor a run"
mkdir -p empty
run graph empty
refuses 3 "neither a task nor a run"
run graph gpt extra
refuses 3 "run is missing: extra"
run graph gpt --depth 1
refuses 2 "--depth has no effect here: expected --svg, too"
run graph gpt --unfold --json
refuses 2 "--unfold has no effect here"
run graph gpt --all-rows
refuses 2 "--all-rows has no effect here: expected another model"
run graph gpt --optimizer sgd
refuses 2 "--optimizer has no effect here"
run graph vit --tokens 5
refuses 2 "--tokens has no effect here: vit reads pictures"
run graph gpt --tokens 65
refuses 2 "at most the block of 64"
run graph rnn --attention general --tokens 64 --width 8 --svg large.svg
refuses 2 "too large to draw"
absent large.svg
run graph gpt --svg none/gpt.svg
refuses 1 "none/gpt.svg"
run graph vit --image-size 30 --patch 7
refuses 2 "patch"
absent none
