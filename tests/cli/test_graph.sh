# heed graph: what a training step computes, of every task and of a run.
for task in mlm gpt vit cnn mlp seq2seq rnn textcls tag; do
    run graph $task --layers 1 --width 16 --heads 2 --block 4
    [ "$STATUS" = 0 ] || run graph $task --width 16
    status 0
    quiet
    says "xent"
    says "$task: "
done
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
ok graph gpt --layers 3 --backward
says "backward, from the loss up"
says "d embed.token.weight"
# A run is drawn with its own settings.
facts >facts.txt
train_gpt book
ok graph book
says "gpt of book: "
ok graph book --depth 1 --svg book.svg
holds grep -q 'class="shut"' book.svg
run graph book --layers 2
refuses 2 "--layers cannot be given with a run"
for width in 40 80; do
    fits_in $width graph mlm --tokens 4
    says "from, parameters"
    fits_in $width graph book --backward
done
# What is wrong is said, and nothing is written.
refused <<'END'
2 graph | missing TASK
2 graph gtp | did you mean gpt
2 graph nowhere/run | neither a task nor a run
END
mkdir -p empty
refused <<'END'
3 graph empty | neither a task nor a run
3 graph gpt extra | run is missing: extra
2 graph gpt --depth 1 | --depth has no effect here: expected --svg, too
2 graph gpt --unfold --json | --unfold has no effect here
2 graph gpt --all-rows | --all-rows has no effect here: expected another model
2 graph vit --tokens 5 | --tokens has no effect here: vit reads pictures
2 graph gpt --tokens 65 | at most the block of 64
2 graph rnn --attention general --tokens 64 --width 8 --svg large.svg | too large to draw
END
absent large.svg
refused <<'END'
1 graph gpt --svg none/gpt.svg | none/gpt.svg
2 graph vit --image-size 30 --patch 7 | patch
END
absent none
