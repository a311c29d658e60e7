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

    def titles(self, head):
        """Its title and that of a head, or of the mean of all, for people, who count from 1."""
        return f"{self.stack}, layer {self.layer + 1}", "mean of all heads" if head is None else f"head {self.heads[head] + 1}"

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

    def heatmap(self, block, head, keep):
        """A heed_heatmap of a head, or of the mean of all; what keeps its arrays valid is added to keep."""
        b = self.blocks[block]
        values = np.ascontiguousarray(b.weights.mean(0) if head is None else b.weights[head])
        axes = self.items(_c.heed_record_axis, self.c.axes, self.c.axis_count)
        raw = self.items(_c.heed_record_block, self.c.blocks, self.c.block_count)[block]
        c = _c.heed_heatmap(title=b.titles(head)[1].encode(), rows=values.shape[0], cols=values.shape[1], values=values.ctypes.data,
                            hi=lib.heed_record_scale(self.pointer, byref(raw)), uniform_mean=b.causal,
                            uniform=lib.heed_record_uniform(self.pointer, byref(raw), -1))
        c.row_labels, c.col_labels = axes[raw.queries].labels, axes[raw.keys].labels
        keep.append((values, c))
        return c

    @alone
    def text(self, block=-1, head=None, width=100):
        """The attention of a layer as a heat map of letters: of a head, or the mean of all."""
        keep, out = [], _c.heed_text(c=self.context.pointer)
        block = self.block_at(block)
        b = self.blocks[block]
        head = None if head is None else index_of("head", head, len(b.heads))
        m = self.heatmap(block, head, keep)
        m.title, m.width = ", ".join(b.titles(head)).encode(), width
        self.context.made(lib.heed_heatmap_text(byref(m), byref(out)), "text")
        return take_text(out)

    def caution(self):
        """What is written below every picture, as the command does."""
        why = "Attention alone is no explanation: it shows where a head looks, not why the model answers."
        return " ".join(filter(None, (text(self.c.note), why))).encode()

    def overlay(self, block, head, query):
        """A heed_overlay: the weights of patches, of each head or of each word, as shares of a row. All heads have one scale, also if one is shown."""
        b, c = self.blocks[block], self.c
        rows, cols, first = b.keys.grid
        every, uniform, top = b.weights[:, :, first : first + rows * cols], 1 / len(b.keys), None
        weights = every if head is None else every[head : head + 1]
        if b.queries.name != b.keys.name and query is None:  # of words
            shown = ~b.queries.special
            names, maps, of = np.array(b.queries.labels)[shown].tolist(), weights.mean(0)[shown], "each token"
            top = every.max()
        else:
            query = 0 if query is None and first else query
            names = [b.titles(h)[1] for h in (range(len(b.heads)) if head is None else [head])]
            maps = weights.mean(1) if query is None else weights[:, query]
            top = None if query is None else every[:, query].max()
            of = "all patches (mean)" if query is None else b.queries.labels[query]
        maps = np.ascontiguousarray(maps)
        at = (ctypes.c_void_p * len(maps))(*(m.ctypes.data for m in maps))
        captions = (ctypes.c_char_p * len(maps))(*(n.encode() for n in names))
        overlay = _c.heed_overlay(title=c.title, note=self.caution(), subtitle=f"{b.titles(None)[0]}, attention of {of}".encode(), pixels=c.pixels, width=c.width, height=c.height,
                                  channels=c.channels, rows=rows, cols=cols, count=len(maps), maps=ctypes.addressof(at),
                                  captions=ctypes.addressof(captions), uniform=uniform,
                                  hi=0 if top is None else max(top, min(2 * uniform, 1)))
        overlay.keep = maps, at, captions
        return overlay

    @alone
    def png(self, path, block=-1, head=None, query=None):
        """Writes the attention of a layer as a picture (or an SVG, by the extension): heat maps of its heads, or of one head. Attention to patches is
        drawn over the picture: of the position `query`, otherwise of [CLS] or the mean of all patches; of a caption, of each word."""
        block, kind = self.block_at(block), os.path.splitext(os.fsdecode(path_bytes(path)))[1].lower()
        if kind not in (".png", ".svg", ""):
            raise UsageError(f"a picture is PNG or SVG: expected a name that ends in .png or .svg, found {path}")
        b, keep = self.blocks[block], []
        head = None if head is None else index_of("head", head, len(b.heads))
        query = None if query is None else index_of("query", query, len(b.queries))
        if self.c.pixels and b.keys.grid:
            what, name = self.overlay(block, head, query), "overlay"
        else:
            if query is not None:
                raise UsageError("a query is for attention to patches of a picture; heat maps show all queries")
            maps = [self.heatmap(block, h, keep) for h in (range(len(b.heads)) if head is None else [head])]
            maps = (_c.heed_heatmap * len(maps))(*maps)
            subtitle, name = b.titles(None)[0].encode(), "panels"
            what = _c.heed_panels(title=(self.title or "").encode(), subtitle=subtitle, note=self.caution(), count=len(maps), maps=ctypes.addressof(maps))
        draw = getattr(lib, f"heed_{name}_{'svg' if kind == '.svg' else 'png'}")
        self.context.made(draw(self.context.pointer, byref(what), path_bytes(path)), "png")

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
