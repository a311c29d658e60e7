"""steps.py HEED -- the Steps view of pages that `heed explain --html` writes, in Chromium: its numbers are the program's, and
what a reader does with the keyboard, the switches and the slider computes them again. Ends with "N passed, N failed"."""
import json
import os
import subprocess
import sys
import tempfile

from browser import Browser

MADE = ["Q", "K", "V", "raw", "scores", "weights", "output"]
LAYER = ["share", "all_heads", "normed"]
ROTATED = ["Q_R", "K_R"]
LLAMA = "--norm-kind rms --positions rotary --ff-kind swiglu --kv-heads 1 --no-bias".split()
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED steps:", what)


def gap(a, b):
    """The largest difference of two matrices; null is what JSON has for an infinity."""
    return max(0.0 if x == y else abs(x - y) if x is not None and y is not None else float("inf")
               for r, s in zip(a, b, strict=True) for x, y in zip(r, s, strict=True))


class Page:
    def __init__(self, heed, folder, browser):
        self.heed, self.folder, self.browser = heed, folder, browser

    def program(self, *words):
        return subprocess.run([self.heed, "explain", *words], check=True, capture_output=True, text=True).stdout

    def numbers(self, *words):
        return json.loads(self.program(*words, "--json"))

    def open(self, *words, link=""):
        path = os.path.join(self.folder, "steps.html")
        self.program(*words, "--html", path)
        self.browser.open(path, link)

    def values(self):
        return json.loads(self.browser.run("JSON.stringify(heed.steps.values())"))

    def same(self, what, *words, tolerance=1e-12):
        there, here = self.numbers(*words), self.values()
        worst = max(gap(there[name], here[name]) for name in MADE + [name for name in LAYER + ROTATED if name in there])
        check(f"{what}: as the program has it, {worst:.1e}", worst <= tolerance)

    def keys(self, *keys):
        for key in keys:
            self.browser.key(key)

    def act(self, script):
        self.browser.run(script)
        self.browser.settle()

    def press(self, text):
        self.act(f"[...document.querySelectorAll('.steps button')].find(b => b.textContent === {json.dumps(text)}).click()")

    def tick(self, text):
        self.act("[...document.querySelectorAll('.steps label.check')]"
                 f".find(l => l.textContent.includes({json.dumps(text)})).querySelector('input').click()")


def opens_as_the_program(p):
    p.open("lion")
    check("the first step lists the tokens", "1\u00a0The, 2\u00a0hungry, 3\u00a0lion" in p.browser.run("document.body.textContent"))
    check("the heading names the example", p.browser.run("heed.id('title').textContent").startswith("The hungry lion") and p.browser.run("document.title").startswith("The hungry lion"))
    for words in (["lion"], ["lion", "--hard"], ["lion", "--causal", "--beta", "3"], ["lion", "--hide", "lion,the"], ["paris"], ["mix"], ["store"]):
        p.open(*words)
        p.same(" ".join(words), *words)


def keyboard(p):
    p.open("lion")
    p.act("document.querySelector('.steps table[aria-label^=\"X,\"] tbody td').focus()")
    p.keys("ArrowDown", "ArrowRight")
    check("arrows choose a cell", p.browser.run("heed.state.spot") == "X 2 2")
    p.keys("7", "Enter")
    check("a typed number is taken", p.values()["X"][1][1] == 7)
    check("and computed with", p.values()["Q"][1] == [7, 0, 0])
    p.keys("9", "Escape")
    check("Escape leaves the number", p.values()["X"][1][1] == 7)
    p.keys("-", "Enter")
    check("what is no number is not taken", p.values()["X"][1][1] == 7)
    said = p.browser.run("document.querySelector('.said').textContent")
    check(f"and that is said: {said}", said.startswith("- is not taken: expected a number"))
    for text, good in (("abc", False), ("1e9", False), ("7", True)):
        p.act(f"const f = document.querySelector('.inspector input'); f.value = '{text}'; f.dispatchEvent(new Event('change'))".join("{}"))
        said = p.browser.run("document.querySelector('.said').textContent")
        check(f"below the tables, too: {said}", said == "" if good else said.startswith(f"{text} is not taken"))
    check("the cell keeps the focus", p.browser.run("document.activeElement.tagName") == "TD")
    p.press("Reset")
    p.same("reset", "lion")


def opens_at_the_cell(p):
    for words, cell in ((["--cell", "zebra,attacked"], "scores[zebra, attacked]"), (["--cell", "Q:lion,2"], "Q[lion, 2]"), (["--cell", "scaled:lion,the"], "scores[lion, the]"),
                        (["--cell", "attacked,zebra", "--notation", "columns"], "scores[attacked, zebra]"), ([], "output[hungry, 1]")):
        p.open("lion", *words)
        told = p.browser.run("document.querySelector('.inspector').textContent")
        check(f"{' '.join(words)} opens at {cell}: {told[:50]}", told.startswith(cell))


def rounded_sum(p):
    path = os.path.join(p.folder, "sum.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"X": [[1, 0], [0, 1], [1, 1]], "W_Q": [[1, 0], [0, 1]], "W_K": [[0.6, 0], [0, 0]], "W_V": [[2], [4]]}, f)
    for cell, end in (("output:1,1", "0.38·2 + 0.25·4 + 0.38·6 ≈ 4.00"), ("V:3,1", "1·2 + 1·4 = 6")):
        p.open("--from", path, "--cell", cell)
        told = p.browser.run("document.querySelector('.inspector').textContent")
        check(f"{cell} ends with {end}: {told[:80]}", end in told)


def right_to_left(p):
    o = p.numbers("lion")
    path = os.path.join(p.folder, "odd.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**o, "tokens": ["שלום" if t == "lion" else t for t in o["tokens"]]}, f)
    p.open("--from", path, link="#view=steps&spot=output+3+1")
    told = p.browser.run("document.querySelector('.inspector').textContent")
    check(f"letters from right to left stay in their place: {told[:40]!r}", told.startswith("output[\u2068שלום\u2069, 1] = "))


def rounded_table(p):
    p.open("lion")
    cells = p.browser.run("heed.current().table().rows.flatMap(r => r.slice(1)).join(' ')").split()
    check("the table has the digits of the page", len(cells) == 121 and max(len(c) for c in cells) <= 5)
    data, _ = p.browser.download("document.getElementById('save-csv').click()")
    check("the saved one has all", max(len(c) for c in data.decode().replace("\n", ",").split(",")) > 12)


def switches(p):
    p.open("lion")
    p.tick("hard selection")
    p.same("hard selection", "lion", "--hard")
    check("ties are marked", p.browser.run("document.querySelectorAll('.steps td.tie').length") > 10)
    p.tick("hard selection")
    p.tick("causal mask")
    p.same("causal mask", "lion", "--causal")
    p.tick("causal mask")
    p.tick("scale by")
    p.same("no scale", "lion", "--no-scale")
    slide = "const s = document.querySelector('.steps input[type=range]'); s.value = %d; s.dispatchEvent(new Event('input'))"
    p.act("{" + slide % 0 + "}")
    p.same("beta 0", "lion", "--beta", "0")
    p.act("{" + slide % 200 + "}")
    p.same("beta 100", "lion", "--beta", "100")
    check("the link carries it", "beta=100" in p.browser.run("location.hash"))
    p.act("heed.update({notation: 'columns', beta: ''})")
    p.same("as columns", "lion")


def words_change_places(p):
    p.open("lion")
    before = p.values()
    p.press("Swap")
    after = p.values()
    order = [0, 2, 1] + list(range(3, 11))
    check("tokens are swapped", after["tokens"] == [before["tokens"][i] for i in order])
    check("and their outputs", gap(after["output"], [before["output"][i] for i in order]) < 1e-12)
    check("and nothing else is said", "nothing else" in p.browser.run("document.querySelector('.said').textContent"))


def predictions(p):
    p.open("lion", link="#view=steps&predict=1&spot=raw+3+4")
    count = "document.querySelectorAll('.steps td.guess').length"
    hidden = p.browser.run(count)
    check("results are covered", hidden > 300)
    said = "document.querySelector('.said').textContent"
    p.act("document.querySelector('.inspector input').value = '5'")
    p.press("Check")
    told = p.browser.run(said)
    check(f"a first wrong guess gets a hint: {told}", told == "Not 5. Multiply row ‘lion’ of Q with column ‘attacked’ of K', number by number, and add up. Try again.")
    check("and opens nothing", p.browser.run(count) == hidden and "6·6" not in p.browser.run("document.querySelector('.inspector').textContent"))
    p.act("document.querySelector('.inspector input').value = '38'")
    p.press("Check")
    check("a right guess", p.browser.run("document.querySelector('.said').textContent") == "Right.")
    check("opens its cell alone", p.browser.run(count) == hidden - 1)
    check("and the sum is written out", "6·6" in p.browser.run("document.querySelector('.inspector').textContent"))


def sheets(p):
    count = "document.querySelectorAll('.steps td.guess').length"
    text = "document.querySelector('.steps').textContent"
    p.open("lion", "--exercise", "--seed", "7", link="#view=steps&spot=Q+1+1")
    hidden = p.browser.run(count)
    told = p.browser.run(text)
    check("the exercise is named", "Exercise 7: The hungry lion" in told and "Fill in the 71 blanks" in told)
    check("its blanks are blank", 71 < hidden < 200)
    check("no question's answer tells them", "Before you look" not in told and p.browser.run("document.querySelectorAll('.steps details').length") == 1)
    held = p.browser.run("Object.keys(heed.data.steps.head)")
    check(f"the page holds no answers: {held}", "X" in held and not set(held) & {*MADE, "scaled", "target", "learn", "share", "all_heads", "normed", "stages", "choices"})
    check("at the place of the terminal's sheet", p.browser.run("document.querySelector('.inspector').textContent").startswith("Q[The, 1] = ?"))
    p.act("heed.update({spot: 'raw 1 1'})")
    check("what is made of a blank does not tell it", "not written out" in p.browser.run("document.querySelector('.inspector').textContent"))
    p.act("heed.update({spot: 'Q 1 1'})")
    p.act("document.querySelector('.inspector input').value = '0'")
    p.press("Check")
    check("a blank is filled in", p.browser.run("document.querySelector('.said').textContent") == "Right." and p.browser.run(count) < hidden)
    check("and its sum written out", "1·0" in p.browser.run("document.querySelector('.inspector').textContent"))
    hidden = p.browser.run(count)
    p.act("document.querySelector('.steps table[aria-label^=\"Q,\"] td.guess').focus()")
    said = "document.querySelector('.said').textContent"
    p.keys("9", "9", "Enter")
    cell = p.browser.run("heed.state.spot")
    check("typing at a blank is a guess, a wrong one gets a hint", p.browser.run(said).startswith("Not 99. Multiply row ") and p.browser.run(count) == hidden)
    p.keys("9", "8", "Enter")
    check(f"a second wrong one opens it: {p.browser.run(said)}", p.browser.run(said).startswith("Not 98: ") and p.browser.run(count) < hidden)
    check("and the cell has the focus again", p.browser.run("document.activeElement.classList.contains('chosen')") and p.browser.run("heed.state.spot") == cell)
    data, _ = p.browser.download("document.getElementById('save-csv').click()")
    check("a saved table has no answers", b"?" in data)
    check(f"an exercise: no error in the console: {p.browser.errors}", not p.browser.errors)
    p.open("lion", "--solution", "--seed", "7")
    check("its questions are there", "Before you look" in p.browser.run(text))
    check("the solution is filled in", p.browser.run(count) == 0 and "Solution 7: The hungry lion" in p.browser.run(text))
    check("and marks what was blank", p.browser.run("document.querySelectorAll('.steps td.asked').length") > 71)
    p.tick("hard selection")
    told = p.browser.run(text)
    check("a hard selection is called one", "1 at the largest of each row" in told and "softmax of each" not in told)


def learning(p):
    p.open("lion", "--learn", "50")
    p.same("learned", "lion", "--learn", "50")
    first = p.numbers("lion", "--learn", "50")["learn"]["steps"][0]
    p.act("{const s = [...document.querySelectorAll('.steps input[type=range]')][1]; s.value = 0; s.dispatchEvent(new Event('input'))}")
    check("the slider goes back to the random W", gap(p.values()["W_Q"], first["W_Q"]) == 0)


def trained_head(p):
    text = os.path.join(p.folder, "facts.txt")
    with open(text, "w", encoding="utf-8") as f:
        f.write("Paris is the capital of France .\nRome is the capital of Italy .\n" * 40)
    small = "--layers 1 --heads 2 --width 16 --ff 32 --block 16 --batch 4 --steps 6".split()
    for name, norm, more in (("post", "post", []), ("pre", "pre", []), ("llama", "pre", LLAMA)):
        run = os.path.join(p.folder, name)
        subprocess.run([p.heed, "train", "mlm", text, "-o", run, "--tokenizer", "word", "--norm", norm, *small, *more], check=True, capture_output=True)
        words = [run, "Paris is the capital of [MASK] ."]
        p.open(*words)
        p.same(f"a trained head, {name}", *words)
        check("which head it is stands above", p.browser.run("document.querySelector('.steps h2').textContent") == "encoder, layer 1, head 1")
        check("what the layer makes of it", ("normed" in p.values()) == (norm == "post") and "all_heads" in p.values())
        check("rotary positions are a part of it", ("Q_R" in p.values()) == (name == "llama"))
        p.tick("hard selection")
        p.same(f"hard, {name}", *words, "--hard")
        p.act("heed.update({view: 'qk'})")
        told = p.browser.run("heed.current().box.textContent")
        check(f"Q.K says whether q and k are rotated, {name}: {told[:200]}", ("rotated by their places (theta 10000)" in told) == (name == "llama"))
        check(f"and its weights are the model's, {name}", "agrees" in told)


def backward(p):
    def same(what, *words):
        there, here = p.numbers(*words)["backward"], p.values()
        names = [name for name in there if name not in ("loss", "check")]
        worst = max(gap(there[name], here[name]) for name in names)
        check(f"{what}: {len(names)} gradients as the program has them, {worst:.1e}", worst <= 1e-11)

    p.open("lion", "--backward")
    same("lion", "lion", "--backward")
    check("the loss is told", "L = 90.29" in p.browser.run("document.querySelector('.steps').textContent"))
    p.act("heed.update({spot: 'dW_Q 7 2'})")
    check("a gradient's sum is written out", "28.58" in p.browser.run("document.querySelector('.inspector').textContent"))
    p.tick("hard selection")
    same("hard", "lion", "--backward", "--hard")
    p.tick("causal mask")
    p.act("heed.update({notation: 'columns'})")
    same("hard, causal, as columns", "lion", "--backward", "--hard", "--causal")
    biases = ("dB_O", "dB_Q")
    for norm, first in (("post", ("dY", "dgain", "dbias", "dU", *biases)), ("pre", ("dU", *biases)), ("llama", ("dU", "dQ_R", "dK_R", "Q_R", "K_R"))):
        words = [os.path.join(p.folder, norm), "Paris is the capital of [MASK] .", "--backward"]
        p.open(*words)
        same(f"a trained head with biases, norm {norm}", *words)
        loss, digits = p.numbers(*words)["backward"]["loss"], 2
        while loss < 10 ** (1 - digits):
            digits += 1
        check(f"the loss of the layer, norm {norm}", f"L = {loss:.{digits}f}" in p.browser.run("document.querySelector('.steps').textContent"))
        for spot in (*first, "dW_h", "dO", "dV", "dP", "dS", "dR", "dQ", "dK", "dW_V", "dX", "raw", "all_heads", "share"):
            p.act(f"heed.update({{spot: '{spot} 1 1'}})")
            told = p.browser.run("document.querySelector('.inspector').textContent")
            check(f"{spot} is written out: {told[:90]}", told.startswith(spot.replace("_heads", " heads") + "[") and " = " in told and "by d" not in told.replace("by dU = (G", "") and "NaN" not in told and "undefined" not in told)
        check("small numbers are not all zeros", not p.browser.run(
            "[...document.querySelectorAll('.steps table')].some(t => [...t.querySelectorAll('tbody td')].every(c => /^0[.]0+$/.test(c.textContent)) && t.getAttribute('aria-label').startsWith('dW_Q'))"))
        p.act("heed.update({notation: 'columns'})")
        same(f"as columns, norm {norm}", *words)


def files(p):
    p.open("paris")
    data, _ = p.browser.download("[...document.querySelectorAll('.steps button')].find(b => b.textContent === 'Save JSON').click()")
    path = os.path.join(p.folder, "saved.json")
    with open(path, "wb") as f:
        f.write(data)
    p.same("a saved file read by the program", "--from", path)
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg "), ("csv", b"")):
        data, _ = p.browser.download(f"document.getElementById('save-{kind}').click()")
        check(f"saves {kind}", len(data) > 500 and data.startswith(start))


def narrow(p):
    fits = "[...document.querySelectorAll('.steps .wide')].every(e => e.scrollWidth <= e.clientWidth)"
    for words in (["lion"], ["lion", "--notation", "columns"], ["lion", "--backward"]):
        for width in (1280, 1120, 1000, 800):
            p.browser.size(width, 900)
            p.open(*words)
            check(f"a window of {width} shows every matrix of {' '.join(words)}", p.browser.run(fits))
    p.browser.size(1120, 900)
    p.open("lion")
    box = "(n => document.querySelector(`.steps table[aria-label^='${n},']`).getBoundingClientRect())"
    check("and at 1120 a number stands where the row of X and the column of W_Q cross",
          p.browser.run(f"Math.abs({box}('X').bottom - {box}('Q').bottom) < 2 && Math.abs({box}('W_Q').right - {box}('Q').right) < 2 && {box}('W_Q').bottom < {box}('Q').top"))
    check("X stands there once for Q, K and V", p.browser.run("document.querySelectorAll('.steps table[aria-label^=\"X,\"]').length") == 1)
    p.act("heed.update({digits: 6})")
    check("longer numbers find room", p.browser.run(fits))
    p.browser.size(400, 900)
    p.open("lion")
    check("a narrow page is no wider than its window", p.browser.run("document.documentElement.scrollWidth <= innerWidth"))
    stays = "(e => { e.scrollLeft = 150; const at = e.getBoundingClientRect().left; return [...e.querySelectorAll('tbody th')].every(h => h.getBoundingClientRect().left >= at - 4); })(document.querySelector('.steps .scrolls:has(table[aria-label^=\"scores,\"])'))"
    check("what is wider scrolls, and its labels stay", p.browser.run(stays))
    p.browser.size(1280, 900)


def lists(p):
    """Every example without a head is a page of its steps."""
    for name, steps, title in (("conv", 3, "a dense layer at every place"), ("recap", 4, "Recurrence"), ("patches", 4, "z E"), ("rnn", 10, "Alignment"), ("beta", 1, ""), ("heads", 4, "All at once")):
        p.open(name)
        told = p.browser.run("document.querySelector('.steps').textContent")
        check(f"{name}: its steps are there", p.browser.run("document.querySelectorAll('.steps section.sum').length") == steps and title in told)
        values = [m for s in p.numbers(name)["steps"] for m in s["matrices"].values()]
        here = p.browser.run("JSON.stringify(heed.data.steps.lists.rows.flatMap(s => s.views.filter(v => !v.seen).map(v => v.values)))")
        check(f"{name}: the numbers are the program's", {str([[(x or 0.0) if x is not None else x for x in r] for r in m]) for m in values} == {str([[(x or 0.0) if x is not None else x for x in r] for r in m]) for m in json.loads(here, parse_int=float)})
        p.act("heed.update({notation: 'columns'})")
        check(f"{name}: as columns", p.browser.run("document.querySelectorAll('.steps section.sum').length") == steps)
        check(f"{name}: no error: {p.browser.errors}", not p.browser.errors)
    p.open("patches", link="#view=steps&predict=1")
    p.act("heed.update({spot: '3.2 1 1'})")
    check("a product is asked for", p.browser.run("document.querySelector('.inspector').textContent").startswith("zE[1,1, mean] = ?"))
    p.press("Check")
    told = p.browser.run("document.querySelector('.inspector').textContent")
    check(f"and written out: {told[:60]}", told.startswith("zE[1,1, mean] = ") and told.endswith("0.19"))


def odd_links(p):
    for link in ("spot=constructor+1+1", "spot=W_Q+99+-1", "digits=77&notation=x&beta=oops&hard=%00", "spot=%3Cscript%3E"):
        p.open("lion", link="#view=steps&" + link)
        check(f"{link} is no harm", p.browser.run("document.querySelector('.inspector').textContent.length") > 5)
        check(f"{link} leaves no error", not p.browser.errors)


def main():
    try:
        browser = Browser()
    except FileNotFoundError as error:
        print(f"{error}: skipped\n0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        page = Page(os.path.abspath(sys.argv[1]), folder, browser)
        for test in (opens_as_the_program, keyboard, opens_at_the_cell, rounded_sum, right_to_left, rounded_table, switches, words_change_places, predictions, sheets, learning, trained_head, backward, files, narrow, lists, odd_links):
            test(page)
            check(f"{test.__name__}: no error in the console: {browser.errors}", not browser.errors)
            check(f"{test.__name__}: no request: {browser.requests}", all(u.startswith(("file:", "data:", "blob:")) for u in browser.requests))
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
