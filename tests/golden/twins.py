"""The models of models/ as Hugging Face's (the cnn in PyTorch's own layers), and the map between
their names of parameters.

Used by make_models.py and by tests/parity. heed stacks queries, keys and values in one matrix
(out,in); BERT and ViT keep three, GPT-2 stores its matrices as (in,out)."""

import numpy as np
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    ViTConfig,
    ViTForImageClassification,
)

from blocks import Block, ConvBlock, softmax_over
from captions import CAPTIONS
from readers import OWN as TEXTS
from readers import READERS
from reconstructors import RECONSTRUCTORS

OWN = {**TEXTS, **RECONSTRUCTORS}

BLOCK_BERT = {
    "attn.out": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "mlp.up": "intermediate.dense",
    "mlp.down": "output.dense",
    "norm2": "output.LayerNorm",
}
BLOCK_GPT = {
    "attn.qkv": "attn.c_attn",
    "attn.out": "attn.c_proj",
    "norm1": "ln_1",
    "mlp.up": "mlp.c_fc",
    "mlp.down": "mlp.c_proj",
    "norm2": "ln_2",
}
BLOCK_VIT = {
    "attn.out": "attention.o_proj",
    "norm1": "layernorm_before",
    "mlp.up": "mlp.fc1",
    "mlp.down": "mlp.fc2",
    "norm2": "layernorm_after",
}
BLOCK_LLAMA = {
    "attn.out": "self_attn.o_proj",
    "norm1": "input_layernorm",
    "mlp.gate": "mlp.gate_proj",
    "mlp.up": "mlp.up_proj",
    "mlp.down": "mlp.down_proj",
    "norm2": "post_attention_layernorm",
}
UNDECAYED = ("vit.embeddings.cls_token", "vit.embeddings.position_embeddings")


class Cnn(nn.Module):
    def __init__(self, channels, width, stages, blocks, classes):
        super().__init__()
        parts = {"conv": nn.Conv2d(channels, width, 3, 1, 1, bias=False)}
        self.stem = nn.ModuleDict({**parts, "norm": nn.BatchNorm2d(width)})
        self.stage = nn.ModuleList()
        for i in range(stages):
            out = width << i
            first = ConvBlock(width << max(i - 1, 0), out, 2 if i else 1)
            self.stage.append(
                nn.ModuleList([first] + [ConvBlock(out, out, 1) for _ in range(blocks - 1)])
            )
        self.head = nn.Linear(width << (stages - 1), classes)

    def forward(self, x):
        x = self.stem["norm"](self.stem["conv"](x)).relu()
        for stage in self.stage:
            for block in stage:
                x = block(x)
        return self.head(x.mean((2, 3)))


def embeddings(vocab, source_vocab, width, share):
    if share:
        return nn.ModuleDict({"token": nn.Embedding(vocab, width)})
    tables = {"source": nn.Embedding(source_vocab, width), "target": nn.Embedding(vocab, width)}
    return nn.ModuleDict(tables)


class Seq2Seq(nn.Module):
    """Vaswani et al. 2017 (share: post-norm, ReLU, sinusoids, scaled embeddings), and the variant of
    the benchmark: pre-norm, GELU, learned positions, embeddings of their own; with kv_heads of
    LLaMA's blocks, which need no other positions."""

    def __init__(self, vocab, source_vocab, width, layers, heads, ff, block, share, kv_heads=None):
        super().__init__()
        self.share, self.width, self.layers, self.llama = share, width, layers, kv_heads is not None
        self.embed = embeddings(vocab, source_vocab, width, share)
        act = torch.relu if share else nn.functional.gelu
        stack = lambda cross: nn.ModuleList(
            Block(width, heads, ff, not share, act, cross, kv_heads) for _ in range(layers)
        )
        self.encoder, self.decoder = stack(False), stack(True)
        if not share:
            for side, blocks in (("source", self.encoder), ("target", self.decoder)):
                if not self.llama:
                    self.embed[f"{side}_position"] = nn.Embedding(block, width)
                norm = nn.RMSNorm(width, eps=1e-5) if self.llama else nn.LayerNorm(width)
                blocks.add_module("norm", norm)

    def embedded(self, ids, side):
        if self.llama:
            return self.embed[side](ids)
        if not self.share:
            return self.embed[side](ids) + self.embed[side + "_position"].weight[: ids.shape[1]]
        x, i = self.embed["token"](ids) * self.width**0.5, torch.arange(0, self.width, 2)
        angle = torch.arange(ids.shape[1])[:, None] / 10000.0 ** (i.double() / self.width)
        return x + torch.stack([angle.sin(), angle.cos()], -1).flatten(1).to(x.dtype)

    def forward(self, source, pad, ids):
        seen = (pad != 0)[:, None, None]
        past = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        m, x, kept = self.embedded(source, "source"), self.embedded(ids, "target"), {}
        for i in range(self.layers):
            m, (kept[f"encoder.{i}.attn.weights"],) = self.encoder[i](m, seen)
        m = m if self.share else self.encoder.norm(m)
        for i in range(self.layers):
            x, weights = self.decoder[i](x, past, m, seen)
            kept[f"decoder.{i}.attn.weights"], kept[f"decoder.{i}.cross.weights"] = weights
        x = x if self.share else self.decoder.norm(x)
        return nn.functional.linear(x, self.embed["token" if self.share else "target"].weight), kept


class Rnn(nn.Module):
    """Bahdanau et al. 2015 with GRU cells (share: both ways, s_0 from a dense layer), and the
    variant of the benchmark: one way, s_0 the last state, embeddings of their own, every bias."""

    def __init__(self, vocab, source_vocab, width, share):
        super().__init__()
        ways = 2 if share else 1
        self.share, self.embed = share, embeddings(vocab, source_vocab, width, share)
        self.encoder = nn.GRU(width, width, batch_first=True, bidirectional=share)
        self.decoder = nn.GRU((1 + ways) * width, width, batch_first=True)
        parts = {
            "w": nn.Linear(width, width, bias=not share),
            "u": nn.Linear(ways * width, width),
            "score": nn.Linear(width, 1, bias=not share),
        }
        self.decoder.attend = nn.ModuleDict(parts)
        if share:
            self.bridge = nn.ModuleList([nn.Linear(2 * width, width)])
        self.head = nn.Linear((1 + ways) * width, vocab)

    def forward(self, source, pad, ids):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed["token" if self.share else "source"](source),
            pad.sum(1),
            batch_first=True,
            enforce_sorted=False,
        )
        h, last = self.encoder(packed)
        h, _ = nn.utils.rnn.pad_packed_sequence(h, batch_first=True, total_length=pad.shape[1])
        s = last if not self.share else self.bridge[0](torch.cat(list(last), -1)).tanh()[None]
        y, a = self.embed["token" if self.share else "target"](ids), self.decoder.attend
        keys, out, kept = a["u"](h), [], []
        for t in range(ids.shape[1]):
            e = a["score"](torch.tanh(a["w"](s[0])[:, None] + keys))[..., 0]
            kept.append(softmax_over(e, pad != 0))
            c = torch.bmm(kept[-1][:, None], h)
            x, s = self.decoder(torch.cat([y[:, t : t + 1], c], -1), s)
            out.append(torch.cat([x, c], -1))
        kept = {"decoder.attend.weights": torch.stack(kept, 1)}
        return self.head(torch.cat(out, 1)), kept


OWN = {**OWN, **CAPTIONS}
PAIRS = {"seq2seq": Seq2Seq, "seq2seq-small": Seq2Seq, "seq2seq-llama": Seq2Seq, "rnn": Rnn, "rnn-attn": Rnn}


def names(kind, layers):
    """Pairs (heed's name, their names, transposed); several of theirs are stacked."""
    out = []
    if kind == "gpt-llama":
        pairs = {"embed.token": "model.embed_tokens", "norm": "model.norm", "head": "lm_head"}
        for i in range(layers):
            b = f"model.layers.{i}."
            pairs.update({f"decoder.{i}.{ours}": b + theirs for ours, theirs in BLOCK_LLAMA.items()})
            qkv = [f"{b}self_attn.{x}_proj.weight" for x in "qkv"]
            out.append((f"decoder.{i}.attn.qkv.weight", qkv, False))
        return out + [(f"{o}.weight", [f"{t}.weight"], False) for o, t in pairs.items()]
    if kind == "vit":
        e = "vit.embeddings."
        out += [
            ("embed.cls", [e + "cls_token"], False),
            ("embed.position.weight", [e + "position_embeddings"], False),
        ]
        pairs = {
            "embed.patch": e + "patch_embeddings.projection",
            "norm": "vit.layernorm",
            "head": "classifier",
        }
        for i in range(layers):
            b = f"vit.layers.{i}."
            pairs.update({f"encoder.{i}.{ours}": b + theirs for ours, theirs in BLOCK_VIT.items()})
            out += [
                (f"encoder.{i}.attn.qkv.{w}", [f"{b}attention.{x}_proj.{w}" for x in "qkv"], False)
                for w in ("weight", "bias")
            ]
        for ours, theirs in pairs.items():
            out += [(f"{ours}.{w}", [f"{theirs}.{w}"], False) for w in ("weight", "bias")]
        return out
    if kind == "mlm":
        e = "bert.embeddings."
        out += [
            (f"embed.{ours}.weight", [f"{e}{theirs}_embeddings.weight"], False)
            for ours, theirs in (
                ("token", "word"),
                ("position", "position"),
                ("type", "token_type"),
            )
        ]
        pairs = {
            "embed.norm": e + "LayerNorm",
            "head.dense": "cls.predictions.transform.dense",
            "head.norm": "cls.predictions.transform.LayerNorm",
        }
        for i in range(layers):
            b = f"bert.encoder.layer.{i}."
            pairs.update({f"encoder.{i}.{ours}": b + theirs for ours, theirs in BLOCK_BERT.items()})
            out += [
                (
                    f"encoder.{i}.attn.qkv.{w}",
                    [f"{b}attention.self.{x}.{w}" for x in ("query", "key", "value")],
                    False,
                )
                for w in ("weight", "bias")
            ]
        out.append(("head.bias", ["cls.predictions.bias"], False))
    else:
        out += [
            ("embed.token.weight", ["transformer.wte.weight"], False),
            ("embed.position.weight", ["transformer.wpe.weight"], False),
        ]
        pairs = {"norm": "transformer.ln_f"}
        for i in range(layers):
            pairs.update(
                {
                    f"decoder.{i}.{ours}": f"transformer.h.{i}.{theirs}"
                    for ours, theirs in BLOCK_GPT.items()
                }
            )
    for ours, theirs in pairs.items():
        conv1d = kind == "gpt" and "norm" not in ours
        out += [
            (f"{ours}.weight", [f"{theirs}.weight"], conv1d),
            (f"{ours}.bias", [f"{theirs}.bias"], False),
        ]
    return out


def build(kind, *, dtype, **shape):
    """An untrained twin without dropout, with plain attention."""
    if kind == "vit":
        return build_vit(**shape).to(dtype).train()
    if kind == "cnn":
        return Cnn(**shape).to(dtype).train()
    if kind == "gpt-llama":
        return build_llama(**shape).to(dtype).train()
    if kind in PAIRS or kind in OWN:
        return {**PAIRS, **OWN}[kind](**shape).to(dtype).train()
    return build_text(kind, **shape).to(dtype).train()


def build_vit(*, size, channels, patch, width, layers, heads, ff, classes):
    c = ViTConfig(
        image_size=size,
        patch_size=patch,
        num_channels=channels,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=ff,
        num_labels=classes,
        layer_norm_eps=1e-12,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    return ViTForImageClassification(c)


def build_llama(*, vocab, width, layers, heads, kv_heads, ff, block):
    c = LlamaConfig(
        vocab_size=vocab,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        intermediate_size=ff,
        max_position_embeddings=block,
        rms_norm_eps=1e-5,
        hidden_act="silu",
        tie_word_embeddings=False,
        attn_implementation="eager",
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(c)


def build_text(kind, *, vocab, width, layers, heads, ff, block):
    if kind == "mlm":
        c = BertConfig(
            vocab_size=vocab,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=ff,
            max_position_embeddings=block,
            type_vocab_size=2,
            layer_norm_eps=1e-12,
            hidden_act="gelu",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            attn_implementation="eager",
        )
        return BertForMaskedLM(c)
    c = GPT2Config(
        vocab_size=vocab,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        n_inner=ff,
        n_positions=block,
        layer_norm_epsilon=1e-5,
        activation_function="gelu_new",
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        attn_implementation="eager",
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPT2LMHeadModel(c)


def to_heed(kind, layers, tensors):
    """Their tensors (or gradients) by their names -> arrays under heed's names."""
    if kind == "cnn" or kind in PAIRS or kind in OWN:
        return {n: np.asarray(x) for n, x in tensors.items()}
    out = {}
    for ours, theirs, transposed in names(kind, layers):
        x = np.concatenate([np.asarray(tensors[n]) for n in theirs])
        out[ours] = np.ascontiguousarray(x.T if transposed else x)
    return out


def load(model, kind, layers, arrays):
    """Fills the twin's parameters from arrays under heed's names; those without bias are zero."""
    if kind == "cnn" or kind in PAIRS or kind in OWN:
        model.load_state_dict({n: torch.tensor(x) for n, x in arrays.items()}, strict=False)
        return
    parameters, used = dict(model.named_parameters()), set()
    with torch.no_grad():
        for ours, theirs, transposed in names(kind, layers):
            if ours not in arrays and ours.endswith("bias"):
                for n in theirs:
                    parameters[n].zero_().requires_grad_(False)
            else:
                x = torch.tensor(arrays[ours])
                x = x.T if transposed else x
                sizes = [len(x)] if len(theirs) == 1 else [len(parameters[n]) for n in theirs]
                for n, part in zip(theirs, x.split(sizes)):
                    parameters[n].copy_(part.reshape(parameters[n].shape))
            used |= {ours}
    assert set(arrays) <= used, f"no place for {sorted(set(arrays) - used)}"
    assert set(parameters) == {n for _, theirs, _ in names(kind, layers) for n in theirs}


def forward(model, kind, ids, pad=None, picks=None, types=None, attentions=False, source=None, picture=None):
    """Logits (of the picked flat positions), and each layer's attention weights if asked for; of
    pairs by the path of the probe, and pad is the source's."""
    if kind in PAIRS:
        return model(source, pad, ids)
    if kind in RECONSTRUCTORS:
        return model(ids, picks)
    if kind in CAPTIONS:
        return model(picture, ids)
    if kind in OWN:
        return model(source, pad) if kind in READERS else model(ids)
    if kind == "cnn":
        return model(ids), ()
    if kind == "vit":
        y = model(pixel_values=ids, output_attentions=attentions)
        return y.logits, y.attentions
    if kind in ("gpt", "gpt-llama"):
        y = model(input_ids=ids, output_attentions=attentions)
        return y.logits, y.attentions
    y = model.bert(
        input_ids=ids, attention_mask=pad, token_type_ids=types, output_attentions=attentions
    )
    x = y.last_hidden_state.flatten(0, 1)
    return model.cls(x if picks is None else x[picks]), y.attentions


def cached(model, ids, start):
    """Logits after each of the tokens of one text from `start` on, read one by one from the cache."""
    y = model(input_ids=ids[None, :start], use_cache=True)
    out = [y.logits[0, -1]]
    for i in range(start, len(ids)):
        past = y.past_key_values
        y = model(input_ids=ids[None, i : i + 1], past_key_values=past, use_cache=True)
        out.append(y.logits[0, -1])
    return torch.stack(out)


def loss_of(model, kind, batch, smoothing=0.0):
    if kind in RECONSTRUCTORS:
        return model.loss(batch["ids"], batch.get("picks"))
    logits, _ = forward(
        model,
        kind,
        batch.get("ids"),
        batch.get("pad"),
        batch.get("picks"),
        source=batch.get("src"),
        picture=batch.get("picture"),
    )
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, -2), batch["labels"].flatten(), label_smoothing=smoothing
    )


def adamw(model, lr, decay, betas=(0.9, 0.999), eps=1e-8):
    """heed's decay groups: tensors of two and more dimensions, not biases and norms; of vit's
    embeddings the patches' alone."""
    every = {n: p for n, p in model.named_parameters() if p.requires_grad}
    undecayed = getattr(model, "undecayed", UNDECAYED)
    matrices = {n for n, p in every.items() if p.ndim > 1 and n not in undecayed}
    return torch.optim.AdamW(
        [
            {"params": [every[n] for n in every if n in matrices], "weight_decay": decay},
            {"params": [every[n] for n in every if n not in matrices], "weight_decay": 0.0},
        ],
        lr=lr,
        betas=betas,
        eps=eps,
    )


def batch_of(arrays, i, dtype=torch.float32):
    """Batch i: indices; pictures "x" (B,H,W,C) as (B,C,H,W), called ids if there are no others."""
    out = {k: torch.tensor(v[i].astype(np.int64)) for k, v in arrays.items() if k != "x"}
    if "x" in arrays:
        x = torch.tensor(arrays["x"][i]).to(dtype).permute(0, 3, 1, 2)
        out["picture" if "ids" in out else "ids"] = x
    return out
