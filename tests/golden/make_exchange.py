#!/usr/bin/env python3
"""Models of transformers as their own save_pretrained writes them, with their outputs: exchange/NAME/
config.json, model.safetensors and expected.safetensors (the inputs ids or pixels, pad and types,
logits, and weights.N of each layer).

    python3 tests/golden/make_exchange.py       in a folder with tests/golden"""

import json
import os

import numpy as np
import torch
import transformers as hf
from safetensors.numpy import load_file, save_file

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exchange")
BERT = dict(
    vocab_size=29,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=24,
    max_position_embeddings=12,
    initializer_range=0.25,
    attn_implementation="eager",
)


def spread(model):
    """Biases and norms get values, too, so that none can be forgotten."""
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                p.add_(0.1 * torch.randn_like(p))
    return model.eval()


def save(name, model, given, arrays):
    folder = os.path.join(HERE, name)
    model.save_pretrained(folder)
    os.path.exists(f := os.path.join(folder, "generation_config.json")) and os.remove(f)
    with torch.no_grad():
        y = model(**given, output_attentions=True)
    out = {k: v.numpy().astype(np.int32 if v.dtype == torch.int64 else np.float32) for k, v in arrays.items()}
    out["logits"] = (y.logits if "logits" in y else y.last_hidden_state).numpy()
    for i, w in enumerate(y.attentions):
        out[f"weights.{i}"] = w.numpy()
    save_file(out, os.path.join(folder, "expected.safetensors"))


def texts(seed):
    torch.manual_seed(seed)
    ids = torch.randint(0, 29, (2, 9))
    pad = torch.ones_like(ids)
    pad[1, 6:] = 0
    types = torch.zeros_like(ids)
    types[:, 4:] = 1
    return ids, pad, types


def bert(name, kind, seed, typed=True, config=hf.BertConfig, **more):
    ids, pad, types = texts(seed)
    types *= typed
    model = spread(kind(config(**BERT, **more)))
    given = {"input_ids": ids, "attention_mask": pad, "token_type_ids": types}
    save(name, model, given, {"ids": ids, "pad": pad, "types": types})
    return model


def without(name, tensor):
    """Removes a tensor that heed does not write: a table that the class computes."""
    path = os.path.join(HERE, name, "model.safetensors")
    kept = {k: v for k, v in load_file(path).items() if k != tensor}
    save_file(kept, path, metadata={"format": "pt"})


def sentences(name, model):
    """The folder as one of sentence-transformers; the vectors of 3 1 4 15 9 (mean, length 1), and of
    its [CLS], the first token."""
    folder = os.path.join(HERE, name)
    os.makedirs(os.path.join(folder, "1_Pooling"), exist_ok=True)
    kinds = ("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")
    modules = [
        {"idx": i, "name": str(i), "path": p, "type": f"sentence_transformers.models.{k}"}
        for i, (p, k) in enumerate(kinds)
    ]
    with open(os.path.join(folder, "modules.json"), "w") as f:
        json.dump(modules, f)
    with open(os.path.join(folder, "1_Pooling", "config.json"), "w") as f:
        json.dump({"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, f)
    with torch.no_grad():
        x = model(torch.tensor([[3, 1, 4, 15, 9]])).last_hidden_state
    mean = torch.nn.functional.normalize(x.mean(1))
    save_file({"mean": mean.numpy(), "cls": x[:, 0].numpy()}, os.path.join(folder, "vectors.safetensors"))


PICTURES = {  # processors of Pillow for a picture of 23 x 17 pixels
    "exact": {"size": {"height": 8, "width": 8}, "resample": 2},
    "bicubic": {"size": {"height": 8, "width": 8}, "resample": 3},
    "crop": {"size": {"shortest_edge": 12}, "resample": 3, "do_center_crop": True, "crop_size": {"height": 8, "width": 8}},
    "lanczos": {"size": {"height": 8, "width": 8}, "resample": 1, "image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]},
    "nearest": {"size": {"height": 8, "width": 8}, "resample": 0, "do_normalize": False},
    "scaled": {"size": {"height": 8, "width": 8}, "resample": 2, "rescale_factor": 1 / 127.5, "image_mean": [1, 1, 1], "image_std": [1, 1, 1]},
}


def pictures(folder):
    """PROCESSOR.json and its pixels, of a picture whose byte number i is 97 i^2 + 31 i mod 251, and of
    the same bytes as a picture that is taller than wide."""
    from PIL import Image

    i = np.arange(17 * 23 * 3, dtype=np.int64)
    picture = ((97 * i * i + 31 * i) % 251).astype(np.uint8)
    out = {}
    for name, settings in PICTURES.items():
        processor = hf.ViTImageProcessorPil(**settings)
        for shape, key in (((17, 23, 3), name), ((9, 43, 3), "flat " + name), ((43, 9, 3), "tall " + name)):
            given = Image.fromarray(picture[: 9 * 43 * 3 if key != name else None].reshape(shape))
            y = processor(given, return_tensors="np")["pixel_values"][0]
            out[key] = np.ascontiguousarray(y.transpose(1, 2, 0))
        with open(os.path.join(folder, f"{name}.json"), "w") as f:
            f.write(processor.to_json_string())
    save_file(out, os.path.join(folder, "pictures.safetensors"))


def main():
    bert("bert", hf.BertForMaskedLM, 1)
    sentences("bert-encoder", bert("bert-encoder", hf.BertModel, 2))
    names = {"id2label": {0: "no", 1: "yes", 2: "may be"}, "label2id": {"no": 0, "yes": 1, "may be": 2}}
    bert("bert-class", hf.BertForSequenceClassification, 4, False, **names)
    bert("bert-tags", hf.BertForTokenClassification, 5, False, **names)
    bert("roformer", hf.RoFormerForMaskedLM, 6, config=hf.RoFormerConfig)
    without("roformer", "roformer.encoder.embed_positions.weight")
    ids = texts(3)[0]
    gpt2 = hf.GPT2Config(
        vocab_size=29, n_embd=16, n_layer=2, n_head=2, n_positions=12, initializer_range=0.25,
        attn_implementation="eager", bos_token_id=0, eos_token_id=0,
    )
    save("gpt2", spread(hf.GPT2LMHeadModel(gpt2)), {"input_ids": ids}, {"ids": ids})
    llama = hf.LlamaConfig(
        vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=24, max_position_embeddings=12, rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
        initializer_range=0.25, attn_implementation="eager", bos_token_id=0, eos_token_id=0,
    )
    save("llama", spread(hf.LlamaForCausalLM(llama)), {"input_ids": ids}, {"ids": ids})
    vit = hf.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, image_size=8,
        patch_size=4, initializer_range=0.25, attn_implementation="eager",
        id2label={0: "cat", 1: "dog", 2: "red bird"}, label2id={"cat": 0, "dog": 1, "red bird": 2},
    )
    pixels = torch.randn(2, 3, 8, 8)
    save("vit", spread(hf.ViTForImageClassification(vit)), {"pixel_values": pixels}, {"pixels": pixels.permute(0, 2, 3, 1).contiguous()})
    pictures(os.path.join(HERE, "vit"))


main()
