#!/usr/bin/env python3
"""Models through heed import and heed export beside transformers, in both directions.

    make parity
    python3 tests/parity/exchange.py [NAME...] [--folder MODEL...]

Tiny models of each class are made, and stored as files of several ages have them. Of each: heed's
outputs are those of transformers (attn_implementation="eager"); transformers opens the export with
no missing, unexpected or resized tensor and gives the same outputs; what is imported from that
export has the same bits. Then runs that heed trained, exported. --folder: a model to open besides,
with known outputs if it has in_input_ids.npy, out_logits.npy ... (as numpy.save writes them).
Bars: logits 1e-5 of the largest, attention 1e-6 from transformers in float64, or what transformers
in float32 is from it, if that is more. Skips without transformers. Ends with a count."""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
    import transformers as hf
    from safetensors.torch import load_file, save_file
except ImportError:
    print("skipped: the Python packages torch, transformers and safetensors are needed")
    sys.exit(0)

import tokens  # beside this file

LOGITS, ATTENTION = 1e-5, 1e-6
NAMES = {"id2label": {0: "no", 1: "yes", 2: "may be"}, "label2id": {"no": 0, "yes": 1, "may be": 2}}
SMALL = dict(initializer_range=0.25, attn_implementation="eager")
BERT = dict(SMALL, vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=24, max_position_embeddings=12)  # fmt: skip
GPT2 = dict(SMALL, vocab_size=29, n_embd=16, n_layer=2, n_head=2, n_positions=12, bos_token_id=0,
            eos_token_id=0)  # fmt: skip
LLAMA = dict(SMALL, vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, intermediate_size=24, max_position_embeddings=12,
             bos_token_id=0, eos_token_id=0)  # fmt: skip
VIT = dict(SMALL, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
           image_size=8, patch_size=4, **NAMES)  # fmt: skip
TEXTS = {"max_position_embeddings": 64}
FAMILY = {"bert": (hf.BertConfig, BERT), "roformer": (hf.RoFormerConfig, BERT), "gpt2": (hf.GPT2Config, GPT2),
          "llama": (hf.LlamaConfig, LLAMA), "vit": (hf.ViTConfig, VIT)}  # fmt: skip


# ---- what files of other ages look like: functions of a folder ----


def rewrite(folder, change):
    path = os.path.join(folder, "model.safetensors")
    save_file(change(load_file(path)), path, {"format": "pt"})


def renamed(*pairs):
    def change(tensors):
        out = {}
        for name, x in tensors.items():
            for old, new in pairs:
                name = name.replace(old, new)
            out[name] = x
        return out

    return lambda folder: rewrite(folder, change)


def with_masks(folder):
    mask = torch.ones(1, 1, 12, 12).tril()
    rewrite(folder, lambda t: {**t, **{f"transformer.h.{i}.attn.bias": mask.clone() for i in (0, 1)},
                               **{f"transformer.h.{i}.attn.masked_bias": torch.tensor(-1e4) for i in (0, 1)}})  # fmt: skip


def as_type(dtype):
    return lambda folder: rewrite(folder, lambda t: {k: x.to(dtype) for k, x in t.items()})


def config_of(folder, change):
    path = os.path.join(folder, "config.json")
    with open(path) as f:
        config = json.load(f)
    change(config)
    with open(path, "w") as f:
        json.dump(config, f)


def flat_theta(folder):
    """rope_theta beside the other keys, as transformers 4 writes it."""

    def change(config):
        config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]

    config_of(folder, change)


def bert_tokenizer():
    return tokens.bert("/none", True)


def with_tokenizer(make_tokenizer):
    def change(folder):
        make_tokenizer().save(os.path.join(folder, "tokenizer.json"))
        names = ["input_ids", "attention_mask"]
        if make_tokenizer is bert_tokenizer:
            names.append("token_type_ids")
        kind = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": names}
        with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
            json.dump(kind, f)

    return change


def sharded(folder):
    config_class, _ = hf.AutoConfig, None
    model = getattr(hf, config_class.from_pretrained(folder).architectures[0]).from_pretrained(folder)
    shutil.rmtree(folder)
    model.save_pretrained(folder, max_shard_size=4000)
    assert os.path.exists(os.path.join(folder, "model.safetensors.index.json"))


# NAME: its class, keys that differ from the family's, and what becomes of its folder
CASES = {
    "bert": ("BertForMaskedLM", {}),
    "bert-relu": ("BertForMaskedLM", {"hidden_act": "relu"}),
    "bert-tanh-gelu": ("BertForMaskedLM", {"hidden_act": "gelu_new"}),
    "bert-eps": ("BertForMaskedLM", {"layer_norm_eps": 1e-3}),
    "bert-one-type": ("BertForMaskedLM", {"type_vocab_size": 1}),
    "bert-three-types": ("BertForMaskedLM", {"type_vocab_size": 3}),
    "bert-untied": ("BertForMaskedLM", {"tie_word_embeddings": False}),
    "bert-gamma-beta": ("BertForMaskedLM", {}, renamed(("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta"))),
    "bert-no-prefix": ("BertForMaskedLM", {}, renamed(("bert.", ""))),
    "bert-shards": ("BertForMaskedLM", {}, sharded),
    "bert-half": ("BertForMaskedLM", {}, as_type(torch.float16)),
    "bert-bf16": ("BertForMaskedLM", {}, as_type(torch.bfloat16)),
    "bert-pretraining": ("BertForPreTraining", {}),
    "bert-class": ("BertForSequenceClassification", NAMES),
    "bert-class-one-type": ("BertForSequenceClassification", {**NAMES, "type_vocab_size": 1}),
    "bert-class-shards": ("BertForSequenceClassification", NAMES, sharded),
    "bert-tags": ("BertForTokenClassification", NAMES),
    "bert-encoder": ("BertModel", {}),
    "roformer": ("RoFormerForMaskedLM", {}),
    "roformer-four-heads": ("RoFormerForMaskedLM", {"num_attention_heads": 4}),
    "roformer-of-texts": ("RoFormerForMaskedLM", {**TEXTS, "vocab_size": 640}, with_tokenizer(bert_tokenizer)),
    "gpt2": ("GPT2LMHeadModel", {}),
    "gpt2-inner": ("GPT2LMHeadModel", {"n_inner": 20}),
    "gpt2-relu": ("GPT2LMHeadModel", {"activation_function": "relu"}),
    "gpt2-erf-gelu": ("GPT2LMHeadModel", {"activation_function": "gelu"}),
    "gpt2-untied": ("GPT2LMHeadModel", {"tie_word_embeddings": False}),
    "gpt2-no-prefix": ("GPT2LMHeadModel", {}, renamed(("transformer.", ""))),
    "gpt2-masks": ("GPT2LMHeadModel", {}, with_masks),
    "gpt2-shards": ("GPT2LMHeadModel", {}, sharded),
    "llama": ("LlamaForCausalLM", {}),
    "llama-theta": ("LlamaForCausalLM", {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}),
    "llama-flat-theta": ("LlamaForCausalLM", {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, flat_theta),
    "llama-tied": ("LlamaForCausalLM", {"tie_word_embeddings": True}),
    "llama-head-width": ("LlamaForCausalLM", {"head_dim": 6}),
    "llama-one-kv-head": ("LlamaForCausalLM", {"num_key_value_heads": 1}),
    "llama-all-kv-heads": ("LlamaForCausalLM", {"num_key_value_heads": 4}),
    "llama-no-prefix": ("LlamaForCausalLM", {}, renamed(("model.", ""))),
    "llama-shards": ("LlamaForCausalLM", {}, sharded),
    "bert-padded-vocabulary": ("BertForMaskedLM", {**TEXTS, "vocab_size": 640}, with_tokenizer(bert_tokenizer)),
    "bert-class-of-texts": ("BertForSequenceClassification", {**NAMES, **TEXTS, "vocab_size": 640}, with_tokenizer(bert_tokenizer)),
    "gpt2-like-smollm2": ("GPT2LMHeadModel", {"vocab_size": 640, "n_positions": 64}, with_tokenizer(tokens.smollm2)),
    "llama-like-smollm2": ("LlamaForCausalLM", {**TEXTS, "vocab_size": 640, "tie_word_embeddings": True}, with_tokenizer(tokens.smollm2)),
    "llama-like-llama2": ("LlamaForCausalLM", {**TEXTS, "vocab_size": 318}, with_tokenizer(tokens.llama2)),
    "llama-like-llama3": ("LlamaForCausalLM", {**TEXTS, "vocab_size": 640}, with_tokenizer(tokens.llama3)),
    "vit": ("ViTForImageClassification", {}),
    "vit-grey": ("ViTForImageClassification", {"num_channels": 1}),
    "vit-tanh-gelu": ("ViTForImageClassification", {"hidden_act": "gelu_new"}),
    "vit-eps": ("ViTForImageClassification", {"layer_norm_eps": 1e-3}),
    "vit-no-prefix": ("ViTForImageClassification", {}, renamed(("vit.", ""))),
    "vit-shards": ("ViTForImageClassification", {}, sharded),
}  # fmt: skip


def make(name, folder):
    """The model NAME in a folder. Biases and norms get values, so that none can be forgotten."""
    kind, keys, *changes = CASES[name]
    config, usual = FAMILY[name.split("-")[0]]
    torch.manual_seed(len(name))
    model = getattr(hf, kind)(config(**{**usual, **keys}))
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                p.add_(0.1 * torch.randn_like(p))
    model.save_pretrained(folder)
    for change in changes:
        change(folder)


def inputs(config):
    """What a model of this config reads: names of transformers and arrays."""
    r = np.random.default_rng(1)
    if config.model_type == "vit":
        shape = (2, config.num_channels, config.image_size, config.image_size)
        return {"pixel_values": r.standard_normal(shape).astype(np.float32)}
    most = getattr(config, "max_position_embeddings", None) or config.n_positions
    length = min(12, most) - 3
    ids = r.integers(0, config.vocab_size, (2, length)).astype(np.int32)
    if config.model_type not in ("bert", "roformer"):
        return {"input_ids": ids}
    pad, types = np.ones_like(ids), np.zeros_like(ids)
    pad[1, length - 3 :] = 0
    types[:, length // 2 :] = config.type_vocab_size > 1
    return {"input_ids": ids, "attention_mask": pad, "token_type_ids": types}


class Theirs:
    """transformers' model of a folder, and its outputs in float64. drift: how far the attention in
    float32 is from them; left: tensors that were missing, unexpected or of another size."""

    def __init__(self, folder, given):
        self.config = hf.AutoConfig.from_pretrained(folder)
        self.encoder = self.config.architectures[0] == "BertModel"
        kind = getattr(hf, self.config.architectures[0])
        how = dict(attn_implementation="eager", dtype=torch.float32)
        model, info = kind.from_pretrained(folder, output_loading_info=True, **how)
        self.left = sum(len(info[k]) for k in ("missing_keys", "unexpected_keys", "mismatched_keys"))
        self.weights = {k: x.clone() for k, x in model.state_dict().items()}
        _, rough = self.run(model.eval(), given, torch.float32)
        self.logits, self.attention = self.run(model.double(), given, torch.float64)
        self.drift = np.abs(rough - self.attention).max()

    @staticmethod
    def run(model, given, dtype):
        tensors = {k: torch.tensor(v) for k, v in given.items()}
        tensors = {k: v.long() if v.dtype == torch.int32 else v.to(dtype) for k, v in tensors.items()}
        with torch.no_grad():
            y = model(**tensors, output_attentions=True)
        names = ("logits", "prediction_logits", "last_hidden_state")
        return next(y[k] for k in names if k in y).numpy(), np.stack([w.numpy() for w in y.attentions])


def relative(y, expected):
    return np.abs(y - expected).max() / np.abs(expected).max()


class Oracle:
    def __init__(self, a):
        self.a, self.bad, self.count = a, 0, 0

    def heed(self, *words):
        done = subprocess.run([self.a.heed, *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"heed {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def outputs(self, run, given, t):
        names = {"input_ids": "ids", "attention_mask": "pad", "token_type_ids": "types"}
        arrays = {
            names.get(k, "pixels"): torch.tensor(v.transpose(0, 2, 3, 1).copy() if v.ndim == 4 else v)
            for k, v in given.items()
        }
        i, o = os.path.join(t, "in.safetensors"), os.path.join(t, "out.safetensors")
        save_file(arrays, i)
        subprocess.run([self.a.outputs, run, i, o], check=True)
        out = {k: v.numpy() for k, v in load_file(o).items()}
        return out["logits"], np.stack([out[f"weights.{i}"] for i in range(len(out) - 1)])

    def compare(self, run, given, logits, attention, t):
        """Relative difference of logits and difference of attention, at positions that are read."""
        y, w = self.outputs(run, given, t)
        seen = given.get("attention_mask", np.ones((1, 1))).astype(bool)
        if logits.ndim == 3 and seen.size > 1:
            y, logits = y[seen], logits[seen]
        if seen.size > 1:
            w, attention = (x.transpose(0, 1, 3, 2, 4)[:, seen] for x in (w, attention))
        return relative(y, logits) if y.shape == logits.shape else 0.0, np.abs(w - attention).max()

    def vectors(self, run, folder, t):
        """Of an encoder: vectors of texts beside the mean of transformers' outputs, of length 1 if
        the folder says so; without a tokenizer, texts are ids."""
        npy, texts = os.path.join(t, "v.npy"), ["1 2 3 4 5", "7 8"]
        has = lambda name: os.path.exists(os.path.join(folder, name))
        unit = has("modules.json") and "Normalize" in open(os.path.join(folder, "modules.json")).read()
        tokenizer = hf.AutoTokenizer.from_pretrained(folder) if has("tokenizer.json") else None
        if tokenizer:
            texts += ["A man is eating food.", "hello", "Zwei naïve Wörter, 東京!"]
        self.heed("embed", run, *texts, "--npy", npy)
        far = 0.0
        for ours, text in zip(np.load(npy), texts):
            ids = tokenizer(text)["input_ids"] if tokenizer else list(map(int, text.split()))
            mean = Theirs(folder, {"input_ids": np.array([ids], np.int32)}).logits[0].mean(0)
            far = max(far, relative(ours, mean / np.linalg.norm(mean) if unit else mean))
        return far

    def says(self, name, good, text):
        self.count, self.bad = self.count + 1, self.bad + (not good)
        print(f"{'ok    ' if good else 'FAILED'}  {name}: {text}", flush=True)

    def judge(self, run, folder, given, model, t):
        """Whether a run gives what a model of a folder does, and in words."""
        far, off = self.compare(run, given, model.logits, model.attention, t)
        if model.encoder:
            far = self.vectors(run, folder, t)
        drift = f" (transformers {model.drift:.0e})" if model.drift > ATTENTION else ""
        what = "vectors" if model.encoder else "logits"
        good = far <= LOGITS and off <= max(ATTENTION, model.drift)
        return good, f"{what} {far:.0e}, attention {off:.0e}{drift}"

    def exported(self, run, given, t):
        """A run, exported: transformers opens it and agrees; imported again it has equal bits."""
        out, again = os.path.join(t, "export"), os.path.join(t, "again")
        self.heed("export", run, "-o", out)
        model = Theirs(out, given)
        self.heed("import", out, "-o", again)
        good, text = self.judge(run, out, given, model, t)
        equal = filecmp.cmp(*(os.path.join(r, "model.safetensors") for r in (run, again)), False)
        text = f"export: {model.left} keys, {text}, {'equal' if equal else 'OTHER'} bits"
        return good and equal and model.left == 0, text, model

    def both_ways(self, name, folder, t):
        run = os.path.join(t, "run")
        given = inputs(hf.AutoConfig.from_pretrained(folder))
        model = Theirs(folder, given)
        self.heed("import", folder, "-o", run)
        good, text = self.judge(run, folder, given, model, t)
        fine, more, other = self.exported(run, given, t)
        ignored = (
            ("seq_relationship", "pooler") if model.config.architectures[0] == "BertForPreTraining" else ()
        )
        if not getattr(model.config, "tie_word_embeddings", True):
            ignored += ("cls.predictions.bias",)  # that of the decoder is used
        same = all(
            torch.equal(x, other.weights[k])
            for k, x in model.weights.items()
            if not any(i in k for i in ignored)
        )
        text = f"import: {text}; {more}; {'same' if same else 'OTHER'} weights"
        if os.path.exists(os.path.join(folder, "tokenizer.json")) and not model.encoder:
            read = self.reads(run, folder, t) and self.reads(run, os.path.join(t, "export"), t)
            fine, text = fine and read, f"{text}, {'equal' if read else 'OTHER'} ids of texts"
        self.says(name, good and fine and same, text)

    def reads(self, run, folder, t):
        """Whether a run reads the ids that AutoTokenizer makes, and gives what the model then does."""
        file, o = os.path.join(t, "line.txt"), os.path.join(t, "line.safetensors")
        tokenizer = hf.AutoTokenizer.from_pretrained(folder)
        texts = [("the red cat is calm today.",), ("the owl is odd",), ("red CAT, naïve\tdog!  [MASK] x",)]
        kind = hf.AutoConfig.from_pretrained(folder).architectures[0]
        words = "TokenClassification" in kind  # their texts are data, in which special tokens are text
        if "SequenceClassification" in kind:
            texts.append(("the red cat is calm", "a hat is a dog"))  # a pair, of two segments
        for text in texts:
            with open(file, "w") as f:
                f.write(" [SEP] ".join(text))
            subprocess.run([self.a.outputs, run, file, o], check=True, stderr=subprocess.DEVNULL)
            out, given = load_file(o), tokenizer(*text, split_special_tokens=words)
            theirs = Theirs(folder, {k: np.array([v], np.int32) for k, v in given.items()})
            y = out["logits"].numpy()
            if out["ids"].tolist() != given["input_ids"] or relative(y, theirs.logits) > LOGITS:
                return False
        return True

    def trained(self, name, words, t):
        run = os.path.join(t, "run")
        self.heed("train", *words, "--steps", "3", "--seed", "2", "-o", run)
        self.heed("export", run, "-o", os.path.join(t, "shape"))
        given = inputs(hf.AutoConfig.from_pretrained(os.path.join(t, "shape")))
        good, text, _ = self.exported(run, given, t)
        read = self.reads(run, os.path.join(t, "shape"), t)
        self.says(name, good and read, f"{text}, {'equal' if read else 'OTHER'} ids of texts")

    def known(self, folder, t):
        """A folder with inputs and outputs as NumPy writes them."""
        run, path = os.path.join(t, "run"), lambda n: os.path.join(folder, n + ".npy")
        self.heed("import", folder, "-o", run)
        given = {
            k: np.load(path("in_" + k))
            for k in ("input_ids", "attention_mask", "token_type_ids", "pixel_values")
            if os.path.exists(path("in_" + k))
        }
        given = {k: v.astype(np.int32) if v.dtype.kind == "i" else v for k, v in given.items()}
        far, off = self.compare(run, given, np.load(path("out_logits")), np.load(path("out_attentions")), t)
        self.says(
            folder,
            far <= LOGITS and off <= ATTENTION,
            f"known outputs: logits {far:.0e}, attention {off:.0e}",
        )


SHAPE = "--layers 2 --heads 2 --width 16 --ff 32 --batch 4".split()


def trainings(t):
    """Runs that heed trains: name and words of `heed train`."""
    lines = [
        f"the {a} {b} is {c} today."
        for a in ("red", "old", "odd")
        for b in ("cat", "dog", "owl")
        for c in ("calm", "loud")
    ]
    text, labelled, tagged = (os.path.join(t, n) for n in ("text.txt", "labelled.tsv", "tagged.tsv"))
    with open(text, "w") as f:
        f.write("\n".join(lines * 4) + "\n")
    with open(labelled, "w") as f:
        f.write("".join(f"{s}\t{'good' if 'calm' in s else 'bad'}\n" for s in lines * 4))
    with open(tagged, "w") as f:
        f.write(
            "".join(
                f"{s}\t{' '.join('N' if w in ('cat', 'dog', 'owl') else 'O' for w in s.split())}\n"
                for s in lines * 4
            )
        )
    llama = "--norm-kind rms --ff-kind swiglu --positions rotary --no-bias --kv-heads 1".split()
    published = (
        "--encoder attention --bracket --norm post --embed-norm --final-norm false --token-types 2 --segment-token 3".split()
    )
    bert = "--norm post --embed-norm --token-types 2 --transform-head --head-bias".split()
    for kind in ("wordpiece", "word", "char", "byte", "bpe"):
        small = ["--tokenizer", kind, "--block", "48"] + SHAPE
        yield f"mlm with {kind}", ["mlm", text, *small, *bert]
        yield f"gpt with {kind}", ["gpt", text, *small]
    yield "mlm with rotary positions", ["mlm", text, *SHAPE, *bert, "--positions", "rotary"]
    yield "gpt of LLaMA's blocks", ["gpt", text, "--tokenizer", "bpe", "--block", "48", *SHAPE, *llama]
    yield "textcls", ["textcls", labelled, "--block", "32", *SHAPE, *published, "--pool", "cls", "--pooler"]
    yield "tag", ["tag", tagged, "--block", "32", *SHAPE, *published, "--positions", "learned"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*")
    p.add_argument("--folder", action="append", default=[])
    p.add_argument("--heed", default="build/release/heed")
    p.add_argument("--outputs", default="build/release/parity-outputs")
    a = p.parse_args()
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    torch.set_num_threads(1)
    o = Oracle(a)

    def guarded(name, work, *args):
        with tempfile.TemporaryDirectory() as t:
            try:
                work(*args, t)
            except (RuntimeError, subprocess.CalledProcessError) as e:
                o.says(name, False, str(e).strip().splitlines()[-1])

    for name in CASES:
        if not a.names and not a.folder or name in a.names:
            with tempfile.TemporaryDirectory() as made:
                make(name, made)
                guarded(name, o.both_ways, name, made)
    with tempfile.TemporaryDirectory() as t:
        for name, words in trainings(t):
            if not a.names and not a.folder or name in a.names:
                guarded(name, o.trained, name, words)
    for folder in a.folder:
        known = os.path.exists(os.path.join(folder, "out_logits.npy"))
        guarded(folder, o.known if known else o.both_ways, *([folder] if known else [folder, folder]))
    print(f"{o.count - o.bad} passed, {o.bad} failed")
    return bool(o.bad)


if __name__ == "__main__":
    sys.exit(main())
