"""Record, what a model attended to on one input: arrays with labels, and the views of it."""
import ctypes
import html
import operator
import os
import tempfile
import webbrowser
from ctypes import byref

import numpy as np

from . import _c
from ._library import Context, Owner, UsageError, alone, array, check_range, lib, take_text, text, text_bytes, texts
from .data import path_bytes

STACKS = ("encoder", "decoder", "cross")


def index_of(what, i, count):
    """An index, which may be counted from the end, from the start."""
    if not -count <= operator.index(i) < count:
        raise IndexError(f"{what} {i} of {count}")
    return i % count


def read(path, line=0):
    """A record from a file that heed wrote (JSON or NPZ), or of weights of another program. Of a JSON file with an object on
    each line, as `heed attend --json` prints for several inputs: the one on `line`, which counts from 1."""
    c = Context()
    return Record(c, c.made(lib.heed_record_read_line(c.pointer, path_bytes(path), check_range("line", line, 0, 1 << 20)), "read"))


class Axis:
    """The tokens or patches that queries or keys are: name, labels, special (one truth value per label), grid (rows, columns,
    first) of patches or None."""

    def __init__(self, c):
        self.name, self.labels = text(c.name), texts(c.labels, c.count)
        special = array(c.special, (c.count,), None, "|u1")
        self.special = np.zeros(c.count, bool) if special is None else special.astype(bool)
        self.grid = (c.rows, c.cols, c.first) if c.rows else None

    def __len__(self):
        return len(self.labels)

    def __repr__(self):
        return f"<heed.Axis {self.name}: {len(self)}>"


class RecordBlock:
    """The attention of one layer. weights, raw, scores (heads, queries, keys), q, k, v (heads, positions, width): arrays, or None
    if not kept; queries and keys are axes. Layers and heads count from 0, as arrays do; in heat maps, pictures and the page from 1."""

    def __init__(self, record, c):
        self.path, self.stack, self.layer = text(c.path), STACKS[c.stack], c.layer
        self.heads = array(c.head, (c.heads,), None, "<i4").tolist() if c.head else list(range(c.heads))
        self.queries, self.keys = record.axes[c.queries], record.axes[c.keys]
        self.beta, self.causal, self.hard = c.beta, c.causal, c.hard
        q, k, n = len(self.queries), len(self.keys), c.heads
        get = lambda address, *shape: array(address, shape, record, writable=False)
        self.weights, self.raw, self.scores = get(c.weights, n, q, k), get(c.raw, n, q, k), get(c.scores, n, q, k)
        self.q, self.k, self.v = get(c.q, n, q, c.key), get(c.k, n, k, c.key), get(c.v, n, k, c.value)

    def __repr__(self):
        return f"<heed.RecordBlock {self.path}: {len(self.heads)} heads, {len(self.queries)} queries, {len(self.keys)} keys>"


class Map:
    """Another matrix (queries, keys) to compare: name, help, values."""

    def __init__(self, record, c):
        self.name, self.help, self.queries, self.keys = text(c.name), text(c.help), record.axes[c.queries], record.axes[c.keys]
        self.values = array(c.values, (len(self.queries), len(self.keys)), record, writable=False)

    def __repr__(self):
        return f"<heed.Map {self.name}: {self.help}>"


class Record(Owner):
    """axes, blocks (a layer each), maps and predictions of one input, and what can be made of them."""

    def __init__(self, context, pointer):
        self.context, self.pointer = context, pointer

    def __del__(self):
        if self.context.pointer:  # of objects in a cycle, the context may be the first to be closed, and has freed this
            lib.heed_record_free(self.pointer)

    @property
    def c(self):
        return _c.heed_record.from_address(self.pointer)

    def items(self, kind, address, count):
        return [kind.from_address(address + i * ctypes.sizeof(kind)) for i in range(count)]

    @property
    def title(self):
        """Its input, as a text."""
        return text(self.c.title)

    @property
    def axes(self):
        """A heed.Axis for each sequence of tokens or patches."""
        return [Axis(a) for a in self.items(_c.heed_record_axis, self.c.axes, self.c.axis_count)]

    @property
    def blocks(self):
        """A heed.RecordBlock for each layer."""
        return [RecordBlock(self, b) for b in self.items(_c.heed_record_block, self.c.blocks, self.c.block_count)]

    @property
    def maps(self):
        """By name."""
        return {text(m.name): Map(self, m) for m in self.items(_c.heed_record_map, self.c.maps, self.c.map_count) if m.layer < 0}

    @property
    def predictions(self):
        """For each prediction its position (None: about the whole input), what it is about, and [(label, probability), ...]."""
        found = []
        for g in self.items(_c.heed_record_guess, self.c.guesses, self.c.guess_count):
            p = array(g.p, (g.count,), None).tolist() if g.count else []
            found.append((None if g.query < 0 else g.query, text(g.says), list(zip(texts(g.labels, g.count), p))))
        return found

    @property
    def tables(self):
        """By name, the table without one under None: for each column its numbers or texts."""
        get = lambda k, rows: texts(k.texts, rows) if k.texts else array(k.values, (rows,), None, "<f8").tolist()
        columns = lambda t: {text(k.key): get(k, t.rows) for k in self.items(_c.heed_record_column, t.columns, t.count) if k.key}
        return {text(t.name) if t.name else None: columns(t) for t in self.items(_c.heed_record_table, self.c.tables, self.c.table_count)}

    def __repr__(self):
        return f"<heed.Record {self.title!r}: {self.c.block_count} layers>"

    @alone
    def words(self):
        """A record of words instead of tokens: attention to a word is the sum over its pieces, attention from it their mean."""
        return Record(self.context, self.context.made(lib.heed_record_words(self.context.pointer, self.pointer), "words"))

    # ---- as text and pictures ----

    def block_at(self, i):
        """The index of a block, which may be counted from the end."""
        if not self.c.block_count:
            raise UsageError("the record has no layers to show, only maps, as of influence; hint: record.html(FILE), or the arrays in record.maps")
        return index_of("block", i, self.c.block_count)

    def view(self, block, head, query=None):
        """A heed_record_view: a head of a block, or all of them."""
        block = self.block_at(block)
        b, raw = self.blocks[block], self.items(_c.heed_record_block, self.c.blocks, self.c.block_count)
        head = None if head is None else index_of("head", head, len(b.heads))
        query = -1 if query is None else index_of("query", query, len(b.queries))
        if query < 0 and b.queries.grid and b.queries.grid[2]:
            query = 0  # [CLS]
        return _c.heed_record_view(record=self.pointer, block=ctypes.addressof(raw[block]), head=-1 if head is None else head, chosen=head is not None,
                                   query=query, key=-1, layers=max(r.layer for r in raw if r.stack == raw[block].stack) + 1)

    @alone
    def text(self, block=-1, head=None, width=100):
        """The attention of a layer as a heat map of letters: of a head, or the mean of all."""
        view, shown, out = self.view(block, head), _c.heed_view_map(), _c.heed_text(c=self.context.pointer)
        try:
            self.context.made(lib.heed_view_matrix(self.context.pointer, byref(view), view.head, byref(shown)), "text")
            shown.map.width = width
            self.context.made(lib.heed_heatmap_text(byref(shown.map), byref(out)), "text")
        finally:
            lib.heed_view_map_free(byref(shown))
        return take_text(out)

    @alone
    def png(self, path, block=-1, head=None, query=None):
        """Writes the attention of a layer as a picture (or an SVG, by the extension): heat maps of its heads, or of one head; with `query`, what that
        position looks at. Attention to patches is drawn over the picture: of the position `query`, otherwise of [CLS] or the mean of all patches; of a
        caption, of each word."""
        kind = os.path.splitext(os.fsdecode(path_bytes(path)))[1].lower()
        if kind not in (".png", ".svg", ""):
            raise UsageError(f"a picture is PNG or SVG: expected a name that ends in .png or .svg, found {path}")
        form = _c.HEED_SVG if kind == ".svg" else _c.HEED_PNG
        self.context.made(lib.heed_view_save(self.context.pointer, byref(self.view(block, head, query)), form, path_bytes(path)), "png")

    # ---- as files ----

    @alone
    def json(self, arrays=True):
        """The record as a JSON text."""
        out = _c.heed_text(c=self.context.pointer)
        self.context.made(lib.heed_record_json(self.pointer, arrays, byref(out)), "json")
        return take_text(out)

    @alone
    def npz(self, path):
        """Writes everything as a NumPy archive, which heed.read opens."""
        self.context.made(lib.heed_record_npz(self.context.pointer, self.pointer, path_bytes(path)), "npz")

    @alone
    def csv(self, path):
        """Writes the weights as a table, a line each."""
        self.context.made(lib.heed_record_csv(self.context.pointer, self.pointer, path_bytes(path)), "csv")

    # ---- as the page ----

    @alone
    def html(self, path=None, opening=None, qk=True, force=False):
        """Writes the page with every view of the record, one file; without a path its text is returned. opening: the first view,
        as in the page's links ("view=head&layer=2"). qk: with queries and keys. force: however large."""
        if path is None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "page.html")
                self.html(path, opening, qk, force)
                with open(path, encoding="utf-8") as f:
                    return f.read()
        page = _c.heed_page(count=1, records=self.pointer, opening=None if opening is None else text_bytes(opening, "opening"), no_qk=not qk, force=force)
        self.context.made(lib.heed_page_write(self.context.pointer, byref(page), path_bytes(path)), "html")

    def show(self, height=640, opening=None, qk=True):
        """The page inside a notebook, by IPython; elsewhere in a browser."""
        try:
            from IPython import get_ipython
        except ImportError:
            get_ipython = lambda: None
        if get_ipython():
            from IPython.display import display
            return display(Page(self, height, opening, qk))
        handle, path = tempfile.mkstemp(suffix=".html", prefix="heed-")
        os.close(handle)
        self.html(path, opening, qk)
        webbrowser.open("file://" + path)

    def _repr_html_(self):
        return Page(self)._repr_html_()


class Page:
    """The page of a record as a notebook shows it: in a separate frame."""

    def __init__(self, record, height=640, opening=None, qk=True):
        self.record, self.height, self.opening, self.qk = record, height, opening, qk

    def __repr__(self):
        return repr(self.record)

    def _repr_html_(self):
        """The links of a page within the frame are of the notebook's address unless its base is the frame's own."""
        page = self.record.html(opening=self.opening, qk=self.qk).replace("base-uri 'none'; ", "", 1)
        page = page.replace("<head>", '<head><base href="about:srcdoc">', 1)
        return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
                f'style="width: 100%; height: {self.height}px; border: 0" title="{html.escape(self.record.title or "heed")}"></iframe>')
