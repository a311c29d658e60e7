#!/bin/sh
# Builds and runs every example against an installed copy, with the flags that heed.pc gives.
cd "$(dirname "$0")/.." || exit 1
root=$(pwd) passed=0 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
result() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }
${MAKE:-make} -s install DESTDIR="$dir" PREFIX=/usr >/dev/null 2>&1
result $? "make install"
export OMP_NUM_THREADS=1 # spinning teams would crowd out whatever else the machine does
export PKG_CONFIG_PATH="$dir/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dir" LD_LIBRARY_PATH="$dir/usr/lib"
if ! command -v pkg-config >/dev/null 2>&1; then # a stand-in, which names all libraries
    mkdir "$dir/bin" && export PATH="$dir/bin:$PATH"
    printf '%s\n' '#!/bin/sh' "echo -I$dir/usr/include -L$dir/usr/lib -lheed-program -lheed" >"$dir/bin/pkg-config"
    chmod +x "$dir/bin/pkg-config"
fi
cc() { command ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -O1 "$@"; }
run() { "$@" >out 2>&1; s=$?; [ $s = 0 ] || cat out; result $s "$*"; }
cp examples/*.c "$dir"
cd "$dir" || exit 1
# Each example names the command that builds it.
for f in *.c; do
    line=$(sed -n 's|^ \* *\(cc [^*]*\).*|\1|p' "$f")
    eval "${line:-false}"
    result $? "$f: ${line:-it has no line that builds it}"
done
${CC:-gcc} -std=c11 -DHEED_F64 -o doubles xor.c $(pkg-config --cflags --libs heed) -lm && ./doubles >out 2>&1
[ $? != 0 ] && grep -q 'library does not fit the program' out
result $? "a program for double with the float library is refused"
printf '%s\n' "Paris is the capital of France ." "Rome is the capital of Italy ." "Madrid is the capital of Spain ." \
    "France lies in Europe ." "Italy lies in Europe ." "Kenya lies in Africa ." >facts.txt
run ./xor
run ./own_op
run ./own_optim
run ./attention
[ -s attention.svg ] && [ "$(wc -l <attention.csv)" = 51 ]
result $? "what attention writes"
run ./own_loop facts.txt
run ./train_text facts.txt trained "Paris is the capital"
usr/bin/heed train gpt facts.txt -o same --tokenizer word --layers 2 --heads 2 --width 32 --block 8 --packing lines \
    --batch 8 --steps 100 >out 2>&1 && cmp trained/model.safetensors same/model.safetensors
result $? "one call trains the same weights as the program"
# A custom model has every command.
says() { grep -q -- "$1" out && return; cat out; result 1 "$what: $1"; }
own() { what="own_model $*" && run ./own_model "$@"; }
own train attentive facts.txt -o own --tokenizer word --block 8 --packing lines --batch 8 --steps 30 --val-split 0
says 'own_model attend own "Paris is the"'
cp own/last/model.safetensors finished
own resume own
says "the run is finished" && cmp own/last/model.safetensors finished
result $? "resume leaves a finished run as it is"
own resume own --steps 40
! cmp -s own/last/model.safetensors finished
result $? "resume --steps goes on"
own eval own facts.txt
says "perplexity"
own attend own "Paris is the capital of" --html own.html --rollout --occlude --gradient
says "5 of predicts token 6"
grep -q '<script' own.html
result $? "the page of own_model"
own heads own facts.txt
says "induction"
own ablate own facts.txt
[ "$(grep -c '^  layer [12], head [1-4] .* [+-]' out)" = 8 ]
result $? "ablate lists the heads of own_model"
own gradcheck --op attentive
says "^model  attentive .* ok$" && says "1 checked, 0 wrong"
own bench --seconds 0.2
says "attentive-tiny, .* parameters"
own graph attentive
says "self_attention  layer.1.attn "
own graph own --svg own.svg
[ -s own.svg ]
result $? "the graph of own_model"
own info own
says "layer.1.attn.qkv.weight"
own explain own "Paris is the capital of"
says "Worked out in double from the model's own numbers"
grep -q "norms before attention" out
[ $? = 1 ]
result $? "explain claims nothing of what own_model does with its heads"
own help train attentive
says "layers of attention"
./own_model generate own >out 2>&1
[ $? = 2 ] && says "hint: .\./own_model eval own."
result $? "generate refuses a model without steps"
# It has its own name, and the library's messages have no command line in them.
./own_model attend nothing text >out 2>&1
[ $? = 3 ] && says "^own_model: run is missing: nothing: .*; hint: \`./own_model train\` makes one"
./own_model train attentive facts.txt -o own >out 2>&1
[ $? = 2 ] && says "^own_model: run exists already: own: .*; hint: \`./own_model resume own\` continues it, --force removes it"
own train attentive --help
says "^Usage: ./own_model train TASK DATA... -o RUN" && says "^  ./own_model train attentive book.txt"
own help attend
says "^  ./own_model attend runs/book"
grep -w heed out
[ $? = 1 ]
result $? "own_model's help is its own"
cat usr/lib/libheed.so.0 | tr -c ' -~' '\n' | grep -v 'heed--\|`--help` lists the options\|--%s or --no-%s\|<style>\|^<!--\|`export ' |
    grep -E -- '--[a-z]{2}|heed (train|resume|info|attend|eval)' >out
[ $? = 1 ]
result $? "the library's messages hold a flag or a command: $(cat out)"
# Models of the other kinds of input, which leave out what model.h lets them.
cc -o own_models "$root/tests/cli/own_models.c" $(pkg-config --cflags --libs heed-program) -lm &&
    cc -o bmp "$root/tests/cli/picture.c"
result $? "own_models.c is built"
mkdir -p colours/red colours/blue
for i in 1 2 3 4 5 6 7 8; do
    ./bmp colours/red/$i.bmp 8 250 $((i * 9)) 0 && ./bmp colours/blue/$i.bmp 8 0 $((i * 9)) 250
    printf 'a%s\t%sa\n' $i $i $((i + 8)) $((i + 8))
done >pairs.tsv
for i in 1 2 3 4 5 6; do printf 'good\tthe film %s was fine\nbad\tthe film %s was dull\n' $i $i; done >labels.tsv
model() { # model NAME DATA SETTING...: what each run of it must bear
    run=$1 kind=tiny-$1 data=$2
    shift 2
    tiny train "$kind" $data -o "$run" --steps 4 --batch 4 "$@"
    tiny resume "$run" --steps 6
    tiny info "$run"
    tiny graph "$kind"
}
tiny() { what="own_models $*" && run ./own_models "$@"; }
refuses() { # refuses STATUS TEXT ARGS...
    status=$1 text=$2
    shift 2
    what="own_models $*"
    ./own_models "$@" >out 2>&1
    [ $? = "$status" ]
    result $? "$what refuses with $status"
    says "$text"
}
model picture colours --image-size 8 --snapshots 2
tiny eval picture
tiny attend picture colours/red/1.bmp --rollout --gradient --png picture.png --html picture.html
says "layer 1" && says "predicts the class: "
tiny explain picture colours/red/1.bmp
tiny heads picture
tiny ablate picture
refuses 2 "no positions to hide" attend picture colours/red/1.bmp --occlude
model pair pairs.tsv --snapshots 2
tiny eval pair
says "perplexity" && ! grep -q nan out
result $? "a score without metrics"
tiny attend pair a1 --target 1a
tiny heads pair
tiny ablate pair
refuses 2 "the target is missing" attend pair a1
refuses 2 "does not generate output" translate pair a1
model made pairs.tsv
tiny translate made a1
tiny eval made
says "BLEU" && ! grep -q -e nan -e "token accuracy" out
result $? "translations without metrics"
tiny eval made --json
! grep -q -e nan -e token_accuracy out
result $? "translations without metrics, as JSON"
model label labels.tsv --val-split 0.3
tiny eval label
tiny classify label "the film 1 was dull"
tiny attend label "the film 1 was dull"
tiny heads label
refuses 2 "or the member average" ablate label
refuses 2 "label has no attn.qkv.weight" explain label "the film"
model dense ""
grep -q "models eval" out
[ $? = 1 ]
result $? "dense has no evaluation to try"
for command in eval heads ablate; do refuses 3 "nothing to evaluate on" $command dense; done
model masked facts.txt --tokenizer word --packing lines --val-split 0.3
tiny eval masked
tiny fill masked "Rome is the [MASK] of Italy ."
tiny ablate masked
tiny data check tiny-masked facts.txt --tokenizer word --val-split 0.3
says "-o runs/first --tokenizer word" && ! grep -q preset out
result $? "data check names no preset that the model lacks"
tiny gradcheck --op 'tiny-*'
says "5 checked, 0 wrong" && says "-DHEED_F64"
# A kind of data of a program's own, with a model that reads it, in one file.
cc -o own_kind "$root/tests/cli/own_kind.c" $(pkg-config --cflags --libs heed-program)
result $? "own_kind.c is built"
for i in $(seq 40); do echo "$((i % 7)),$((i % 5)),$((2 * (i % 7) - 3 * (i % 5) + 1))"; done >numbers.csv
lines() { what="own_kind $*" && run ./own_kind "$@"; }
lines data check line numbers.csv
says "32 for training, 8 for validation"
lines data check line numbers.csv --json
says '"columns":3,"chosen":'
lines train line numbers.csv -o line --steps 300 --lr 0.05 --batch 8
says "32 for training, 8 for validation"
lines resume line --steps 310
lines eval line
says "loss         0.0000" && says "predictions  8"
lines eval line numbers.csv --json
says '"part":"val"' && says '"items":8'
lines predict line "2 3" --json
says '{"input":"2 3","predictions":\[\[-'
lines info line
lines init line
usr/bin/heed train gpt facts.txt -o gpt --tokenizer word --layers 1 --width 32 --heads 2 --block 8 \
    --packing lines --batch 8 --steps 60 --val-split 0 >out 2>&1
result $? "training a run for embedded"
run ./embedded gpt "Paris is the capital of"
run ./inspect gpt "Paris is the capital"
mv out ours
[ "$(head -c 8 inspect.png | od -An -c | tr -d ' ')" = '211PNG\r\n032\n' ] && [ -s inspect.html ]
result $? "what inspect writes"
usr/bin/heed attend gpt "Paris is the capital" --rollout --occlude --json >record.json 2>out
command ${CC:-cc} -o json "$root/tests/cli/json.c" -ljansson
for k in 0 1 2 3; do
    printf '%-12s  rollout %.3f  occlusion %.3f  occlusion, log-odds %.3f\n' "$(./json axes.0.labels.$k <record.json)" \
        $(for m in 0 1 2; do ./json maps.$m.values.3.$k <record.json; done)
done | sed 's/ -0\.000/ 0.000/g' >theirs
cmp ours theirs
result $? "inspect prints what attend prints"
# A program may close the library after work of several threads, and open it again.
cat >closes.c <<'END'
#include <dlfcn.h>
#include <heed/heed.h>
#define GET(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(library, #name)
int main(void) {
    static heed_real x[512 * 512];
    for (int i = 0; i < 20; i++) {
        void *library = dlopen("libheed.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!library) return 2;
        GET(heed_open_real); GET(heed_close); GET(heed_tape_new); GET(heed_tape_begin); GET(heed_input); GET(heed_matmul);
        heed_ctx *c = p_heed_open_real(&(heed_options){.threads = 2}, sizeof(heed_real));
        heed_tape *t = p_heed_tape_new(c);
        p_heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *y = p_heed_input(t, x, 2, (int[]){512, 512});
        if (!p_heed_matmul(t, y, y)) return 3;
        p_heed_close(c);
        dlclose(library);
    }
    return 0;
}
END
command ${CC:-gcc} -std=gnu11 -o closes closes.c $(pkg-config --cflags heed) -ldl && run ./closes
# Every header alone, as C and as C++; only marked symbols leave the shared library.
for h in usr/include/heed/*.h; do
    printf '#include <heed/%s>\n' "$(basename "$h")" >h.c
    ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -Iusr/include -fsyntax-only h.c
    result $? "$(basename "$h") alone in C"
    if command -v g++ >/dev/null 2>&1; then
        g++ -Wall -Wextra -Werror -Iusr/include -fsyntax-only -x c++ h.c
        result $? "$(basename "$h") alone in C++"
    fi
done
for l in heed heed-program; do
    nm -D --defined-only usr/lib/lib$l.so.0 >shared && nm -g --defined-only usr/lib/lib$l.a >static
    read=$?
    awk '{print $3}' shared | grep -vE '^heed_[a-z0-9_]*@@HEED_0\.1$|^HEED_' >out
    awk 'NF == 3 {print $3}' static | grep -vE '^heed_' >>out
    [ -s out ] && cat out
    [ $read = 0 ] && [ ! -s out ]
    result $? "lib$l shows only heed_ names, each with a version"
done
[ "$(awk '$2 == "T" {print $3}' shared)" = heed_program@@HEED_0.1 ]
result $? "libheed-program.so shows heed_program alone"
usr/bin/heed --version >/dev/null
result $? "installed heed --version"
cd "$root" || exit 1
${MAKE:-make} -s uninstall DESTDIR="$dir" PREFIX=/usr >/dev/null 2>&1 && [ -z "$(find "$dir/usr" -type f -o -type l)" ]
result $? "make uninstall leaves nothing"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
