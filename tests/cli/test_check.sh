# gradcheck and bench. The whole gradcheck, in double, is a part of .ci/run.
ok gradcheck --op 'm*'
quiet
says "matmul"
says "mlm"
says " 0 wrong"
hides "gelu"
for name in "textcls gru" "textcls conv" "tag rnn" "tag variant" "gpt lstm"; do
    ok gradcheck --op "$name"
    says "model  $name"
done
ok gradcheck --op gelu --json
json wrong 0
json checks.0.name gelu
for workload in gpt-tiny mlm-nano mlp-mnist; do
    ok bench --workload $workload --seconds 0 --warmup-seconds 0 --min-steps 1 --threads 1 --json
    quiet
    json workload $workload
    json threads 1
    json_has items_per_s ms_per_step peak_rss_mb first_loss
done
run bench --workload mlm-nano --mlm-all --seconds 0 --warmup-seconds 0 --min-steps 1 --json
json workload mlm-nano-all
ok bench --workload mlp-mnist --per-op --seconds 0 --warmup-seconds 0 --min-steps 2 --json
quiet
json per_op.phases.2.phase backward
json_has per_op.ops.0.op per_op.products.0.k per_op.peak_gflops
run bench --workload mlp-mnist --memory-report --seconds 0 --warmup-seconds 0 --min-steps 1 --json
json memory.weights 814120
json memory.optimizer 1628264
json_has memory.total memory.ops.0.op
for mode in "" --recompute; do
    run bench --workload mlm-nano $mode --memory-report --seconds 0 --warmup-seconds 0 --min-steps 3 --json
    holds awk -v total="$("$JSON" memory.total <out)" -v peak="$("$JSON" peak_rss_mb <out)" \
        'BEGIN { ratio = total / (1048576 * peak); exit !(0.9 < ratio && ratio < 1.1) }'
done
ok bench --workload mlp-mnist,mlm-nano --per-op --seconds 0 --warmup-seconds 0 --min-steps 2
says "the machine's peak"
says "adamw                optimizer "
says "affine               dW         256    784     64      1 "
says "self_attention       backward "
ok bench --workload mlm-nano,mlp-mnist --seconds 0 --warmup-seconds 0 --min-steps 1 --threads 1
says "1 thread, "
says "mlm-nano "
says "mlp-mnist "
run bench --workload mlm-nano,mlp-mnist --seconds 0 --warmup-seconds 0 --min-steps 1 --json
json 1.workload mlp-mnist
run bench --workload nothing
refuses 2 "--workload is wrong: expected some of mlm-nano"
for given in "gpt-tiny --all-rows" "mlp-mnist --recompute" "mlp-mnist --post-ln" "rnn-attn --mlm-all" \
    "mlp-mnist,mlm-nano --mlm-all" "gpt-tiny --set rope-theta=3" "gpt-tiny --set optimizer=sgd"; do
    run bench --seconds 0 --warmup-seconds 0 --min-steps 1 --workload $given
    refuses 2 "has no effect here: expected"
done
