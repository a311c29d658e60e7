#!/usr/bin/env python3
"""Random tokenizer.json files, read by heed and by Hugging Face's tokenizers: the ids of a text, of the same text where special
tokens are text (split_special_tokens of transformers), and decoded texts must be equal.

    python3 tests/parity/tokenizer_json.py [--cases 3000] [--seed 1] [--first 0] [--lib build/release/libheed.so.0]

Each case is a random combination of what heed knows: normalizers, pre-tokenizers, WordLevel, WordPiece or BPE, decoders, added
tokens, post-processors; the patterns of Split are random as well. What Hugging Face refuses is not a case, and is counted if heed
reads it; what heed refuses is counted, with --refused by its message. Case N depends on the seed and N alone: --first N --cases 1
repeats it. Skips without tokenizers.
"""
import argparse
import collections
import ctypes as ct
import json
import os
import random
import re
import sys
import tempfile
import unicodedata

from tokenizer_hf import POOLS, Heed, odd_line

LETTERS = "abcdeABé_▁Ġ.,'#-ß漢字0 \u0301"


def pick(r, *chances):
    return r.choice(chances)


def some(r, make, most):
    """Up to `most` of them, seldom many."""
    return [make(r) for _ in range(min(most, int(r.expovariate(1))))]


def sequence(parts, key, r):
    if not parts:
        return None
    return parts[0] if len(parts) == 1 and r.random() < 0.7 else {"type": "Sequence", key: parts}


def flag(r):
    return r.random() < 0.5


def word(r, most=3):
    return "".join(r.choice(LETTERS) for _ in range(r.randint(1, most)))


def normalizer(r):
    return pick(r,
                {"type": "BertNormalizer", "clean_text": flag(r), "handle_chinese_chars": flag(r), "strip_accents": pick(r, None, True, False),
                 "lowercase": flag(r)},
                {"type": "Lowercase"}, {"type": "NFC"}, {"type": "NFD"}, {"type": "NFKC"}, {"type": "NFKD"}, {"type": "StripAccents"},
                {"type": "Strip", "strip_left": flag(r), "strip_right": flag(r)},
                {"type": "Replace", "pattern": {"String": word(r, 2)}, "content": pick(r, "", " ", "▁", word(r))},
                {"type": "Replace", "pattern": {"String": " "}, "content": pick(r, "▁", "", "  ")},
                {"type": "Prepend", "prepend": pick(r, "▁", " ", word(r))})


def behavior(r):
    return pick(r, "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def regex_atom(r):
    return pick(r, ".", r"\s", r"\S", r"\d", r"\w", r"\W", r"\p{L}", r"\p{Lu}", r"\p{N}", r"\P{L}", "[A-Z]", "[^a-c]", r"[\w-]", r"[^\s\p{L}]", "a", "b", "é",
                r"\.", "_", " ", "▁")


def regex(r, depth=2):
    """A random pattern, which may match nothing, or at nothing."""
    parts = []
    for _ in range(r.randint(1, 3)):
        kind = r.random()
        if kind < 0.65 or not depth:
            parts.append(regex_atom(r) + pick(r, "", "", "?", "*", "+", "++", "{1,2}", "{2}", "{0,1}", "{1,3}+", "*?", "+?", "??", "{1,}?"))
        elif kind < 0.72:
            parts.append(pick(r, "^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z"))
        elif kind < 0.78:
            parts.append(pick(r, "(?<=", "(?<!") + regex_atom(r) + ")")
        elif kind < 0.85:
            parts.append(pick(r, "(?=", "(?!") + regex(r, depth - 1) + ")")
        else:
            parts.append(pick(r, "(?:", "(", "(?i:") + regex(r, depth - 1) + ")" + pick(r, "", "?"))
    made = "".join(parts)
    return made + "|" + regex(r, depth - 1) if depth and r.random() < 0.3 else made


REGEXES = [r"\s+", r"\p{L}+", r"\d", r"[^\s]+", r"\w+|[^\w\s]+", r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", r"a|b",
           r"\p{N}{1,3}", r"(?i:'s|'t)|\s", r"\s*[\r\n]+", r"[^\r\n\p{L}\p{N}]?\p{L}+"]


def splitter(r):
    return pick(r,
                {"type": "ByteLevel", "add_prefix_space": flag(r), "trim_offsets": flag(r), "use_regex": flag(r)},
                {"type": "BertPreTokenizer"}, {"type": "Whitespace"}, {"type": "WhitespaceSplit"},
                {"type": "Digits", "individual_digits": flag(r)}, {"type": "Punctuation", "behavior": behavior(r)},
                {"type": "Split", "pattern": {"String": pick(r, " ", word(r, 2))}, "behavior": behavior(r), "invert": flag(r)},
                {"type": "Split", "pattern": {"Regex": r.choice(REGEXES) if r.random() < 0.3 else regex(r)}, "behavior": behavior(r), "invert": flag(r)},
                {"type": "CharDelimiterSplit", "delimiter": r.choice(LETTERS)},
                {"type": "Metaspace", "replacement": pick(r, "▁", "_"), "prepend_scheme": pick(r, "always", "first", "never"), "split": flag(r)})


def decoder(r):
    return pick(r,
                {"type": "WordPiece", "prefix": pick(r, "##", "_"), "cleanup": flag(r)},
                {"type": "Metaspace", "replacement": pick(r, "▁", "_"), "prepend_scheme": pick(r, "always", "first", "never"), "split": flag(r)},
                {"type": "Replace", "pattern": {"String": pick(r, "▁", word(r, 1))}, "content": pick(r, " ", "", word(r))},
                {"type": "Strip", "content": pick(r, " ", r.choice(LETTERS)), "start": r.randint(0, 2), "stop": r.randint(0, 2)},
                {"type": "BPEDecoder", "suffix": pick(r, "</w>", "_")},
                {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "ByteLevel", "add_prefix_space": flag(r), "trim_offsets": flag(r), "use_regex": flag(r)})


def byte_chars():
    from tokenizers.pre_tokenizers import ByteLevel
    return sorted(ByteLevel.alphabet())


def vocabulary(r, start, prefix="", suffix=""):
    """Ids of all single letters that texts have, with the prefix of later pieces, and the suffix of last ones, and some words."""
    letters = sorted(set("".join(POOLS) + LETTERS) - set() if flag(r) else set(LETTERS))
    if flag(r):
        letters = [c for c in letters if r.random() < 0.9]
    names = start + letters + ([prefix + c for c in letters] if prefix else []) + ([c + suffix for c in letters] if suffix else [])
    names += [prefix + c + suffix for c in letters] if prefix and suffix else []
    for _ in range(r.randint(0, 40)):
        names.append(pick(r, "", prefix) + word(r, 4))
    return {w: i for i, w in enumerate(dict.fromkeys(names))}


def word_model(r):
    unk = pick(r, "[UNK]", "<unk>")
    if flag(r):
        return {"type": "WordLevel", "vocab": vocabulary(r, [unk]), "unk_token": unk}
    prefix = pick(r, "##", "##", "_")
    return {"type": "WordPiece", "vocab": vocabulary(r, [unk], prefix), "unk_token": unk, "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": pick(r, 100, 100, 5)}


def bpe(r, bytes_of):
    prefix, suffix = pick(r, None, None, None, "##"), pick(r, None, None, None, "</w>")
    fallback = not prefix and not suffix and flag(r)
    unk = pick(r, None, "<unk>", "<unk>")
    start = ([unk] if unk else []) + (["<0x%02X>" % i for i in range(256) if r.random() < 0.999] if fallback else [])
    vocab = vocabulary(r, start + (bytes_of if bytes_of else []), prefix or "", suffix or "")
    merges, names = [], list(vocab)
    for _ in range(r.randint(0, 60)):
        a, b = r.choice(names), r.choice(names)
        if " " in a + b or (suffix and a.endswith(suffix)) or (prefix and not b.startswith(prefix)) or len(a + b) > 12 or "<" in a + b:
            continue
        made = a + (b[len(prefix):] if prefix else b)
        if [a, b] in merges or (made in vocab and flag(r)):
            continue
        if made not in vocab:
            vocab[made] = len(vocab)
            names.append(made)
        merges.append([a, b])
    return {"type": "BPE", "dropout": None, "unk_token": unk, "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix,
            "fuse_unk": flag(r), "byte_fallback": fallback, "ignore_merges": flag(r), "vocab": vocab, "merges": merges}


def added(r, vocab):
    out, next_id = [], max(vocab.values()) + 1
    crowd = {"".join(r.choice("aab ") for _ in range(r.randint(1, 9))) for _ in range(r.randint(2, 60))} if r.random() < 0.2 else ()
    for text in dict.fromkeys(sorted(crowd) + r.sample(["[MASK]", "<s>", "</s>", "[SEP]", "ab", "A b", " x ", "é", "▁a", "cd", "B", "<|end|>", "e\u0301", "ABC", "  ", "\n", " a"], r.randint(0, 4))):
        known = vocab.get(text)
        out.append({"id": known if known is not None else next_id, "content": text, "single_word": r.random() < 0.2,
                    "lstrip": r.random() < 0.2, "rstrip": r.random() < 0.2, "normalized": flag(r), "special": flag(r)})
        next_id += known is None
    return out


def template_piece(r, name):
    return {"SpecialToken": {"id": name, "type_id": 0}}


def processor(r, vocab):
    names = r.sample(list(vocab), 2)
    pair = {"sep": [names[0], vocab[names[0]]], "cls": [names[1], vocab[names[1]]]}
    single = [template_piece(r, n) for n in names[:r.randint(0, 2)]] + [{"Sequence": {"id": "A", "type_id": 0}}]
    single += [template_piece(r, n) for n in names[:r.randint(0, 2)]]
    tokens = {n: {"id": n, "ids": [vocab[n]], "tokens": [n]} for n in names}
    template = {"type": "TemplateProcessing", "single": single, "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": tokens}
    byte_level = {"type": "ByteLevel", "add_prefix_space": flag(r), "trim_offsets": flag(r), "use_regex": flag(r)}
    if r.random() < 0.1:  # ids that are no numbers
        template["special_tokens"] = {n: {"id": n, "ids": pick(r, ["a"], [-1], [1.5], [None], [10**9]), "tokens": [n]} for n in names}
    return pick(r, None, byte_level, template, {"type": "BertProcessing", **pair},
                {"type": "RobertaProcessing", "trim_offsets": flag(r), "add_prefix_space": flag(r), **pair},
                {"type": "Sequence", "processors": [byte_level, template]})


def tokenizer(r):
    splitters = some(r, splitter, 3)
    if flag(r):
        splitters = [s for s in splitters if s["type"] != "ByteLevel"]
    bytes_of = byte_chars() if any(s["type"] == "ByteLevel" for s in splitters) else None
    model = bpe(r, bytes_of) if bytes_of or r.random() < 0.6 else word_model(r)
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added(r, model["vocab"]),
            "normalizer": sequence(some(r, normalizer, 3), "normalizers", r),
            "pre_tokenizer": sequence(splitters, "pretokenizers", r), "post_processor": processor(r, model["vocab"]),
            "decoder": sequence(some(r, decoder, 3), "decoders", r), "model": model}


def text(r):
    kind = r.random()
    if kind < 0.05:
        return word(r) * r.randint(50, 400)
    if kind < 0.1:
        return "".join(r.choice("aAbB Z1_.") for _ in range(r.randint(0, 12)))
    if kind < 0.2:
        return "".join(r.choice("aaaab b") for _ in range(r.randint(0, 60)))
    if kind < 0.4:
        return "".join(r.choice(LETTERS) for _ in range(r.randint(0, 20)))
    if kind < 0.6:
        return "".join(r.choice(["ab", "A b", " ", "[MASK]", "<s>", " x ", "é", "▁a", "cd", "B", "  ", "\n", "_", "don't", "e\u0301", "12"])
                       for _ in range(r.randint(1, 10)))
    if kind < 0.7:
        return "".join(any_character(r) for _ in range(r.randint(1, 12)))
    return odd_line(r)


def any_character(r):
    """One that Unicode had in 2002: what is newer depends on the version of the tables."""
    while True:
        c = chr(r.choice((r.randrange(0x80, 0x600), r.randrange(0x80, 0x3400), r.randrange(0xf900, 0x10000), r.randrange(0x10000, 0x110000))))
        if unicodedata.ucd_3_2_0.category(c) not in ("Cn", "Cs", "Co"):
            return c


class Specials(ct.Structure):
    _fields_ = [(name, ct.c_int) for name in ("pad", "unk", "cls", "sep", "mask", "newline")]


class Reader(Heed):
    def __init__(self, path):
        super().__init__(path)
        self.lib.heed_tokenizer_open.argtypes = [ct.c_void_p, ct.c_char_p]
        self.lib.heed_tokenizer_specials.restype = Specials
        self.lib.heed_decode.argtypes = [ct.c_void_p, ct.POINTER(ct.c_int32), ct.c_size_t, ct.c_void_p]

    def read(self, path):
        """The tokenizer, or what is said against it."""
        k = self.lib.heed_tokenizer_open(self.c, path.encode())
        if k:
            return ct.c_void_p(k), None
        why = self.lib.heed_ctx_error(self.c).decode(errors="replace")
        self.lib.heed_clear(self.c)
        return None, why

    def decode(self, k, ids):
        class Text(ct.Structure):
            _fields_ = [("s", ct.c_void_p), ("n", ct.c_size_t), ("capacity", ct.c_size_t), ("c", ct.c_void_p)]
        out = Text(c=self.c)
        self.lib.heed_decode(k, (ct.c_int32 * len(ids))(*ids), len(ids), ct.byref(out))
        got = ct.string_at(out.s, out.n) if out.s else b""
        self.lib.heed_text_free(ct.byref(out))
        return got


def show(case, file, s, what, theirs, ours):
    short = {k: v for k, v in file.items() if k not in ("version", "truncation", "padding")}
    short["model"] = {k: v for k, v in file["model"].items() if k not in ("vocab", "merges")}
    print(f"case {case}: {what} of {ascii(s)}\n  hf   {theirs}\n  heed {ours}\n  {json.dumps(short)}")


def same_frame(heed, k, file, theirs):
    """The special tokens around a text, of which heed tells the first one before and the first one after."""
    ids, s = theirs.encode("").ids, heed.lib.heed_tokenizer_specials(k)
    single = (file["post_processor"] or {}).get("single")
    if single is None:
        return not ids or [s.cls, s.sep] == ids
    before = next(i for i, piece in enumerate(single) if "Sequence" in piece)
    return (not before or s.cls == ids[0]) and (before == len(ids) or s.sep == ids[before])


def compare(heed, case, seed, folder, texts, refused, taken):
    """How many texts were compared; -1: one differs."""
    from tokenizers import Tokenizer
    r = random.Random(f"{seed} {case}")
    file = tokenizer(r)
    path = os.path.join(folder, "tokenizer.json")
    with open(path, "w") as f:
        json.dump(file, f)
    k, why = heed.read(path)
    try:
        theirs = Tokenizer.from_str(json.dumps(file))
    except BaseException as e:  # an error of Rust is not an Exception
        taken[re.sub(r" at line.*", "", str(e))[:110]] += bool(k)
        heed.lib.heed_tokenizer_free(k)
        return 0
    same = collections.Counter(theirs.normalizer.normalize_str(t["content"]) if theirs.normalizer else t["content"]
                               for t in file["added_tokens"] if t["normalized"])
    if same and max(same.values()) > 1:  # Hugging Face takes any of them
        heed.lib.heed_tokenizer_free(k)
        return 0
    if not k:
        refused[why.split(": ", 1)[1].replace(path, "FILE")[:110]] += 1
        return 0
    done = 0
    if (file["post_processor"] or {}).get("type") != "Sequence" and not same_frame(heed, k, file, theirs):
        show(case, file, "", "frame", theirs.encode("").ids, "another")
        return -1
    try:
        for _ in range(texts):
            s = text(r)
            for data in (True, False):
                theirs.encode_special_tokens = data
                try:
                    e = theirs.encode(s, add_special_tokens=False)
                except BaseException:
                    e = None
                    break
                got = heed.encode(k, s, data)
                if [g[0] for g in got] != e.ids:
                    show(case, file, s, "ids of data" if data else "ids", [(i, theirs.id_to_token(i)) for i in e.ids],
                         [(g[0], theirs.id_to_token(g[0])) for g in got])
                    return -1
            if e is None:
                continue
            ids = e.ids if flag(r) else [r.randrange(theirs.get_vocab_size()) for _ in range(r.randint(1, 8))]
            try:
                want = theirs.decode(ids, skip_special_tokens=False).encode()
            except BaseException:  # it panics, as on Strip of a text that is too short
                continue
            ours = heed.decode(k, ids)
            if want != ours:
                show(case, file, [theirs.id_to_token(i) for i in ids], "text", want, ours)
                return -1
            done += 1
    finally:
        heed.lib.heed_tokenizer_free(k)
    return done


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cases", type=int, default=3000)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--texts", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--lib", default="build/release/libheed.so.0")
    p.add_argument("--refused", action="store_true", help="lists what heed refuses")
    a = p.parse_args()
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        print("skipped: the Python package tokenizers is not installed")
        return 0
    heed, refused, taken = Reader(a.lib), collections.Counter(), collections.Counter()
    compared = texts = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(a.first, a.first + a.cases):
            n = compare(heed, case, a.seed, folder, a.texts, refused, taken)
            wrong += n < 0
            compared += n != 0
            texts += max(n, 0)
    for why, n in refused.most_common() if a.refused else ():
        print(f"{n:6} refused: {why}")
    for why, n in taken.most_common() if a.refused else ():
        print(f"{n:6} refused by Hugging Face alone: {why}")
    print(f"{compared} files compared with {texts} texts, {sum(refused.values())} refused by heed alone, {sum(taken.values())} by Hugging Face "
          f"alone, {wrong} differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
