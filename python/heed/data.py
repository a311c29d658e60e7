"""Data from memory, written in the formats that heed reads: texts, pairs, labelled texts, pictures as arrays or by their paths."""
import contextlib
import csv
import fcntl
import glob
import json
import operator
import os
import re
import shutil
import struct
import tempfile
import time
import zlib

import numpy as np

from . import _c
from ._library import Error, FailedError, UsageError, text_bytes

TEXTS = ("a list of texts", '["One line .", "Another line ."]')
PAIRS = ("a list of pairs of texts, or (sources, targets)", '[("I am", "je suis"), ("You are", "tu es")]')
LABELLED = ("(texts, classes) or, for tag, (lists of words, lists of tags)", '(["fine film", "dull film"], ["good", "bad"])')
PICTURES = ("(pictures, classes)", "(x, y) with x of shape (n, height, width) or (n, height, width, 3)")
CAPTIONS = ("(pictures, captions)", "(x, y) with x as of a classifier, y a list of texts, or of lists of texts")


def form_of(kind):
    """How data of a kind is given from memory, and an example."""
    if not kind.open:
        return "", "heed.Net trains custom models on arrays"
    if kind.pictures:
        return CAPTIONS if kind.target else PICTURES
    return PAIRS if kind.target else LABELLED if kind.label else TEXTS


def is_path(x):
    return isinstance(x, (str, os.PathLike))


def path_bytes(path, what="path"):
    """A path for heed."""
    try:
        if is_path(path) and "\0" not in os.fsdecode(path):
            return os.fsencode(path)
    except UnicodeEncodeError:
        pass
    raise UsageError(f"the {what} is wrong: expected a path, found {path!r:.60}")


def wrong(kind, found):
    form, hint = form_of(kind)
    return UsageError(f"the data is wrong: expected a path{form and ', or ' + form}: found {found}; hint: {hint}")


def described(x):
    """What it is, in an error."""
    if isinstance(x, np.ndarray):
        return f"an array of shape {x.shape} of {x.dtype}"
    return f"a {type(x).__name__} of {len(x)}" if isinstance(x, (list, tuple)) and x else f"{x!r:.60}"


# ---- pictures ----

def pixels(x):
    """Pictures as bytes: whole numbers from 0 to 255 are kept, fractions from 0 to 1 are multiplied by 255."""
    low, high, fractions = x.min(), x.max(), x.dtype.kind == "f"
    if not (low >= 0 and high <= (1 if fractions else 255)):  # NaN is neither
        hint = ("(x + 1) / 2" if fractions and -1 <= low and high <= 1 else "x.astype('uint8')" if fractions and 0 <= low and high <= 255
                else "(x // 256).astype('uint8')" if not fractions and 0 <= low and high < 65536 else "")
        found = "NaN" if low != low else f"{low} to {high}"
        raise UsageError(f"a picture has whole numbers from 0 to 255, or fractions from 0 to 1: found {found} of {x.dtype}{hint and '; hint: ' + hint}")
    return np.ascontiguousarray(np.rint(x * 255) if x.dtype.kind == "f" else x, dtype=np.uint8)


def array_of(x, what):
    """Numbers or texts as an array; lists of unequal lengths are none."""
    try:
        return np.asarray(x)
    except ValueError:
        hint = "; hint: resize them, or give their paths" if what == "pictures" else ""
        raise UsageError(f"the {what} have different shapes: expected equal ones{hint}") from None


def check_numbers(x, given):
    """Pictures are numbers."""
    if x.dtype.kind not in "uif":
        found = x.dtype if x.dtype.kind != "O" or isinstance(given, np.ndarray) else f"a {type(given).__name__}"
        hint = "; hint: x.astype(float)" if x.dtype.kind == "b" else ""
        raise UsageError(f"a picture is a path or an array of numbers (height, width[, channels]): found {found}{hint}")


def classes_of(y, count):
    """The classes as whole numbers from 0, and the names of these; None if the numbers are the names."""
    y = array_of(y, "classes")
    y = y.reshape(len(y)) if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (count,):
        hint = "; hint: y.argmax(1) for one column for each class" if y.ndim == 2 else ""
        raise UsageError(f"the classes are wrong: expected one for each of {count} items, found {described(y)}{hint}")
    if y.dtype.kind == "f" and (np.abs(y) < 2**53).all() and (y == np.floor(y)).all():
        y = y.astype(np.int64)
    if y.dtype.kind not in "iubUOT" or (y.dtype.kind == "O" and not all(isinstance(i, str) for i in y)):
        raise UsageError(f"the classes are wrong: expected whole numbers or texts, found {described(y)}")
    if y.dtype.kind in "iu" and 0 <= y.min() and y.max() < 2**31:
        return y, None
    names, y = np.unique(np.char.strip(y.astype(str), " \t"), return_inverse=True)
    for name in names:
        if not name or "\n" in name:
            raise UsageError(f"the classes are wrong: expected names of one line, found {name!r:.60}")
    return y, names.tolist()


def write_idx(path, x, kind, code):
    with open(path, "wb") as f:
        f.write(bytes([0, 0, code, x.ndim]) + np.array(x.shape, ">u4").tobytes())
        np.ascontiguousarray(x, kind).tofile(f)


def picture_array(x):
    """Pictures as an array (n, height, width[, 1 or 3 channels])."""
    x = array_of(x, "pictures")
    if x.dtype.kind == "b":
        check_numbers(x, x)
    if x.ndim not in (3, 4) or x.shape[3:] not in ((), (1,), (3,)) or 0 in x.shape or x.dtype.kind not in "uif":
        hint = "; hint: x.transpose(0, 2, 3, 1) puts the channels last" if x.ndim == 4 and x.shape[1] in (1, 3) else ""
        raise UsageError(f"the pictures are wrong: expected an array (n, height, width[, 1 or 3 channels]), found {described(x)}{hint}")
    return x


def write_pictures(x, y, folder):
    """A folder of IDX files."""
    x = picture_array(x)
    path = os.path.join(folder, "heed-data")
    os.mkdir(path)
    if y is not None:
        numbers, names = classes_of(y, len(x))
        write_idx(os.path.join(path, "train-labels-idx1-ubyte"), numbers, ">i4", 0x0C)
        if names:
            with open(os.path.join(path, "labels.txt"), "wb") as f:
                f.writelines(text_bytes(name + "\n") for name in names)
    write_idx(os.path.join(path, "train-images-idx3-ubyte"), pixels(x), "u1", 0x08)
    return path


def picture_path(x):
    """The whole path of a picture."""
    if not is_path(x):
        raise UsageError(f"the pictures are wrong: expected all of them by their paths, found {described(x)}")
    return os.path.abspath(os.fsdecode(x))


def write_paths(x, y, folder):
    """A list of pictures by their paths."""
    path = os.path.join(folder, "heed-data.csv")
    numbers, names = (None, None) if y is None else classes_of(y, len(x))
    with open(path, "w", newline="", encoding="utf-8", errors="surrogateescape") as f:
        rows = csv.writer(f, lineterminator="\n", quoting=csv.QUOTE_ALL)  # a semicolon does not separate columns
        for i, picture in enumerate(x):
            rows.writerow([picture_path(picture)] + ([] if y is None else [names[numbers[i]] if names else numbers[i]]))
    return path


# ---- captions ----

def captions_of(y, count):
    """The captions of each picture, as lists of texts."""
    several = (list, tuple, np.ndarray)
    given = y
    y = [[one] if isinstance(one, str) else one for one in y] if isinstance(y, several) else []
    if len(y) != count or not all(isinstance(many, several) and len(many) and all(isinstance(one, str) for one in many) for many in y):
        raise UsageError(f"the captions are wrong: expected a text, or a list of texts, for each of {count} pictures, found {described(given)}")
    return y


def write_png(path, x):
    """A picture (height, width, channels) of bytes, uncompressed: the size of the file is about that of the picture in memory."""
    height, width, channels = x.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with the number of its filter, none
    rows[:, 1:] = x.reshape(height, -1)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        for name, data in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows.tobytes(), 0)), (b"IEND", b"")):
            f.write(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)))


def write_captions(x, y, folder):
    """JSON objects, one for each caption, and of an array a folder with them and the pictures."""
    y = captions_of(y, len(x))
    if is_path(x[0]):
        path = lines = os.path.join(folder, "heed-data.jsonl")
        names = list(map(picture_path, x))
    else:
        x = picture_array(x)
        path = os.path.join(folder, "heed-data")
        os.mkdir(path)
        lines, names = os.path.join(path, "metadata.jsonl"), [f"{i:07}.png" for i in range(len(x))]
        for name, picture in zip(names, pixels(x).reshape(*x.shape[:3], -1)):
            write_png(os.path.join(path, name), picture)
    with open(lines, "wb") as f:
        f.writelines(text_bytes(json.dumps({"file_name": name, "text": str(one)}, ensure_ascii=False) + "\n")
                     for name, many in zip(names, y) for one in many)
    return path


# ---- texts ----

def sides(data, kind):
    """(x, y), or a list of (x, y), as two lists of equally many."""
    two = isinstance(data, tuple) and len(data) == 2
    if not two and not is_list_of_pairs(data):
        raise wrong(kind, described(data))
    try:
        x, y = map(list, data if two else zip(*data))
    except TypeError:
        raise wrong(kind, described(data)) from None
    if len(x) != len(y) or not x:
        raise UsageError(f"the data is wrong: expected equally many of both, and at least one: found {len(x)} and {len(y)}")
    return x, y


def is_list_of_pairs(data):
    return isinstance(data, (list, tuple, np.ndarray)) and len(data) and all(
        isinstance(d, (list, tuple, np.ndarray)) and len(d) == 2 for d in data)


def plain(x, kind):
    """A text, a class, or a list of words or tags, for JSON."""
    if isinstance(x, str):
        text_bytes(x)
        return str(x)
    if kind.label == b"word" and isinstance(x, (list, tuple, np.ndarray)):
        return [plain(word, kind) for word in x]
    try:
        return int(operator.index(x))
    except TypeError:
        raise wrong(kind, described(x)) from None


def write_texts(data, kind, folder):
    """One text a line."""
    if not isinstance(data, (list, tuple, np.ndarray)) or len(data) == 0 or not all(isinstance(t, str) for t in data):
        raise wrong(kind, described(data))
    path = os.path.join(folder, "heed-data.txt")
    with open(path, "wb") as f:
        f.writelines(text_bytes(t) + b"\n" for t in data)
    return path


def write_lines(data, kind, folder):
    """JSON objects, one a line."""
    keys = ("src", "tgt") if kind.target else ("tokens", "tags") if kind.label == b"word" else ("text", "label")
    path, (x, y) = os.path.join(folder, "heed-data.jsonl"), sides(data, kind)
    with open(path, "w", encoding="utf-8") as f:
        for a, b in zip(x, y):
            if not (isinstance(a, str) or kind.label == b"word") or not (isinstance(b, str) or kind.label):
                raise wrong(kind, described(b if isinstance(a, str) else a))
            f.write(json.dumps({keys[0]: plain(a, kind), keys[1]: plain(b, kind)}, ensure_ascii=False) + "\n")
    return path


# ---- all kinds ----

def listed(x):
    """A column of a table (as pandas has) as an array, a number of NumPy as Python's; anything else is kept."""
    if not hasattr(x, "__array__") or isinstance(x, str):
        return x
    x = np.asarray(x)
    return x if x.ndim else x.item()


def write(data, kind, folder):
    """Writes data to a new file or folder in `folder`: its path."""
    data = tuple(map(listed, data)) if isinstance(data, tuple) else listed(data)
    if kind.lines:
        return (write_lines if kind.tables else write_texts)(data, kind, folder)
    if not kind.pictures:
        raise wrong(kind, described(data))
    x, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    if not isinstance(x, (list, tuple, np.ndarray)) or len(x) == 0 or (y is None and (kind.label or kind.target)):
        raise wrong(kind, described(data))
    if kind.target:
        return write_captions(x, listed(y), folder)
    return write_paths(x, y, folder) if is_path(x[0]) else write_pictures(x, y, folder)


PREFIX = ".heed-data-"


@contextlib.contextmanager
def locked(folder):
    """Within, or until the process is killed, `sweep` leaves the folder alone. Raises OSError if another process has locked it."""
    f = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(f)


def sweep(above):
    """Removes the folders of data that processes left which were killed. One that was just made may not be locked yet."""
    for folder in glob.glob(os.path.join(glob.escape(above), PREFIX + "*")):
        with contextlib.suppress(OSError):
            if time.time() - os.stat(folder).st_mtime > 60:
                with locked(folder):
                    shutil.rmtree(folder)


@contextlib.contextmanager
def naming(folder):
    """Errors within about the files of the folder are about the data, whose items count from 0."""
    def named(found):
        return f"item {int(found[1]) - 1} of the data, counted from 0" if found[1] else "the data"
    try:
        yield
    except Error as e:
        said = re.sub(re.escape(folder) + r"/heed-data(?:\.\w+)?(?::(\d+))?", named, str(e))
        said = said.replace("a folder of pictures for each class", "pictures of two classes or more")
        raise type(e)(said) from None


@contextlib.contextmanager
def written(data, kind, beside=None):
    """The path of data; what is no path is written to a file that exists within. beside: a path on whose disk it is to be."""
    if is_path(data):
        if "\n" in os.fsdecode(data) and not os.path.exists(data):
            raise wrong(kind, "a text of several lines")
        yield data
        return
    above = beside and os.path.dirname(os.path.abspath(beside))
    while above and not os.path.isdir(above):
        above = os.path.dirname(above)
    sweep(above or tempfile.gettempdir())
    try:
        made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=above)
    except OSError as e:
        raise FailedError(f"cannot write the data to {above or 'a temporary folder'}: {e.strerror or e}") from None
    with made as folder, contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a disk without locks
            stack.enter_context(locked(folder))
        try:
            path = write(data, kind, folder)
        except OSError as e:
            raise FailedError(f"cannot write the data to {os.path.dirname(folder)}: {e.strerror or e}; hint: free some space") from None
        with naming(folder):
            yield path
