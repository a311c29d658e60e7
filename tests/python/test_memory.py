"""Data from memory: training and evaluation on arrays and lists, inputs as lists and batches; what is refused."""
import glob
import os
import pathlib
import subprocess
import sys

import heed
import numpy as np
from heed.data import write_png
from tools import SMALL, facts, raises

PICTURES = dict(steps=30, threads=1, batch=8, lr=3e-3, image_size=8)
PAIRS = dict(tokenizer="char", layers=1, heads=2, width=16, block=8, batch=16, steps=5, threads=1)
TEXTS = dict(layers=1, heads=2, width=16, block=16, batch=8, steps=30, lr=3e-3, threads=1)


def colours(n=40):
    """Red and blue pictures, in turn."""
    x, y = np.random.default_rng(0).integers(0, 60, (n, 8, 8, 3)), np.arange(n) % 2
    x[y == 0, ..., 0] += 180
    x[y == 1, ..., 2] += 180
    return x, y


def weights(path):
    return (pathlib.Path(path) / "model.safetensors").read_bytes()


def test_pictures():
    """Of whole numbers and of fractions, with classes of numbers and names; the run keeps them, and resumes."""
    x, y = colours()
    run = heed.train("cnn", (x, y), out="run", **PICTURES)
    assert run.labels == ["0", "1"] and run.settings["data"] == "run/heed-data" and os.listdir() == ["run"]
    assert run.evaluate()["items"] < 40 and run.evaluate((x, y)) == run.evaluate()  # what it was trained on
    assert run.evaluate((x[1:], y[1:]))["items"] == 39 and run.evaluate((x[1:], y[1:]))["accuracy"] == 1
    assert heed.resume("run", steps=31).result["step"] == 31
    names = np.array(["red", "blue"])
    with raises(heed.UsageError, "run exists already", '`heed.resume("run")` continues it, `force=True` removes it'):
        heed.train("cnn", (x, y), out="run", **PICTURES)
    same = heed.train("cnn", (x / 255, names[y].tolist()), out="run", force=True, **PICTURES)
    assert same.labels == ["blue", "red"] and same.classify(x[0])[0][0] == "red" and same.evaluate((x, names[y]))["accuracy"] == 1
    with raises(heed.DataError, 'class "0" is unknown'):
        same.evaluate((x, y))
    for z, labels in ((y * 2 - 1, ["-1", "1"]), (y == 1, ["False", "True"]), (y[:, None].astype(float), ["0", "1"])):
        assert heed.train("cnn", (x[:, ::-1, ::2], z), **{**PICTURES, "steps": 1}).labels == labels
    assert heed.train("autoencoder", x[..., 0], **{**PICTURES, "steps": 1}).settings["channels"] == "1"


def test_pictures_by_paths():
    x, y = colours(20)
    for i in range(20):
        write_png(f"{i}, a.png", x[i].astype(np.uint8))
    paths = [pathlib.Path(f"{i}, a.png") for i in range(20)]
    run = heed.train("cnn", (paths, [("red", "blue")[i] for i in y]), out="run", **PICTURES)
    assert run.settings["data"] == "run/heed-data.csv" and run.classify(paths[0])[0][0] == "red"
    assert [g[0][0] for g in run.classify(paths[:3])] == [g[0][0] for g in run.classify(list(map(str, paths[:3])))] == ["red", "blue", "red"]
    with raises(heed.UsageError, "all of them by their paths"):
        heed.train("cnn", (["a.png", 5], [0, 1]), **PICTURES)
    paths = [p.rename(f"a;{i}.png") for i, p in enumerate(paths)]  # no columns of a list with semicolons
    assert len(heed.train("autoencoder", paths, **{**PICTURES, "steps": 1}).labels) == 0
    assert heed.train("cnn", (paths, ["a", "b"] * 10), **{**PICTURES, "steps": 1}).labels == ["a", "b"]


def test_refused_pictures():
    x, y = colours()
    for data, words in (((x, y[:3]), "one for each of 40"), ((x, np.full(40, np.inf)), "whole numbers or texts"),
                        ((x, np.eye(2)[y]), "y.argmax(1)"), ((x.transpose(0, 3, 1, 2), y), "x.transpose(0, 2, 3, 1)"),
                        ((x * 2, y), "from 0 to 255"), ((x, y - 0.5), "whole numbers or texts"), ((x, [None] * 40), "whole numbers or texts"),
                        ((x.astype(complex), y), "expected an array (n, height"), (([x[0], x[1][:3]], [0, 1]), "different shapes"), (x, "(pictures, classes)"),
                        ((x, None), "(pictures, classes)"), ((x, ["a\nb", "c"] * 20), "names of one line"), ((x, ["a\n", "c"] * 20), "names of one line"), ([], "found []"), (None, "found None"), (5, "found 5"),
                        ({}, "found {}"), (b"path", "found b'path'"), ((x[:0], y[:0]), "found a tuple of 2")):
        with raises(heed.UsageError, words):
            heed.train("cnn", data, out="run", **PICTURES)
    assert os.listdir() == []


CAPTIONS = dict(steps=60, batch=8, lr=3e-3, threads=1, image_size=32, width=16, filters=8)


def test_captions():
    """Of arrays and of paths, with one caption for a picture or several; the run keeps them, and resumes."""
    x, y = colours()
    texts = [f"a {('red', 'blue')[i]} picture" for i in y]
    run = heed.train("caption", (x, texts), out="run", **CAPTIONS)
    assert run.settings["data"] == "run/heed-data" and os.listdir() == ["run"] and run.caption(x[:2]) == texts[:2]
    own = run.evaluate()
    assert run.evaluate((x, texts)) == own != run.evaluate((x[1:], texts[1:]))
    os.rename("run", "moved")
    assert heed.resume("moved", steps=61).result["step"] == 61
    same = heed.train("caption", (x / 255, np.array(texts)), **CAPTIONS)
    assert same.evaluate() == own
    grey = heed.train("caption", (x[..., 0], [[t, t[2:]] for t in texts]), **{**CAPTIONS, "steps": 1})
    assert grey.settings["channels"] == "1" and grey.evaluate((x[:9, ..., 0], texts[:9]))["items"] == 9 * 4
    heed.train("caption", (x, texts), force=True, out="moved", **{**CAPTIONS, "steps": 1})
    paths = [pathlib.Path("moved/heed-data", f"{i:07}.png") for i in range(40)]
    by_path = heed.train("caption", (paths, texts), out="paths", **CAPTIONS)
    assert by_path.settings["data"] == "paths/heed-data.jsonl" and by_path.evaluate() == own
    for data, words in (((x, texts[:3]), "for each of 40 pictures"), ((x, y), "the captions are wrong"), ((x, [[]] * 40), "the captions are wrong"),
                        ((x, "a text"), "the captions are wrong"), (x, "(pictures, captions)"), ((x.transpose(0, 3, 1, 2), texts), "x.transpose(0, 2, 3, 1)"),
                        ((x[:0], []), "(pictures, captions)"), ((x, None), "(pictures, captions)")):
        with raises(heed.UsageError, words):
            heed.train("caption", data, **CAPTIONS)
    with raises(heed.UsageError, "cache_mb, the memory for pictures in MB, is out of range: expected 4 to 1048576, found 1"):
        heed.train("caption", (np.zeros((20, 256, 256, 3), np.uint8), texts[:20]), cache_mb=1, **CAPTIONS)


def test_left_over():
    """What a killed process left of its data beside a run is removed by the next training, and what one uses is not."""
    lines = pathlib.Path(facts()).read_text().splitlines()
    program = f"import heed; heed.train('gpt', {lines}, 'run', lambda r: print(flush=True), steps=10**6, **{SMALL})"
    killed = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    killed.stdout.readline()
    used, = glob.glob(".heed-data-*")
    os.utime(used, (0, 0))
    heed.train("gpt", lines, out="first", steps=1, **SMALL)
    assert os.path.exists(used)
    killed.kill(), killed.wait(), killed.stdout.close()
    pathlib.Path(used, "heed-data.txt").touch()
    os.utime(used, (0, 0))
    heed.train("gpt", lines, out="second", steps=1, **SMALL)
    assert not glob.glob(".heed-data-*")


def test_texts():
    """The lines of a file as a list give the same bits."""
    lines = pathlib.Path(facts()).read_text().splitlines()
    run, same = heed.train("gpt", lines, out="run", steps=5, **SMALL), heed.train("gpt", "my facts.txt", out="same", steps=5, **SMALL)
    assert weights("run") == weights("same") and pathlib.Path("run/heed-data.txt").read_bytes() == pathlib.Path("my facts.txt").read_bytes()
    assert run.evaluate(lines[:9]) == same.evaluate(np.array(lines[:9])) and run.evaluate() == same.evaluate()
    assert run.heads(lines[:9])["entropy"] == same.heads(lines[:9])["entropy"] and run.ablate(lines[:9]) == same.ablate(lines[:9])
    assert sorted(os.listdir()) == ["my facts.txt", "run", "same"]
    os.rename("run", "moved")
    assert heed.open("moved").evaluate() == same.evaluate() and heed.resume("moved", steps=6).result["step"] == 6
    for data in ([1, 2], [["a"]], ["a", None], [], 5, "one line\nanother", np.zeros(3), np.int64(5)):
        with raises(heed.UsageError, "expected a path, or a list of texts: found"):
            heed.train("gpt", data, **SMALL)
        with raises(heed.UsageError, "expected a path, or a list of texts: found"):
            run.evaluate(data)
    with raises(heed.UsageError, "expected Unicode"):
        heed.train("gpt", ["\ud800"], **SMALL)
    with raises(heed.UsageError, "setting val is wrong: expected a path"):
        heed.train("gpt", lines, val=lines, **SMALL)


def test_pairs_and_labels():
    pairs = [(a + b, b + a) for a in "abcdefgh" for b in "abcdefgh"]
    made = [heed.train("seq2seq", data, **PAIRS) for data in (pairs, tuple(map(list, zip(*pairs))), np.array(pairs))]
    assert len({weights(run.path) for run in made}) == 1 and made[0].evaluate(pairs) == made[1].evaluate(pairs)
    assert made[0].translate(["ab", "ba"]) == [made[0].translate("ab"), made[0].translate("ba")]
    assert len(made[0].predict(["ab", "ba"], target=["ba", "ab"])) == 2
    with raises(heed.UsageError, "expected a list of 1 texts"):
        made[0].predict(["ab"], target="ba")
    for data in (["ab"], [("a", "b", "c")], [("a", 1)], ("a", 5), [], {"a": "b"}, (["a"], None)):
        with raises(heed.UsageError, "the data is wrong"):
            heed.train("seq2seq", data, **PAIRS)
    with raises(heed.UsageError, "equally many of both", "found 1 and 2"):
        heed.train("seq2seq", (["a"], ["b", "c"]), **PAIRS)
    x, y = [f"film {i} was {'fine' if i % 2 else 'dull'}" for i in range(40)], ["good" if i % 2 else "bad" for i in range(40)]
    run = heed.train("textcls", (x, y), **TEXTS)
    assert run.labels == ["bad", "good"] and run.classify(x[:2]) == [run.classify(t) for t in x[:2]] and run.evaluate((x[1:], y[1:]))["items"] == 39
    assert heed.train("textcls", (np.array(x), np.arange(40) % 2), **TEXTS).labels == ["0", "1"]
    words, tags = [["the", a, b] for a in ("cat", "dog", "cow", "man") for b in ("sees", "runs", "eats", "is")], [["D", "N", "V"]] * 16
    run = heed.train("tag", (words, tags), **TEXTS)
    assert run.labels == ["D", "N", "V"] and [len(w) for w in run.classify(["the cat", "the dog sees"])] == [2, 3]


def test_errors_about_items():
    """They name the item, not the file that heed reads."""
    for task, data, words in (("textcls", (["a", ""], ["x", "y"]), "validate: the data: expected at least 2 different sources, found 1"),
                              ("seq2seq", [("a", "b")], "validate: the data: expected at least 2 different sources, found 1; hint: `val=FILE`, or `val_split=0`"),
                              ("cnn", (np.zeros((4, 8, 8)), [0] * 4), "too few classes: the data: expected at least 2, found 1, 0; hint: pictures of two classes")):
        with raises(heed.DataError, words):
            heed.train(task, data, steps=2)


def test_inputs_as_lists():
    """One rule: a list of inputs gives the list of what each gives."""
    mlm = heed.train("mlm", facts(), steps=5, **SMALL)
    texts = ["Paris is the capital of [MASK] .", "[MASK] is [MASK]"]
    for many in (texts, tuple(texts), np.array(texts)):
        assert mlm.fill(many, top=2) == [mlm.fill(t, top=2) for t in texts] and mlm.predict(many) == [mlm.predict(t) for t in texts]
    assert mlm.fill([mlm.encode(t) for t in texts])[1] == mlm.fill(mlm.encode(texts[1])) and len(mlm.fill(np.str_(texts[0]))) == 1
    with raises(heed.DataError, "no [MASK] in the input: Paris"):
        mlm.fill([texts[0], "Paris"])
    gpt = heed.train("gpt", facts(), steps=5, **SMALL)
    assert gpt.generate(["Paris is", "Rome"], n=3, samples=2) == [gpt.generate(t, n=3, samples=2) for t in ("Paris is", "Rome")]
    assert gpt.generate([[3, 1], np.array([4])], n=3) == [gpt.generate([3, 1], n=3), gpt.generate([4], n=3)]
    for wrong in (5, None, b"a", ["a", None], {"a"}):
        with raises(heed.UsageError, "expected a text or"):
            gpt.generate(wrong)
    x, y = colours()
    run = heed.train("cnn", (x, y), **PICTURES)
    for many in (x[:3], list(x[:3]), x[:3].astype(np.uint8), x[:3].tolist(), np.asfortranarray(x[:3]), tuple(x[:3])):
        assert run.classify(many) == [run.classify(one) for one in x[:3]], type(many)
    grey = heed.train("cnn", (x[..., 2], y), **PICTURES)
    assert grey.classify(x[:3, ..., 2]) == grey.classify(x[:3, ..., 2:]) == [grey.classify(one) for one in x[:3, ..., 2]]
    assert run.classify([]) == run.classify(x[:0]) == grey.classify(x[:0, ..., 2]) == []
    for wrong in (None, x[0, :0], x[:3].transpose(0, 3, 1, 2), x[0].transpose(2, 0, 1), {}, [x[0], None], [[1, 2], [3]]):
        with raises(heed.UsageError, "picture"):
            run.classify(wrong)
    fractions = x[0] / 255
    for wrong, words in ((x[0] > 9, "found bool; hint: x.astype(float)"), (None, "found a NoneType"), ((i for i in x), "found a generator"),
                         (fractions * 2 - 1, "hint: (x + 1) / 2"), (fractions * np.nan, "found NaN of float64"), (fractions * 255, "hint: x.astype('uint8')"),
                         ((fractions * 65280).astype(np.uint16), "hint: (x // 256).astype('uint8')")):
        with raises(heed.UsageError, words):
            run.classify(wrong)
