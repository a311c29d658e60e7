"""check.py HEED [FOLDER] -- drives the page in headless Chromium: views, keys, links, saved files, hostile tokens, sizes. Timings
are printed, and decide nothing. With a FOLDER the pages and pictures of every view stay there. Ends with "N passed, N failed".

Most of it is a table, CASES: what holds; the page and link ("": the page of the case before); what is done there, keys as "press ?",
a new window as "window 390 844", else JavaScript; what is asked, as JavaScript, or "save svg" for the text of that file; and the answer:
a value, a pattern that is found in it, or a function that it fulfils."""
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

import access
import samples
from browser import Browser

passed, failed = 0, []


def check(ok, what):
    global passed
    if ok:
        passed += 1
    else:
        failed.append(what)
        print("FAILED ", what, flush=True)


# ---- pages ----

SAMPLES = ("text.npz", "gpt.npz", "pairs.npz", "picture.npz", "caption.npz", "hostile.json", "even.json", "large.npz", "wide.npz", "additive.npz")
PARIS, ROME = "Paris is the capital of [MASK] .", "Rome is the capital of [MASK] ."
STATE = "(({query, key}) => [heed.state.layer, heed.state.head, query, key].join())(heed.selected())"


def make_pages(heed, folder):
    """Pages of the samples, and of models of six steps with maps and curves."""
    at = lambda name: os.path.join(folder, name)
    run = lambda *args: subprocess.run([heed, *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    for file in SAMPLES:
        name = file.split(".")[0]
        getattr(samples, name)(at(file))
        run("view", at(file), "--html", at(name + ".html"))
    for step in (0, 100, 300):
        samples.text(at(f"step{step}.npz"), step, sharp=0.2 + step / 400)
    run("view", at("large.npz"), "--no-qk", "--html", at("large-no-qk.html"))
    run("view", *[at(f"step{step}.npz") for step in (0, 100, 300)], "--html", at("steps.html"))
    facts = [f"{city} is the capital of {country} ." for city, country in (("Paris", "France"), ("Rome", "Italy"), ("Tokyo", "Japan"), ("Athens", "Greece"))] * 12
    with open(at("facts.txt"), "w") as f:
        f.write("\n".join(facts) + "\n")
    small = "--tokenizer word --packing lines --layers 1 --heads 2 --width 16 --ff 32 --block 16 --batch 4 --steps 6 --eval-every 2 --force".split()
    for model, name, *more in (("mlm", "run"), ("gpt", "causal"), ("mlm", "valid", "--val-split", "0.2")):
        run("train", model, at("facts.txt"), "-o", at(name), *small, *more)
    for model, name, *args in (("run", "run", PARIS, "--rollout", "--occlude", "--gradient"), ("valid", "curves", PARIS), ("causal", "causal", "Paris is the", "--gradient"),
                               ("run", "asked", PARIS, "--head", "2", "--query", "capital"), ("run", "layer", PARIS, "--layer", "1"),
                               ("run", "inputs", PARIS, ROME, "Rome is [MASK] .")):
        run("attend", at(model), *args, "--html", at(name + ".html"))
    run("explain", "lion", "--html", at("lion.html"))


# ---- the table ----

def near(wanted, by=1e-6):
    return lambda x: abs(x - wanted) < by


def same(values):
    return len(set(values)) == 1


def numbers(svg, pattern):
    return [float(x) for x in re.findall(pattern, svg)]


# How the current view writes texts that fulfil a condition: [text as it fits, x, y, style].
WRITTEN = """(() => { const at = [], l = heed.current().layout(); const pen = new Proxy({}, {get: (_, f) => f === "group" ? (x, y, draw) => draw() :
    (t, x, y, o) => { if (f === "text" && %s) at.push([o.width ? heed.fit(t, o.width, o) : t, x, y, o]); }});
    heed.current().paint(pen, {lo: 0, hi: l.height}, () => {}); return at; })()"""
# The same of a matrix of the head at hand, in so many pixels.
LABELS = """(width => { const at = [], m = heed.weightMatrix(), l = heed.matrixLayout(m, width);
    const pen = new Proxy({}, {get: (_, f) => (text, x, y, o) => { if (f === "text") at.push({text, y, size: o.size}); }});
    heed.paintMatrix(pen, {...m, plain: true}, l, {query: 0, key: -1}); return {at, l, rows: m.rows.length, cols: m.cols.length}; })"""
HATCHED = """(() => { let lines = 0; const m = heed.weightMatrix(), pen = new Proxy({}, {get: (_, f) => (d) => { if (f === "path") lines += d.split("M").length - 1; }});
    heed.paintMatrix(pen, m, heed.matrixLayout(m, 600), {query: 0, key: -1}); return lines; })()"""
# The code points below U+10000 that are drawn as nothing, when they are a token.
NO_INK = """(() => { const pen = Object.assign(document.createElement("canvas"), {width: 120, height: 30}).getContext("2d", {willReadFrequently: true}), blank = [];
    pen.font = "16px sans-serif";
    for (let code = 0; code < 65536; code++) {
        const c = String.fromCodePoint(code), shown = heed.show(c);
        if (shown === c && !/[\\p{Z}\\p{C}\\p{Lo}\\p{So}]/u.test(c) || /[\\p{Cn}\\p{Cs}\\p{Co}]/u.test(c)) continue;
        pen.clearRect(0, 0, 120, 30);
        pen.fillText(shown, 20, 20);
        if (!new Uint32Array(pen.getImageData(0, 0, 120, 30).data.buffer).some(Boolean)) blank.push(code.toString(16));
    } return blank.join(); })()"""
# For each patch whether its weight is above uniform, and whether the picture has a colour there.
COLOURED = """(() => { const b = heed.block(), g = b.keys.grid, q = heed.selected().query, w = heed.weights(b, heed.state.head), c = document.querySelector("#view-picture canvas"), out = [];
    for (let i = 0; i < g.rows * g.cols; i++) { const p = c.getContext("2d").getImageData((i % g.cols + 0.5) * c.width / g.cols, (Math.floor(i / g.cols) + 0.5) * c.height / g.rows, 1, 1).data.slice(0, 3);
        out.push([w.at(q, g.first + i) > w.uniform, Math.max(...p) - Math.min(...p) > 3]); } return out; })()"""
# Between two patches: the opacity that is drawn, that of the mean of their values, and the mean of their opacities.
BLENDED = """(() => { const b = heed.block(), g = b.keys.grid, m = heed.weights(b, b.heads.at(-1)), q = heed.selected().query, top = heed.topOver(m, q), out = []; let layer;
    Object.assign(heed.state, {strength: 75, smooth: true, keep: 100});
    heed.overPicture({rect() {}, image(x) { layer = x; }}, m, q, {x: 0, y: 0, w: 80 * g.cols, h: 80 * g.rows}, top);
    const n = layer.width / g.cols, all = layer.getContext("2d").getImageData(0, 0, layer.width, layer.height), at = (y, x) => all.data[4 * (y * layer.width + x) + 3];
    for (let r = 0; r < g.rows; r++) for (let c = 0; c + 1 < g.cols; c++) {
        const [left, right] = [c, c + 1].map(k => m.at(q, g.first + r * g.cols + k)), y = r * n + n / 2, x = (c + 1) * n;
        const opaque = (w) => 255 * 0.75 * Math.sqrt(Math.max(0, w - m.uniform) / (top - m.uniform));
        out.push([(at(y - 1, x - 1) + at(y, x - 1) + at(y - 1, x) + at(y, x)) / 4, opaque((left + right) / 2), (opaque(left) + opaque(right)) / 2]); } return out; })()"""
LEGEND, SIDE, CONTROLS = ("heed.id('%s').textContent" % id for id in ("legend", "side", "controls"))
# How far the weights that math.js makes of q and k are from those that C computed, at most.
RECOMPUTED = """(() => { const b = heed.block(), {choose, sum, shares} = heed.math; return Math.max(...b.heads.flatMap((h) => { const [q, k] = ["q", "k"].map((x) => heed.vectors(b, h, x)), m = heed.weights(b, h);
    return b.queries.order.flatMap((i) => choose(b.keys.order.map((j) => heed.masked(b, i, j) ? -Infinity : b.beta * sum(shares(q(i), k(j)))), b.hard).map((w, j) => Math.abs(w - m.at(i, j)))); })); })()"""
FLOW, TABLE, WHY = "document.querySelector('.flow').textContent", "document.querySelectorAll('#table tbody tr').length", "document.querySelector('#controls .why')?.textContent"
BARS = "[...document.querySelectorAll('#side > .bars:last-of-type .row')].map(r => [r.textContent, parseFloat(r.querySelector('.bar span').style.width) / 100, r.querySelector('.value').textContent])"
FILLED = "new Promise(f => { const look = () => document.querySelector('#table td') ? f() : setTimeout(look, 20); look(); })"
LOCK, LINES, TALL = SIDE[:-12] + ".querySelector('.lock').textContent", "document.querySelector('#view-head p.small').textContent", "document.querySelector('#view-head .tall canvas')"
SIGHT = f"(c => [c.clientHeight < innerHeight && c.parentNode.clientHeight > 9000, c.parentNode.parentNode.scrollTop])({TALL})"
ENDS = "[heed.scaleOf(heed.matrix()), Math.max(...heed.data.records.map(r => r.blocks[0].end)), Math.max(...heed.data.records.map(r => heed.weights(r.blocks[0], 'mean').max))]"
MAPS = "[...new Set(heed.current().table().all().slice(1).map(row => row[0]))]"
ROWS = "heed.current().table().all().slice(1).map(([m, q, , k, , w]) => [m, q, k, Number.isNaN(w) ? null : w])"
NAMES = r'font-size="14" font-weight="600"[^>]*>([^<]*)<'
HOVER = "(own => { window.matchMedia = (q) => (q === '(hover: none)' ? {matches: %s} : own.call(window, q)); })(window.matchMedia); heed.drawNow()"
SCORE = """((b, h) => { const w = heed.weights(b, h).data, row = (q) => heed.math.evenness(w.subarray(q * 9, q * 9 + 9));
    return (row(6) + [...Array(9).keys()].reduce((sum, q) => sum + row(q) / 9, 0)) / 2; })"""
TABS = "[...document.querySelectorAll('#tabs button')]"
ALL_TABS = TABS + ".every(t => t.getBoundingClientRect().right <= innerWidth)"


def differs(rows):
    """Of three inputs: a difference is that of the weights of tokens that have a counterpart; the others are unknown."""
    first, w = rows[0][0], {(m, q, k): w for m, q, k, w in rows}
    one, three = "1. " + PARIS, "3. Rome is [MASK] ."
    # "the capital of" has no counterpart in the third input; [CLS] Rome is [MASK] . [SEP] are 1 2 3 7 8 9 here and 1 to 6 there.
    for other, at in ((one, {i: i for i in range(1, 10)}), (three, {1: 1, 2: 2, 3: 3, 7: 4, 8: 5, 9: 6})):
        for q in range(1, 10):
            for k in range(1, 10):
                shift, paired = w[f"difference to {other}", q, k], q in at and k in at
                if (shift is not None) != paired or paired and abs(w[first, q, k] - w[other, at[q], at[k]] - shift) > 1e-6:
                    return False
    return True


def patterned(svg):
    """The pattern of a head grows with the width of its lines."""
    both = [(float(w), float(d)) for w, d in re.findall(r'stroke-width="([\d.]+)"[^>]*stroke-dasharray="([\d.]+)', svg)]
    return both and all(abs(d - 7 * max(1, w / 2)) < 0.1 for w, d in both)


def apart(texts):
    """No text of a line reaches into the next."""
    return all(v != y or u <= x or u >= x + w for x, y, w in texts for u, v, _ in texts)


def sums(rows):
    """The column of what a token attends to adds up, with bars of 0 to 1."""
    weights = [float(text.replace("<", "")) for _, _, text in rows]
    return abs(sum(weights) - 1) < 0.005 and all(abs(bar - w) < 0.002 for (_, bar, _), w in zip(rows, weights))


CASES = [
    # keys and links
    ("the first look is at the query of the answer", "text#view=matrix&layer=1&head=1", [], STATE, "0,0,6,-1"),
    *[(f"key {key}", "", ["press " + key], STATE, wanted) for key, wanted in (
        ("ArrowUp", "0,0,5,-1"), ("ArrowRight", "0,0,5,0"), ("ArrowRight", "0,0,5,1"), ("ArrowDown", "0,0,6,1"), ("]", "0,1,6,1"), ("}", "1,1,6,1"),
        ("{", "0,1,6,1"), ("[", "0,0,6,1"), ("[", "0,0,6,1"), ("ArrowLeft", "0,0,6,0"))],
    ("a row is read aloud", "", [], "heed.id('side').querySelector('button.row').getAttribute('aria-label')",
     re.compile(r"^row 7 ‘\[MASK\]’ attends 0?[.\d]+ to ‘")),
    ("hidden special tokens are said", "", ["press h"], "[heed.id('badge').hidden, heed.visible(heed.block().keys).length]", [False, 7]),
    ("Esc unlocks", "", ["press Escape"], "heed.selected().locked", False),
    ("? opens the help, which has the views as the tabs have them", "", ["press ?"],
     "[heed.id('help').open, ...[...document.querySelectorAll('#help dl:last-of-type dt')].map(d => d.textContent)]",
     [True, "Overview", "Head", "Matrix", "Q·K", "Compare"]),
    ("help that is taller than its window opens at its beginning", "", ["window 1366 400", "press Escape", "press ?"],
     "(e => e.scrollHeight > e.clientHeight && e.scrollTop === 0)(heed.id('help'))", True),
    ("d makes it dark", "", ["window 1280 900", "press Escape", "press d"], "document.documentElement.dataset.theme", "dark"),
    ("a wild link is brought within bounds", "text#view=nonsense&layer=99&head=-4&row=1e99&column=abc&palette=zz&sort=%3Cscript%3E", [],
     "heed.state.layer === 2 && heed.state.query <= 8", True),
    ("tokens count from 1 in links, the table and the tip", "text#view=matrix&row=7&column=2&table=1", [FILLED],
     "[heed.state.query, heed.state.key, heed.link(), document.querySelectorAll('#table tbody th')[6].textContent, heed.cellTip({query: 6, key: -1})[0]]",
     lambda x: x[:2] == [6, 1] and "row=7&column=2" in x[2] and x[3:] == ["7 [MASK]"] * 2),
    ("and in the caption of a picture", "picture#view=picture&row=1", [], "heed.current().caption()", re.compile(r"‘\[CLS\]’ \(1\) looks")),
    # where a page opens
    ("a page opens at what was asked for", "asked", [], "heed.state.view + ' ' + " + STATE, "head 0,1,4,-1"),
    ("a link is more than the opening", "asked#view=head&head=1&row=5", [], STATE, "0,0,4,-1"),
    ("with a link there is no opening", "asked#view=matrix", [], "heed.state.view === 'matrix' && !heed.selected().locked", True),
    ("a page of a layer opens at one of its heads", "layer", [], "heed.state.layer === 0 && heed.state.head === heed.block().focus.head", True),
    *[(f"{name} opens at the layer and the head that say most", name, [],
       "[heed.state.view, heed.block().focus.score === Math.min(...heed.layers().map(b => b.focus.score)) && heed.state.head === heed.block().focus.head]",
       ["head", True]) for name in ("text", "gpt", "pairs")],
    *[(f"{name} opens over the picture, at the last layer", name, [],
       "[heed.state.view, heed.state.layer === heed.layers().at(-1).layer && (heed.state.head === 'mean' || heed.block().heads.length === 1)]",
       ["picture", True]) for name in ("picture", "caption")],
    ("text opens at the most concentrated head, half by the row where [MASK] is predicted, half by all rows, as math.js has it", "text", [],
     f"[{SCORE}(heed.block(), heed.state.head), heed.block().focus.score, ...heed.layers().flatMap(b => b.heads.map(h => {SCORE}(b, h)))]",
     lambda x: len(x) == 14 and x[0] - min(x[2:]) < 0.001 and abs(x[0] - x[1]) < 0.001),
    ("and says why", "", [],
     f"{WHY} === `Most concentrated of 12 heads in 3 layers: layer ${{heed.state.layer + 1}}, head ${{heed.state.head + 1}}.`", True),
    ("also when another one is chosen", "", ["press ]"], WHY, re.compile("^Most concentrated of 12 heads in ")),
    ("a photograph says that its heads' mean is shown", "picture", [], WHY, "First shown: the mean of the last layer, where the class is read."),
    ("the heads of another stack are others", "pairs#view=head", [],
     "heed.stacks().toReversed().map(stack => { heed.update({stack}); return heed.state.layer === heed.naturalLayer(heed.layers()).layer && heed.state.head === heed.naturalHead(heed.block()); })",
     [True] * 3),
    ("but a choice is kept", "", ["heed.update({layer: 0, head: 'mean'})", "heed.update({stack: heed.stacks().at(-1)})"],
     "[heed.state.layer, heed.state.head]", [0, "mean"]),
    # the list of what a token attends to
    ("a single key that is left is listed, too", "text#view=head&layer=1&head=1&row=7", [], BARS,
     lambda x: len(x) == 9 and not any("other" in row[0] for row in x) and sums(x)),
    ("what is not listed is counted", "gpt#view=head&layer=1&head=1&row=24", [], BARS,
     lambda x: len(x) == 9 and x[-1][0].startswith("16 others") and sums(x)),
    ("a row says which token it predicts", "gpt#view=head&row=5", [], SIDE, re.compile("Row 5 predicts token 6")),
    ("the row of a mask predicts a word", "text#view=head&row=7", [], SIDE, re.compile("Row 7 predicts ‘")),
    # captions
    ("a caption opens at the word that looks at one patch most", "caption#view=picture", [],
     "(list => heed.selected().query === list.indexOf(Math.max(...list)))((m => [0, 1, 2].map(q => Math.max(...m.data.subarray(q * m.cols, (q + 1) * m.cols))))(heed.weights(heed.block(), 'mean')))", True),
    ("its words are buttons", "", [], "[...document.querySelectorAll('.view:not([hidden]) .chip')].map(c => c.textContent).join(' ')",
     "a red circle [SEP]"),
    ("a word that is clicked is shown and stands in the link, with a table of the grid", "",
     ["document.querySelectorAll('.view:not([hidden]) .chip')[1].click()"],
     "[heed.current().caption(), location.hash, heed.current().table().rows.flat().length]", lambda x: "‘red’ (2) looks" in x[0] and "row=2" in x[1] and x[2] == 20),
    ("its words have one scale", "", [], "[0, 1, 2, 3].map(query => { heed.state.query = query; return heed.current().legend().hi; })", same),
    # several inputs
    ("the chosen input is the title", "inputs#view=compare&record=2", [], "heed.id('title').textContent", ROME),
    ("inputs are chosen by their texts", "", [], "document.querySelector('#controls select').textContent", f"1. {PARIS}2. {ROME}3. Rome is [MASK] ."),
    ("Compare sets the same head of the others beside it, and the differences", "", [], MAPS,
     lambda x: x[0].startswith("attention, layer 1, head ") and
     x[1:] == ["1. " + PARIS, "difference to 1. " + PARIS, "3. Rome is [MASK] .", "difference to 3. Rome is [MASK] ."]),
    ("a difference is that of tokens that have a counterpart", "", [], ROWS, differs),
    ("which is said, as is the one scale of the weights", "", [], "save svg",
     lambda x: "has no counterpart there" in x and len(numbers(x, ">0 to ([0-9.]+)<")) == 3 and same(numbers(x, ">0 to ([0-9.]+)<"))),
    ("inputs are no steps that could be played", "", [], "[...document.querySelectorAll('#view-compare button')].some(x => x.offsetParent)", False),
    ("the legend says that there is one scale", "", [], LEGEND, re.compile("one scale on all inputs")),
    ("in every view a head has one scale on all inputs", "inputs#view=matrix&record=1&head=1", [],
     "[0, 1, 2].map(record => { heed.update({record}); return [heed.current().legend().hi, heed.scaleOf(heed.matrix()) === Math.max(...heed.data.records.map(r => r.blocks[0].end))].join(); })", lambda x: same(x) and x[0].endswith("true")),
    ("the overview has the choice of input, too", "inputs#view=overview&record=2", [],
     "document.querySelector('#controls select').selectedOptions[0].textContent", re.compile("^2. Rome")),
    # numbers
    ("only 1 is shown as 1", "text", [], "[heed.number(0.9964, 2), heed.number(0.99996), heed.number(-0.99996), heed.number(1, 2)].join(' ')",
     "0.996 0.9999 −0.9999 1.00"),
    ("probabilities are those of the terminal", "", [], "[0.0011, 0.00004, 0, 0.996, 0.99999, 1, 0.42].map(heed.probability).join(' ')",
     "0.001 <0.0001 0.00 0.996 >0.9999 1.00 0.42"),
    ("and have one sign", "", [], "[0.42, 0.99999, 0.00004].map(heed.probable).join(', ')", "p = 0.42, p > 0.9999, p < 0.0001"),
    ("numbers of steps are written as in the terminal", "", [], "[999, 1200, 0.5].map(heed.count).join(' ')", "999 1,200 0.5"),
    ("a row sums to 1", "text#view=qk&row=7&column=2&layer=2&head=3", [], "heed.math.sum([...heed.weights(heed.block(), 2).data.subarray(54, 63)])",
     near(1, 1e-4)),
    ("q·k, scaled, masked and through the softmax is the model's weight", "", [], FLOW, re.compile("agrees")),
    *[(f"{name}: math.js computes the weights of the program", name + "#view=qk", [], RECOMPUTED, lambda x: 0 < x < 2e-3) for name in ("run",
       "causal")],
    ("so is the additive form, for every key", "additive#view=qk&row=3&column=2", [], f"{FLOW} + heed.current().table().rows.length",
     re.compile(r"v·tanh\(W s \+ U h\).*agrees5$")),
    ("what is not in the page is said, also when it is saved", "text#view=qk", ["heed.block().qk = false", "heed.drawNow()"], "save svg",
     re.compile("<title>q and k of this layer are not in the page: it was written without them.</title>")),
    ("and on the page", "", [],
     "[...document.querySelectorAll('#view-qk > *')].map(e => e.hidden).join() + document.querySelector('#view-qk .lead').textContent",
     re.compile("^false,trueq and k of this layer are not")),
    ("the table has every row of a small matrix, in words", "text#view=matrix&table=1&row=7", [FILLED],
     TABLE + " + document.querySelector('#table td').getAttribute('aria-label')", re.compile("^9.*attends")),
    ("of a large one the chosen row", "large#view=matrix&table=1&row=8", [FILLED], TABLE, 1),
    ("a triangle is read back", "gpt#view=head", [],
     "heed.block().triangle && heed.matrix().at(0, 5) === 0 && Math.abs(heed.matrix().at(0, 0) - 1) < 1e-6", True),
    # scales
    ("the scale ends at the largest weight of all heads", "even#view=matrix&head=1", [], "heed.weightMatrix().top", near(0.97)),
    ("the legend marks the uniform weight, and says what is nearly uniform", "", [], f"{LEGEND} + document.querySelector('#legend .mark').style.left",
     re.compile(r"uniform = 0\.25.*nearly uniform.*25\.8%$")),
    ("so does the panel", "", [], SIDE, re.compile("nearly uniform")),
    ("the Head view says where its scale ends", "even#view=head&head=1", [], LEGEND,
     re.compile(r"^00\.970uniform = 0\.25.*up to the largest of the layer's heads$")),
    ("and of another head, with bars of 0 to 1", "even#view=head&head=2", [], LEGEND, re.compile("up to the largest of the layer's heads$")),
    ("which sum to 1", "", [], BARS, sums),
    ("another head is not nearly uniform", "even#view=matrix&head=2", [], LEGEND, lambda x: "nearly uniform" not in x),
    ("the uniform weight of a causal layer is the mean of 1 / visible keys", "gpt#view=matrix&head=1", [], "heed.matrix().uniform",
     near(sum(1 / n for n in range(2, 25)) / 23)),
    ("in the Head view it is that of the chosen row; the first row is above the scale", "gpt#view=head&head=1&row=21", [], LEGEND,
     re.compile("and moreuniform = 0.048 in row 21")),
    ("all heads of a layer have one scale", "", [],
     "heed.record().blocks.every(b => [...b.heads, 'max'].every(h => b.end === heed.scaleOf(heed.weights(b, h))))", True),
    ("a head has one scale at all steps", "steps#view=compare&row=7", [],
     "[0, 1, 2].map(i => { heed.state.record = i; return heed.scaleOf(heed.matrix()); })", same),
    ("which the legend says", "", [], LEGEND, re.compile("one scale at all steps")),
    *[case for name, own in (("steps", True), ("text", False)) for case in (
        (f"{name}: the mean over the steps of a training run has its own scale, else that of the heads", name + "#view=head&layer=1&head=mean", [],
         ENDS, lambda x, own=own: x[2] < x[1] and x[0] == (x[2] if own else x[1])),
        (f"{name}: which the legend says", "", [], LEGEND, lambda x, own=own: ("up to its largest at all steps" in x) == own),
        (f"{name}: a head has that of the heads", "", ["heed.update({head: 0})"], ENDS, lambda x: x[0] == x[1]))],
    ("occlusion and gradient have the colours of what can be negative", "run#view=compare&head=1", [],
     "heed.record().maps.filter(m => /^(occlusion|gradient)/.test(m.name)).map(heed.mapValues).map(m => m.min < 0 || m.max === 0)",
     lambda x: len(x) > 2 and all(x)),
    ("rollout and the mean have their own scale over a picture, the heads theirs", "picture#view=compare&head=1", [],
     """(() => { const b = heed.block(), q = heed.selected().query, over = (m) => heed.largestOver(m, q), ends = {heads: Math.max(...b.heads.map((h) => over(heed.weights(b, h)))),
        mean: over(heed.weights(b, "mean")), rollout: Math.max(2 * b.uniform, over(heed.mapValues(heed.record().maps[0])))};
        return heed.current().panels().map(p => [p.top,
         ends[p.group || (p.values.own ? "mean" : "heads")]]); })()""", lambda x: len({end for _, end in x}) == 3 and all(abs(a - b) < 1e-6 for a, b in x)),
    ("over a picture, Compare has the scale of the Picture view", "picture#view=compare", [],
     "[heed.number(heed.current().panels().find(p => !p.signed).top), (heed.update({view: 'picture'}), heed.drawNow(), heed.current().legend().hi)]", same),
    ("below uniform the picture has no colour, at any strength", "picture#view=picture&strength=90&smooth=0&head=1", [], COLOURED,
     lambda x: same([any(c[0] for c in x), any(not c[0] for c in x), True]) and all(above or not coloured for above, coloured in x)),
    ("values are interpolated, as in the PNG, not colours", "picture#view=picture", [], BLENDED,
     lambda x: len(x := [p for p in x if abs(p[1] - p[2]) > 10]) > 2 and all(abs(drawn - value) < abs(drawn - color) for drawn, value, color in x)),
    # Compare
    ("special tokens are named as they are", "picture#view=compare", [], CONTROLS, re.compile(r"Hide \[CLS\]")),
    ("the legend of pictures speaks of no hatching, which they do not have", "", [], LEGEND, lambda x: "hatched" not in x),
    ("panels beside one another begin at one height", "run#view=compare&head=1", [], "heed.current().panels().map(p => [p.y, p.begin])",
     lambda x: len(x) > 2 and len(dict(x)) == len({tuple(t) for t in x})),
    ("every scale has an end; a map says which prediction it is of; rows without a part in it are hatched", "", [], "save svg",
     lambda x: ">0 to " in x and ">0 to 0<" not in x and
     (said := re.sub(r"<[^>]+>", "\n",
      x)).count("Of the prediction at 7 ‘[MASK]’; other positions have none.") == 3 and "of the prediction at row 7 alone" in said.lower() and
     x[x.index("gradient, layer 1, head 1"):].count("L") > 8),
    ("the model's gradient stands beside the head's", "", [], "heed.current().table().head.filter(n => n.startsWith('gradient'))", ["gradient",
     "gradient, layer 1, head 1"]),
    ("the legend says what hatching is", "", [], LEGEND, re.compile("no part in the prediction")),
    ("the mean of heads has no single head's map", "", ["heed.update({head: 'mean'})"],
     "heed.current().table().head.filter(n => n.startsWith('gradient'))", ["gradient"]),
    ("a gradient, which is its positive part, has no scale below 0; of a causal model each row is of its own prediction, and what may not be attended to is hatched",
     "causal#view=compare", [], "save svg",
     lambda x: re.findall(r">(\S+) to [^<]+<",
      part := x[x.index(">gradient<"):x.index("gradient, layer 1")])[-1:] == ["0"] and "Each row shows the effect on the prediction at its position." in x and part.count("L") > 1),
    ("the slider says the step, which has other weights and stands in the link", "steps#view=compare&row=7", ["window.first = heed.matrix().at(6, 1)",
     "heed.update({record: 2})"],
     "[document.querySelector('#view-compare output').textContent, heed.matrix().at(6, 1) !== first, location.hash]", lambda x: x[:2] == ["after step 300",
      True] and "record=3" in x[2]),
    # many tokens
    ("1024 tokens: what is not drawn is said", "wide#view=head&row=501&head=1&rule=mass", [], LINES,
     lambda x: (m := re.match(r"The strongest ([\d,]+) of ([\d,]+) lines are drawn; of the chosen query ([\d,]+) of ([\d,]+)\.", x)) and
     (n := [int(t.replace(",", "")) for t in m.groups()]) and n[0] <= 1000 < n[1] and n[2] == 100 < n[3]),
    ("1024 tokens: saved pictures say it, too", "", [], "heed.current().caption()", re.compile("lines are drawn")),
    ("1024 tokens: the canvas is what is in sight, with the token of the link", "", [], SIGHT, lambda x: x[0] and x[1] > 1000),
    ("1024 tokens: and one that keys choose", "", ["heed.lock(2)"], SIGHT, lambda x: x[1] < 100),
    ("1024 tokens: scrolling draws the others", "", [f"window.first = {TALL}.toDataURL()",
     "document.querySelector('#view-head .scroll').scrollTop = 5000"], f"{TALL}.toDataURL() !== first", True),
    ("1024 tokens: a line each is nearly all", "", ["heed.update({head: 1, rule: 'top', top: 1})"], LINES,
     re.compile("^The strongest 1,000 of 1,024 lines")),
    ("few tokens: all lines are drawn", "text#view=head", [], LINES, ""),
    # hostile tokens
    *[(f"{v}: no token runs or makes elements", f"hostile#view={v}&row=1&column=2&table=1", [FILLED],
       "window.hacked === undefined && !document.querySelector('img, iframe, #table script, #side script')", True) for v in ("overview", "head",
       "matrix")],
    ("tokens come through literally", "", [], "heed.block().keys.labels", samples.HOSTILE),
    ("and are shown so", "", [], "heed.id('side').querySelector('h2').textContent", re.compile("</script><script>window.hacked=1</scrip")),
    ("letters from right to left turn no words around", "", [], "heed.quote(heed.block().keys, 3)", "‘\u2068שלום\u2069’"),
    ("no token is without ink", "", [], NO_INK, ""),
    # labels and legends
    *[(f"{name}: all tokens are labelled where letters of 9 pixels fit; else the picture says which are not", f"{name}#view={view}", [],
       f"{LABELS}({width})", lambda x, every=every: x["l"]["every"] == every and
       len(notes := [t for t in x["at"] if re.search(r"Every \d(nd|rd|th) label is shown", t["text"])]) == (every > 1) and all(t["y"] < x["l"]["height"] for t in notes) and min(t["size"] for t in x["at"]) >= 9 and
       (every > 1 or len(x["at"]) == 2 * x["rows"] + x["cols"])) for name, view, width, every in (("pairs", "cross", 880, 1), ("gpt", "matrix", 330,
        1), ("large", "matrix", 880, 3))],
    ("they are 8 pixels apart or more at any width", "", [],
     "[...Array(300).keys()].map(i => heed.matrixLayout(heed.weightMatrix(), 200 + 12 * i)).filter(l => l.every * l.cell < 8).length", 0),
    ("few rows are 12 pixels high where columns are narrow", "", [],
     "[10, 256].map(n => { const m = heed.weightMatrix(); return heed.matrixLayout({...m, rows: m.rows.slice(0, n)}, 332); })",
     lambda x: x[0]["cell"] < 6 and x[0]["tall"] == 12 and x[0]["everyRow"] == 1 and x[1]["tall"] == x[1]["cell"]),
    ("a space that is alone is raised", "", [],
     "['␣', 'x', '␣x'].map(text => { const pen = heed.svgPen(); pen.text(text, 10, 20, {size: 10}); return Number(pen.out[0].match(/ y=\"([-.\\d]+)\"/)[1]); })",
     [17, 20, 20]),
    ("labels of columns are turned if they are long", "", [],
     "['x', 'xy'].map(text => { const pen = heed.svgPen(); heed.columnLabel(pen, text, 10, 20, {size: 10}); return pen.out[0].includes('rotate'); })",
     [False, True]),
    ("the lines of one head are solid", "text#view=head&head=2&row=7", [], "save svg", lambda x: "dasharray" not in x),
    ("patterns tell heads apart that are drawn together", "text#view=head&head=2&heads=1&row=7", [], "save svg", patterned),
    *[(f"{name}: where a query may not look there is no colour, which the legend says: {hatched}", name + "#view=matrix&layer=1&head=1", [],
       f"[{HATCHED} > 4, {LEGEND}.includes('may not attend')]", [hatched] * 2)
      for name, hatched in (("gpt", True), ("text", False))],
    *[(f"the legend of {link}", "text#" + link, [], LEGEND, re.compile(wanted)) for link, wanted in (
        ("view=overview", r"^00\.989uniform = 0\.111weight: .*one scale for all heads; (darker|brighter) is more$"), ("view=overview&scale=one",
         "^01.000uniform"),
        ("view=qk", r"q and k share a scale, ±[\d.]+; others have their own: q × k ±[\d.]+$"))],
    ("no unit is -0.0", "", [], "save svg", lambda x: "−0.0" not in x),
    *[(f"the legend of {v} has the unit", f"{name}#view={v}", [], LEGEND, re.compile("share.*1 = 100 %")) for name, v in (("text", "overview"),
       ("text", "matrix"), ("text", "head"), ("picture", "picture"), ("run", "compare"))],
    *[(f"{theme}, {palette}: what is much stands out, which the legend says; nothing is the ground",
       f"text#view=matrix&theme={theme}&palette={palette}", [],
       f"[...[0, 0.5, 1].map(t => heed.math.sum(heed.color(t)) * {sign}), heed.color(0).join() === heed.theme.surface.join(), {LEGEND}]",
       lambda x, way=way: x[0] > x[1] > x[2] and x[3] and x[4].count("is more") == 1 and way + " is more" in x[4])
      for theme, sign, way in (("light", 1, "darker"), ("dark", -1, "brighter")) for palette in ("viridis", "cividis", "grey")],
    *[(f"{v} scrolls with the page alone", f"run#view={v}", [],
       "(e => e.scrollHeight <= e.clientHeight)(document.querySelector('.view:not([hidden]) .scroll'))", True) for v in ("overview", "compare")],
    # curves; on a phone their legend is below
    *[case for width, below in ((1280, False), (390, True)) for case in (
        (f"{width}: the legend gives the best evaluation", "curves#view=curves", [f"window {width} 844"], "save svg",
         re.compile(">best evaluation: loss|>best evaluation:</text>")),
        (f"{width}: which has the lowest validation loss", "", [],
         "(s => s.label === 'validation' && s.y[s.marked] === Math.min(...s.y))(heed.data.curves.series.find(s => s.mark))", True),
        (f"{width}: what is said of curves is within the picture", "", [],
         "(l => [l.below, Math.max(...l.entries.map(e => e.at + e.high)) <= l.height + 8])(heed.current().layout())", [below, True]))],
    # a phone
    ("Compare begins with the attention, on the first screen", "run#view=compare", ["window 390 844"],
     "(p => [p.name, document.querySelector('#view-compare canvas').getBoundingClientRect().top + p.begin + p.inner.top])((heed.current().layout(), heed.current().panels()[0]))", lambda x: x[0].startswith("attention") and x[1] < 830),
    ("thumbnails of few queries are low", "caption#view=overview", [], "(l => l.height < l.width)(heed.current().layout())", True),
    ("thumbnails have labels that say something, or none", "text#view=overview", [], WRITTEN % "o.size === 10",
     lambda x: all(t[0] != "…" for t in x)),
    ("where there is room, they are whole", "", ["window 768 900"], WRITTEN % "o.size === 10",
     lambda x: "[MASK]" in (texts := [t[0] for t in x]) and not any("…" in t for t in texts)),
    ("tokens of the Head view are whole", "run#view=head&row=7&column=7", ["window 390 844"], WRITTEN % "o.width",
     lambda x: "[MASK]" in (texts := [t[0] for t in x]) and not any("…" in t for t in texts)),
    ("numbers of the panel are within it", "picture#view=picture", [],
     "[...document.querySelectorAll('#side .value')].every(v => v.scrollWidth <= v.clientWidth)", True),
    ("a patch has its row and column alone, which is said", "", ["heed.lock(3, 4)"],
     "(s => [...s.querySelectorAll('h2 .index, .row .index')].filter(e => e.nextSibling.textContent.includes(',')).map(e => e.textContent).join('') + '|' + s.textContent)(heed.id('side'))", re.compile("^[|].*patches: row,column")),
    *[(f"{name}: no name of a thumbnail reaches into the next", name + "#view=overview", [],
       f"({WRITTEN % 'o.size === 13'}).map(([t, x, y, o]) => [x, y, heed.width(t, o)])", apart) for name in ("pairs", "text")],
    ("the seven tabs of a picture are in sight on a narrow phone", "run", ["window 375 800",
     "(t => t.before(Object.assign(t.cloneNode(true), {id: 'one-more', textContent: 'Picture'})))(heed.id('tabs').children[4])"], ALL_TABS, True),
    *[(f"{name}: legends of panels are short and whole", name + "#view=compare", ["window 1280 900"], f"({WRITTEN % 'o.size === 11'}).map(t => t[0])",
       lambda x: len(x) > 1 and not any("…" in t or " to −" in t or t[0] == "−" for t in x)) for name in ("picture", "run")],
    ("a scale with a part below 0 has one number", "", [], f"({WRITTEN % 'o.size === 11'}).some(t => t[0][0] === '±')", True),
    *[(f"{name}: names of panels are whole", name + "#view=compare&head=mean", ["window 900 800"], "save svg",
       lambda x: len(names := re.findall(NAMES, x)) > 2 and not any("…" in n for n in names[1:])) for name in ("picture", "inputs", "run")],
    # who cannot hover, and where the focus is
    *[(f"without hover: {none}", "text#view=matrix", ["window 1280 900", HOVER % none], LOCK, re.compile(said)) for none,
       said in (("true", "Tap a token to lock it."), ("false", "Hover to look, click to lock."))],
    ("of a picture a patch is locked", "picture#view=matrix", [HOVER % "true"], LOCK, re.compile("Tap a patch to lock it.")),
    ("a button unlocks the token, and the focus stays in the view", "text#view=matrix", ["heed.lock(3, 2)",
     "(e => { e.focus(); e.click(); })(heed.id('side').querySelector('.free'))"],
     "!heed.selected().locked && document.activeElement === document.querySelector('#view-matrix canvas')", True),
    ("a row of the panel that is chosen keeps the focus", "", ["(e => { e.focus(); e.click(); })(heed.id('side').querySelectorAll('button.row')[2])"],
     "document.activeElement === heed.id('side').querySelectorAll('button.row')[2]", True),
    ("so does a word", "pairs#view=cross", ["(e => { e.focus(); e.click(); })(document.querySelectorAll('#view-cross .word')[4])"],
     "document.activeElement === document.querySelectorAll('#view-cross .word')[4]", True),
]


def clean(b, what):
    outside = [u for u in b.requests if not u.startswith(("file:", "data:", "blob:", "about:"))]
    check(not b.errors and not outside, f"{what}: console: {b.errors[:2]}, requests: {outside[:2]}")


def act(b, does):
    if does.startswith("press "):
        b.key(does[6:])
    elif does.startswith("window "):
        b.size(*map(int, does.split()[1:]))
    else:
        b.run(does)
    b.settle()


def check_case(b, folder, what, page, done, asked, wanted):
    if page:
        name, _, link = page.partition("#")
        for does in [x for x in done if x.startswith("window ")]:
            act(b, does)
        b.open(os.path.join(folder, name + ".html"), "#" + link if link else "")
    for does in done:
        act(b, does)
    answer = b.download(f"heed.id('save-{asked[5:]}').click()")[0].decode() if asked.startswith("save ") else b.run(asked)
    ok = wanted.search(str(answer)) if isinstance(wanted, re.Pattern) else wanted(answer) if callable(wanted) else answer == wanted
    check(ok, f"{what}: {str(answer)[:600]}")
    clean(b, what)


# ---- every view ----

VIEWS = {"text": ["overview", "head", "matrix", "qk", "compare"], "gpt": ["overview", "head", "matrix"],
         "pairs": ["overview", "head", "matrix", "cross"], "picture": ["overview", "head", "matrix", "picture", "compare"],
         "caption": ["overview", "head", "matrix", "picture", "cross"],
         "hostile": ["overview", "head", "matrix"], "large": ["overview", "head", "matrix", "qk"],
         "additive": ["overview", "head", "matrix", "qk", "cross"], "steps": ["overview", "head", "matrix", "qk", "compare"], "run": ["overview", "head", "matrix", "qk", "compare", "curves"]}
DRAWN = """[...document.querySelectorAll('.view:not([hidden]) canvas')].some(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
           const seen = new Set(); for (let i = 0; i < d.length && seen.size < 3; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size > 2; })"""
FITS = "document.documentElement.scrollWidth <= window.innerWidth"


def check_views(b, folder, name):
    b.open(os.path.join(folder, name + ".html"))
    seconds = b.run("performance.getEntriesByName('ready')[0].startTime / 1000")
    tabs = b.run("[...document.querySelectorAll('#tabs [role=tab]')].map(t => t.id.slice(4))")
    check(tabs == VIEWS[name], f"{name}: tabs are {tabs}")
    for i, v in enumerate(tabs):
        b.key(str(i + 1))
        check(b.run("heed.state.view") == v and f"view={v}" in b.run("location.hash"), f"{name}: key {i + 1} opens {v}")
        check(b.run(DRAWN), f"{name}: {v} draws")
        check(b.run("heed.id('note').textContent").startswith("Attention alone is no explanation"), f"{name}: {v} says that attention is no explanation")
        check(b.run("[...document.querySelectorAll('.view:not([hidden]) canvas[tabindex]')].every(c => c.getAttribute('aria-label').length > 5)"), f"{name}: {v} names its pictures")
    check(b.run("document.querySelectorAll('*').length") < 4000, f"{name}: the nodes are few")
    link, state = b.run("location.hash"), b.run("JSON.stringify(heed.state)")
    b.open(os.path.join(folder, name + ".html"), link)
    check(b.run("JSON.stringify(heed.state)") == state, f"{name}: the link restores {link}")
    clean(b, name)
    return seconds


def check_pointer(b, folder):
    b.open(os.path.join(folder, "text.html"), "#view=matrix&layer=1&head=1")
    x, y = b.run("((r, l) => [r.x + l.left + 2.5 * l.cell, r.y + l.top + 3.5 * l.cell])(document.querySelector('#view-matrix canvas').getBoundingClientRect(), heed.current().layout())")
    b.pointer(x, y)
    check(b.run(STATE) == "0,0,3,2" and "attends" in b.run("heed.id('tip').textContent"), f"the pointer previews, and the tip says the weight: {b.run(STATE)}")
    b.pointer(x, y, True)
    check(b.run("heed.selected().locked && heed.state.query === 3 && heed.state.key === 2"), "a click locks")


def check_speed(b, folder):
    b.open(os.path.join(folder, "wide.html"), "#view=head&row=501&head=1&rule=mass")
    redraw = f"(() => {{ const t = performance.now(); %s; heed.drawNow(); {TALL}.getContext('2d').getImageData(0, 0, 1, 1); return performance.now() - t; }})()"
    times = [b.run(redraw % f"heed.preview({{query: {q}, key: -1}})") for q in (100, 300, 700)]
    print(f"        1024 tokens: redrawn after {max(times):.0f} ms, with other lines after {b.run(redraw % 'heed.state.mass = 50'):.0f} ms", flush=True)
    for name, most in (("large-no-qk", 6.5e6), ("large", 10e6)):
        size = os.path.getsize(os.path.join(folder, name + ".html"))
        print(f"        {name}: {size / 1e6:.2f} MB", flush=True)
        check(size <= most, f"{name}: {size} bytes, more than {most:.0f}")


# ---- saved files ----

def check_saves(b, folder):
    for name, v in (("text", "overview"), ("text", "head"), ("text", "qk"), ("steps", "compare"), ("pairs", "cross"), ("picture", "picture"), ("run", "curves"), ("hostile", "matrix"), ("text", "matrix")):
        b.open(os.path.join(folder, name + ".html"), f"#view={v}&row=4")
        (png, file), (svg, _), (rows, _) = (b.download(f"heed.id('save-{kind}').click()") for kind in ("png", "svg", "csv"))
        check(png[:8] == b"\x89PNG\r\n\x1a\n" and len(png) > 2000 and file.endswith(".png"), f"{name}: {v} saves a PNG")
        text, lines = svg.decode(), list(csv.reader(io.StringIO(rows.decode(), newline="")))
        xml.dom.minidom.parseString(text)
        check("<title>" in text and not re.search(r"(href|src)=\"(?!data:)", text), f"{name}: {v} saves an SVG that refers to nothing")
        check(len(lines) > 3 and all(len(x) == len(lines[0]) for x in lines), f"{name}: {v} saves a CSV of {len(lines)} lines")
        if name == "hostile":
            check([lines[1 + i][3] for i in (2, 15)] == [samples.HOSTILE[i] for i in (2, 15)], "the CSV has hostile tokens as they are")
        clean(b, f"{name}: saving {v}")
    check("row 4 ‘the’" in text, "the saved picture says which token is chosen")
    check(lines[0] == ["query_position", "query_token", "key_position", "key_token", "weight"] and len(lines) == 82 and lines[1][0] == "1", "the CSV has all weights")
    check(abs(sum(float(x[4]) for x in lines[1:] if x[0] == "4") - 1) < 1e-3, "a row of the CSV sums to 1")


# ---- paper, phones, the dark ----

def check_paper(b, folder):
    """Paper is white: the colours are those of a light page while it is printed, and nothing scrolls."""
    b.dark(True)
    b.open(os.path.join(folder, "text.html"), "#view=head")
    b.run("window.addEventListener('beforeprint', () => { window.printed = document.documentElement.dataset.theme; })")
    b.call("Page.printToPDF")
    check(b.run("[window.printed, document.documentElement.dataset.theme].join()") == "light,dark", "a dark page is printed as a light one")
    b.call("Emulation.setEmulatedMedia", media="print", features=[])
    check(b.run("[...document.querySelectorAll('.scroll, #side')].every(e => getComputedStyle(e).maxHeight === 'none')"), "nothing is cut on paper")
    check(b.run("[...document.querySelectorAll('header .buttons, nav, #controls, .tools, .lock')].every(e => !e.checkVisibility())"), "paper has no buttons")
    b.call("Emulation.setEmulatedMedia", media="", features=[])
    b.dark(False)


def check_media(b, folder, pictures):
    """Every view at several widths and in the dark; the tabs are one row, the chosen one in sight."""
    for width, dark in ((1280, False), (1280, True), (800, False), (390, False), (390, True)):
        b.size(width, 844 if width == 390 else 900)
        b.dark(dark)
        for name, views in VIEWS.items():
            if name == "large" or (width == 1280 and not pictures and dark):
                continue
            b.open(os.path.join(folder, name + ".html"))
            check(b.run("document.documentElement.dataset.theme") == ("dark" if dark else "light"), f"{name}: dark is {dark}")
            for v in views:
                act(b, f"heed.update({{view: '{v}'}})")
                tops, left, right = b.run(f"(r => [new Set({TABS}.map(t => t.offsetTop)).size, r.left, innerWidth - r.right])(document.querySelector('#tabs [aria-selected=true]').getBoundingClientRect())")
                check(b.run(FITS) and tops == 1 and left >= 0 and right >= 0, f"{name}: {v} and its tab fit {width}")
                if pictures:
                    b.picture(os.path.join(folder, f"{name}-{v}-{width}-{'dark' if dark else 'light'}.png"))
            check(b.run(ALL_TABS), f"{name}: all tabs are in sight at {width}")
            clean(b, f"{name} at {width}")
    b.size(1280, 900)
    b.dark(False)


ACCESS = {"run": VIEWS["run"], "picture": ["picture", "compare"], "caption": ["cross"], "gpt": ["matrix"], "lion": ["steps"]}


def main():
    heed, keep = os.path.abspath(sys.argv[1]), len(sys.argv) > 2
    folder = sys.argv[2] if keep else tempfile.mkdtemp(prefix="heed-page-")
    os.makedirs(folder, exist_ok=True)
    b = None
    try:
        make_pages(heed, folder)
        b = Browser()
        for name in VIEWS:
            print(f"        {name}: drawn after {check_views(b, folder, name):.2f} s", flush=True)
        for case in CASES:
            check_case(b, folder, *case)
        for part in (check_pointer, check_speed, check_saves, check_paper):
            part(b, folder)
        for name, views in ACCESS.items():
            access.check_access(b, check, os.path.join(folder, name + ".html"), views)
            clean(b, f"access to {name}")
        check_media(b, folder, keep)
    finally:
        if b:
            b.close()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(bool(failed))


main()
