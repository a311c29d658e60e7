"""The shared libraries, loaded and declared, and what is shared by all calls of them: errors, choices by name, structs of arguments."""
import ctypes
import functools
import logging
import math
import operator
import os
import re
import signal
import threading

import numpy as np

from . import _c

LIBRARY = "libheed.so.0"
HERE = os.path.dirname(os.path.abspath(__file__))


class Error(Exception):
    """What heed reports. The message is heed's own; settings are named in backquotes."""


class FailedError(Error):
    """The operating system refused: no memory, no space, a file cannot be written."""


class UsageError(Error, ValueError):
    """An argument, a shape or a setting is wrong."""


class DataError(Error):
    """A file or an input is wrong."""


class DivergedError(Error, ArithmeticError):
    """A loss or a gradient is not finite."""


for kind in (Error, FailedError, UsageError, DataError, DivergedError):
    kind.__module__ = "heed"  # as it is imported
ERRORS = {_c.HEED_FAILED: FailedError, _c.HEED_USAGE: UsageError, _c.HEED_DATA: DataError, _c.HEED_DIVERGED: DivergedError}


def folder():
    """Where the library is: HEED_LIBRARIES if it is set, beside this file in a wheel, in the build folder of a checkout; else
    wherever the system looks."""
    if os.environ.get("HEED_LIBRARIES"):
        return os.environ["HEED_LIBRARIES"]
    for path in (os.path.join(HERE, "lib"), os.path.join(HERE, "..", "..", "build", "release")):
        if os.path.exists(os.path.join(path, LIBRARY)):
            return path
    return ""


def python_value(value):
    """A setting's value: norm = post is "post", bracket = true True; numbers, and FILE for any, are kept."""
    if value in ("true", "false"):
        return value.capitalize()
    return f'"{value}"' if re.match("[a-z]", value) else value


def python_words(message):
    """A message of the library with settings and calls as Python writes them."""
    def written(found):
        name, value = found[1], found[2]
        if name == "onnx":
            return f"`run.onnx({value})`"
        if name in ("force", "edited"):
            return f"`{name}=True`"
        if name == "train" and value is None:
            return "`heed.train`"
        name = "from_" if name == "from" else name.replace("-", "_")
        return f"`{name}`" if value is None else f"`{name}={python_value(value)}`"

    message = re.sub("`([a-z][a-z0-9-]*)(?: = ([^`]*))?`", written, message)
    def changed(found):
        settings = re.findall("--(no-)?([a-z0-9-]+)(?: (?!--)([^ ]+))?", found[2])
        words = [f"{name.replace('-', '_')}={python_value(value or str(not no).lower())}" for no, name, value in settings]
        return f'`heed.train("{found[1]}", DATA, {", ".join(words)})` with the other settings of the run'

    message = re.sub("`train ([a-z0-9]+) -c [^`]*?config.conf((?: --[^`]*?)?) -o [^`]*`", changed, message)
    message = re.sub("`export [^`]* --onnx ([^`]*)`", r'`run.onnx("\1")`', message)
    message = re.sub("`train ([a-z0-9]+) ([^`]*?)(?: -o [^`]*)?`", r'`heed.train("\1", "\2")`', message)
    if message.startswith("unknown setting"):
        message = re.sub('(?<=unknown setting ")[^"]*|(?<=did you mean )[a-z0-9-]+', lambda name: name[0].replace("-", "_"), message)
    message = re.sub("`resume ([^`]*)`", r'`heed.resume("\1")`', message)
    return message.replace("begin the step with HEED_TRAIN", "begin the step with net.train(step)")


class Functions:
    """The functions of all headers as attributes, each declared when it is first used, and `variable` for what is no function."""

    def __init__(self):
        where = folder()
        try:
            self.library = ctypes.CDLL(os.path.join(where, LIBRARY))
        except OSError as e:
            raise ImportError(f"heed's shared library cannot be loaded: {e}; hint: `make lib`, or HEED_LIBRARIES=FOLDER") from None

    def __getattr__(self, name):
        try:
            f = self.library[name if name in _c.FUNCTIONS else ""]
        except AttributeError:
            raise AttributeError(f"heed's shared library has no {name}; is it of another version than this package?") from None
        f.restype, f.argtypes = _c.FUNCTIONS[name]
        setattr(self, name, f)
        return f

    def variable(self, kind, name):
        try:
            return kind.in_dll(self.library, name)
        except ValueError:
            raise ImportError(f"heed's shared library has no {name}") from None


lib = Functions()
try:  # a forked process has no threads but its first, and OpenMP would wait for the others: they end before, and begin anew
    os.register_at_fork(before=functools.partial(lib.library.omp_pause_resource_all, 2))
except AttributeError:
    pass  # built without OpenMP
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]


def function_type(struct, field):
    """The type of a callback."""
    return dict(f[:2] for f in struct._fields_)[field]


class Missed(threading.local):
    """What a message's handler raised, as Ctrl-C may at any moment: C cannot raise it, the end of this thread's call does."""

    def __init__(self):
        self.raised = []


missed = Missed()


@function_type(_c.heed_options, "log")
def LOG(user, level, message):
    try:
        logging.getLogger("heed").log(logging.WARNING if level == _c.HEED_WARN else logging.INFO, "%s", python_words(text(message)))
    except BaseException as e:
        missed.raised.append(e)


class Owner:
    """What has memory of heed's: a copy would free it again."""

    __slots__ = ()

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a heed.{type(self).__name__} cannot be copied or pickled; hint: save it to a file")


def alone(method):
    """A method that waits until no other thread is in one of the same context, whose memory lasts as long as the call."""
    @functools.wraps(method)
    def call(self, *args, **settings):
        context = self.context  # a callback, or another thread, may close the run
        with context.lock:
            return method(self, *args, **settings)
    return call


class Interrupts:
    """Within it Ctrl-C is noted as `raised` instead of raised inside a callback, where it would be lost."""

    def __init__(self):
        self.raised = None

    def note(self, *_):
        self.raised = KeyboardInterrupt()

    def check(self, context):
        """Raises what was noted, instead of the error that came of it."""
        if self.raised:
            lib.heed_clear(context.pointer)
            raise self.raised from None

    def __enter__(self):
        main = threading.current_thread() is threading.main_thread()  # others receive no signals
        self.before = signal.signal(signal.SIGINT, self.note) if main else None
        return self

    def __exit__(self, *_):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


def check_range(name, value, low, high, kind=operator.index):
    """The number; an error unless low <= value <= high, which nan is not, and it is whole, unless kind is float."""
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        raise UsageError(f"{name} is out of range: expected {low} to {high}, found {value!r:.60}")
    return number


class Context(Owner):
    """Owns all objects made with it, and frees them when nothing refers to it any more. Messages go to the logger "heed"."""

    def __init__(self, seed=1, threads=0, isa=None, edited=False):
        self.lock = threading.RLock()
        check_range("seed", seed, 0, 2**64 - 1), check_range("threads", threads, 0, 2**31 - 1)
        self.options = _c.heed_options(seed=seed, threads=threads, isa=None if isa is None else text_bytes(isa, "isa"), edited=edited, log=LOG)
        self.pointer = lib.heed_open_real(ctypes.byref(self.options), ctypes.sizeof(ctypes.c_float))
        if not self.pointer:
            raise MemoryError("no memory for a context")
        self.check()

    def check(self):
        """Raises the error that the context holds, if any, and clears it."""
        if missed.raised:
            lib.heed_clear(self.pointer)
            raise missed.raised.pop()
        status = lib.heed_ctx_status(self.pointer)
        if status:
            message = python_words(lib.heed_ctx_error(self.pointer).decode(errors="replace"))
            lib.heed_clear(self.pointer)
            raise ERRORS.get(status, Error)(message)

    def made(self, result, what="a call"):
        """A result that is not NULL or false; else the error."""
        if not result or missed.raised:
            self.check()
            raise UsageError(f"{what}: an input is missing")
        return result

    def __del__(self):
        if getattr(self, "pointer", None):
            lib.heed_close(self.pointer)
            self.pointer = None


class Memory:
    """An array in heed's memory, which `owner` keeps valid: np.asarray(Memory(..)) copies nothing."""

    def __init__(self, address, shape, kind, owner, writable=True):
        self.owner = owner
        self.__array_interface__ = {"data": (address, not writable), "shape": tuple(shape), "typestr": kind, "version": 3}


def array(address, shape, owner, kind="<f4", writable=True):
    """An array in heed's memory; None if there is none."""
    return np.asarray(Memory(address, shape, kind, owner, writable)) if address else None


def index(value):
    """A whole number for a C int; ctypes would drop the upper bits of a larger one."""
    number = operator.index(value)
    if not -2**31 <= number < 2**31:
        raise UsageError(f"a whole number is out of range: expected {-2**31} to {2**31 - 1}, found {number}")
    return number


def choice(enum, value):
    """The value of an enumerator given by name, without what all of its kind begin with: "relu", "gelu-tanh", "cosine" of
    HEED_SCHEDULE_COSINE, "layer" of HEED_LAYER_NORM, "rnn" of a cell with tanh; numbers are kept."""
    if not isinstance(value, str):
        return index(value)
    names = _c.ENUMS[enum]
    start = os.path.commonprefix(names).rpartition("_")[0] + "_"
    word = {("heed_cell", "rnn"): "tanh", ("heed_schedule_kind", "steps"): "step"}.get((enum, value), value)
    wanted = start + word.upper().replace("-", "_")
    for name in names:
        if name == wanted or name.startswith(wanted + "_NORM"):
            return _c.CONSTANTS[name]
    words = ", ".join(name[len(start):].lower() for name in names)
    raise UsageError(f'"{value}" is not one of {words}')


def filled(struct, **values):
    """A struct of arguments. None: left at zero; a field has_NAME is set with NAME; one number fills a pair; a dict another struct."""
    a, kinds = struct(), dict(f[:2] for f in struct._fields_)
    for name, value in values.items():
        if value is None:
            continue
        if name not in kinds:
            raise TypeError(f"{name!r} is not one of {', '.join(k for k in kinds if not k.startswith('has_'))}")
        kind = kinds[name]
        if "has_" + name in kinds:
            setattr(a, "has_" + name, True)
        if name in getattr(struct, "_enums_", ()):
            value = choice(struct._enums_[name], value)
        elif isinstance(value, str):
            value = value.encode()
        elif isinstance(value, dict):
            value = filled(kind, **value)
        elif issubclass(kind, ctypes.Array):
            values = [value] * kind._length_ if np.isscalar(value) else value
            value = kind(*(map(index, values) if kind._type_ is ctypes.c_int else values))
        elif issubclass(kind, (ctypes.c_float, ctypes.c_double)):
            value = float(value)
        elif kind is ctypes.c_int:
            value = index(value)
        elif kind is ctypes.c_void_p and not isinstance(value, int):
            a.arrays = getattr(a, "arrays", []) + [np.ascontiguousarray(value, np.float32)]
            value = a.arrays[-1].ctypes.data
        setattr(a, name, value)
    return a


def text_bytes(words, what="text"):
    """A text for heed."""
    if not isinstance(words, str):
        raise UsageError(f"the {what} is wrong: expected a text, found {words!r:.60}")
    try:
        return words.encode()
    except UnicodeEncodeError as e:
        raise UsageError(f"the {what} is wrong: expected Unicode, found {words[e.start]!r} at character {e.start}") from None


def text(bytes_):
    """A text of heed's, None for NULL."""
    return None if bytes_ is None else bytes_.decode(errors="replace")


def texts(address, count):
    """An array of texts: const char *const *."""
    return [text(t) for t in (ctypes.c_char_p * count).from_address(address)] if address else []


def take_text(growing):
    """The contents of a heed_text, which is freed."""
    said = ctypes.string_at(growing.s, growing.n).decode(errors="replace") if growing.s else ""
    lib.heed_text_free(ctypes.byref(growing))
    return said
