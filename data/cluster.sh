#!/bin/sh
# Reckons on paper what training on several machines costs: bytes, time and efficiency of an update, for three models, 2 to 64
# machines, and Ethernet of 10 and 100 Gbit/s. docs/cluster.md says where the constants come from. Others are given so:
#   CORES=64 TOKENS=65536 sh data/cluster.sh
# RATE: GFLOP/s of a core in training steps. STREAM: seconds per parameter and core of what every machine does alone: moving and
# adding gradients, the optimizer. CORES of a machine; MEMORY: how many cores its memory serves at that speed. TOKENS of an update
# on each machine, in MICROS batches. LATENCY: seconds of a message, for each of the two networks.
awk -v rate="${RATE:-88}" -v stream="${STREAM:-6e-9}" -v cores="${CORES:-32}" -v memory="${MEMORY:-10}" -v tokens="${TOKENS:-16384}" -v micros="${MICROS:-4}" \
    -v slow="${LATENCY_10:-3e-5}" -v fast="${LATENCY_100:-1e-5}" 'BEGIN {
    split("10.7e6 124e6 1.3e9", size, " "); split("gpt-baby,GPT-2 small,GPT-2 XL size", name, ",")
    split("10 100", gbit, " "); latency[1] = slow; latency[2] = fast
    printf "machines of %d cores, %d tokens of an update on each in %d batches\n", cores, tokens, micros
    for (m = 1; m <= 3; m++) {
        p = size[m]
        compute = 6 * p * tokens / (rate * 1e9 * cores)
        alone = stream * p / (cores < memory ? cores : memory)
        printf "\n%s, %.4g M parameters: computing %.3g s, adding and optimizer %.2g s\n", name[m], p / 1e6, compute, alone
        printf "%8s %12s %18s %12s %18s %12s\n", "machines", "MB sent", "10 Gbit/s", "efficiency", "100 Gbit/s", "efficiency"
        for (n = 2; n <= 64; n *= 2) {
            bytes = 2 * 4 * p * (n - 1) / n
            printf "%8d %12.0f", n, bytes / 1e6
            for (k = 1; k <= 2; k++) {
                # A bucket has 2^18 numbers and takes 2 (n - 1) messages.
                exchange = bytes * 8 / (gbit[k] * 1e9) + int(p / 262144 + 1) * 2 * (n - 1) * latency[k]
                # The first half travels during the backward pass, two thirds of the last batch.
                hidden = exchange / 2
                if (hidden > compute / micros * 2 / 3) hidden = compute / micros * 2 / 3
                printf " %16.3f s %10.0f %%", exchange, 100 * (compute + alone) / (compute + alone + exchange - hidden)
            }
            printf "\n"
        }
    }
}'
