"""transformers_mlm.py TEXT VOCAB -- a masked language model of a book by transformers' Trainer, as its run_mlm example does it: the
text in blocks of 128 tokens of a WordPiece vocabulary (VOCAB.txt, heed's own, so that losses are comparable), 15 % masked anew
each time, BertForMaskedLM of 4 layers, 4 heads, width 256, AdamW with a linear schedule from 5e-4 (the example's 5e-5 is for
fine-tuning), batches of 32, 500 steps, the last 10 % of the text to validate every 50. A line of JSON per evaluation. Needs
torch, transformers and accelerate."""
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from transformers import (
    BertConfig, BertForMaskedLM, BertTokenizerFast, DataCollatorForLanguageModeling, Trainer, TrainerCallback, TrainingArguments,
)

BLOCK, STEPS, EVERY = 128, 500, 50


class Report(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **_):
        print(json.dumps({"step": state.global_step, "loss": metrics["eval_loss"]}), flush=True)


def main():
    tokenizer = BertTokenizerFast(vocab=sys.argv[2])
    with open(sys.argv[1], encoding="utf-8") as f:
        ids = tokenizer(f.read(), add_special_tokens=False)["input_ids"]
    body = BLOCK - 2
    blocks = [[tokenizer.cls_token_id, *ids[i : i + body], tokenizer.sep_token_id] for i in range(0, len(ids) - body + 1, body)]
    data = [{"input_ids": torch.tensor(b)} for b in blocks]
    cut = len(data) - max(1, len(data) // 10)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, max_position_embeddings=BLOCK)
    args = TrainingArguments(
        output_dir=os.path.join(os.environ.get("TMPDIR", "/tmp"), "transformers-mlm"), use_cpu=True, max_steps=STEPS, learning_rate=5e-4, weight_decay=0.01, warmup_steps=100,
        per_device_train_batch_size=32, per_device_eval_batch_size=32, eval_strategy="steps", eval_steps=EVERY, save_strategy="no", report_to=[], disable_tqdm=True, logging_steps=10**9, seed=1,
    )
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    Trainer(BertForMaskedLM(config), args, train_dataset=data[:cut], eval_dataset=data[cut:], data_collator=collator, callbacks=[Report()]).train()


main()
