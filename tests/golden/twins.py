"""The text models of models/ as Hugging Face's, and the map between their names of parameters.

Used by make_models.py and by tests/parity. heed stacks queries, keys and values in one matrix
(out,in); BERT keeps three, GPT-2 stores its matrices as (in,out)."""

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

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


def names(kind, layers):
    """Pairs (heed's name, their names, transposed); several of theirs are stacked."""
    out = []
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


def build(kind, *, vocab, width, layers, heads, ff, block, dtype):
    """An untrained twin without dropout, with plain attention."""
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
        return BertForMaskedLM(c).to(dtype).train()
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
    return GPT2LMHeadModel(c).to(dtype).train()


def to_heed(kind, layers, tensors):
    """Their tensors (or gradients) by their names -> arrays under heed's names."""
    out = {}
    for ours, theirs, transposed in names(kind, layers):
        x = np.concatenate([np.asarray(tensors[n]) for n in theirs])
        out[ours] = np.ascontiguousarray(x.T if transposed else x)
    return out


def load(model, kind, layers, arrays):
    """Fills the twin's parameters from arrays under heed's names; those without bias are zero."""
    parameters, used = dict(model.named_parameters()), set()
    with torch.no_grad():
        for ours, theirs, transposed in names(kind, layers):
            shapes = [parameters[n].shape for n in theirs]
            if ours not in arrays and ours.endswith("bias"):
                for n in theirs:
                    parameters[n].zero_().requires_grad_(False)
            else:
                x = torch.tensor(arrays[ours])
                for n, part in zip(
                    theirs, (x.T if transposed else x).split([s[0] for s in shapes])
                ):
                    parameters[n].copy_(part)
            used |= {ours}
    assert set(arrays) <= used, f"no place for {sorted(set(arrays) - used)}"
    assert set(parameters) == {n for _, theirs, _ in names(kind, layers) for n in theirs}


def forward(model, kind, ids, pad=None, picks=None, types=None, attentions=False):
    """Logits (of the picked flat positions), and each layer's attention weights if asked for."""
    if kind == "gpt":
        y = model(input_ids=ids, output_attentions=attentions)
        return y.logits, y.attentions
    y = model.bert(
        input_ids=ids, attention_mask=pad, token_type_ids=types, output_attentions=attentions
    )
    x = y.last_hidden_state.flatten(0, 1)
    return model.cls(x if picks is None else x[picks]), y.attentions


def loss_of(model, kind, batch):
    logits, _ = forward(model, kind, batch["ids"], batch.get("pad"), batch.get("picks"))
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2), batch["labels"].flatten())


def adamw(model, lr, decay, betas=(0.9, 0.999), eps=1e-8):
    """heed's decay groups: tensors of two and more dimensions, not biases and norms."""
    every = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.AdamW(
        [
            {"params": [p for p in every if p.ndim > 1], "weight_decay": decay},
            {"params": [p for p in every if p.ndim < 2], "weight_decay": 0.0},
        ],
        lr=lr,
        betas=betas,
        eps=eps,
    )


def batch_of(arrays, i):
    return {k: torch.tensor(v[i].astype(np.int64)) for k, v in arrays.items()}
