"""Run, a trained model: opened, imported or just trained. Its outputs for inputs, and records of what it attends to."""
import contextlib
import csv
import ctypes
import operator
import os
import re
import stat
from ctypes import byref, c_char_p, c_int32, c_void_p

import numpy as np

from . import _c
from ._library import (Context, DataError, Interrupts, Owner, UsageError, alone, array, check_range, filled, function_type, lib, libc, take_text,
                       text, text_bytes, texts)
from .data import array_of, check_numbers, described, is_path, listed, path_bytes, pixels, written
from .lesson import Lesson
from .net import Net
from .record import Record

MODELS = ctypes.addressof(lib.variable(c_void_p, "heed_models"))


def kind_of(model):
    """The kind of data of the model at an address: whether inputs are pictures or lines of text, and whether a table can hold them."""
    kind = _c.heed_data_kind.from_address(lib.heed_model_data(model))
    kind.pictures, kind.tables = bool(kind.images), bool(kind.options and lib.heed_option_find(kind.options, b"columns"))
    kind.lines = bool(kind.open) and not kind.pictures
    return kind


def models():
    """The address of each model by its name."""
    found, i = {}, 0
    while (model := c_void_p.from_address(MODELS + i * ctypes.sizeof(c_void_p)).value):
        found[text(_c.heed_model.from_address(model).name)] = model
        i += 1
    return found


def run_file(path, name):
    """Opens a file of a run, which is not trusted: it must be a plain file, no link or pipe."""
    buffer = ctypes.create_string_buffer(4096)
    place = lib.heed_run_file(os.fsencode(path), name.encode(), buffer, len(buffer))
    file = open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8", errors="replace", newline="")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(f"not a plain file: {os.path.join(path, name)}")


def setting_of(path, key, default):
    """A setting in config.conf of a run, which may have nothing else yet."""
    try:
        with run_file(path, "config.conf") as f:
            return (re.findall(rf"^{key} = (\w+)", f.read(), re.MULTILINE) or [default])[0]
    except OSError:
        return default  # heed says what is wrong


def seed_of(path):
    """The seed of a run's training, which its evaluation and its resuming have, too."""
    seed = setting_of(path, "seed", "1")
    if not seed.isdecimal():
        raise DataError(f"seed is wrong: {os.path.join(path, 'config.conf')}: expected a whole number, found {seed}")
    return int(seed)


def open_(path, which="best", threads=0, isa=None, edited=False):
    """Opens a run: its best weights, or with which="last" those at the end of its training. edited: its files may have been changed
    since."""
    name = path_bytes(path, "run")
    c = Context(seed_of(path), threads, isa, edited)
    return Run(c, c.made(lib.heed_run_open(c.pointer, name, MODELS, text_bytes(which, "setting which")), "open"))


def import_(folder, out=None, force=False, **options):
    """Reads the folder of a model in the format of Hugging Face's transformers. out: where it is saved as a run."""
    c = Context(**options)
    run = Run(c, c.made(lib.heed_import(c.pointer, path_bytes(folder), MODELS), "import_"))
    if out is not None:
        run.save(out, force)
    return run


def token_ids(ids, vocab):
    """The ids as heed's numbers; of each of which the vocabulary must have a token."""
    wrong = UsageError(f"the input is wrong: expected a text or a sequence of token ids, found {ids!r:.60}")
    if isinstance(ids, bytes):  # whose elements are numbers, too
        raise wrong
    try:
        ids = [operator.index(i) for i in ids]
    except TypeError:
        raise wrong from None
    for i in ids:
        if not 0 <= i < vocab:
            raise UsageError(f"token {i} is not in the vocabulary: expected 0 to {vocab - 1}")
    return (c_int32 * len(ids))(*ids)


class Run(Owner):
    """A model with its weights. What applies depends on the model: fill (masked), generate (gpt), classify (pictures, labelled
    texts, tags), translate (pairs), caption, embed; attend for all that attend.

    predict, fill, classify, generate, translate, caption and embed take one input, or a list of them, for which they return a list
    of results in the same order. A list (or a tuple, or an array) of texts, of paths, of arrays or of lists of token ids is a list of
    inputs; so is an array of pictures (n, height, width, channels), or (n, height, width) for a model of grey ones.

    Threads may share a run: its calls wait for each other. It cannot be copied or pickled: another process opens run.path. close,
    or the end of a `with` block, frees the model earlier."""

    def __init__(self, context, pointer):
        self.context, self.pointer = context, pointer
        self.c = _c.heed_run.from_address(pointer)
        self.model = _c.heed_model.from_address(self.c.model)
        self.kind = kind_of(self.c.model)
        self.net = Net.__new__(Net).use(context, self.c.store, self.c.tape)
        self.result = self.folder = None  # of a training run: its result; its temporary folder, removed with the run

    def close(self):
        """Frees the model, its memory once no array of it is left. Using the run afterwards is an error."""
        if self.folder:
            self.folder()
        vars(self).clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        if vars(self) or name.startswith("__"):
            raise AttributeError(f"a heed.Run has no {name!r}")
        raise UsageError("the run was closed; hint: heed.open opens it again")

    # ---- what it is ----

    @property
    def path(self):
        """Its folder; of an imported run that was imported."""
        return text(self.c.dir)

    @property
    def task(self):
        """The name of its model: "gpt"."""
        return text(self.model.name)

    @property
    def step(self):
        """The training step of its weights; None if unknown."""
        return None if self.c.step < 0 else self.c.step

    @property
    def labels(self):
        """The names of its classes."""
        return texts(self.c.labels, self.c.label_count)

    @property
    def settings(self):
        """All settings as texts, as in its config.conf."""
        found, value = {}, c_char_p()
        for i in range(lib.heed_config_count(self.c.config)):
            option = lib.heed_config_at(self.c.config, i, byref(value))
            found[text(_c.heed_option.from_address(option).name)] = text(value.value)
        return found

    @property
    def metrics(self):
        """metrics.csv as columns by name: arrays of numbers, nan where there is none, and `split` as texts."""
        try:
            f = run_file(self.path, "metrics.csv")
        except OSError as e:
            raise DataError(f"metrics are missing: {e}; hint: an imported or a saved run has none") from None
        with f:
            rows = list(csv.DictReader(f))
        column = lambda k: np.array([r[k] if k == "split" else float(r[k] or "nan") for r in rows])
        return {k: column(k) for k in (rows[0] if rows else ())}

    def __repr__(self):
        if not vars(self):
            return "<heed.Run, closed>"
        where = "" if self.folder or not self.path else f" {self.path}:"
        return f"<heed.Run{where} {self.task}, {len(self.net):,} parameters>"

    # ---- tokens ----

    @property
    def _tokenizer(self):
        if not self.c.tokenizer:
            raise UsageError(f"the run has no tokenizer: {self.path}: expected token ids instead of texts, as attend([3, 1, 4]); "
                             "hint: import_ the model's folder with its tokenizer.json or vocab.txt")
        return self.c.tokenizer

    @property
    def vocab(self):
        """The size of the vocabulary."""
        words = self.c.source or self.c.tokenizer
        return lib.heed_vocab_size(words) if words else int(self.settings["vocab"])

    @property
    def vocabulary(self):
        """The text of each token; an error without a tokenizer."""
        return [text(lib.heed_token_text(self._tokenizer, i)) for i in range(lib.heed_vocab_size(self._tokenizer))]

    def encode(self, words):
        """The token ids of a text, in which special tokens are read, without those that the model adds, such as [CLS]."""
        t, data = _c.heed_tokens(c=self.context.pointer), text_bytes(words, "input")
        try:
            self.context.made(lib.heed_encode(self._tokenizer, data, len(data), byref(t)), "encode")
            return array(t.ids, (t.count,), None, "<i4").tolist() if t.count else []
        finally:
            lib.heed_tokens_free(byref(t))

    def decode(self, ids):
        """The text of token ids."""
        ids = token_ids(ids, lib.heed_vocab_size(self._tokenizer))
        out = _c.heed_text(c=self.context.pointer)
        self.context.made(lib.heed_decode(self._tokenizer, ids, len(ids), byref(out)), "decode")
        return take_text(out)

    def _text_of(self, ids):
        """The text of tokens or, without a tokenizer, their ids, as the command prints them."""
        return self.decode(ids) if self.c.tokenizer else " ".join(map(str, ids))

    # ---- reading inputs ----

    def _each(self, x):
        """The inputs of a list of them; None if x is one input."""
        x = listed(x)
        if not isinstance(x, (list, tuple, np.ndarray)) or (isinstance(x, np.ndarray) and not x.ndim):
            return None
        several, pictures = (str, os.PathLike, np.ndarray), self.kind.pictures
        if len(x) == 0 and not (pictures and isinstance(x, np.ndarray) and x.ndim in (2, 3)):
            return None if not (self.kind.tables or self.kind.pictures) else []  # of token ids it is one input
        if not pictures:
            return list(x) if self.kind.open and isinstance(x[0], (list, tuple, *several)) else None
        if not isinstance(x, np.ndarray):
            if isinstance(x[0], several):
                return list(x)
            x = array_of(x, "pictures")
        grey = x.ndim == 3 and x.shape[2] > 4 and self.settings["channels"] == "1"
        return list(x) if x.ndim == 4 or grey or x.dtype.kind in "UOT" else None

    @contextlib.contextmanager
    def _picture(self, x):
        """A heed_picture of a file or of an array (H,W) or (H,W,C) of whole numbers 0 to 255 or of fractions 0 to 1, C at most 4."""
        p = _c.heed_picture()
        if is_path(x):
            why = ctypes.create_string_buffer(_c.HEED_WHY)
            if lib.heed_picture_read(path_bytes(x), byref(p), why):
                raise DataError(f"picture is wrong: {x}: {text(why.value)}")
        else:
            given, x = x, array_of(x, "rows of the picture")
            check_numbers(x, given)
            if x.ndim not in (2, 3) or x.shape[2:] > (4,) or 0 in x.shape:
                hint = "; hint: x.transpose(1, 2, 0) puts the channels last" if x.ndim == 3 and x.shape[0] in (1, 3, 4) else ""
                raise UsageError(f"a picture is a path or an array (height, width[, 1 to 4 channels]): found shape {x.shape} of {x.dtype}{hint}")
            x = pixels(x)
            p.height, p.width, p.channels = (*x.shape, 1)[:3]
            p.pixels = libc.malloc(max(1, x.nbytes))  # heed may replace the pixels, and frees them
            ctypes.memmove(p.pixels, x.ctypes.data, x.nbytes)
        try:
            yield p
        finally:
            lib.heed_picture_free(byref(p))

    @contextlib.contextmanager
    def _example(self, x, target=None):
        """A heed_example of an input of the model's kind."""
        e, kind, target = _c.heed_example(), self.kind, None if target is None else text_bytes(target, "target")
        with contextlib.ExitStack() as stack:
            if kind.pictures:
                p = stack.enter_context(self._picture(x))
                name = path_bytes(x) if is_path(x) else b"picture"
                ok = lib.heed_run_picture(self.pointer, byref(p), name, target, byref(e))
            elif isinstance(x, str):
                data = text_bytes(x, "input")
                ok = lib.heed_run_text(self.pointer, data, len(data), target, byref(e))
            elif not kind.open:
                x = np.ascontiguousarray(x, np.float32)
                shape = (ctypes.c_int * x.ndim)(*x.shape)
                ok = lib.heed_run_numbers(self.pointer, x.ctypes.data, x.ndim, shape, b"numbers", byref(e))
            else:
                x = token_ids(x, self.vocab)
                ok = lib.heed_run_tokens(self.pointer, x, len(x), byref(e))
            stack.callback(lib.heed_example_free, byref(e))
            self.context.made(ok, "the input")
            yield e

    # ---- predictions ----

    def _label(self, i):
        """The name of an output: a token or a class."""
        return text(lib.heed_class_label(self.pointer, i, ctypes.create_string_buffer(16)))

    def predict(self, x, top=5, target=None):
        """All predictions on an input: for each the position (None: about the whole input) and [(label, probability), ...]. top: how
        many of these. target: as in attend."""
        if (many := self._each(x)) is not None:
            targets = [None] * len(many) if target is None else target
            if isinstance(targets, str) or len(targets) != len(many):
                raise UsageError(f"the target is wrong: expected a list of {len(many)} texts, as there are inputs, found {target!r:.60}")
            return [self.predict(one, top, t) for one, t in zip(many, targets)]
        top = check_range("top", top, 1, 1 << 24)
        with self._example(x, target) as e:
            self.net.eval()
            y = self.net.made(lib.heed_run_logits(self.pointer, byref(e), self.net.pointer), "predict")
            most, found = max(0, min(top, y.shape[-1])), []
            classes, p = (ctypes.c_int * most)(), (ctypes.c_float * most)()
            for i in range(e.question_count):
                q = _c.heed_example_question.from_address(e.questions + i * ctypes.sizeof(_c.heed_example_question))
                n = lib.heed_run_guesses(self.pointer, byref(q), y.pointer, most, classes, p)
                found.append((None if q.query < 0 else q.query, [(self._label(classes[k]), p[k]) for k in range(n)]))
            return found

    def _need(self, fits, what):
        if not fits:
            raise UsageError(f"the run is of {self.task}: expected {what}")

    def fill(self, words, top=5):
        """The most probable tokens for each [MASK] of a text, or of token ids: a list of [(token, probability), ...]."""
        self._need(self.kind.mask, "a masked language model")
        if lib.heed_import_is_headless(self.pointer):
            raise UsageError(f"fill requires a masked language model: {self.path} was imported without a head, as an encoder; hint: embed")
        if not self.c.tokenizer:
            raise UsageError(f"fill requires a tokenizer: {self.path} has none, and so no token that is known as [MASK]; "
                             "hint: import_ the model's folder with its tokenizer.json or vocab.txt")
        if (many := self._each(words)) is not None:
            return [self.fill(one, top) for one in many]
        found = [guesses for _, guesses in self.predict(words, top)]
        if not found:
            raise DataError(f"no [MASK] in the input: {words}; hint: write [MASK] for the word to guess")
        return found

    def classify(self, x, top=5):
        """The most probable classes of a picture (a path or an array) or a text: [(label, probability), ...]; of tag such a list
        for each word."""
        self._need(self.kind.label, "a classifier of pictures or texts")
        if (many := self._each(x)) is not None:
            return [self.classify(one, top) for one in many]
        found = [guesses for _, guesses in self.predict(x, top)]
        return found if self.kind.label == b"word" else found[0]

    # ---- texts made ----

    def _reader(self, **settings):
        how = lib.heed_run_reader(self.pointer)
        for name, value in settings.items():
            setattr(how, name, value)
        return how

    def _make(self, a, rows, on_token=None):
        """What heed_generate makes by the settings a: for each of the rows its tokens, none of which is special, as heed_never says."""
        watch, never = Interrupts(), (c_int32 * 4)()
        a.never, a.never_count = ctypes.addressof(never), lib.heed_never(self.c.tokenizer, a.end, never)

        @function_type(_c.heed_generation, "sampled")
        def sampled(_, output, token):
            try:
                return on_token(output, token) is not False
            except BaseException as e:  # C cannot raise it
                watch.raised = e
                return False

        if on_token:
            a.sampled = sampled
        a.stop = function_type(_c.heed_generation, "stop")(lambda _: watch.raised is not None)
        most = a.count or int(self.settings["block"]) + 2
        out, about = (c_int32 * (rows * most))(), (_c.heed_generated * rows)()
        with watch:
            ok = lib.heed_generate(self.c.model, self.c.self, self.net.pointer, byref(a), out, about)
        self.net.moved()
        watch.check(self.context)
        self.context.made(ok, "generate")
        return [out[i * most:i * most + about[i].count] for i in range(rows)]

    def _prompt_ids(self, words):
        """The tokens of a prompt, which may be longer than the model sees."""
        data, e, how = text_bytes(words, "prompt"), _c.heed_example(), self._reader(any_length=True)
        try:
            self.context.made(lib.heed_example_text(byref(how), data, len(data), byref(e)), "generate")
            return array(e.text.tokens.ids, (e.text.tokens.count,), None, "<i4").tolist() if e.text.tokens.count else []
        finally:
            lib.heed_example_free(byref(e))

    def generate(self, prompt="\n", n=200, samples=None, temperature=0.8, top_k=0, top_p=0.0, seed=1, on_token=None):
        """Continues a prompt by up to n tokens: a text, or token ids, and then ids are returned. temperature 0: the most probable token
        each time. samples: how many, at most 64; without it one text is returned, else a list. on_token(text): called with each new
        piece of the first text, or with its id; False stops. Without a tokenizer a text is ids, as "3 1 4"."""
        self._need(self.kind.lines and not self.kind.tables and self.model.steps, "a causal language model")
        for given in (("n", n, 0, 10**8), ("samples", 1 if samples is None else samples, 1, 64), ("top_k", top_k, 0, 1 << 24), ("seed", seed, 0, 2**64 - 1),
                      ("temperature", temperature, 0, 100, float), ("top_p", top_p, 0, 1, float)):
            check_range(*given)
        if (many := self._each(prompt)) is not None:
            return [self.generate(one, n, samples, temperature, top_k, top_p, seed, on_token) for one in many]
        words = isinstance(prompt, str)
        if words and prompt == "\n" and lib.heed_text_end(self.c.config, self.c.tokenizer) >= 0:
            raise DataError('the run was trained on single lines (packing="lines"), and has not learned how a line begins; hint: a prompt, such as "The fox"')
        ids = self._prompt_ids(prompt) if words else list(token_ids(prompt, self.vocab))
        if not ids:
            raise DataError(f"the prompt {prompt!r} holds no token to continue from; hint: "
                            + ('a text, such as "The fox"' if self.c.tokenizer else "token ids, such as [3, 1, 4]: the run has no tokenizer"))
        start = ids if not words else "" if prompt == "\n" else prompt
        if n < 1:  # of heed_generate, 0 means the model's length
            return [start[:] for _ in range(samples)] if samples else start
        said = self._text_of(ids) if words else ""
        made = []

        def piece(output, token):
            if output or not words:
                return output or on_token(token)
            before = self._text_of(ids + made)
            made.append(token)
            return on_token(self._text_of(ids + made)[len(before):])

        a = filled(_c.heed_generation, count=n, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, samples=samples or 1,
                   has_end=True, end=lib.heed_text_end(self.c.config, self.c.tokenizer), prompt_count=len(ids))
        numbers = (c_int32 * len(ids))(*ids)
        a.prompt = ctypes.addressof(numbers)
        rows = self._make(a, samples or 1, on_token and piece)
        found = [start + (self._text_of(ids + row)[len(said):] if words else row) for row in rows]
        return found if samples else found[0]

    def _targets(self, e, beam, length_penalty, **picture):
        check_range("beam", beam, 1, 64), check_range("length_penalty", length_penalty, 0, 100, float)
        s = lib.heed_tokenizer_specials(self.c.tokenizer)
        start = (c_int32 * 1)(s.cls)
        a = filled(_c.heed_generation, beam=beam, length_penalty=length_penalty, has_end=True, end=s.sep, prompt_count=1, **picture)
        a.prompt = ctypes.addressof(start)
        if not picture:
            a.source, a.source_count = e.text.tokens.ids, e.text.tokens.count
        return self.decode(self._make(a, 1)[0])

    def translate(self, words, beam=1, length_penalty=0.0):
        """The target that a model of pairs makes of a source. beam: hypotheses kept."""
        self._need(self.kind.target and not self.kind.pictures, "a model of pairs of texts")
        if (many := self._each(words)) is not None:
            return [self.translate(one, beam, length_penalty) for one in many]
        e, data, how = _c.heed_example(), text_bytes(words, "input"), self._reader()
        try:
            self.context.made(lib.heed_example_text(byref(how), data, len(data), byref(e)), "translate")
            return self._targets(e, beam, length_penalty)
        finally:
            lib.heed_example_free(byref(e))

    def caption(self, x, beam=1, length_penalty=0.0):
        """The caption that the model writes of a picture, a path or an array."""
        self._need(self.kind.target and self.kind.pictures, "a model of captions")
        if (many := self._each(x)) is not None:
            return [self.caption(one, beam, length_penalty) for one in many]
        e, how = _c.heed_example(), self._reader()
        try:
            with self._picture(x) as p:
                self.context.made(lib.heed_example_picture(byref(how), byref(p), b"picture", byref(e)), "caption")
            v = e.transform
            return self._targets(e, beam, length_penalty, picture=e.x, picture_size=v.size, picture_channels=v.channels)
        finally:
            lib.heed_example_free(byref(e))

    def embed(self, words):
        """The vector of a text (width), or of a list of texts (n, width). Without a tokenizer a text is ids, as "3 1 4"."""
        words = listed(words)
        if not isinstance(words, str):
            if not isinstance(words, (list, tuple, np.ndarray)) or len(words) == 0 or not all(isinstance(w, str) for w in words):
                raise UsageError(f"the input is wrong: expected a text or a list of texts, found {words!r:.60}")
            return np.stack([self.embed(w) for w in words])
        data = text_bytes(words, "input")
        self.net.moved()
        return self.net.made(lib.heed_text_vector(self.pointer, data, len(data)), "embed").numpy()[0]

    # ---- looking into it ----

    @contextlib.contextmanager
    def _interruptible(self):
        """A callback of progress that ends a call at Ctrl-C, which is raised after it."""
        watch = Interrupts()
        try:
            with watch:
                yield function_type(_c.heed_data_args, "progress")(lambda *_: not watch.raised)
        finally:
            watch.check(self.context)

    def attend(self, x, target=None, rollout=False, occlusion=False, gradient=False, lean=False, top=5):
        """A heed.Record of what the model attends to on an input, a text, the ids of all tokens that it reads, or a picture; with a
        target for a model of pairs or captions, else it makes its own. rollout, occlusion, gradient: maps to compare. lean: the weights alone."""
        with self._interruptible() as progress, self._example(x, target) as e:
            self.net.moved()
            args = filled(_c.heed_capture_args, lean=lean, top=check_range("top", top, 1, 1 << 24))
            record = Record(self.context, self.context.made(lib.heed_capture(self.pointer, byref(e), byref(args)), "attend"))
            for wanted, add, how in ((rollout, lib.heed_rollout_add, None),
                                     (occlusion, lib.heed_occlusion_add, byref(_c.heed_occlusion_args(progress=progress))),
                                     (gradient, lib.heed_gradient_add, byref(_c.heed_gradient_args(progress=progress, question=-1)))):
                if wanted:
                    self.context.made(add(self.pointer, byref(e), how, record.pointer), "attend")
            return record

    def influence(self, x, target=None):
        """A heed.Record with the map "influence": how much each output position depends on each input position."""
        with self._interruptible() as progress, self._example(x, target) as e:
            self.net.moved()
            how = _c.heed_influence_args(progress=progress)
            return Record(self.context, self.context.made(lib.heed_influence(self.pointer, byref(e), byref(how)), "influence"))

    def explain(self, x, layer=-1, head=0, target=None):
        """A heed.Lesson: a head of one of attend's blocks computed in double precision, matrix by matrix, from the model's own weights
        on an input; an error if it does not give the model's attention."""
        with self._example(x, target) as e:
            self.net.moved()
            count, made = ctypes.c_int(), _c.heed_attention_trace()
            layers = self.context.made(lib.heed_attention_layers(self.pointer, byref(count)), "explain")
            try:
                layer = check_range("layer", layer, -count.value, count.value - 1) % count.value
                block = _c.heed_record_block.from_address(layers + layer * ctypes.sizeof(_c.heed_record_block))
                head = check_range("head", head, -block.heads, block.heads - 1) % block.heads
                self.context.made(lib.heed_attention_trace_of_head(self.pointer, byref(e), byref(block), head, byref(made), None), "explain")
                return Lesson.of(made)
            finally:
                lib.heed_attention_trace_free(byref(made))
                libc.free(layers)

    # ---- on data ----

    @contextlib.contextmanager
    def _evaluation(self, data, method):
        """The heed_evaluation of other data, or with None of the held-out part of the data that it was trained on. Ctrl-C ends the
        reading of a text, or the evaluation after a batch."""
        c, f = self.context, self.c.config
        if data is None:
            other = f"run.{method}(PATH)".encode()
            for key in (b"data", b"val"):
                c.made(lib.heed_run_has_data(c.pointer, self.c.model, path_bytes(self.path), f, key, other), method)
        own = lib.heed_config_text(f, b"data")
        with self._interruptible() as progress, contextlib.ExitStack() as stack:
            if data is not None:
                data = path_bytes(stack.enter_context(written(data, self.kind)), "data")
                stack.callback(lib.heed_config_set, f, b"data", own, b"data", _c.HEED_FROM_FLAG)
            d = c.made(lib.heed_run_data(self.pointer, f, data, byref(_c.heed_data_args(progress=progress))), "data")
            stack.callback(lib.heed_data_close, d)
            rows = lib.heed_config_int(f, b"batch")
            count = lib.heed_model_eval_batches(self.c.model, self.c.self, d, rows)
            self.net.moved()
            yield _c.heed_evaluation(run=self.pointer, data=d, rows=rows, batches=count, what=b"data", progress=progress)

    def evaluate(self, data=None):
        """Loss and accuracy on other data, or without it on the held-out part of the data that it was trained on: loss, perplexity,
        bits_per_byte, accuracy, top5, items, as they apply. data: a path, or data from memory as in heed.train."""
        s = _c.heed_score()
        with self._evaluation(data, "evaluate") as e:
            for i in range(e.batches):
                at = _c.heed_batch_at(val=True, index=i, rows=e.rows)
                self.context.made(lib.heed_evaluate_batch(self.c.tape, self.c.model, self.c.self, e.data, at, None, byref(s)), "evaluate")
                if not e.progress(None, i + 1, e.batches):
                    break
        found = {"loss": s.loss / s.weight, "items": int(s.weight)}
        if s.total:
            found.update(accuracy=s.correct / s.total, top5=s.top5 / s.total)
        if s.bytes:
            found.update(perplexity=float(np.exp(found["loss"])), bits_per_byte=float(s.loss / np.log(2) / s.bytes))
        return found

    def heads(self, data=None):
        """What the heads do over data: for each measure that any head has (entropy, distance, first, self, previous, ...) a list of a
        layer's heads, nan where it does not apply."""
        with self._evaluation(data, "heads") as e:
            found = Record(self.context, self.context.made(lib.heed_heads(byref(e)), "heads")).tables["heads"]
        about, first = ("queries", "path", "stack", "layer", "head"), [i for i, head in enumerate(found["head"]) if head == 1]
        return {name: [x[a:b] for a, b in zip(first, first[1:] + [len(x)])] for name, x in found.items() if name not in about}

    def ablate(self, data=None):
        """What is lost without each head: (path, head, by how much the loss rises, half of the 95 % interval), the most first."""
        with self._evaluation(data, "ablate") as e:
            found = Record(self.context, self.context.made(lib.heed_ablate(byref(e)), "ablate")).tables["heads"]
        return [(path, int(head) - 1, harm, half) for path, head, harm, half in zip(found["path"], found["head"], found["harm"], found["harm_95"])]

    # ---- elsewhere ----

    def save(self, path, force=False):
        """Writes it as a run to a new folder, or with force in the place of another run."""
        self.context.made(lib.heed_run_save(self.pointer, path_bytes(path), force), "save")

    def export(self, folder, force=False):
        """Writes it in the format of Hugging Face's transformers."""
        self.context.made(lib.heed_export(self.pointer, path_bytes(folder), force), "export")

    def onnx(self, path, cache=False):
        """Writes its forward pass as an ONNX file, whose outputs are the logits and the attention of each layer. cache: the step of a
        causal model, with keys and values of the tokens before."""
        self.net.moved()
        self.context.made(lib.heed_export_onnx(self.pointer, path_bytes(path), cache), "onnx")

    def to_torch(self):
        """A state dict: all parameters and states by heed's names, copied as torch tensors. export has transformers' names."""
        import torch
        return {name: torch.from_numpy(p.numpy()) for name, p in self.net.parameters().items()}


for name in ("encode", "decode", "predict", "fill", "classify", "generate", "translate", "caption", "embed", "attend", "influence", "explain",
             "evaluate", "heads", "ablate", "save", "export", "onnx", "to_torch"):
    setattr(Run, name, alone(getattr(Run, name)))
