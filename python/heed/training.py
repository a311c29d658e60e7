"""train and resume: a training run in one call, with progress; Training: a step at a time."""
import contextlib
import ctypes
import inspect
import os
import re
import shutil
import tempfile
import weakref
from ctypes import byref, c_char_p

import numpy as np

from . import _c
from ._library import Context, DivergedError, Interrupts, Owner, UsageError, check_range, function_type, lib, python_value, python_words, text, text_bytes
from ._synonyms import SETTINGS
from .data import is_path, path_bytes, written
from .run import MODELS, Run, kind_of, models, open_, seed_of, setting_of

EVENTS = ("start", "step", "eval", "saved", "note")
FIELDS = ("step", "steps", "progress", "epoch", "loss", "val_loss", "metric", "bits_per_byte", "best", "lr", "grad_norm", "items_per_s",
          "seconds", "seconds_left", "params", "bytes")


class Report:
    """What a training run reports: event is start, step, eval, saved or note; the numbers are those of heed_report, nan where unknown."""

    def __init__(self, c):
        self.event, self.note = EVENTS[c.event], c.note and python_words(text(c.note))
        for name in FIELDS:
            setattr(self, name, getattr(c, name))

    def __str__(self):
        if self.note:
            return self.note
        if self.event == "start":
            return f"{self.params:,} parameters, {self.steps} steps"
        said = f"step {self.step:>5} of {self.steps}  loss {self.loss:.3f}"
        for name, value, form in (("validation", self.val_loss, "{:.3f}"), ("accuracy", self.metric, "{:.1%}")):
            if value == value:
                said += f"  {name} " + form.format(value)
        return said + (" *" if self.event == "eval" and self.best else "")

    def __repr__(self):
        return f"<heed.Report {self.event}: {self}>"


def show(report):
    """Prints a report: what progress=True does."""
    if report.event in ("start", "eval", "note"):
        print(report, flush=True)


class Watch(Interrupts):
    """The callbacks of a training run: they pass reports on, and stop it when progress returns False or raises, or at Ctrl-C."""

    def __init__(self, progress):
        super().__init__()
        if not (progress in (None, True, False) or callable(progress)):
            raise UsageError(f"progress is wrong: expected True or a function of a heed.Report, found {progress!r:.60}")
        self.progress = show if progress is True else progress
        self.stopped = False
        self.report = function_type(_c.heed_train_args, "report")(self.take)
        self.stop = function_type(_c.heed_train_args, "stop")(lambda _: self.stopped or self.raised is not None)

    def take(self, _, report):
        if not self.progress or self.raised:
            return
        try:
            if self.progress(Report(_c.heed_report.from_address(report))) is False:
                self.stopped = True
        except BaseException as e:  # C cannot raise it
            self.raised = e


def value_text(value):
    """A setting's value as heed reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(map(value_text, value))
    return os.fsdecode(value) if is_path(value) else str(value)


def known_as(task, call, key):
    """What heed calls a setting of another program, with its value if that is in the name: 'lr', 'norm="pre"'; None: it has none."""
    name, here = key.lower().replace("_", "-").strip("-"), {*settings(task), *inspect.signature(call).parameters}
    for ours, theirs in SETTINGS:
        for one in ours.split() if name in theirs.split() else ():
            one, _, value = one.partition("=")
            if one in here:
                return ("from_" if one == "from" else one.replace("-", "_")) + (f"={python_value(value)}" if value else "")
    return None


@contextlib.contextmanager
def naming(task, call):
    """The error about an unknown setting of call, train or resume, within says what is meant: a setting of other tasks, or heed's name for it."""
    try:
        yield
    except UsageError as e:
        found = re.match('unknown setting "([^"]*)"', str(e))
        if not found:
            raise
        others, ours = [t for t in models() if found[1].replace("_", "-") in settings(t)], known_as(task, call, found[1])
        if others:
            raise UsageError(f'{found[0]}: it is a setting of {", ".join(others)}, not of {task}') from None
        raise UsageError(f"{found[0]}: did you mean {ours}?" if ours else f'{e}; hint: heed.settings("{task}") lists the settings') from None


def arguments(args, watch, settings):
    """heed_train_args, which keep what they point to. A setting of None has its default."""
    if settings.get("val") is not None:
        path_bytes(settings["val"], "setting val")
    pairs = [text_bytes(t, f"setting {key}") for key, value in settings.items() if value is not None
             for t in (key.rstrip("_").replace("_", "-"), value_text(value))]
    values = (c_char_p * (len(pairs) + 1))(*pairs)
    a = _c.heed_train_args(models=MODELS, values=ctypes.addressof(values), report=watch.report, stop=watch.stop, **args)
    a.kept = values, watch
    return a


def run_training(args, progress, settings, options):
    """heed_train; the context, its result, and whether it was stopped."""
    watch, c = Watch(progress), Context(**options)
    a = arguments(args, watch, settings)
    with watch:
        result = lib.heed_train(c.pointer, byref(a))
    said = DONE
    if lib.heed_ctx_status(c.pointer) == _c.HEED_INTERRUPTED:
        said = text(lib.heed_ctx_error(c.pointer)).partition(";")[0]
        lib.heed_clear(c.pointer)
    c.check()
    if isinstance(watch.raised, KeyboardInterrupt) and not watch.raised.args:
        raise KeyboardInterrupt(said)
    if watch.raised:
        raise watch.raised
    return c, result, watch.stopped


DONE = "interrupted after the last step"


@contextlib.contextmanager
def saying(path, kept=True):
    """Ctrl-C within says what is saved and how to go on. kept: the run is not in a temporary folder."""
    try:
        yield
    except KeyboardInterrupt as e:
        if not e.args:
            raise
        if not kept:
            raise KeyboardInterrupt(f"{e}; nothing is saved; hint: with out=PATH a run can be resumed") from None
        if not os.path.exists(os.path.join(path, "last")):
            raise KeyboardInterrupt(f"{e} before the first step; nothing is saved") from None
        how = f'heed.open("{path}") opens it' if str(e) == DONE else f'heed.resume("{path}") continues it'
        raise KeyboardInterrupt(f"{e}; the run is saved; hint: {how}") from None


def check_memory(place, settings):
    """Pictures with captions are moved into the run after they were read, and cannot be read again."""
    if os.path.exists(os.path.join(place, "metadata.jsonl")):
        size = sum(f.stat().st_size for f in os.scandir(place)) // 10**6 + 1
        check_range("cache_mb, the memory for pictures in MB,", settings.get("cache_mb") or 1000, size, 1 << 20, float)


def finished(path, result, stopped, options):
    """The run that was trained: its best weights or, if it was stopped before the first evaluation, its last ones."""
    best = os.path.exists(os.path.join(path, "model.safetensors"))
    run = open_(path, "best" if best else "last", options["threads"], options["isa"])
    run.result = result_of(result) | {"stopped": stopped}
    return run


def result_of(result):
    """A heed_fit_result as a dictionary."""
    return {name: getattr(result, name) for name in ("step", "loss", "val_loss", "best_loss", "metric", "best_metric")}


def model_of(task):
    """The model of a task."""
    if task not in models():
        raise UsageError(f'"{task}" is not a task: expected one of {", ".join(models())}')
    return models()[task]


def train(task, data, out=None, progress=None, preset=None, force=False, seed=1, threads=0, isa=None, **settings):
    """Trains a model and returns it as a heed.Run; what `heed train` with the same settings makes, bit for bit.

    task: mlm, gpt, vit, cnn, mlp, seq2seq, rnn, textcls, tag, caption, autoencoder.

    data: a file or folder of that kind, or data from memory, of which the run keeps a copy (heed-data):
        gpt, mlm                a list of texts, one a line
        seq2seq, rnn            a list of (source, target), or (sources, targets)
        textcls, tag            (texts, classes); (lists of words, lists of tags); or a list of such pairs
        vit, cnn, mlp           (x, y): x an array of pictures (n, height, width) or (n, height, width, 1 or 3), of whole numbers 0 to 255
                                or fractions 0 to 1, or a list of paths; y their classes, whole numbers or texts
        autoencoder             x alone
        caption                 (x, y): y a list of texts, or of lists of texts

    out: the run's folder, which force replaces; without it the run exists as long as the result. settings: those that heed.settings(task)
    lists, with _ for -, and from_ for from. progress: called with each heed.Report; it stops the training by returning False.
    True prints the evaluations. Ctrl-C saves the run, which heed.resume continues, and raises KeyboardInterrupt."""
    model = model_of(task)
    folder = None if out is not None else tempfile.mkdtemp(prefix="heed-")
    path = os.path.join(folder, "run") if folder else os.fsdecode(path_bytes(out, "run"))
    try:
        options = {"seed": seed, "threads": threads, "isa": isa}
        with written(data, kind_of(model), path) as place, saying(path, not folder), naming(task, train):
            args = {"model": model, "run": path_bytes(path), "force": force}
            args["preset"] = None if preset is None else text_bytes(preset, "preset")
            args["data"] = path_bytes(place, "data")
            if not is_path(data):
                check_memory(place, settings)
                args["keep"], args["data"] = args["data"], path_bytes(os.path.join(path, os.path.basename(place)))
            _, result, stopped = run_training(args, progress, settings, options)
        run = finished(path, result, stopped, options)
    except BaseException as e:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        if folder and isinstance(e, DivergedError):
            why = str(e).partition("; hint: ")[0]
            raise DivergedError(f"{why}; nothing is saved; hint: a smaller `lr`, or out=PATH, so that a run can be resumed with one") from None
        raise
    if folder:
        run.folder = weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


class Training(Owner):
    """A training a step at a time, for a notebook or a loop with other work in it. The arguments are those of train, without progress.

        with heed.Training("gpt", "book.txt", out="runs/book", steps=300) as training:
            for report in training:
                if report.step % 50 == 0:
                    print(report, training.run.generate("Once upon a time", n=40))

    The steps make the same bits as train. A training that ends early keeps its last checkpoint, from which heed.resume continues."""

    def __init__(self, task, data, out=None, preset=None, force=False, seed=1, threads=0, isa=None, **settings):
        self.pointer, self.watch, self.files, self.context = None, Watch(None), contextlib.ExitStack(), Context(seed, threads, isa)
        model, path = model_of(task), None if out is None else os.fsdecode(path_bytes(out, "run"))
        place = self.files.enter_context(written(data, kind_of(model), path))
        args = {"model": model, "data": path_bytes(place, "data"), "run": path and path_bytes(path), "force": force}
        args["preset"] = None if preset is None else text_bytes(preset, "preset")
        if path and not is_path(data):
            check_memory(place, settings)
            args["keep"], args["data"] = args["data"], path_bytes(os.path.join(path, os.path.basename(place)))
        self.arguments = arguments(args, self.watch, settings)
        with naming(task, train), self.watch:
            self.pointer = lib.heed_train_new(self.context.pointer, byref(self.arguments))
            self.watch.check(self.context)
            self.context.made(self.pointer, "Training")
        self.run = Run(self.context, lib.heed_train_net(self.pointer))

    def step(self):
        """Makes an update, and the evaluation and checkpoints that are then due. Its Report; None if nothing was left to do."""
        with self.watch:
            made = lib.heed_train_step(self._open())
        self.watch.check(self.context)
        self.context.check()
        return Report(lib.heed_train_report(self.pointer)) if made else None

    def __iter__(self):
        return iter(self.step, None)

    def save(self):
        """Writes a checkpoint of the present step."""
        self.context.made(lib.heed_train_save(self._open()), "save")

    @property
    def result(self):
        """The step, and the losses and accuracies of the last evaluation and of the best one."""
        return result_of(lib.heed_train_result(self._open()))

    def close(self):
        """Ends the training, which the end of a `with` block does, too. Its model cannot be used afterwards."""
        if self.pointer:
            vars(self.run).clear()
            lib.heed_train_free(self.pointer)
        self.pointer = None
        self.files.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self):
        if not self.pointer:
            raise UsageError("the training was closed; hint: heed.resume continues its run")
        return self.pointer


def resume(path, progress=None, data=None, threads=0, isa=None, **settings):
    """Continues a training run that was stopped, to the same bits as if it had not been; or with steps=N goes on to N. data: its new
    path, if it has moved."""
    name = path_bytes(path, "run")
    options = {"seed": seed_of(path), "threads": threads, "isa": isa}
    c = Context(**options)
    c.made(lib.heed_run_resumable(c.pointer, name), "resume")
    model = models().get(setting_of(path, "task", "")) or open_(path).c.model
    places = {"data": data, "val": settings.get("val")}
    typed = "".join(f', {key}="{given}"' for key, given in places.items() if given is not None)
    for key, given in places.items():
        if given is None:
            other = f'heed.resume("{path}"{typed}, {key}=PATH)'.encode()
            c.made(lib.heed_run_has_data(c.pointer, model, name, None, key.encode(), other), "resume")
    args = {"model": model, "run": name, "resume": True, "data": None if data is None else path_bytes(data, "data")}
    with saying(os.fsdecode(name)), naming(next(t for t, m in models().items() if m == model), resume):
        _, result, stopped = run_training(args, progress, settings, options)
    return finished(os.fsdecode(name), result, stopped, options)


def settings(task):
    """The settings of a task: for each its default and what it is for."""
    c = Context()
    f, found, value = lib.heed_train_config(c.pointer, model_of(task)), {}, c_char_p()
    for i in range(lib.heed_config_count(c.made(f, task))):
        option = _c.heed_option.from_address(lib.heed_config_at(f, i, byref(value)))
        found[text(option.name)] = (text(value.value), text(option.help))
    return found
