#!/usr/bin/env python3
"""Pictures as heed reads them beside the Pillow-based image processor of transformers.

    make parity
    python3 tests/parity/pixels.py [--folder PICTURES]

A tiny ViT with each preprocessor_config.json is imported, exported and imported again; both runs read
pictures of several sizes and modes (and up to 20 of a folder). Bar: 1/255 of the range of a pixel,
before mean and deviation are applied. Skips without transformers."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
    import transformers as hf
    from PIL import Image
    from safetensors.numpy import load_file
except ImportError:
    print("skipped: the Python packages torch, transformers, safetensors and pillow are needed")
    sys.exit(0)

SQUARE, SIDE = {"height": 32, "width": 32}, 32
CROP = {"do_center_crop": True, "crop_size": SQUARE}
PROCESSORS = {
    "defaults": {"size": SQUARE},
    "nearest": {"size": SQUARE, "resample": 0},
    "lanczos": {"size": SQUARE, "resample": 1},
    "bilinear": {"size": SQUARE, "resample": 2},
    "bicubic": {"size": SQUARE, "resample": 3},
    "shortest edge, crop": {"size": {"shortest_edge": 40}, "resample": 3, **CROP},
    "shortest edge, no margin": {"size": {"shortest_edge": 32}, "resample": 2, **CROP},
    "odd margin": {"size": {"shortest_edge": 37}, "resample": 1, **CROP},
    "mean and deviation": {"size": SQUARE, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]},
    "no mean": {"size": SQUARE, "do_normalize": False},
    "rescale factor": {"size": SQUARE, "rescale_factor": 1 / 127.5, "image_mean": [1, 1, 1], "image_std": [1, 1, 1]},
    "no rescaling": {"size": SQUARE, "do_rescale": False, "image_mean": [127.5] * 3, "image_std": [127.5] * 3},
}  # fmt: skip


def pictures(t, folder):
    r = np.random.default_rng(3)
    for name, shape, mode in (("wide", (41, 97), "RGB"), ("tall", (120, 50), "RGB"), ("small", (9, 13), "RGB"),
                              ("equal", (32, 32), "RGB"), ("grey", (50, 60), "L")):  # fmt: skip
        deep = () if mode == "L" else (len(mode),)
        smooth = np.kron(
            r.integers(0, 256, (shape[0] // 8 + 1, shape[1] // 8 + 1) + deep),
            np.ones((8, 8) + (1,) * len(deep)),
        )
        noise = r.integers(-40, 40, shape + deep)
        x = np.clip(smooth[: shape[0], : shape[1]] + noise, 0, 255).astype(np.uint8)
        path = os.path.join(t, f"{name}.png")
        Image.fromarray(x, mode).save(path)
        yield path
    names = sorted(os.listdir(folder))[:20] if folder else []
    yield from (os.path.join(folder, n) for n in names if n.lower().endswith((".png", ".bmp")))


def model(t, folder, processor):
    if not os.path.exists(os.path.join(t, "vit")):
        config = hf.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
                              image_size=SIDE, patch_size=8)  # fmt: skip
        hf.ViTForImageClassification(config).save_pretrained(os.path.join(t, "vit"))
    os.makedirs(folder)
    for name in ("config.json", "model.safetensors"):
        os.link(os.path.join(t, "vit", name), os.path.join(folder, name))
    processor.save_pretrained(folder)


def apart(a, run, processor, path, t):
    out = os.path.join(t, "out.safetensors")
    subprocess.run([a.outputs, run, path, out], check=True)
    ours = load_file(out)["pixels"][0]
    picture = Image.open(path).convert("RGB")
    theirs = processor(picture, return_tensors="np")["pixel_values"][0].transpose(1, 2, 0)
    scale = np.array(processor.image_std) if processor.do_normalize else 1.0
    unit = processor.rescale_factor * 255 if processor.do_rescale else 255.0
    return np.abs((ours - theirs) * scale / unit).max()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder")
    p.add_argument("--heed", default="build/release/heed")
    p.add_argument("--outputs", default="build/release/parity-outputs")
    a = p.parse_args()
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    bad = 0
    with tempfile.TemporaryDirectory() as t:
        paths = list(pictures(t, a.folder))
        for i, (name, settings) in enumerate(PROCESSORS.items()):
            processor = hf.ViTImageProcessorPil(**settings)
            folder, run, out, again = (
                os.path.join(t, f"{k}{i}") for k in ("model", "run", "export", "again")
            )
            model(t, folder, processor)
            heed = lambda *words: subprocess.run([a.heed, *words], check=True, stdout=subprocess.DEVNULL)
            heed("import", folder, "-o", run)
            heed("export", run, "-o", out)
            heed("import", out, "-o", again)
            exported = hf.ViTImageProcessorPil.from_pretrained(out)
            far = max(apart(a, run, processor, path, t) for path in paths)
            back = max(apart(a, again, exported, path, t) for path in paths)
            good = max(far, back) <= 1.001 / 255
            bad += not good
            print(
                f"{'ok    ' if good else 'FAILED'}  {name}: {255 * far:.3f}/255, exported {255 * back:.3f}/255 ({len(paths)} pictures)"
            )
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
