"""What the tests share: errors that must be raised, and small files to train on."""
import contextlib
import pathlib

FACTS = {"France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Spain": "Madrid", "Greece": "Athens", "Egypt": "Cairo"}
SMALL = dict(tokenizer="word", packing="lines", layers=1, heads=2, width=16, block=16, batch=8, lr=3e-3, threads=1)


@contextlib.contextmanager
def raises(kind, *words):
    """The block must raise this error, with these words in its message."""
    try:
        yield
    except kind as e:
        missing = [w for w in words if w not in str(e)]
        assert not missing, f"{e}: expected {missing}"
    else:
        raise AssertionError(f"no {kind.__name__}")


def facts(path="my facts.txt"):
    """A text; its name has a blank."""
    lines = [f"{b} is the capital of {a} ." for a, b in FACTS.items()] + [f"The capital of {a} is {b} ." for a, b in FACTS.items()]
    pathlib.Path(path).write_text("\n".join(lines * 10) + "\n")
    return path
