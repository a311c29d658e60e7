"""samples.py -- files for `heed view`, made without NumPy: a text, pairs, a picture, 256 tokens, hostile tokens."""
import array
import json
import math
import random
import struct
import zipfile


def npy(kind, shape, raw):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (kind, "".join(f"{n}, " for n in shape))
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + raw


def save(path, arrays):
    """arrays: name -> (kind, shape, bytes)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        for name, (kind, shape, raw) in arrays.items():
            z.writestr(name + ".npy", npy(kind, shape, raw))


def floats(shape, values):
    a = array.array("f", values)
    assert len(a) == math.prod(shape), (len(a), shape)
    return "<f4", shape, a.tobytes()


def texts(tokens):
    n = max(map(len, tokens))
    return f"<U{n}", (len(tokens),), b"".join(t.encode("utf-32-le").ljust(4 * n, b"\0") for t in tokens)


def softmax(scores):
    top = max(scores)
    e = [math.exp(s - top) for s in scores]
    total = sum(e)
    return [x / total for x in e]


def attention(r, heads, rows, cols, causal=False, style=None):
    """Rows of weights that look like heads do: one before, one wide, one on the first token, one on like content."""
    out = []
    for h in range(heads):
        kind = (style if style is not None else h) % 4
        content = [r.random() * 6 for _ in range(cols)]
        for q in range(rows):
            at = q * cols / rows
            score = {0: lambda k: -abs(k - at + 1) * 1.6, 1: lambda k: content[k] * 0.4, 2: lambda k: 4.0 * (k == 0),
                     3: lambda k: -abs(k - at) * 0.7 + content[k] * 0.3}[kind]
            n = q + 1 if causal else cols
            out += softmax([score(k) + r.random() for k in range(n)]) + [0.0] * (cols - n)
    return out


def block(path, stack, layer, heads, queries, keys, **more):
    return dict({"path": path, "stack": stack, "layer": layer, "heads": list(range(heads)), "queries": queries, "keys": keys,
                 "key": 0, "value": 0, "beta": 0, "causal": False, "hard": False, "additive": False}, **more)


def from_one(part):
    """Layers, heads and positions count from 0 here and from 1 in files; below 0 they are null."""
    up = lambda n: None if n is None or n < 0 else n + 1
    names = {"query": "position"}
    return {names.get(key, key): up(n) if key in ("layer", "head", "query") else [up(i) for i in n] if key == "heads" else n for key, n in part.items()}


def record(path, arrays, **meta):
    """What heed attend --npz writes."""
    meta.update({part: [from_one(p) for p in meta.get(part, [])] for part in ("blocks", "maps", "guesses")})
    raw = json.dumps(dict({"heed": "attention 2", "title": "", "model": "", "task": "", "step": -1}, **meta)).encode()
    save(path, dict(arrays, record=("|u1", (len(raw),), raw)))


def text(path, step=300, seed=1, sharp=1.0):
    """A language model that fills in a mask: 3 layers, 4 heads, q and k that give the very weights, maps, guesses."""
    r = random.Random(seed)
    tokens = ["[CLS]", "Paris", "is", "the", "capital", "of", "[MASK]", ".", "[SEP]"]
    n, heads, e, arrays, blocks = len(tokens), 4, 8, {}, []
    for layer in range(3):
        q = [r.gauss(0, 1.3 * sharp) for _ in range(heads * n * e)]
        k = [r.gauss(0, 1.3) for _ in range(heads * n * e)]
        w = []
        for h in range(heads):
            for i in range(n):
                dots = [sum(q[(h * n + i) * e + u] * k[(h * n + j) * e + u] for u in range(e)) for j in range(n)]
                w += softmax([d / math.sqrt(e) for d in dots])
        name = f"encoder.{layer}.attn"
        arrays.update({name + ".weights": floats((heads, n, n), w), name + ".q": floats((heads, n, e), q), name + ".k": floats((heads, n, e), k)})
        blocks.append(block(name, "encoder", layer, heads, 0, 0, key=e, beta=1 / math.sqrt(e)))
    roll = attention(r, 1, n, n, style=3)
    change = [r.gauss(0, 0.2) for _ in range(n * n)]
    arrays.update({"maps.0": floats((n, n), roll), "maps.1": floats((n, n), change)})
    maps = [{"name": "rollout", "help": "attention through all layers (Abnar and Zuidema 2020)", "layer": -1, "head": -1, "stack": "encoder", "queries": 0, "keys": 0},
            {"name": "occlusion", "help": "fall of the answer's log probability without the token", "layer": -1, "head": -1, "stack": "encoder", "queries": 0, "keys": 0}]
    guesses = [{"axis": 0, "query": 6, "says": "[MASK]", "tokens": [{"token": t, "p": p} for t, p in (("France", 0.83), ("Spain", 0.07), ("Italy", 0.04))]}]
    record(path, arrays, title="Paris is the capital of [MASK] .", model=f"mlm, 3 layers, 4 heads, step {step}", task="mlm", step=step,
           axes=[{"name": "text", "labels": tokens, "special": [1, 0, 0, 0, 0, 0, 0, 0, 1]}], blocks=blocks, maps=maps, guesses=guesses)


def gpt(path, n=24):
    r = random.Random(2)
    tokens = [c for c in "The king went home.\n And"][:n]
    heads, arrays, blocks = 4, {}, []
    for layer in range(2):
        name = f"decoder.{layer}.attn"
        arrays[name + ".weights"] = floats((heads, n, n), attention(r, heads, n, n, True))
        blocks.append(block(name, "decoder", layer, heads, 0, 0, causal=True))
    guesses = [{"axis": 0, "query": i, "says": f"token {i + 2}", "tokens": [{"token": tokens[i + 1] if i + 1 < n else "e", "p": 0.5 + i / 100}, {"token": " ", "p": 0.2}]} for i in range(n)]
    record(path, arrays, title="The king went home.\n And", model="gpt, 2 layers, 4 heads", task="gpt", axes=[{"name": "text", "labels": tokens}], blocks=blocks, guesses=guesses)


def pairs(path):
    """Encoder, decoder and cross attention of other sizes each."""
    r = random.Random(3)
    source, target = list("March 5, 1999") + ["[SEP]"], ["[BOS]"] + list("1999-03-05")
    s, t, arrays, blocks = len(source), len(target), {}, []
    for name, stack, rows, cols, a, b, style in (("encoder.0.attn", "encoder", s, s, 0, 0, None), ("decoder.0.attn", "decoder", t, t, 1, 1, None), ("decoder.0.cross", "cross", t, s, 1, 0, 3)):
        arrays[name + ".weights"] = floats((4, rows, cols), attention(r, 4, rows, cols, stack == "decoder", style))
        blocks.append(block(name, stack, 0, 4, a, b, causal=stack == "decoder"))
    record(path, arrays, title="March 5, 1999", model="seq2seq", task="seq2seq", blocks=blocks, axes=[
        {"name": "source", "labels": source, "special": [0] * 13 + [1]}, {"name": "target", "labels": target, "special": [1] + [0] * 10}],
        guesses=[{"axis": 1, "query": i, "says": f"token {i + 2}", "tokens": [{"token": target[i + 1], "p": 0.9}]} for i in range(t - 1)])


def picture(path, rows=6, cols=8):
    """Patches of a picture that is no square, with [CLS] before them."""
    r = random.Random(4)
    high, wide, n, heads, arrays, blocks = rows * 12, cols * 12, rows * cols + 1, 3, {}, []
    disc = [math.exp(-((i // cols - 2.2) ** 2 + (i % cols - 5.1) ** 2) / 3) for i in range(rows * cols)]
    for layer in range(2):
        w = []
        for h in range(heads):
            for q in range(n):
                w += softmax([r.random()] + [5 * disc[i] * (h + 1) / 2 + r.random() - (0 if h else 0.3 * abs(i - q)) for i in range(rows * cols)])
        arrays[f"encoder.{layer}.attn.weights"] = floats((heads, n, n), w)
        blocks.append(block(f"encoder.{layer}.attn", "encoder", layer, heads, 0, 0))
    arrays["maps.0"] = floats((n, n), attention(r, 1, n, n, style=1))
    pixels = bytearray()
    for y in range(high):
        for x in range(wide):
            d = math.hypot(y / 12 - 2.7, x / 12 - 5.6)
            pixels += bytes((200, 90, 40) if d < 1.6 else (90 + y, 130 + x // 2, 190))
    arrays["picture"] = ("|u1", (high, wide, 3), bytes(pixels))
    labels = ["[CLS]"] + [f"{i // cols},{i % cols}" for i in range(rows * cols)]
    record(path, arrays, title="ball.png", model="vit, 2 layers, 3 heads", task="vit", blocks=blocks, picture={"width": wide, "height": high, "channels": 3},
           axes=[{"name": "picture", "labels": labels, "special": [1] + [0] * (rows * cols), "grid": {"rows": rows, "cols": cols, "first": 1}}],
           maps=[{"name": "rollout", "help": "attention through all layers", "layer": -1, "head": -1, "stack": "encoder", "queries": 0, "keys": 0}],
           guesses=[{"axis": 0, "query": 0, "says": "the class", "tokens": [{"token": "ball", "p": 0.97}, {"token": "dog", "p": 0.02}]}])


def caption(path, rows=4, cols=4):
    """The words of a caption, which attend to the cells of a picture."""
    r = random.Random(8)
    words = ["a", "red", "circle", "[SEP]"]
    n, side, heads = rows * cols, 48, 2
    pixels = bytearray()
    for y in range(side):
        for x in range(side):
            pixels += bytes((210, 40, 40) if math.hypot(y - 14, x - 30) < 9 else (20, 30, 25))
    arrays = {"decoder.cross.weights": floats((heads, len(words), n), attention(r, heads, len(words), n, style=1)), "picture": ("|u1", (side, side, 3), bytes(pixels))}
    record(path, arrays, title="shape.png → a red circle", model="caption of 1 layer", task="caption", picture={"width": side, "height": side, "channels": 3},
           blocks=[block("decoder.cross", "cross", 0, heads, 1, 0)],
           axes=[{"name": "picture", "labels": [f"{i // cols + 1},{i % cols + 1}" for i in range(n)], "grid": {"rows": rows, "cols": cols, "first": 0}},
                 {"name": "target", "labels": words, "special": [0, 0, 0, 1]}, {"name": "target input", "labels": ["[CLS]", *words[:-1]], "special": [1, 0, 0, 0]}],
           guesses=[{"axis": 1, "query": i, "says": f"token {i + 1}", "tokens": [{"token": w, "p": 0.9}, {"token": "blue", "p": 0.1}]} for i, w in enumerate(words)])


def large(path, layers=6, heads=6, n=256, e=64):
    """6 x 6 x 256 tokens, q and k of 64 units: what the sizes are measured with."""
    r = random.Random(5)
    arrays, blocks = {}, []
    weights = floats((heads, n, n), attention(r, heads, n, n))
    vectors = floats((heads, n, e), [r.gauss(0, 1) for _ in range(heads * n * e)])
    for layer in range(layers):
        name = f"encoder.{layer}.attn"
        arrays.update({name + ".weights": weights, name + ".q": vectors, name + ".k": vectors})
        blocks.append(block(name, "encoder", layer, heads, 0, 0, key=e, beta=1 / math.sqrt(e)))
    record(path, arrays, title="256 tokens", model=f"{layers} layers, {heads} heads", task="mlm", blocks=blocks,
           axes=[{"name": "text", "labels": [f"w{i}" for i in range(n)]}])


def wide(path, n=1024):
    """1024 tokens that one head looks at nearly alike, another one by one."""
    r = random.Random(7)
    rows = [softmax([r.random() * 2 for _ in range(n)]) for _ in range(16)]
    weights = [x for q in range(n) for x in rows[q % 16]]
    for q in range(n):
        weights += [0.0] * q + [1.0] + [0.0] * (n - q - 1)
    save(path, {"weights": floats((2, n, n), weights), "tokens": texts([f"w{i}" for i in range(n)])})


def additive(path, queries=4, keys=5, e=8):
    """One head of the additive form: its weights are softmax of align tanh(q + k)."""
    r = random.Random(9)
    q, k, align = ([r.gauss(0, 1) for _ in range(count * e)] for count in (queries, keys, 1))
    score = lambda i, j: sum(align[u] * math.tanh(q[i * e + u] + k[j * e + u]) for u in range(e))
    weights = [w for i in range(queries) for w in softmax([score(i, j) for j in range(keys)])]
    name = "decoder.attend"
    arrays = {name + ".weights": floats((1, queries, keys), weights), name + ".q": floats((1, queries, e), q),
              name + ".k": floats((1, keys, e), k), name + ".align": floats((1, 1, e), align)}
    record(path, arrays, title="le chat → the cat", model="rnn of 1 layer", task="rnn",
           blocks=[block(name, "cross", 0, 1, 1, 0, key=e, beta=1, additive=True)],
           axes=[{"name": "source", "labels": ["le", "chat", "est", "là", "[SEP]"][:keys]}, {"name": "target", "labels": ["the", "cat", "is", "there"][:queries]}])


HOSTILE = ["</script><script>window.hacked=1</script>", "<img src=x onerror='window.hacked=1'>", "\"';&<>", "שלום", "مرحبا", "👩‍👩‍👧‍👦", "\u202eevil\u202c",
           "a\x01b\x7f", "\n", " ", "", "${window.hacked=1}", "javascript:alert(1)", "=1+1", "<!--", "x" * 10000]


def hostile(path):
    """Anybody's weights, with tokens that try to break out."""
    r = random.Random(6)
    n = len(HOSTILE)
    with open(path, "w", encoding="utf-8") as f:
        w = attention(r, 2, n, n)
        json.dump({"tokens": HOSTILE, "attention": [[w[(h * n + q) * n:(h * n + q + 1) * n] for q in range(n)] for h in range(2)]}, f)


def even(path):
    """Two heads of four tokens: one nearly uniform, one that looks at a token each."""
    sharp = [[0.97 if k == q else 0.01 for k in range(4)] for q in range(4)]
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"tokens": ["a", "b", "c", "d"], "attention": [[[0.26, 0.25, 0.25, 0.24]] * 4, sharp]}, f)
