#!/bin/sh
# Trainings in several processes, if this machine has MPI: the same bits for every number of them, also after one was killed
# and another number resumed.
# tests/mpi.sh [long]: a few seconds with one model; long: 200 steps of two models with 1, 2, 3 and 4 processes.
cd "$(dirname "$0")/.." || exit 1
long=${1:-} passed=0 failed=0
command -v mpirun >/dev/null 2>&1 && command -v mpicc >/dev/null 2>&1 || { echo "no mpirun or mpicc here: skipped"; echo "0 passed, 0 failed"; exit 0; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
heed=$dir/heed
# All objects of the program except one are the same without MPI.
objects=$(ls train/*/*.c train/*/*/*.c | grep -vx -e train/cli/cluster.c -e train/cli/mpi.c | sed 's|\(.*\)\.c$|build/release/\1.o|')
mpicc -std=c11 -O1 -DHEED_MPI -ffp-contract=off -Iinclude -Itrain train/cli/cluster.c train/cli/mpi.c build/release/train/main.o $objects build/release/libheed.a -fopenmp -ljansson -lutf8proc -lz -lm -lpthread -o "$heed" || { echo "0 passed, 1 failed"; exit 1; }
ok() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; tail -5 "$dir/log"; fi; }
export PATH="$dir:$PATH" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1
cd "$dir" || exit 1
awk 'BEGIN {srand(3); for (i = 0; i < 300; i++) {s = ""; for (j = 0; j < 8; j++) s = s sprintf("w%d ", int(40 * rand() * rand())); print s "."}}' >text
start() { # PROCESSES COMMAND...: that many, one without mpirun
    n=$1
    shift
    case $n in one) "$heed" "$@" ;; *) mpirun -n "$n" "$heed" "$@" ;; esac >log 2>&1
}
train() { # PROCESSES MODEL RUN ARGS...
    n=$1 model=$2 run=$3
    shift 3
    case $model in
        gpt) set -- text --layers 2 --heads 2 --width 16 --ff 32 --block 16 --batch 2 --dropout 0.1 "$@" ;;
        cnn) set -- pictures --width 4 --stages 2 --batch 4 --dropout 0.1 "$@" ;;
    esac
    start "$n" train "$model" "$@" -o "$run" --accumulate 8 --eval-every 60 --save-every 10 --threads 1 --progress none
}
sum() { cat "$1/model.safetensors" "$1/last/model.safetensors" "$1/last/optimizer.safetensors" | cksum; }
step_of() { sed -n 's/.*"step": \([0-9]*\),.*/\1/p' "$1/last/state.json" 2>/dev/null | head -1; }
steps=40 models=gpt numbers="3" resumes="2"
if [ -n "$long" ]; then
    steps=200 models="gpt cnn" numbers="1 2 3 4" resumes="1 2 4"
    ${CC:-cc} -std=c11 -O1 -o digits "$OLDPWD/data/digits.c" -lz -lm && ./digits pictures --train 40 --test 20 >/dev/null
fi
for model in $models; do
    train one $model $model --steps $steps
    ok $? "$model in one process"
    for n in $numbers; do
        train $n $model $model-$n --steps $steps && [ "$(sum $model)" = "$(sum $model-$n)" ]
        ok $? "$model in $n processes: other bits"
    done
    # A process that is killed ends all; any number goes on.
    more=800
    train one $model $model-whole --steps $more
    for n in $resumes; do
        rm -rf killed
        (train 3 $model killed --steps $more) &
        i=0
        until [ "$(step_of killed)" -gt 0 ] 2>/dev/null || [ $((i += 1)) -gt 1200 ]; do sleep 0.05; done
        pid=$(ps -eo pid=,args= | awk -v heed="$heed" '$2 == heed {pid = $1} END {print pid}')
        kill -9 $pid
        wait
        [ "$(step_of killed)" -lt $more ] && grep -q "mpirun -n 3 heed resume killed" log
        ok $? "$model: after one of three processes was killed: no word of what resumes the run"
        start $n resume killed --threads 1 --progress none && [ "$(sum killed)" = "$(sum $model-whole)" ]
        ok $? "$model: one of three processes killed, resumed with $n: other bits"
    done
done
mpicc -std=c11 -D_GNU_SOURCE -O1 -DHEED_MPI -ffp-contract=off -I"$OLDPWD/include" -I"$OLDPWD/models" -I"$OLDPWD/train" "$OLDPWD/tests/mpi/steady.c" "$OLDPWD/train/cli/mpi.c" "$OLDPWD"/build/release/libheed.a -fopenmp -ljansson -lutf8proc -lz -lm -lpthread -o steady >log 2>&1 && mpirun -n 3 ./steady text >log 2>&1
ok $? "allocator calls in a steady step of three processes"
# What cannot work is refused, once.
start 2 generate gpt --n 3
[ $? = 2 ] && [ "$(grep -c '^heed: `generate` runs in one process: found 2' log)" = 1 ]
ok $? "generate in two processes"
start 3 train gpt text -o none --accumulate 2
[ $? = 2 ] && [ "$(grep -c '^heed: too few batches in an update: --accumulate: expected at least 3' log)" = 1 ] && [ ! -e none ]
ok $? "more processes than batches"
mpirun -n 1 "$heed" train gpt text -o none --isa generic --accumulate 2 : -n 1 "$heed" train gpt text -o none --isa avx2 --accumulate 2 >log 2>&1
[ $? = 2 ] && grep -q '^heed: process 1: instruction set differs from that of process 0: expected generic, found avx2' log || grep -q "instruction set is not available" log
ok $? "processes of different instruction sets"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
