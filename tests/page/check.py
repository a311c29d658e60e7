"""check.py HEED [FOLDER] -- drives the page in headless Chromium: views, keys, links, saved files, hostile tokens, sizes. Timings
are printed, and decide nothing. With a FOLDER the pages and pictures of every view stay there. Ends with "N passed, N failed"."""
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


def view(heed, *args):
    subprocess.run([heed, "view", *args], check=True, stdout=subprocess.DEVNULL, timeout=120)


def make_pages(heed, folder):
    at = lambda name: os.path.join(folder, name)
    samples.text(at("text.npz"))
    samples.gpt(at("gpt.npz"))
    samples.pairs(at("pairs.npz"))
    samples.picture(at("picture.npz"))
    samples.caption(at("caption.npz"))
    samples.hostile(at("hostile.json"))
    samples.even(at("even.json"))
    samples.large(at("large.npz"))
    samples.wide(at("wide.npz"))
    samples.additive(at("additive.npz"))
    for step in (0, 100, 300):
        samples.text(at(f"step{step}.npz"), step, sharp=0.2 + step / 400)
    for name in ("text.npz", "gpt.npz", "pairs.npz", "picture.npz", "caption.npz", "hostile.json", "even.json", "large.npz", "wide.npz", "additive.npz"):
        view(heed, at(name), "--html", at(name.split(".")[0] + ".html"))
    view(heed, at("large.npz"), "--no-qk", "--html", at("large-no-qk.html"))
    view(heed, at("step0.npz"), at("step100.npz"), at("step300.npz"), "--html", at("steps.html"))


def make_run(heed, folder):
    """Models of six steps, and their pages with maps and curves."""
    at = lambda name: os.path.join(folder, name)
    facts = [f"{city} is the capital of {country} ." for city, country in (("Paris", "France"), ("Rome", "Italy"), ("Tokyo", "Japan"), ("Athens", "Greece"))] * 12
    with open(at("facts.txt"), "w") as f:
        f.write("\n".join(facts) + "\n")
    small = "--tokenizer word --packing lines --layers 1 --heads 2 --width 16 --ff 32 --block 16 --batch 4 --steps 6 --eval-every 2 --force".split()
    run = lambda *args: subprocess.run([heed, *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    run("train", "mlm", at("facts.txt"), "-o", at("run"), *small)
    run("attend", at("run"), "Paris is the capital of [MASK] .", "--rollout", "--occlude", "--gradient", "--html", at("run.html"))
    run("explain", "lion", "--html", at("lion.html"))
    run("train", "gpt", at("facts.txt"), "-o", at("causal"), *small)
    run("train", "mlm", at("facts.txt"), "-o", at("valid"), *small, "--val-split", "0.2")
    run("attend", at("valid"), "Paris is the capital of [MASK] .", "--html", at("curves.html"))
    run("attend", at("causal"), "Paris is the", "--gradient", "--html", at("causal.html"))
    run("attend", at("run"), "Paris is the capital of [MASK] .", "--head", "2", "--query", "capital", "--html", at("asked.html"))
    run("attend", at("run"), "Paris is the capital of [MASK] .", "--layer", "1", "--html", at("layer.html"))
    run("attend", at("run"), "Paris is the capital of [MASK] .", "Rome is the capital of [MASK] .", "Rome is [MASK] .", "--html", at("inputs.html"))


def clean(b, what):
    outside = [u for u in b.requests if not u.startswith(("file:", "data:", "blob:", "about:"))]
    check(not b.errors, f"{what}: console: {b.errors[:2]}")
    check(not outside, f"{what}: requests: {outside[:2]}")


# ---- every view ----

VIEWS = {"text": ["overview", "head", "matrix", "qk", "compare"], "gpt": ["overview", "head", "matrix"],
         "pairs": ["overview", "head", "matrix", "cross"], "picture": ["overview", "head", "matrix", "picture", "compare"],
         "caption": ["overview", "head", "matrix", "picture", "cross"],
         "hostile": ["overview", "head", "matrix"], "large": ["overview", "head", "matrix", "qk"],
         "additive": ["overview", "head", "matrix", "qk", "cross"], "steps": ["overview", "head", "matrix", "qk", "compare"], "run": ["overview", "head", "matrix", "qk", "compare", "curves"]}
DRAWN = """[...document.querySelectorAll('.view:not([hidden]) canvas')].some(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
           const seen = new Set(); for (let i = 0; i < d.length && seen.size < 3; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size > 2; })"""


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
        check(b.run("document.documentElement.scrollWidth <= window.innerWidth"), f"{name}: {v} is wider than the window")
    nodes = b.run("document.querySelectorAll('*').length")
    check(nodes < 4000, f"{name}: {nodes} nodes")
    clean(b, name)
    return seconds


# ---- keys and links ----

STATE = "(({query, key}) => [heed.state.layer, heed.state.head, query, key].join())(heed.selected())"


def check_keys(b, folder):
    b.open(os.path.join(folder, "text.html"), "#view=matrix&layer=1&head=1")
    at = b.run(STATE)
    check(at == "0,0,6,-1", f"the first look is at the query of the answer: {at}")
    for key, wanted in (("ArrowUp", "0,0,5,-1"), ("ArrowRight", "0,0,5,0"), ("ArrowRight", "0,0,5,1"), ("ArrowDown", "0,0,6,1"), ("]", "0,1,6,1"), ("}", "1,1,6,1"),
                        ("{", "0,1,6,1"), ("[", "0,0,6,1"), ("[", "0,0,6,1"), ("ArrowLeft", "0,0,6,0")):
        b.key(key)
        check(b.run(STATE) == wanted, f"key {key}: {b.run(STATE)}, expected {wanted}")
    label = b.run("heed.id('side').querySelector('button.row').getAttribute('aria-label')")
    check(re.match(r"row 7 ‘\[MASK\]’ attends 0?[.\d]+ to ‘", label), f"a row is read as: {label}")
    b.key("]")
    b.key("h")
    check(not b.run("heed.id('badge').hidden"), "hidden special tokens are said")
    check(b.run("heed.visible(heed.block().keys).length") == 7, "special tokens are hidden")
    link, state = b.run("location.hash"), b.run("JSON.stringify(heed.state)")
    b.open(os.path.join(folder, "text.html"), link)
    check(b.run("JSON.stringify(heed.state)") == state, f"the link restores {link}")
    b.key("Escape")
    check(b.run("heed.selected().locked") is False, "Esc unlocks")
    b.key("?")
    check(b.run("heed.id('help').open"), "? opens the help")
    b.size(1366, 400)
    b.key("Escape")
    b.key("?")
    check(b.run("(e => e.scrollHeight > e.clientHeight && e.scrollTop === 0)(heed.id('help'))"), "help that is taller than its window opens at its beginning")
    b.size(1280, 900)
    check(b.run("[...document.querySelectorAll('#help dl:last-of-type dt')].map(d => d.textContent).join()") == "Overview,Head,Matrix,Q·K,Compare", "the help has the views as the tabs have them")
    b.key("Escape")
    b.key("d")
    check(b.run("document.documentElement.dataset.theme") == "dark", "d makes it dark")
    b.open(os.path.join(folder, "text.html"), "#view=nonsense&layer=99&head=-4&query=1e99&key=abc&palette=zz&sort=%3Cscript%3E")
    check(b.run("heed.state.layer") == 2 and b.run("heed.state.query") <= 8, "a wild link is brought within bounds")
    clean(b, "keys")


def check_positions(b, folder):
    """Tokens count from 1 wherever a reader meets them; links of before counted from 0, and say so by their names."""
    at = os.path.join(folder, "text.html")
    b.open(at, "#view=matrix")
    b.run("heed.lock(6, 1)")
    b.settle()
    link = b.run("location.hash")
    check("row=7&column=2" in link, f"a link counts from 1: {link}")
    for link in (link, "#view=matrix&query=6&key=1"):
        b.open(at, link + "&table=1")
        check(b.run("(({query, key}) => [query, key].join())(heed.selected())") == "6,1", f"{link} opens at the token: {b.run(STATE)}")
        check("row=7&column=2" in b.run("heed.link()"), f"{link} becomes a link that counts from 1")
        b.wait("document.querySelectorAll('#table td').length > 0")
        check(b.run("document.querySelectorAll('#table tbody th')[6].textContent") == "7 [MASK]", "so does the table")
        check(b.run("heed.cellTip(heed.block(), heed.matrix(), 6, -1)[0]") == "7 [MASK]", "and the tip")
    b.open(os.path.join(folder, "picture.html"), "#view=picture&row=1")
    check("‘[CLS]’ (1) looks" in b.run("heed.current().caption()"), "and the caption of a picture")
    clean(b, "positions")


def check_caption(b, folder):
    """The words of a caption are buttons above the picture; the one that is clicked lies over it. All words have one scale."""
    b.open(os.path.join(folder, "caption.html"), "#view=picture")
    most = "(m => [0, 1, 2].map(q => Math.max(...m.data.subarray(q * m.cols, (q + 1) * m.cols))))(heed.weights(heed.block(), 'mean'))"
    check(b.run(f"(list => heed.selected().query === list.indexOf(Math.max(...list)))({most})"), "a caption opens at the word that looks at one patch most")
    ends = b.run("[0, 1, 2, 3].map(query => { heed.state.query = query; return heed.current().legend().hi; })")
    check(len(set(ends)) == 1, f"its words have one scale: {ends}")
    check(b.run("[...document.querySelectorAll('.view:not([hidden]) .chip')].map(c => c.textContent).join(' ')") == "a red circle [SEP]", "a caption's words are buttons")
    b.run("document.querySelectorAll('.view:not([hidden]) .chip')[1].click()")
    b.settle()
    check("‘red’ (2) looks" in b.run("heed.current().caption()"), f"a word that is clicked is shown: {b.run('heed.current().caption()')}")
    check("row=2" in b.run("location.hash"), "and stands in the link")
    table = b.run("heed.current().table().rows.flat().length")
    check(table == 4 * 5, f"its weights are a table of the grid: {table}")
    clean(b, "caption")


def check_others(b, folder):
    """The list of what a token attends to adds up: the keys that are not in it share a row."""
    b.open(os.path.join(folder, "text.html"), "#view=head&layer=1&head=1&row=7")
    listed = "[...document.querySelectorAll('#side > .bars:last-of-type .row')].map(r => r.textContent)"
    rows = b.run(listed)
    check(len(rows) == 9 and not any("other" in row for row in rows), f"a single one that is left is listed, too: {rows}")
    b.open(os.path.join(folder, "gpt.html"), "#view=head&layer=1&head=1&row=24")
    rows = b.run(listed)
    check(len(rows) == 9 and rows[-1].startswith("16 others"), f"what is not listed is counted: {rows}")
    total = sum(float(v.replace("<", "")) for v in b.run("[...document.querySelectorAll('#side > .bars:last-of-type .value')].map(v => v.textContent)"))
    check(abs(total - 1) < 0.005, f"the column sums to {total}")


def check_inputs(b, folder):
    """Several inputs on one page: one is chosen, and Compare sets the same head of the others beside it."""
    b.open(os.path.join(folder, "inputs.html"), "#view=compare&record=2")
    check(b.run("heed.id('title').textContent") == "Rome is the capital of [MASK] .", "the chosen input is the title")
    choices = b.run("[...document.querySelectorAll('#controls select')][0].textContent")
    check(choices == "1. Paris is the capital of [MASK] .2. Rome is the capital of [MASK] .3. Rome is [MASK] .", f"inputs are chosen by their texts: {choices}")
    maps = b.run("[...new Set(heed.current().table().all().slice(1).map(row => row[0]))].join('|')")
    name = "1. Paris is the capital of [MASK] ."
    check(re.fullmatch(r"attention, layer 1, head \d\|" + re.escape(f"{name}|difference to {name}|3. Rome is [MASK] .|difference to 3. Rome is [MASK] ."), maps), f"compare has the other inputs and the differences: {maps}")
    rows = {(row[0], row[1], row[3]): row[5] for row in b.run("heed.current().table().all().slice(1)") if row[5] is not None}
    first = maps.split("|")[0]
    check(all(abs(rows[first, q, k] - rows[name, q, k] - rows[f"difference to {name}", q, k]) < 1e-6 for (m, q, k) in rows if m == first), "the difference is that of the weights")
    # "the capital of" has no counterpart in the third input; [CLS] Rome is [MASK] . [SEP] are 1 2 3 7 8 9 here and 1 to 6 there.
    third, at = "3. Rome is [MASK] .", {1: 1, 2: 2, 3: 3, 7: 4, 8: 5, 9: 6}
    raw = b.run("heed.current().table().all().slice(1).map(row => [row[0], row[1], row[3], Number.isNaN(row[5]) ? null : row[5]])")
    shift = {(q, k): w for m, q, k, w in raw if m == f"difference to {third}"}
    check(len(shift) == 81 and all((w is None) == (q not in at or k not in at) for (q, k), w in shift.items()), "a difference is that of tokens that have a counterpart")
    check(all(abs(rows[first, q, k] - rows[third, at[q], at[k]] - w) < 1e-6 for (q, k), w in shift.items() if w is not None), "and is that of their weights")
    check("has no counterpart there" in b.download("heed.id('save-svg').click()")[0].decode(), "which is said")
    check(b.run(DRAWN) and not b.run("[...document.querySelectorAll('#view-compare button')].some(x => x.offsetParent)"), "inputs are no steps that could be played")
    ends = re.findall(r">0 to ([0-9.]+)<", b.download("heed.id('save-svg').click()")[0].decode())
    check(len(ends) == 3 and len(set(ends)) == 1 and float(ends[0]) > 0, f"its scale ends at one weight: {ends}")
    check("one scale on all inputs" in b.run("heed.id('legend').textContent"), "the same head of several inputs has one scale")
    shown = b.run("[heed.number(0.9964, 2), heed.number(0.99996), heed.number(-0.99996), heed.number(1, 2)].join(' ')")
    check(shown == "0.996 0.9999 −0.9999 1.00", f"only 1 is shown as 1: {shown}")
    ends = []
    for record in (1, 2, 3):
        b.open(os.path.join(folder, "inputs.html"), f"#view=matrix&record={record}&head=1")
        ends.append(b.run("[heed.current().legend().hi, heed.scaleOf(heed.matrix()) === Math.max(...heed.data.records.map(r => r.blocks[0].end))].join()"))
    check(len(set(ends)) == 1 and ends[0].endswith("true"), f"in every view a head has one scale on all inputs: {ends}")
    shown = b.run("[0.0011, 0.00004, 0, 0.996, 0.99999, 1, 0.42].map(heed.probability).join(' ')")
    check(shown == "0.001 <0.0001 0.00 0.996 >0.9999 1.00 0.42", f"probabilities are those of the terminal: {shown}")
    shown = b.run("[0.42, 0.99999, 0.00004].map(heed.probable).join(', ')")
    check(shown == "p = 0.42, p > 0.9999, p < 0.0001", f"and have one sign: {shown}")
    b.open(os.path.join(folder, "inputs.html"), "#view=overview&record=2")
    check(b.run("document.querySelector('#controls select').selectedOptions[0].textContent").startswith("2. Rome"), "the overview has the choice of input, too")
    clean(b, "inputs")


def check_opening(b, folder):
    at = os.path.join(folder, "asked.html")
    b.open(at)
    check(b.run("heed.state.view") == "head" and b.run(STATE) == "0,1,4,-1", f"a page opens at what was asked for: {b.run(STATE)}")
    b.key("[")
    link = b.run("location.hash")
    b.open(at, link)
    check(b.run(STATE) == "0,0,4,-1", f"a link is more than the opening: {link}")
    b.open(at, "#view=matrix")
    check(b.run("heed.state.view") == "matrix" and b.run("heed.selected().locked") is False, "with a link there is no opening")
    for name, view in (("text", "head"), ("gpt", "head"), ("pairs", "head"), ("picture", "picture"), ("caption", "picture")):
        b.open(os.path.join(folder, name + ".html"))
        check(b.run("heed.state.view") == view, f"{name} opens in {b.run('heed.state.view')}, expected {view}")
        last, least = "heed.state.layer === heed.layers().at(-1).layer", "heed.block().focus.score === Math.min(...heed.layers().map(b => b.focus.score))"
        check(b.run(last if view == "picture" else least), f"{name} opens at the layer that says most")
        check(b.run("heed.state.head") == "mean" if view == "picture" and b.run("heed.block().heads.length > 1") else b.run("heed.state.head === heed.block().focus.head"), f"{name} opens at the head that says most")
    # Of 12 heads it is the most concentrated one: half by the row where [MASK] is predicted, half by all rows.
    b.open(os.path.join(folder, "text.html"))
    score = """((b, h) => { const w = heed.weights(b, h).data, row = (q) => heed.evenness([...w.subarray(q * 9, q * 9 + 9)]);
               return (row(6) + [...Array(9).keys()].reduce((sum, q) => sum + row(q) / 9, 0)) / 2; })"""
    own, every = b.run(f"{score}(heed.block(), heed.state.head)"), b.run(f"heed.layers().flatMap(b => b.heads.map(h => {score}(b, h)))")
    check(len(every) == 12 and own - min(every) < 0.001, f"text opens at the most concentrated head: {own}, {every}")
    why = "document.querySelector('#controls .why')?.textContent"
    check(b.run(why) == b.run("`Most concentrated of 12 heads in ${heed.layers().length} layers: layer ${heed.state.layer + 1}, head ${heed.state.head + 1}.`"), f"and says why: {b.run(why)}")
    b.key("]")
    check(b.run(why).startswith("Most concentrated of 12 heads in "), "also when another one is chosen")
    b.open(os.path.join(folder, "picture.html"))
    check(b.run(why) == "First shown: the mean of the last layer, where the class is read.", f"a photograph says that its heads' mean is shown: {b.run(why)}")
    # The heads of another stack are others: who sees the most concentrated one sees that of the other stack.
    b.open(os.path.join(folder, "pairs.html"), "#view=head")
    stacks = b.run("heed.stacks(heed.record())")
    natural = "[heed.state.layer === heed.naturalLayer(heed.layers()).layer, heed.state.head === heed.naturalHead(heed.block())].join()"
    for stack in stacks[::-1]:
        b.run(f"heed.update({{stack: '{stack}'}})")
        b.settle()
        check(b.run(natural) == "true,true", f"{stack} is opened at its own head that says most: {b.run(STATE)}")
    b.run("heed.update({layer: 0, head: 'mean'})")
    b.run(f"heed.update({{stack: '{stacks[-1]}'}})")
    check(b.run("[heed.state.layer, heed.state.head].join()") == "0,mean", f"a choice is kept: {b.run(STATE)}")
    asked = os.path.join(folder, "layer.html")
    b.open(asked)
    check(b.run("heed.state.layer") == 0 and b.run("heed.state.head === heed.block().focus.head"), f"a page of a layer opens at one of its heads: {b.run(STATE)}")
    clean(b, "opening")


def check_scale(b, folder):
    """Nearly uniform attention is said to be so, and is not drawn as if it were not; a photograph stays what it is below it."""
    at = os.path.join(folder, "even.html")
    b.open(at, "#view=matrix&head=1")
    check(abs(b.run("heed.weightMatrix(heed.block(), 0).top") - 0.97) < 1e-6, "the scale ends at the largest weight of all heads")
    check("uniform = 0.25" in b.run("heed.id('legend').textContent") and b.run("document.querySelector('#legend .mark').style.left") == "25.8%", "the legend marks the uniform weight")
    check("nearly uniform" in b.run("heed.id('legend').textContent") and "nearly uniform" in b.run("heed.id('side').textContent"), "a head that is nearly uniform says so")
    b.open(at, "#view=head&head=1")
    said = b.run("heed.id('legend').textContent")
    check(re.match("00.970uniform = 0.25.*up to the largest of the layer's heads$", said), f"the Head view says where its scale ends: {said}")
    b.open(at, "#view=head&head=2")
    check(b.run("heed.id('legend').textContent").endswith("up to the largest of the layer's heads"), "and of another head, too")
    bars = b.run("[...document.querySelectorAll('#side > .bars:last-of-type .row')].map(r => [parseFloat(r.querySelector('.bar span').style.width) / 100, r.querySelector('.value').textContent])")
    check(all(abs(w - float(v.replace("<", ""))) < 0.002 for w, v in bars), f"bars are drawn from 0 to 1: {bars}")
    b.open(at, "#view=matrix&head=2")
    check("nearly uniform" not in b.run("heed.id('legend').textContent"), "another one does not")
    b.open(os.path.join(folder, "gpt.html"), "#view=matrix&head=1")
    visible = sum(1 / n for n in range(2, 25)) / 23
    check(abs(b.run("heed.matrix().uniform") - visible) < 1e-6, f"the uniform weight of a causal layer is the mean of 1 / visible keys, {visible}: {b.run('heed.matrix().uniform')}")
    b.open(os.path.join(folder, "gpt.html"), "#view=head&head=1&row=21")
    said = b.run("heed.id('legend').textContent")
    check("uniform = 0.048 in row 21" in said and " and more" in said, f"in the Head view uniform is that of the chosen row, and the first row is above the scale: {said}")
    ends = b.run("heed.record().blocks.map(b => b.end === [...b.heads, 'max'].reduce((m, h) => Math.max(m, heed.scaleEnd(b, h)), 0))")
    check(all(ends), "all heads of a layer have one scale")
    b.open(os.path.join(folder, "picture.html"), "#view=compare")
    check("Hide [CLS]" in b.run("heed.id('controls').textContent"), "special tokens are named as they are")
    b.open(os.path.join(folder, "run.html"), "#view=compare")
    tops = b.run("heed.current().panels().map(p => [p.y, p.l.top - p.inner.top])")
    check(len(tops) > 2 and len(dict(tops)) == len({tuple(t) for t in tops}), f"panels beside one another begin at one height: {tops}")
    # Occlusion and gradient are signed wherever they are shown, also where no value is below 0.
    b.open(os.path.join(folder, "run.html"), "#view=compare&head=1")
    signed = b.run("heed.record().maps.filter(m => /^(occlusion|gradient)/.test(m.name)).map(heed.mapValues).map(m => m.min < 0 || m.max === 0)")
    check(len(signed) > 2 and all(signed), f"occlusion and gradient have the colours of what can be negative: {signed}")
    # Rollout, which is spread over more patches than a head, has its own scale.
    b.open(os.path.join(folder, "picture.html"), "#view=compare&head=1")
    ends = b.run("""(() => { const b = heed.block(), q = heed.selected().query, over = (m) => heed.largestOver(m, q), map = heed.mapValues(heed.record().maps[0]);
        return {heads: Math.max(...b.heads.map((h) => over(heed.weights(b, h)))), mean: over(heed.weights(b, "mean")), rollout: Math.max(2 * b.uniform, over(map))}; })()""")
    tops = dict(b.run("heed.current().panels().map(p => [p.group || (p.values.own ? 'mean' : 'heads'), p.top])"))
    check(len(set(tops.values())) == 3 and all(abs(tops[k] - ends[k]) < 1e-6 for k in ends), f"rollout and the mean have their own scale, the heads theirs: {tops}, {ends}")
    b.open(os.path.join(folder, "picture.html"), "#view=picture&strength=90&smooth=0&head=1")
    grey = """(() => { const b = heed.block(), g = b.keys.grid, q = heed.selected().query, w = heed.weights(b, heed.state.head), c = document.querySelector('#view-picture canvas');
        const d = c.getContext('2d'), out = []; for (let i = 0; i < g.rows * g.cols; i++) { const x = (i % g.cols + 0.5) * c.width / g.cols, y = (Math.floor(i / g.cols) + 0.5) * c.height / g.rows;
        const p = d.getImageData(x, y, 1, 1).data; out.push([w.at(q, g.first + i) > w.uniform, Math.max(p[0], p[1], p[2]) - Math.min(p[0], p[1], p[2]) > 3]); } return out; })()"""
    cells = b.run(grey)
    check(any(c[0] for c in cells) and any(not c[0] for c in cells), "the sample has patches above and below uniform")
    check(all(above or not coloured for above, coloured in cells), "below uniform the picture has no colour, at any strength")
    # Between two patches the value is the mean of theirs, not the opacity.
    blend = """(() => { const b = heed.block(), g = b.keys.grid, m = heed.weights(b, b.heads.at(-1)), q = heed.selected().query, top = heed.topOver(m, q); let layer;
        heed.state.strength = 75; heed.state.smooth = true; heed.state.keep = 100;
        heed.overPicture({rect() {}, image(x) { layer = x; }}, m, q, {x: 0, y: 0, w: 80 * g.cols, h: 80 * g.rows}, top);
        const n = layer.width / g.cols, all = layer.getContext('2d').getImageData(0, 0, layer.width, layer.height), out = [];
        for (let r = 0; r < g.rows; r++) for (let c = 0; c + 1 < g.cols; c++) {
            const [left, right] = [c, c + 1].map(k => m.at(q, g.first + r * g.cols + k)), at = (y, x) => all.data[4 * (y * layer.width + x) + 3];
            const y = r * n + n / 2, x = (c + 1) * n, opaque = (w) => 255 * 0.75 * Math.sqrt(Math.max(0, w - m.uniform) / (top - m.uniform));
            out.push([(at(y - 1, x - 1) + at(y, x - 1) + at(y - 1, x) + at(y, x)) / 4, opaque((left + right) / 2), (opaque(left) + opaque(right)) / 2]);
        } return out; })()"""
    b.open(os.path.join(folder, "picture.html"), "#view=picture")
    points = b.run(blend)
    edges = [p for p in points if abs(p[1] - p[2]) > 10]
    check(len(edges) > 2 and all(abs(drawn - value) < abs(drawn - color) for drawn, value, color in edges), f"values are interpolated, as in the PNG, not colours: {edges}")
    clean(b, "scale")


def check_mean(b, folder):
    """The mean of heads over the steps of a training run has its own scale, as in snapshots --png; on other pages it has that of the heads."""
    ends = """[heed.scaleOf(heed.matrix()), Math.max(...heed.data.records.map(r => r.blocks[0].end)),
        Math.max(...heed.data.records.map(r => heed.weights(r.blocks[0], 'mean').max))]"""
    for name, own in (("steps", True), ("text", False)):
        b.open(os.path.join(folder, name + ".html"), "#view=head&layer=1&head=mean")
        end, heads, mean = b.run(ends)
        check(mean < heads and end == (mean if own else heads), f"{name}: the scale of the mean: {end}, {heads}, {mean}")
        check(("up to its largest at all steps" in b.run("heed.id('legend').textContent")) == own, f"{name}: which the legend says")
        b.run("heed.update({head: 0})")
        end, heads, mean = b.run(ends)
        check(end == heads, f"{name}: the scale of a head: {end}, {heads}")
    check(b.run("[heed.count(999), heed.count(1200), heed.count(0.5)].join(' ')") == "999 1,200 0.5", "numbers of steps are written as in the terminal")
    clean(b, "mean")


def check_pointer(b, folder):
    b.open(os.path.join(folder, "text.html"), "#view=matrix&layer=1&head=1")
    box = b.run("(r => [r.x, r.y])(document.querySelector('#view-matrix canvas').getBoundingClientRect())")
    spot = b.run("(l => [l.left + 2.5 * l.cell, l.top + 3.5 * l.cell])(heed.matrixLayout(heed.weightMatrix(heed.block(), 0), document.querySelector('#view-matrix .scroll').clientWidth - 4))")
    b.pointer(box[0] + spot[0], box[1] + spot[1])
    check(b.run(STATE) == "0,0,3,2", f"the pointer previews: {b.run(STATE)}")
    check("attends" in b.run("heed.id('tip').textContent"), "the tip says the weight")
    b.pointer(box[0] + spot[0], box[1] + spot[1], True)
    check(b.run("heed.selected().locked && heed.state.query === 3 && heed.state.key === 2"), "a click locks")


# ---- tables and numbers ----

def check_numbers(b, folder):
    b.open(os.path.join(folder, "text.html"), "#view=qk&row=7&column=2&layer=2&head=3")
    off = b.run("(() => { const b = heed.block(), m = heed.weights(b, 2); let s = 0; for (let k = 0; k < 9; k++) s += m.at(6, k); return Math.abs(s - 1); })()")
    check(off < 1e-4, f"a row sums to 1: off by {off}")
    check("agrees" in b.run("document.querySelector('.flow').textContent"), "q·k, scaled, masked and through the softmax is the weight")
    b.open(os.path.join(folder, "text.html"), "#view=matrix&table=1&row=7")
    b.wait("document.querySelectorAll('#table td').length > 0")
    check(b.run("document.querySelectorAll('#table tbody tr').length") == 9, "the table has every row of a small matrix")
    check("attends" in b.run("document.querySelector('#table td').getAttribute('aria-label')"), "a cell of the table says what it is")
    b.open(os.path.join(folder, "large.html"), "#view=matrix&table=1&row=8")
    b.wait("document.querySelectorAll('#table td').length > 0")
    check(b.run("document.querySelectorAll('#table tbody tr').length") == 1, "the table of a large matrix is its chosen row")
    b.open(os.path.join(folder, "gpt.html"), "#view=head&row=5")
    check("Row 5 predicts token 6" in b.run("heed.id('side').textContent"), "a row says which token it predicts")
    check(b.run("heed.block().triangle && heed.matrix().at(0, 5) === 0 && Math.abs(heed.matrix().at(0, 0) - 1) < 1e-6"), "a triangle is read back")
    b.open(os.path.join(folder, "text.html"), "#view=head&row=7")
    check("Row 7 predicts ‘" in b.run("heed.id('side').textContent"), "the row of a mask predicts a word")


def check_additive(b, folder):
    b.open(os.path.join(folder, "additive.html"), "#view=qk&row=3&column=2")
    flow = b.run("document.querySelector('.flow').textContent")
    check("v·tanh(W s + U h)" in flow and "agrees" in flow, f"the additive form gives the model's weight: {flow}")
    check(b.run("heed.current().table().rows.length") == 5, "the additive form has a row for every key")
    clean(b, "additive")


# ---- many tokens ----

REDRAW = """(() => { const t = performance.now(); %s; heed.drawNow(); document.querySelector('#view-head .tall canvas').getContext('2d').getImageData(0, 0, 1, 1); return performance.now() - t; })()"""


def check_many(b, folder):
    b.open(os.path.join(folder, "wide.html"), "#view=head&row=501&head=1&rule=mass")
    said = b.run("document.querySelector('#view-head p').textContent")
    match = re.match(r"The strongest ([\d,]+) of ([\d,]+) lines are drawn; of the chosen query ([\d,]+) of ([\d,]+)\.", said)
    numbers = [int(x.replace(",", "")) for x in match.groups()] if match else [0] * 4
    check(numbers[0] <= 1000 < numbers[1] and numbers[2] == 100 < numbers[3], f"1024 tokens: what is not drawn is said: {said}")
    check("lines are drawn" in b.run("heed.current().caption()"), "1024 tokens: saved pictures say it, too")
    times = [b.run(REDRAW % f"heed.preview({{query: {q}, key: -1}})") for q in (100, 300, 700)]
    other = b.run(REDRAW % "heed.state.mass = 50")
    print(f"        1024 tokens: redrawn after {max(times):.0f} ms, with other lines after {other:.0f} ms", flush=True)
    sight = "(c => [c.clientHeight < innerHeight, c.parentNode.clientHeight > 9000, c.parentNode.parentNode.scrollTop])(document.querySelector('#view-head .tall canvas'))"
    small, whole, far = b.run(sight)
    check(small and whole, "1024 tokens: the canvas is what is in sight, what can be scrolled is all")
    check(far > 1000, "the token of a link is in sight")
    b.run("heed.lock(2)")
    b.settle()
    check(b.run(sight)[2] < 100, "and one that keys choose")
    first = b.run("document.querySelector('#view-head .tall canvas').toDataURL()")
    b.run("document.querySelector('#view-head .scroll').scrollTop = 5000")
    b.settle()
    check(b.run("document.querySelector('#view-head .tall canvas').toDataURL()") != first, "1024 tokens: scrolling draws the others")
    b.run("heed.update({head: 1, rule: 'top', top: 1})")
    b.settle()
    check(b.run("document.querySelector('#view-head p').textContent").startswith("The strongest 1,000 of 1,024 lines"), "1024 tokens: a line each is nearly all")
    b.open(os.path.join(folder, "text.html"), "#view=head")
    check(b.run("document.querySelector('#view-head p').textContent") == "", "few tokens: all lines are drawn")
    clean(b, "many tokens")


# ---- saved files ----

def check_saves(b, folder, name, v):
    b.open(os.path.join(folder, name + ".html"), f"#view={v}&row=4")
    png, file = b.download("heed.id('save-png').click()")
    check(png[:8] == b"\x89PNG\r\n\x1a\n" and len(png) > 2000 and file.endswith(".png"), f"{name}: {v} saves a PNG")
    svg, file = b.download("heed.id('save-svg').click()")
    text = svg.decode()
    xml.dom.minidom.parseString(text)
    check("<title>" in text and not re.search(r"(href|src)=\"(?!data:)", text), f"{name}: {v} saves an SVG that refers to nothing")
    rows, file = b.download("heed.id('save-csv').click()")
    lines = list(csv.reader(io.StringIO(rows.decode(), newline="")))
    check(len(lines) > 3 and all(len(x) == len(lines[0]) for x in lines), f"{name}: {v} saves a CSV of {len(lines)} lines")
    clean(b, f"{name}: saving {v}")
    return text, lines


def check_all_saves(b, folder):
    for name, v in (("text", "overview"), ("text", "head"), ("text", "qk"), ("steps", "compare"), ("pairs", "cross"), ("picture", "picture"), ("run", "curves")):
        check_saves(b, folder, name, v)
    text, lines = check_saves(b, folder, "text", "matrix")
    check("row 4 ‘the’" in text, "the saved picture says which token is chosen")
    check(lines[0] == ["query_position", "query_token", "key_position", "key_token", "weight"] and len(lines) == 82, "the CSV has all weights")
    check(abs(sum(float(x[4]) for x in lines[1:] if x[0] == "4") - 1) < 1e-3 and lines[1][0] == "1", "a row of the CSV sums to 1")
    text, lines = check_saves(b, folder, "hostile", "matrix")
    check(lines[1 + 2][3] == samples.HOSTILE[2] and lines[1 + 15][3] == samples.HOSTILE[15], "the CSV has hostile tokens as they are")


# The code points below U+10000 that are drawn as nothing, when they are a token.
NO_INK = """(() => {
    const pen = Object.assign(document.createElement("canvas"), {width: 120, height: 30}).getContext("2d", {willReadFrequently: true}), blank = [];
    pen.font = "16px sans-serif";
    for (let code = 0; code < 65536; code++) {
        const c = String.fromCodePoint(code), shown = heed.show(c);
        if (shown === c && !/[\\p{Z}\\p{C}\\p{Lo}\\p{So}]/u.test(c) || /[\\p{Cn}\\p{Cs}\\p{Co}]/u.test(c)) continue;
        pen.clearRect(0, 0, 120, 30);
        pen.fillText(shown, 20, 20);
        if (!new Uint32Array(pen.getImageData(0, 0, 120, 30).data.buffer).some(Boolean)) blank.push(code.toString(16));
    }
    return blank.join();
})()"""


def check_hostile(b, folder):
    for v in VIEWS["hostile"]:
        b.open(os.path.join(folder, "hostile.html"), f"#view={v}&row=1&column=2&table=1")
        b.wait("document.querySelectorAll('#table td').length > 0")
        check(b.run("window.hacked") is None, f"hostile: {v} runs a token")
        check(b.run("document.querySelectorAll('img, iframe, #table script, #side script').length") == 0, f"hostile: {v} makes elements of tokens")
        clean(b, "hostile")
    check(b.run("JSON.stringify(heed.block().keys.labels)") == b.run(f"JSON.stringify({__import__('json').dumps(samples.HOSTILE)})"), "hostile: the tokens come through literally")
    check(b.run("heed.quote(heed.block().keys, 3)") == "‘\u2068שלום\u2069’", "hostile: letters from right to left turn no words around")
    blank = b.run(NO_INK)
    check(blank == "", f"hostile: tokens without ink: {blank}")
    check("</script><script>window.hacked=1</scrip" in b.run("heed.id('side').querySelector('h2').textContent"), "hostile: a token is shown literally")


def check_steps(b, folder):
    b.open(os.path.join(folder, "steps.html"), "#view=compare&row=7")
    first = b.run("heed.matrix().at(6, 1)")
    b.run("heed.update({record: 2})")
    b.settle()
    check(b.run("document.querySelector('#view-compare output').textContent") == "after step 300", "the slider says the step")
    check(b.run("heed.matrix().at(6, 1)") != first, "another step has other weights")
    check("record=3" in b.run("location.hash"), "the step is in the link")
    ends = b.run("[0, 1, 2].map(i => { heed.state.record = i; return heed.scaleOf(heed.matrix()); })")
    check(len(set(ends)) == 1, f"a head has one scale at all steps: {ends}")
    check("one scale at all steps" in b.run("heed.id('legend').textContent"), "which the legend says")


def check_matters(b, folder):
    """Which prediction a map is of stands over it; the whole model's map stands beside a head's; an empty row is no row of zeros."""
    b.open(os.path.join(folder, "run.html"), "#view=compare&head=1")
    svg = b.download("heed.id('save-svg').click()")[0].decode()
    texts = re.sub(r"<[^>]+>", "\n", svg)
    check(svg.count(">0 to ") > 0 and ">0 to 0<" not in svg, "compare: every scale has an end")
    check(texts.count("Of the prediction at 7 ‘[MASK]’; other positions have none.") == 3, "compare: occlusion, its log-odds and the gradient say which prediction they are of")
    check("of the prediction at row 7 alone" in texts.lower(), "compare: so does the gradient of a head")
    names = "heed.current().table().head.slice(1).filter(n => n.startsWith('gradient')).join('; ')"
    check(b.run(names) == "gradient; gradient, layer 1, head 1", f"compare: the model's gradient and the head's: {b.run(names)}")
    head = svg[svg.index("gradient, layer 1, head 1"):]
    check(len(re.findall(r"<(?:path|polyline|line)", head)) > 8, "compare: rows without a part in the prediction are hatched")
    check("no part in the prediction" in b.run("heed.id('legend').textContent"), "compare: the legend says what hatching is")
    b.run("heed.update({head: 'mean'})")
    b.settle()
    check(b.run(names) == "gradient", f"compare: the mean of heads has no single head's map: {b.run(names)}")
    b.open(os.path.join(folder, "causal.html"), "#view=compare")
    svg = b.download("heed.id('save-svg').click()")[0].decode()
    check(re.findall(r">(\S+) to [^<]+<", svg[svg.index(">gradient<"):svg.index("gradient, layer 1")])[-1:] == ["0"], "compare: a gradient, which is its positive part, has no scale below 0")
    check("Each row shows the effect on the prediction at its position." in svg, "compare: of a causal model each row is of its own prediction")
    check(len(re.findall(r"<(?:path|polyline|line)", svg[svg.index(">gradient<"):svg.index("gradient, layer 1")])) > 1, "compare: what may not be attended to is hatched in its maps, too")
    clean(b, "matters")


def check_ground(b, folder):
    """What is much stands out: dark on a light page, bright on a dark one, in every palette."""
    sum = "((c) => c[0] + c[1] + c[2])(heed.color(%s))"
    for theme in ("light", "dark"):
        for palette in ("viridis", "cividis", "grey"):
            b.open(os.path.join(folder, "text.html"), f"#view=matrix&theme={theme}&palette={palette}")
            none, some, much = (b.run(sum % x) for x in (0, 0.5, 1))
            said = b.run("heed.id('legend').textContent")
            check(said.count("is more") == 1 and ("darker is more" if theme == "light" else "brighter is more") in said, f"{theme}: the legend says which way: {said}")
            check(none > some > much if theme == "light" else none < some < much, f"{theme}, {palette}: {none}, {some}, {much}")
            check(b.run("(c => c.join())(heed.color(0)) === heed.theme.surface.join()"), f"{theme}, {palette}: nothing is the ground")


HATCH = """(() => { let lines = 0, m = heed.weightMatrix(heed.block(), 0); const pen = new Proxy({}, {get: (_, name) => () => { if (name === 'line') lines++; }});
           heed.paintMatrix(pen, m, heed.matrixLayout(m, 600), {query: 0, key: -1}); return lines; })()"""


LABELS = """(width => { const at = [], m = heed.weightMatrix(heed.block(), heed.state.head), l = heed.matrixLayout(m, width);
            const pen = new Proxy({}, {get: (_, name) => (text, x, y, o) => { if (name === 'text') at.push({text, y, turn: o.turn || 0, size: o.size}); }});
            heed.paintMatrix(pen, {...m, plain: true}, l, {query: 0, key: -1}); return {at, every: l.every, height: l.height, rows: m.rows.length, cols: m.cols.length}; })"""


def check_labels(b, folder):
    """All tokens are labelled where letters of 9 pixels fit; else the picture says which are not."""
    b.size(1280, 800)
    for name, view, width, every in (("pairs", "cross", 880, 1), ("gpt", "matrix", 330, 1), ("large", "matrix", 880, 3)):
        b.open(os.path.join(folder, name + ".html"), f"#view={view}")
        drawn = b.run(f"{LABELS}({width})")
        rows = [t for t in drawn["at"] if re.fullmatch(r"\d+", t["text"]) and t["size"] <= 10]
        notes = [t for t in drawn["at"] if re.search(r"Every \d(nd|rd|th) label is shown", t["text"])]
        check(drawn["every"] == every and len(notes) == (every > 1), f"{name}: of {every} labels one is shown, and said to be: {drawn['every']}, {notes}")
        check(min(t["size"] for t in drawn["at"]) >= 9, f"{name}: letters are of 9 pixels or more")
        check(every > 1 or len(drawn["at"]) == 2 * drawn["rows"] + drawn["cols"], f"{name}: each row has a number and a label, each column a label: {len(drawn['at'])}")
        check(all(t["y"] < drawn["height"] for t in notes), f"{name}: the note is within the picture")
    near = b.run("[...Array(300).keys()].map(i => heed.matrixLayout(heed.weightMatrix(heed.block(), 0), 200 + 12 * i)).filter(l => l.every * l.cell < 8).length")
    check(near == 0, f"labels of letters of 9 pixels are 8 pixels apart or more at any width: {near}")
    # The sign of a space that is alone is raised; a column's single letter is upright.
    texts = b.run("['␣', 'x', '␣x'].map(text => { const pen = heed.svgPen(); pen.text(text, 10, 20, {size: 10}); return pen.out.join(''); })")
    heights = [float(re.search(r' y="([-.\d]+)"', t)[1]) for t in texts]
    check(heights == [17, 20, 20], f"a space that is alone is raised: {heights}")
    turned = b.run("['x', 'xy'].map(text => { const pen = heed.svgPen(); heed.columnLabel(pen, text, 10, 20, {size: 10}); return pen.out.join('').includes('rotate'); })")
    check(turned == [False, True], f"labels of columns are turned if they are long: {turned}")
    clean(b, "labels")


def check_patterns(b, folder):
    """Patterns tell heads apart that are drawn together, and are longer in wide lines; the lines of one head are solid."""
    dashes = lambda link: re.findall(r'stroke-width="([\d.]+)"[^>]*stroke-dasharray="([\d.]+)', (b.open(os.path.join(folder, "text.html"), link), b.download("heed.id('save-svg').click()")[0].decode())[1])
    check(dashes("#view=head&head=2&row=7") == [], "the lines of one head are solid")
    both = [(float(w), float(d)) for w, d in dashes("#view=head&head=2&heads=1&row=7")]
    check(both and all(abs(d - 7 * max(1, w / 2)) < 0.1 for w, d in both), f"the pattern of a head grows with the width of its lines: {both}")


def check_hatch(b, folder):
    """Where a query may not look there is no colour, which would be a weight's."""
    for name, hatched in (("gpt", True), ("text", False)):
        b.open(os.path.join(folder, name + ".html"), "#view=matrix&layer=1&head=1")
        check((b.run(HATCH) > 3) == hatched, f"{name}: hatched is {hatched}")
        check(("may not attend" in b.run("heed.id('legend').textContent")) == hatched, f"{name}: the legend says so: {hatched}")
    clean(b, "hatch")


def check_legends(b, folder):
    for link, wanted in (("view=overview", r"^00\.989uniform = 0\.111weight: .*one scale for all heads; (darker|brighter) is more$"), ("view=overview&scale=one", "^01.000uniform"), ("view=qk", r"q and k share a scale, ±[\d.]+; others have their own: q × k ±[\d.]+$")):
        b.open(os.path.join(folder, "text.html"), "#" + link)
        said = b.run("heed.id('legend').textContent")
        check(re.search(wanted, said), f"the legend of {link}: {said}")
    check("−0.0" not in b.download("heed.id('save-svg').click()")[0].decode(), "no unit is -0.0")
    for name, v in (("text", "overview"), ("text", "matrix"), ("text", "head"), ("picture", "picture"), ("run", "compare")):
        b.open(os.path.join(folder, name + ".html"), f"#view={v}")
        check("share" in b.run("heed.id('legend').textContent") and "1 = 100 %" in b.run("heed.id('legend').textContent"), f"the legend of {v} has the unit")
    b.open(os.path.join(folder, "picture.html"), "#view=picture")
    end = b.run("heed.current().legend().hi")
    b.open(os.path.join(folder, "picture.html"), "#view=compare")
    check(b.run("heed.number(heed.current().panels().find(p => !p.signed).top)") == end, f"over a picture, Compare has the scale of the Picture view: {end}")
    check("hatched" not in b.run("heed.id('legend').textContent"), "the legend of pictures speaks of no hatching, which they do not have")
    for v in ("overview", "compare"):
        b.open(os.path.join(folder, "run.html"), f"#view={v}")
        check(b.run("(e => e.scrollHeight <= e.clientHeight)(document.querySelector('.view:not([hidden]) .scroll'))"), f"{v} scrolls with the page alone")


def check_curves(b, folder):
    """The evaluation whose weights the run keeps is marked, and its values are given; on a phone the legend is below."""
    for width, below in ((1280, False), (390, True)):
        b.size(width, 844)
        b.open(os.path.join(folder, "curves.html"), "#view=curves")
        svg = b.download("heed.id('save-svg').click()")[0].decode()
        texts = re.findall(r">([^<>]+)</text>", svg)
        check("best evaluation: loss" in " ".join(texts), f"the legend gives the best evaluation: {texts}")
        series = b.run("heed.data.curves.series.find(s => s.mark)")
        check(series["y"][series["marked"]] == min(series["y"]) and series["label"] == "validation", "which has the lowest validation loss")
        layout = b.run("(l => [l.below, l.height, ...l.entries.map(e => e.at + e.high)])(heed.current().layout())")
        check(layout[0] is below and max(layout[2:]) <= layout[1] + 8, f"what is said of curves is within the picture: {layout}")
    b.size(1280, 900)
    clean(b, "curves")


# The texts of the current view that fulfil a condition, as they fit.
WRITTEN = """(() => { const at = [], l = heed.current().layout(), pen = new Proxy({}, {get: (_, f) => (t, x, y, o) => { if (f === 'text' && %s) at.push(heed.fit(t, o.width, o)); }});
           heed.current().paint(pen, {lo: 0, hi: l.height}, () => {}); return at; })()"""


def check_phone(b, folder):
    """On a phone the tabs are one row, the chosen one in sight; Compare begins with the attention, as on a wide screen."""
    b.size(390, 844)
    for name in ("picture", "additive", "run"):
        b.open(os.path.join(folder, name + ".html"))
        for v in VIEWS[name]:
            b.run(f"heed.update({{view: '{v}'}})")
            b.settle()
            tops, inside = b.run("""(() => { const tabs = [...document.querySelectorAll('#tabs button')], r = document.querySelector('#tabs [aria-selected=true]').getBoundingClientRect();
                return [new Set(tabs.map(t => t.offsetTop)).size, r.left >= 0 && r.right <= innerWidth]; })()""")
            check(tops == 1 and inside, f"{name}: {v} has its tab in one row, in sight: {tops}, {inside}")
        check(b.run("[...document.querySelectorAll('#tabs button')].every(t => t.getBoundingClientRect().right <= innerWidth)"), f"{name}: all tabs are in sight")
    b.open(os.path.join(folder, "run.html"))
    first, low = b.run("(p => [p.name, document.querySelector('#view-compare canvas').getBoundingClientRect().top + p.l.top + p.l.cell])((heed.current().layout(), heed.current().panels()[0]))")
    check(first.startswith("attention") and low < 844, f"compare begins with the attention, on the first screen: {first}, {low}")
    b.open(os.path.join(folder, "caption.html"), "#view=overview")
    high, wide = b.run("(l => [l.height, l.width])(heed.current().layout())")
    check(high < wide, f"thumbnails of few queries are low: {high} x {wide}")
    b.open(os.path.join(folder, "text.html"), "#view=overview")
    cut = b.run(WRITTEN % "o.size === 10")
    check(all(t != "…" for t in cut), f"thumbnails have labels that say something, or none: {cut}")
    b.size(768, 900)
    b.open(os.path.join(folder, "text.html"), "#view=overview")
    cut = b.run(WRITTEN % "o.size === 10")
    check("[MASK]" in cut and not any("…" in t for t in cut), f"where there is room, labels of thumbnails are whole: {cut[:9]}")
    b.size(390, 844)
    b.open(os.path.join(folder, "run.html"), "#view=head&row=7&column=7")
    whole = b.run(WRITTEN % "o.width")
    check("[MASK]" in whole and not any("…" in t for t in whole), f"tokens of the Head view are whole: {whole}")
    b.open(os.path.join(folder, "large.html"), "#view=matrix")
    few, many = b.run("[10, 256].map(n => { const m = heed.weightMatrix(heed.block(), 0); return heed.matrixLayout({...m, rows: m.rows.slice(0, n)}, 332); })")
    check(few["cell"] < 6 and few["tall"] == 12 and few["everyRow"] == 1 and many["tall"] == many["cell"], f"few rows are 12 pixels high where columns are narrow: {few}, {many}")
    b.open(os.path.join(folder, "picture.html"), "#view=picture")
    wide = b.run("[...document.querySelectorAll('#side .value')].every(v => v.scrollWidth <= v.clientWidth)")
    check(wide, "numbers of the panel are within it")
    patches = b.run("(s => [...s.querySelectorAll('h2 .index, .row .index')].filter(e => e.nextSibling.textContent.includes(',')).map(e => e.textContent).join('') + '|' + s.textContent)((heed.lock(3, 4), heed.drawNow(), heed.id('side')))")
    check(re.match("[|]", patches) and "patches: row,column" in patches, f"a patch has its row and column alone, which is said: {patches}")
    for name in ("pairs", "text"):
        b.open(os.path.join(folder, name + ".html"), "#view=overview")
        wide = b.run("""(() => { const at = []; heed.current().layout(); heed.current().paint(new Proxy({}, {get: (_, f) => (...a) => { if (f === 'text' && a[3].size === 13) at.push([a[1], a[2], heed.width(a[0], a[3])]); }}));
            return at.every(([x, y, w]) => at.every(([u, v]) => v !== y || u <= x || u >= x + w)); })()""")
        check(wide, f"{name}: no name of a thumbnail reaches into the next")
    b.size(375, 800)
    b.open(os.path.join(folder, "run.html"))
    b.run("(t => t.before(Object.assign(t.cloneNode(true), {id: 'one-more', textContent: 'Picture'})))(heed.id('tabs').children[4])")
    check(b.run("[...document.querySelectorAll('#tabs button')].every(t => t.getBoundingClientRect().right <= innerWidth)"), "the seven tabs of a picture are in sight on a narrow phone")
    b.size(1280, 900)
    b.open(os.path.join(folder, "picture.html"), "#view=compare")
    cut = b.run(WRITTEN % "o.size === 11")
    b.open(os.path.join(folder, "run.html"), "#view=compare")
    cut += b.run(WRITTEN % "o.size === 11")
    check(any(t[0] == "±" for t in cut) and not any("…" in t or " to −" in t or t[0] == "−" for t in cut if "0" in t), f"legends of panels are short and whole: {cut}")
    b.size(900, 800)
    for name in ("picture", "inputs", "run"):
        b.open(os.path.join(folder, name + ".html"), "#view=compare&head=mean")
        names = re.findall(r'font-size="14" font-weight="600"[^>]*>([^<]*)<', b.download("heed.id('save-svg').click()")[0].decode())
        check(len(names) > 2 and not any("…" in n for n in names[1:]), f"{name}: names of panels are whole: {names}")
    b.size(1280, 900)
    b.open(os.path.join(folder, "run.html"))
    check(b.run("heed.current().panels()[0].name").startswith("attention"), "where there is room, the attention is beside it")
    clean(b, "phone")


def check_touch(b, folder):
    """Nobody is asked to hover who cannot; a token is unlocked by a button, and the focus stays in the view."""
    b.open(os.path.join(folder, "text.html"), "#view=matrix")
    lock = "heed.id('side').querySelector('.lock').textContent"
    for none, said in (("true", "Tap a token to lock it."), ("false", "Hover to look, click to lock.")):
        b.run(f"(own => {{ window.matchMedia = (q) => (q === '(hover: none)' ? {{matches: {none}}} : own.call(window, q)); }})(window.matchMedia); heed.drawNow()")
        check(said in b.run(lock), f"without hover: {none}: {b.run(lock)}")
    b.open(os.path.join(folder, "picture.html"), "#view=matrix")
    b.run("(own => { window.matchMedia = (q) => (q === '(hover: none)' ? {matches: true} : own.call(window, q)); })(window.matchMedia); heed.drawNow()")
    check("Tap a patch to lock it." in b.run(lock), f"of a picture a patch is locked: {b.run(lock)}")
    b.open(os.path.join(folder, "text.html"), "#view=matrix")
    b.run("heed.lock(3, 2)")
    b.settle()
    b.run("(e => { e.focus(); e.click(); })(heed.id('side').querySelector('.free'))")
    b.settle()
    check(b.run("!heed.selected().locked && document.activeElement === document.querySelector('#view-matrix canvas')"), "a button unlocks the token")
    b.run("heed.id('side').querySelectorAll('button.row')[2].focus()")
    b.run("document.activeElement.click()")
    b.settle()
    check(b.run("document.activeElement === heed.id('side').querySelectorAll('button.row')[2]"), "a row of the panel that is chosen keeps the focus")
    b.open(os.path.join(folder, "pairs.html"), "#view=cross")
    b.run("(e => { e.focus(); e.click(); })(document.querySelectorAll('#view-cross .word')[4])")
    b.settle()
    check(b.run("document.activeElement === document.querySelectorAll('#view-cross .word')[4]"), "so does a word")
    clean(b, "touch")


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
    clean(b, "paper")


def check_media(b, folder, pictures):
    for width, dark in ((1280, False), (1280, True), (800, False), (400, False), (400, True)):
        b.size(width, 900)
        b.dark(dark)
        for name, views in VIEWS.items():
            if name == "large" or (width == 1280 and not pictures and dark):
                continue
            b.open(os.path.join(folder, name + ".html"))
            check(b.run("document.documentElement.dataset.theme") == ("dark" if dark else "light"), f"{name}: dark is {dark}")
            for v in views:
                b.run(f"heed.update({{view: '{v}'}})")
                b.settle()
                check(b.run("document.documentElement.scrollWidth <= window.innerWidth"), f"{name}: {v} fits {width}")
                if pictures:
                    b.picture(os.path.join(folder, f"{name}-{v}-{width}-{'dark' if dark else 'light'}.png"))
            clean(b, f"{name} at {width}")
    b.size(1280, 900)
    b.dark(False)


def check_sizes(folder):
    for name, most in (("large-no-qk", 6.5e6), ("large", 10e6)):
        size = os.path.getsize(os.path.join(folder, name + ".html"))
        print(f"        {name}: {size / 1e6:.2f} MB")
        check(size <= most, f"{name}: {size} bytes, more than {most:.0f}")


ACCESS = {"run": VIEWS["run"], "picture": ["picture", "compare"], "caption": ["cross"], "gpt": ["matrix"], "lion": ["steps"]}


def main():
    heed, keep = os.path.abspath(sys.argv[1]), len(sys.argv) > 2
    folder = sys.argv[2] if keep else tempfile.mkdtemp(prefix="heed-page-")
    os.makedirs(folder, exist_ok=True)
    b = None
    try:
        make_pages(heed, folder)
        make_run(heed, folder)
        check_sizes(folder)
        b = Browser()
        for name in VIEWS:
            print(f"        {name}: drawn after {check_views(b, folder, name):.2f} s", flush=True)
        for part in (check_keys, check_positions, check_caption, check_others, check_inputs, check_opening, check_scale, check_mean, check_pointer, check_numbers, check_additive, check_many, check_all_saves, check_hostile, check_steps, check_matters, check_ground, check_labels, check_patterns, check_hatch, check_legends, check_curves, check_phone, check_touch, check_paper):
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
