#!/usr/bin/env python3
"""Writes tests/golden/tokenizers.json: tokenizers of every supported kind, small, each as the text of its tokenizer.json,
with the ids and the decoded text that Hugging Face's tokenizers gives for each of the hard texts.

    pip install tokenizers
    python3 tests/golden/make_tokenizers.py
"""
import json
import os

from tokenizers import AddedToken, Regex, Tokenizer, decoders as D, models, normalizers as N
from tokenizers import pre_tokenizers as P, processors, trainers

TEXTS = [
    "", "a", " ", "  ", "\n", "\n\n", "\t\t x", "Hello world", "Hello  world", "   lead", "trail  ", "a\n\n\nb", "a \n b",
    "don't DON'T we'll they've I'm he'd it's", "'s's", "'ll'", "it\u2019s", "naïve café e\u0301x", "\u0301start e\u0301\u0323",
    "中文字符 mixed 中a文", "日本語、です。", "한국어 텍스트", "🙂😀👩‍👩‍👧 🇩🇪", "ﬁ ½ ² ٣ Ⅷ 五", "\u00a0nbsp\u00a0 x\u3000y\u2028z\u0085w",
    "\x01\x02 ctl \x7fx", "tab\tcr\rcrlf\r\n\r\nx", "def f(x):\n    return x**2 + 3.14e-10  # c\n\n\nclass A:\n\tpass\n",
    "1234567 12 1,000", "____ -- ... !!! ?!?", "<|endoftext|>", "a<|endoftext|>b  <|endoftext|> x", "<|endoftext", "[MASK] [UNK]x[SEP]",
    "<s> </s><unk>", "ΑΣΣ Ὀδυ İst ıI ẞß", "مرحبا שלום", "हिन्दी नमस्ते", "Ⓐⓑ 🅰 x", "a\u200db\ufeffc\ufffd", "é" * 20, "a" * 110, " " * 40,
    "x \n \n y", "\u1100\u1161\u11a8 Å Å", "the <X> the_the  <X>the the", "CamelCase snake_case", "Mr. O'Neill's “q” — …",
]
CORPUS = TEXTS + ["the cat sat on the mat . the cats sat on the mats . a hat , a bat ; that cat hates the bats !", "the quick brown fox"] * 3
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = P.ByteLevel(add_prefix_space=False, use_regex=False)


def bpe(splitter, decoder=None, normalizer=None, vocab=330, specials=("<|endoftext|>",), added=(), alphabet=True, **model):
    t = Tokenizer(models.BPE(**model))
    t.pre_tokenizer = splitter
    if decoder:
        t.decoder = decoder
    if normalizer:
        t.normalizer = normalizer
    parts = {k: v for k, v in model.items() if k in ("continuing_subword_prefix", "end_of_word_suffix")}
    trainer = trainers.BpeTrainer(vocab_size=vocab, special_tokens=list(specials), show_progress=False,
                                  initial_alphabet=P.ByteLevel.alphabet() if alphabet else [], **parts)
    t.train_from_iterator(CORPUS, trainer)
    t.add_tokens(list(added))
    return t


def words(model, trainer, splitter, normalizer=None, specials=("[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"), vocab=260):
    t = Tokenizer(model(unk_token="[UNK]"))
    t.pre_tokenizer = splitter
    if normalizer:
        t.normalizer = normalizer
    t.decoder = D.WordPiece()
    t.train_from_iterator(CORPUS, trainer(vocab_size=vocab, special_tokens=list(specials), show_progress=False))
    return t


def llama2():
    """Characters with a fallback to bytes, spaces as ▁: many characters of the texts are not in the vocabulary."""
    fallback = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    letters = sorted(set("▁abcdehiklmnopqrstuvwx.,'éñ"))
    tokens = fallback + letters
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("a", "t"), ("▁", "c"), ("▁c", "at"), ("▁", "▁"), ("▁▁", "▁▁")]
    tokens += [a + b for a, b in merges]
    t = Tokenizer(models.BPE({k: i for i, k in enumerate(tokens)}, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")])
    t.decoder = D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    t.add_special_tokens(["<unk>", "<s>", "</s>"])
    return t


def cases():
    split = lambda pattern: P.Sequence([P.Split(Regex(pattern), "isolated"), BYTES])
    byte = D.ByteLevel()
    gpt2 = P.ByteLevel(add_prefix_space=False)
    yield "gpt2", bpe(gpt2, byte)
    yield "gpt2 by pattern", bpe(split(GPT2), byte)
    yield "smollm2", bpe(P.Sequence([P.Digits(individual_digits=True), gpt2]), byte)
    yield "llama3", bpe(split(LLAMA3), byte, ignore_merges=True)
    yield "qwen2", bpe(split(LLAMA3.replace("{1,3}", "")), byte, N.NFC())
    yield "o200k", bpe(P.Sequence([P.Split(Regex(O200K), "removed", invert=True), BYTES]), byte)
    yield "roberta", bpe(P.ByteLevel(add_prefix_space=True), byte,
                         specials=["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)])
    yield "added", bpe(gpt2, byte, N.Lowercase(), specials=["<|endoftext|>", AddedToken("<X>", lstrip=True, rstrip=True)],
                       added=[AddedToken("the", single_word=True, normalized=True), AddedToken("ab", normalized=False),
                              AddedToken("Hello", normalized=True), AddedToken("  ", normalized=False)])
    yield "llama2", llama2()
    for scheme in ("always", "first", "never"):
        yield "metaspace " + scheme, bpe(P.Metaspace(prepend_scheme=scheme), D.Metaspace(prepend_scheme=scheme), alphabet=False,
                                         unk_token="<unk>", specials=["<unk>"], vocab=150)
    yield "gemma", bpe(P.Split(" ", "merged_with_previous"), D.Replace("▁", " "), N.Replace(" ", "▁"), alphabet=False,
                       unk_token="<unk>", specials=["<unk>"], vocab=150)
    yield "clip", bpe(split(r"'s|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), D.BPEDecoder("</w>"),
                      N.Sequence([N.NFKC(), N.Lowercase()]), end_of_word_suffix="</w>")
    yield "accents", bpe(P.Sequence([P.Punctuation("contiguous"), gpt2]), byte, N.Sequence([N.NFD(), N.StripAccents(), N.Strip()]))
    yield "prefix", bpe(P.WhitespaceSplit(), alphabet=False, unk_token="<unk>", specials=["<unk>"], vocab=200,
                        continuing_subword_prefix="@@")
    yield "wordpiece", words(models.WordPiece, trainers.WordPieceTrainer, P.Whitespace(), N.NFKD())
    yield "word level", words(models.WordLevel, trainers.WordLevelTrainer, P.Sequence([P.Whitespace(), P.Digits()]))


def main():
    out = {"texts": TEXTS, "cases": []}
    for name, t in cases():
        o = json.loads(t.to_str())
        if name in ("gpt2", "llama2"):  # merges as texts, as files of earlier versions have them
            o["model"]["merges"] = [" ".join(m) if isinstance(m, list) else m for m in o["model"]["merges"]]
            t = Tokenizer.from_str(json.dumps(o))
        ids = [t.encode(s, add_special_tokens=False).ids for s in TEXTS]
        decoded = [t.decode(i, skip_special_tokens=False) for i in ids]
        out["cases"].append({"name": name, "file": json.dumps(o, ensure_ascii=False, separators=(",", ":")), "ids": ids,
                             "decoded": [None if d == s else d for d, s in zip(decoded, TEXTS)]})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizers.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(out, f, ensure_ascii=False, separators=(",", ":"))
        f.write("\n")
    print(f"{path}: {len(out['cases'])} tokenizers, {len(TEXTS)} texts, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
