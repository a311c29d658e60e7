# LoRA: adapters train alone, a run with them resumes to the same bits, `merge` writes a plain run with the same output.
# Freezing for a number of steps.
facts >facts.txt
SCHEDULE="--schedule constant --warmup 0 --eval-every 1"
LORA="--lora 2 --lora-alpha 6 --lr 0.03 $SCHEDULE"
train() { run train gpt facts.txt $SMALL "$@"; }
# same_weights RUN RUN: the weights to resume from are equal.
same_weights() { holds cmp -s "$1/last/model.safetensors" "$2/last/model.safetensors"; }

train -o whole $LORA
status 0
warns "2 of rank 2: 128 numbers, 5.8 % of the weights of decoder; 128 of "
warns "warning: --lora leaves the weights of the model as they are, which is at random without --from"
train -o half $LORA --steps 3
ok resume half --steps 6
same_weights whole half
holds cmp -s whole/adapter.safetensors half/adapter.safetensors
train -o again $LORA --threads 3
same_weights whole again
holds cmp -s whole/adapter.safetensors again/adapter.safetensors
train -o lean $LORA --recompute
same_weights whole lean

ok info whole
says "2 adapters of rank 2, alpha 6, at *.q,*.v: whole/adapter.safetensors"
says "decoder.0.attn.qkv.weight.lora_q.a"
ok info whole/adapter.safetensors
says "decoder.0.attn.qkv.weight.lora_v.b"
hides "decoder.0.mlp.up.weight"

# ---- the same output, merged or not ----
ok merge whole -o plain
says "plain: gpt of "
says "with 2 adapters merged into its weights"
absent plain/adapter.safetensors
run info plain
hides lora
# The run's name, and the step of the weights, which a merged run does not know.
said() { sed "s/$1/RUN/g; s/\"step\":[0-9]*,//; s/, step [0-9]*//" out; }
for part in "eval RUN facts.txt --json" "attend RUN Paris --json" "generate RUN --prompt Paris --n 8 --seed 3"; do
    ok $(echo "$part" | sed s/RUN/whole/)
    said whole >unmerged
    ok $(echo "$part" | sed s/RUN/plain/)
    said plain >merged
    holds cmp -s unmerged merged
done
run merge whole -o plain --force --json
json adapters 2

# ---- refused ----
run merge whole
refuses 2 "missing -o"
run merge whole -o plain
refuses 2 "run exists already: plain: expected no run there; hint: --force removes it"
hides resume
refused <<'END'
2 merge whole -o whole --force | -o is the run itself
2 merge plain -o other | nothing to merge: plain
END
absent other
refused <<'END'
3 merge nowhere -o other | run is missing
3 resume plain | there is no training to resume: plain has a model without its training
END
train -o bad --lora 2 --lora-targets nothing
refuses 2 "--lora-targets matches no parameter: nothing"
train -o bad --lora 2 --lora-targets 'decoder.*'
refuses 2 "LoRA adapts matrices: decoder.0.attn.qkv.bias"
train -o bad --lora 99
refuses 2 "rank of LoRA is out of range: decoder.0.attn.qkv.weight"
train -o bad --lora 2 --lora-train nobody
refuses 2 "--lora-train matches no parameter: nobody"
train -o bad --lora-train none
refuses 2 "--lora-train has no effect here: expected --lora other than 0, found --lora 0"
train -o bad --lora 2 --lora-targets ,
refuses 2 "--lora-targets is empty"
printf 'ab\tba\nba\tab\nabc\tcba\ncab\tbac\n' >pairs.tsv
run train rnn pairs.tsv -o bad --lora 2 --width 8 --block 8 --steps 1
refuses 2 "--lora finds nothing to adapt"
hinted=$(sed -n 's/.*as --lora-targets \([^ ]*\)$/\1/p' err)
ok train rnn pairs.tsv -o hinted --lora 2 --lora-targets "$hinted" --width 8 --block 8 --steps 1
absent bad
train -o cells --lora 2 --lora-targets '*.mlp.*.weight,*.out.weight' --lora-train none --steps 1
status 0
warns "3 of rank 2: "

# A training run may not be continued with other adapters.
sed 's/^lora-alpha = 6/lora-alpha = 7/' half/config.conf >edited && cp edited half/config.conf
run resume half --steps 8
refuses 3 "config.conf was changed: lora-alpha"

# ---- from a run: the small file and that run give the whole ----
train_mlm base
for i in 1 2 3 4 5 6; do
    printf 'capital\tParis is the capital of France .\nlanguage\tGreek is the language of Greece .\n'
done >texts.tsv
ok train textcls texts.tsv -o film --from base --lora 2 --lr 0.03 --steps 4 --batch 4
warns "162 of 3,170 parameters are trained" # 128 of the adapters, 34 of the new head
run merge film -o together
run merge base --adapter film/adapter.safetensors -o film --force
refuses 2 "-o is the run of the adapters"
holds test -s film/adapter.safetensors
ok merge base --adapter film/adapter.safetensors -o adapted
says "adapted: textcls of 3,042 parameters, with 2 adapters merged"
holds cmp -s together/model.safetensors adapted/model.safetensors
run classify adapted "Paris is the capital" --json
mv out adapted.json
run classify film "Paris is the capital" --json
holds cmp -s out adapted.json
ok train textcls texts.tsv -o further --from adapted --steps 2 --batch 4
warns "taken"
run train mlm facts.txt -o base2 --tokenizer base --packing lines $SMALL --seed 2
refused <<'END'
3 merge base2 --adapter film/adapter.safetensors -o bad | film/adapter.safetensors does not belong to base2
3 merge base --adapter film/model.safetensors -o bad | film/model.safetensors holds no adapters
3 merge base --adapter nowhere -o bad | cannot read nowhere
3 merge base --adapter texts.tsv -o bad | not a .safetensors file
END
size=$(wc -c <film/adapter.safetensors)
head -c $((size - 20)) film/adapter.safetensors >cut
run merge base --adapter cut -o bad
status 3
for at in 3 40 300 900 1500 2100 $((size - 700)) $((size - 300)) $((size - 9)); do
    { head -c $at film/adapter.safetensors && printf '\377' && tail -c +$((at + 2)) film/adapter.safetensors; } >flipped
    run merge base --adapter flipped -o bad
    status 3
    silent
done
absent bad

# ---- frozen for a number of steps ----
FROZEN="--freeze decoder.* --freeze-steps 3 $SCHEDULE"
train -o late $FROZEN
status 0
warns "12 tensors until step 3"
warns "step 3: 12 frozen tensors are trained from here on"
for at in 2 3 4; do
    train -o late$at $FROZEN --steps $at
    ok resume late$at --steps 6
    same_weights late late$at
done
train -o early --freeze 'decoder.*' $SCHEDULE --steps 3
run info early/last/model.safetensors
grep decoder out >early.txt
run info late3/model.safetensors
grep decoder out >late.txt
if cmp -s early.txt late.txt; then fail "nothing was trained after step 3"; else pass; fi
train -o long --freeze 'decoder.*' --freeze-steps 6
status 0
warns "warning: --freeze-steps 6 is not below the 6 steps"
train -o bad --freeze-steps 6
refuses 2 "--freeze-steps has no effect here: expected --freeze"
train -o bad --lora-targets '*.weight'
refuses 2 "--lora-targets has no effect here: expected --lora other"
train -o bad --lora-alpha 3
refuses 2 "--lora-alpha has no effect here: expected --lora other"

# ---- what stays as it was initialised is said ----
train -o ground
sed 's/capital/cåpital/' facts.txt >others.txt
ok train gpt others.txt --from ground -o extended --lora 2 --steps 2
warns "warning: rows of embed.token.weight are not of ground and are not trained"
run train gpt others.txt --from ground -o extended --force --lora 2 --lora-train embed.token.weight --steps 2
hides "are not trained"
run merge ground --adapter extended/adapter.safetensors -o other
refuses 3 "extended/adapter.safetensors does not belong to ground: expected the tokenizer of its training"
absent other
printf 'a\tParis is\nb\tRome is\na\tParis was\nb\tRome was\n' >named.tsv
ok train textcls named.tsv --from ground -o classes --lora 2 --lora-train none --steps 2
warns "is not of ground and is not trained"
# Without --from, what belongs to the classes is trained besides the adapters.
ok train textcls named.tsv -o fresh $SMALL --lora 2
holds grep -q '^lora-train = head.weight,head.bias$' fresh/config.conf

# ---- balanced classes ----
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf 'plain\ta film of %s parts\n' $i; done >texts.tsv
printf 'rare\ta film with songs\n' >>texts.tsv
ok data check textcls texts.tsv --val-split 0
says "the largest class has 12 times the texts of rare"
for i in 1 2 3 4; do printf 'class %s\ttext %s\n' $i $i; done >each.tsv
ok data check textcls each.tsv
hides "the largest class"
TINY="--width 8 --heads 2 --block 8 --batch 4 --steps 4 --val-split 0"
ok train textcls texts.tsv -o even $TINY --balance
warns "plain 12 x 0.542, rare 1 x 6.5"
ok train textcls texts.tsv -o plainly $TINY
# A comma in a name parts no two names.
sed 's/^rare/rare, or once/' texts.tsv >named.tsv
run train textcls named.tsv -o named $TINY --balance
warns 'plain 12 x 0.542, "rare, or once" 1 x 6.5'
warns '2: plain, "rare, or once"'
run data check textcls named.tsv --val-split 0
says 'the largest class has 12 times the texts of "rare, or once": '
if cmp -s even/model.safetensors plainly/model.safetensors; then fail "--balance changes nothing"; else pass; fi
run train textcls texts.tsv -o evenly $TINY --balance --threads 3
same_weights even evenly
run eval even texts.tsv
says "balanced "
run eval even texts.tsv --json
json balanced_accuracy
