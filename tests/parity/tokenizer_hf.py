#!/usr/bin/env python3
"""heed's wordpiece against Hugging Face's tokenizers: encoding of hard Unicode, and training.

    python3 tests/parity/tokenizer_hf.py [--vocab VOCAB.txt] [--text TEXT] [--lib build/release/libheed.so.0]

--vocab: a BERT vocabulary; random lines of odd characters are encoded by both, lower-cased and cased. Bar: equal ids and
offsets. --text: both train 8192 pieces on it. Hugging Face's own trainer breaks ties differently from run to run; the
bar is that heed is no farther from its runs than they are from each other, give or take 8. Skips without tokenizers.
"""
import argparse
import ctypes as ct
import json
import os
import random
import subprocess
import sys
import tempfile

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
POOLS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789", " \t   ", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "éèüñçÅÀÖßøŁİıſKÅẞΑΣσςλЖщйёЙҐאבשׁالعربيةहिन्दीไทยกำ한국어日本語漢字中文カタカナひらがなﾊﾟ",
    "\u0301\u0308\u0323\u200b\u200d\u00ad\ufeff\u2028\u2029\u00a0\u3000\u0085\u000b\u000c\u0007\u007f\ufffd\ue000\u0378",
    "😀👍🏽🇫🇷❤️„“”‘’–—…¿¡§¶·€£¥©®™°±×÷½²³①Ⅷ",
    "\u1f82\u0390\u037e\u1fef\u2260\u226e\uac00\u11a8\ud7a3\uf900\U0002f800\U00020000\U0002b820\U0002b920\u3007\u1e9b\u212b",
]
WORDS = ["[MASK]", "[mask]", "[SEP]", "hello[SEP]hello", "##ing", "unaffable", "a" * 100, "b" * 101, "e\u0301" * 60, "don't",
         "[[MASK]]", "[MASK", "한국어" * 20, "naïve", "İstanbul", "ΑΣ", "ﬁ", "Ǆ"]


class Tokens(ct.Structure):
    _fields_ = [("ids", ct.POINTER(ct.c_int32)), ("begin", ct.POINTER(ct.c_size_t)), ("end", ct.POINTER(ct.c_size_t)),
                ("count", ct.c_size_t), ("room", ct.c_size_t), ("c", ct.c_void_p)]


class Args(ct.Structure):
    _fields_ = [("kind", ct.c_char_p), ("vocab", ct.c_int), ("lower", ct.c_bool), ("specials", ct.c_bool)]


class Heed:
    def __init__(self, path):
        self.lib = lib = ct.CDLL(path)
        for name in ("heed_open_real", "heed_tokenizer_open", "heed_tokenizer_train"):
            getattr(lib, name).restype = ct.c_void_p
        lib.heed_token_text.restype = lib.heed_ctx_error.restype = ct.c_char_p
        self.c = ct.c_void_p(lib.heed_open_real(None, 4))

    def check(self, tokenizer):
        if not tokenizer:
            sys.exit(self.lib.heed_ctx_error(self.c).decode())
        return ct.c_void_p(tokenizer)

    def open(self, tokens, lower):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "vocab.txt"), "w") as f:
                f.writelines(t + "\n" for t in tokens)
            with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
                json.dump({"do_lower_case": lower}, f)
            return self.check(self.lib.heed_tokenizer_open(self.c, folder.encode()))

    def train(self, text, vocab):
        k = self.check(self.lib.heed_tokenizer_train(self.c, text, ct.c_size_t(len(text)), Args(b"wordpiece", vocab, True)))
        return {self.lib.heed_token_text(k, i).decode() for i in range(self.lib.heed_vocab_size(k))}

    def encode(self, k, text, data=False):
        """data: the texts of special tokens are texts."""
        raw, t = text.encode(), Tokens()
        (self.lib.heed_encode_text if data else self.lib.heed_encode)(k, raw, ct.c_size_t(len(raw)), ct.byref(t))
        out = [(t.ids[i], t.begin[i], t.end[i]) for i in range(t.count)]
        self.lib.heed_tokens_free(ct.byref(t))
        return out


def odd_line(r):
    s = ""
    for _ in range(r.randint(1, 14)):
        kind = r.random()
        if kind < 0.25:
            s += r.choice(WORDS) + r.choice(["", " "])
        else:
            pool = r.choice(POOLS)
            s += "".join(r.choice(pool) for _ in range(r.randint(1, 5)))
    return s


def compare_encoding(heed, path, lines, seed):
    from tokenizers import BertWordPieceTokenizer
    tokens = open(path, encoding="utf-8").read().split("\n")
    tokens = tokens[:-1] if not tokens[-1] else tokens
    wrong = 0
    for lower in (True, False):
        theirs, ours, r = BertWordPieceTokenizer(path, lowercase=lower), heed.open(tokens, lower), random.Random(seed)
        theirs.add_special_tokens(SPECIALS)
        for _ in range(lines):
            s = odd_line(r)
            e, byte = theirs.encode(s, add_special_tokens=False), [0]
            for ch in s:
                byte.append(byte[-1] + len(ch.encode()))
            want = [(i, byte[a], byte[b]) for i, (a, b) in zip(e.ids, e.offsets)]
            got = heed.encode(ours, s)
            if want != got:
                wrong += 1
                print("differs:", ascii(s), "\n  hf  ", want, "\n  heed", got)
    print(f"encoding: {2 * lines - wrong} of {2 * lines} lines equal in ids and offsets")
    return wrong == 0


def hf_vocab(path, size):
    """In a process of its own: the order of its hash maps is drawn at start."""
    code = ("import sys, json; from tokenizers import BertWordPieceTokenizer as T; t = T(); "
            "t.train(sys.argv[1], vocab_size=int(sys.argv[2]), show_progress=False); print(json.dumps(list(t.get_vocab())))")
    return set(json.loads(subprocess.run([sys.executable, "-c", code, path, str(size)], capture_output=True, check=True).stdout))


def compare_training(heed, path, size):
    runs = [hf_vocab(path, size) for _ in range(4)]
    ours = heed.train(open(path, "rb").read(), size)
    own = [len(a - b) for i, a in enumerate(runs) for b in runs[:i]]
    far = [len(ours - a) for a in runs]
    print(f"training: {size} pieces; heed differs from runs of Hugging Face by {far}, they from each other by {own}")
    return min(far) <= max(own) + 8


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--vocab")
    p.add_argument("--text")
    p.add_argument("--lib", default="build/release/libheed.so.0")
    p.add_argument("--lines", type=int, default=6000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        print("skipped: the Python package tokenizers is not installed")
        return 0
    heed = Heed(a.lib)
    good = not a.vocab or compare_encoding(heed, a.vocab, a.lines, a.seed)
    good = (not a.text or compare_training(heed, a.text, 8192)) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
