#!/usr/bin/env python3
"""Token ids of hard strings: heed beside the fast tokenizers of transformers.

    python3 tests/parity/tokens.py [--data FOLDER] [--show]

Each tokenizer is opened from a folder with tokenizer.json alone, by heed and by transformers
(PreTrainedTokenizerFast), and encodes the same 200 strings, without special tokens and, as a model
reads a text, with those of its template: BERT uncased and cased, GPT-2 (their vocabularies from
FOLDER/bert-base-uncased and FOLDER/gpt2, or else small ones made here), tokenizers that heed trained, one
like SmolLM2's (digits one by one) and one like Llama 2's (a byte for what no token has). Bar: all of
them. --show prints the first differences. Skips without transformers."""

import argparse
import ctypes as ct
import json
import os
import subprocess
import sys
import tempfile

try:
    import tokenizers as tk
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast
except ImportError:
    print("skipped: the Python packages tokenizers and transformers are needed")
    sys.exit(0)
from tokenizer_hf import SPECIALS, Heed

STRINGS = [
    # spaces and controls
    "", " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n\n", " \n ", "\t\t\tx", "a\tb", "a\rb", "a\r\nb", "a\vb", "a\fb",
    " lead", "trail ", "  two  spaces  ", "a" + " " * 40 + "b", "x \n\n  y", "\u00a0nbsp\u00a0", "a\u2003em\u2003space", "a\u3000b",
    "line\u2028sep\u2029para", "nel\u0085x", "zero\u200bwidth", "join\u200der", "non\u200cjoin", "word\u2060join", "\ufeffbom", "mid\ufeffbom",
    "\x01\x02\x03", "bell\x07", "del\x7fete", "c1\x80\x9f", "soft\u00adhyphen", "\ufffd replacement", "priv\ue000ate", "un\u0378assigned",
    "\U000e0041tag", "\u180emongolian", "a\u1680b",
    # letters and marks
    "naïve café", "nai\u0308ve cafe\u0301", "e\u0301\u0323x", "\u0301start", "a\u0301\u0302\u0303\u0304", "Å Å A\u030a", "ﬁ ﬂ ﬀ", "ß ẞ STRASSE",
    "İstanbul ıI", "ΑΣΣ ΣΑΣ", "Ὀδυσσεύς", "Ǆ ǅ ǆ", "ſtrange K", "Żółć gęślą jaźń", "Příliš žluťoučký", "àéîõü ÀÉÎÕÜ", "ñ n\u0303", "ø Ø æ Æ œ Œ",
    "Đđ Ħħ Łł", "\u1e9b\u0323", "\u212b \u2126", "\u0958 \u0929", "가각 \u1100\u1161\u11a8", "한국어 텍스트", "\u1e0b\u0323 \u1e0d\u0307",
    # scripts
    "中文字符", "mixed中a文b", "日本語、です。", "カタカナ ﾊﾝｶｸ ひらがな", "\U00020000\U0002a6df", "\uf900 \U0002f800", "㍿ ㎏ ①", "〇一二三", "العربية نص", "مرحبًا بكم",
    "שלום עולם", "שָׁלוֹם", "rtl \u202eabc\u202c end", "हिन्दी नमस्ते", "বাংলা", "தமிழ்", "ไทยภาษา กำ", "ພາສາລາວ", "မြန်မာ", "ខ្មែរ", "ქართული", "Ქართული",
    "Հայերեն", "አማርኛ", "ᏣᎳᎩ ꭰ", "ᐃᓄᒃᑎᑐᑦ", "Русский ёлка Ёлка й", "Українська їжак ґ", "Ελληνικά άέή", "Монгол", "བོད་ཡིག", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚", "𐍈𐌰", "𞤀𞤣", "ｆｕｌｌ ｗｉｄｔｈ",
    # emoji
    "😀", "😀😀😀", "👩‍👩‍👧‍👦 family", "👍🏽 skin", "🇩🇪🇫🇷", "1️⃣ 2️⃣", "❤️ ❤", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "x😀y", "☕️", "🤷🏾‍♀️!", "©®™",
    # numbers and signs
    "0", "1234567890", "1,000,000.50", "3.14e-10", "½ ² ٣ Ⅷ 五", "١٢٣٤", "१२३", "007", "12 12", "v1.2.3", "$5.00 €3 £2 ¥1", "a+b=c", "a^b`c|d~e",
    "!?!?", "...", "…", "—–-‐−", "“q” ‘s’ „u“", "«x»", "(a)[b]{c}<d>", "#tag @user", "50% off", "a/b\\c", "____", "**bold**", "~~~", "---", "==>", "¿qué? ¡sí!",
    "§ ¶ † ‡", "∑∏∫√", "→ ⇒ ↔", "x\u2260y \u226e", "\u037e \u1fef", "、。「」", "a·b", "\u02bc \u2019", "😀.", "$$$", "^^^", "```",
    # words
    "don't DON'T we'll they've I'm he'd it's", "it\u2019s", "'s's", "''''", "rock'n'roll", "O'Neill's", "state-of-the-art", "e-mail@x.org", "https://a.b/c?d=e&f=g#h",
    "CamelCase snake_case kebab-case", "def f(x):\n    return x**2\n", "if (a && b) { c(); }", "<p class=\"x\">y</p>", "{\"a\": [1, null]}", "a" * 99, "a" * 100, "a" * 101,
    "b" * 300, "é" * 101, "e\u0301" * 60, "中" * 50, "supercalifragilisticexpialidocious", "antidisestablishmentarianism", "Donaudampfschiffahrtsgesellschaft",
    "xqzjk vvwq", "the the the", "The THE tHe", "hello world", "Hello, World!", "a b c d e", "##ing ## #", "un##able",
    # special tokens in a text
    "[MASK]", "the [MASK] sat", "[mask]", "[CLS] a [SEP] b [SEP]", "x[SEP]y", "[[MASK]]", "[MASK", "MASK]", "[PAD][PAD]", "[UNK] x", " [MASK] ", "[MASK].",
    "<|endoftext|>", "a<|endoftext|>b", "a <|endoftext|> b", "<|endoftext", "<|ENDOFTEXT|>", "<s> x </s>", "<unk>", "<pad>", "<0x41> <0x0A>", "<|im_start|>user\nhi<|im_end|>",
    "▁x ▁", "Ġx Ċ", "\u0120hello",
]  # fmt: skip
TEXT = ["the cat sat on the mat . the cats sat on 12 mats . a hat, a bat; that cat's hats!", "Hello World don't stop",
        "naïve café 中文 русский 😀 emoji", "def f(x):\n    return x**2 + 3.14\n", "unable unhappy undo redo remake 2024 1999"] * 20  # fmt: skip


def bpe(splitter, special, **more):
    t = tk.Tokenizer(models.BPE(**more))
    t.pre_tokenizer, t.decoder = splitter, decoders.ByteLevel()
    how = dict(vocab_size=600, special_tokens=special, show_progress=False)
    t.train_from_iterator(
        TEXT, trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **how)
    )
    return t


def smollm2():
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    splitter = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), bytes_of])
    return bpe(splitter, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])


def llama2():
    letters = "▁abcdefghijklmnopqrstuvwxyz.,!'ABCDEHT0123456789éï"
    merges = [
        ("▁", "t"),
        ("h", "e"),
        ("▁t", "he"),
        ("a", "t"),
        ("▁", "c"),
        ("▁c", "at"),
        ("▁", "▁"),
        ("▁▁", "▁▁"),
        ("l", "l"),
    ]
    tokens = (
        ["<unk>", "<s>", "</s>"]
        + [f"<0x{i:02X}>" for i in range(256)]
        + list(letters)
        + [a + b for a, b in merges]
    )
    vocab = {x: i for i, x in enumerate(tokens)}
    t = tk.Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    t.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    t.add_special_tokens(["<unk>", "<s>", "</s>"])
    return t


def llama3():
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
               r"|\s+(?!\S)|\s+")  # fmt: skip
    split = pre_tokenizers.Split(tk.Regex(pattern), "isolated")
    t = bpe(
        pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)]),
        ["<|begin_of_text|>", "<|end_of_text|>"],
    )
    begin = processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                                          special_tokens=[("<|begin_of_text|>", t.token_to_id("<|begin_of_text|>"))])  # fmt: skip
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), begin])
    return t


def bert(data, lower):
    """The published vocabulary; cased: as if it were one, which tests the same steps."""
    path = os.path.join(data, "bert-base-uncased", "vocab.txt")
    if os.path.exists(path):
        vocab = {w: i for i, w in enumerate(open(path, encoding="utf-8").read().split("\n")[:-1])}
    else:
        t = tk.BertWordPieceTokenizer(lowercase=lower)
        t.train_from_iterator(TEXT, vocab_size=600, show_progress=False)
        vocab = t.get_vocab()
    t = tk.Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lower)
    t.pre_tokenizer, t.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                     special_tokens=[(w, vocab[w]) for w in ("[CLS]", "[SEP]")])  # fmt: skip
    t.add_special_tokens(SPECIALS)
    return t


def gpt2(data):
    vocab, merges = (os.path.join(data, "gpt2", n) for n in ("vocab.json", "merges.txt"))
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if not os.path.exists(vocab):
        return bpe(bytes_of, ["<|endoftext|>"])
    t = tk.Tokenizer(models.BPE.from_file(vocab, merges))
    t.pre_tokenizer, t.decoder = bytes_of, decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.add_special_tokens(["<|endoftext|>"])
    return t


def trained(a, kind, folder):
    """A tokenizer that heed trains; only its tokenizer.json is kept."""
    text, out = os.path.join(folder, "text.txt"), os.path.join(folder, "out")
    with open(text, "w") as f:
        f.write("\n".join(TEXT))
    words = [a.heed, "tokenizer", "train", text, "--kind", kind, "--vocab", "700", "--force", "-o", out]
    subprocess.run(words, check=True, capture_output=True)
    return tk.Tokenizer.from_file(os.path.join(out, "tokenizer.json"))


def cases(a, folder):
    yield "BERT uncased", bert(a.data, True)
    yield "BERT cased", bert(a.data, False)
    yield "GPT-2", gpt2(a.data)
    for kind in ("bpe", "wordpiece", "word", "char", "byte"):
        yield f"heed's {kind}", trained(a, kind, folder)
    yield "SmolLM2's kind", smollm2()
    yield "Llama 2's kind", llama2()
    yield "Llama 3's kind", llama3()


def count_equal(a, heed, name, t):
    with tempfile.TemporaryDirectory() as folder:
        t.save(os.path.join(folder, "tokenizer.json"))
        theirs = PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, "tokenizer.json"))
        ours = heed.check(heed.lib.heed_tokenizer_open(heed.c, folder.encode()))
        equal = 0
        for s in STRINGS:
            want = theirs.encode(s, add_special_tokens=False)
            got = [i for i, _, _ in heed.encode(ours, s)]
            equal += want == got
            if want != got and a.show:
                print(f"{name}: {ascii(s)}\n  transformers {want}\n  heed         {got}")
        return equal


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default="/none")
    p.add_argument("--show", action="store_true")
    p.add_argument("--heed", default="build/release/heed")
    p.add_argument("--lib", default="build/release/libheed.so.0")
    a = p.parse_args()
    heed, bad = Heed(a.lib), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, t in cases(a, folder):
            equal = count_equal(a, heed, name, t)
            bad += equal < len(STRINGS)
            print(
                f"{'ok    ' if equal == len(STRINGS) else 'FAILED'}  {name}: {t.get_vocab_size()} tokens, {equal} of {len(STRINGS)} strings have equal ids"
            )
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
