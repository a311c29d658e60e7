"""access.py -- what a page owes to everybody: the contrast of its texts, the names of its controls, and where the keyboard is."""
import os

# Texts of the page with less contrast than 4.5:1 (WCAG 2.1, 1.4.3) to the ground below them.
FAINT_TEXTS = """(() => {
    const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = (css) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = css; paint.fillRect(0, 0, 1, 1);
        const d = paint.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
    const over = (a, b) => a.slice(0, 3).map((x, i) => x * a[3] + b[i] * (1 - a[3]));
    const ground = (e) => { const list = []; for (; e; e = e.parentElement) list.push(rgba(getComputedStyle(e).backgroundColor));
        return list.reduceRight((below, c) => over(c, below), [255, 255, 255]); };
    const light = (c) => c.reduce((sum, x, i) => sum + [0.2126, 0.7152, 0.0722][i] * (x / 255 <= 0.03928 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4), 0);
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const faint = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const e = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
        if (!text || !e.checkVisibility() || e.closest("script, style, noscript, .aside, .skip, :disabled, label:has(:disabled)")) continue;
        const below = ground(e), own = ratio(over(rgba(getComputedStyle(e).color), below), below);
        if (own < 4.5) faint.push(`${text.slice(0, 30)}: ${own.toFixed(2)}`);
    }
    return faint;
})()"""

# The same of what is written on canvases: the ground is the median of what is there before the text.
FAINT_DRAWN = """(() => {
    const faint = [], surface = heed.theme.surface, own = CanvasRenderingContext2D.prototype.fillText;
    const light = (c) => c.reduce((sum, x, i) => sum + [0.2126, 0.7152, 0.0722][i] * (x / 255 <= 0.03928 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4), 0);
    const probe = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const t = this.getTransform(), size = parseFloat(this.font.match(/([.\\d]+)px/)[1]), wide = this.measureText(text).width;
        const from = {left: 0, center: -wide / 2, right: -wide}[this.textAlign], found = [];
        for (let i = 0; i <= 6; i++)
            for (const j of [-0.3, 0, 0.3]) {
                const p = t.transformPoint(new DOMPoint(x + from + (wide * i) / 6, y + j * size)), d = this.getImageData(p.x, p.y, 1, 1).data, a = d[3] / 255;
                found.push(light([0, 1, 2].map((c) => d[c] * a + surface[c] * (1 - a))));
            }
        probe.fillStyle = this.fillStyle;
        probe.fillRect(0, 0, 1, 1);
        const ink = light([...probe.getImageData(0, 0, 1, 1).data].slice(0, 3)), below = found.sort((a, b) => a - b)[10];
        const ratio = (Math.max(ink, below) + 0.05) / (Math.min(ink, below) + 0.05);
        if (text.trim() && ratio < 4.5) faint.push(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
        return own.call(this, text, x, y);
    };
    heed.drawNow();
    CanvasRenderingContext2D.prototype.fillText = own;
    return faint;
})()"""

# What a keyboard reaches, one after the other; controls without a name.
CONTROLS = """[...document.querySelectorAll("button, select, input, summary, a[href], [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)"""
NAMELESS = f"""{CONTROLS}.filter((e) => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 90))"""
REACHED = """(() => { const e = document.activeElement, s = getComputedStyle(e), clipped = e.tagName === "CANVAS" && parseFloat(s.outlineOffset) > -2,
    seen = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && !clipped;
    const again = e === document.body || "reached" in e.dataset; e.dataset.reached = ""; return [again, seen, e.outerHTML.slice(0, 90)]; })()"""
MISSED = f"""{CONTROLS}.filter((e) => !("reached" in e.dataset)).map((e) => e.outerHTML.slice(0, 90))"""


def tab_through(b):
    """Where Tab goes without its focus being seen, and what it does not reach."""
    unseen = []
    b.run("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')") # Tab begins at the top
    for _ in range(300):
        b.key("Tab")
        again, seen, what = b.run(REACHED)
        if again:
            break
        if not seen:
            unseen.append(what)
    return unseen, b.run(MISSED)


def check_access(b, check, page, views):
    for theme in ("light", "dark"):
        for view in views:
            name = os.path.basename(page)
            b.open(page, f"#view={view}&theme={theme}&table=1")
            b.wait("document.querySelectorAll('#table td').length > 0 || heed.state.view === 'steps'", 5)
            faint = b.run(FAINT_TEXTS)
            check(not faint, f"{name}: {view}, {theme}: texts with little contrast: {faint[:5]}")
            drawn = b.run(FAINT_DRAWN)
            check(not drawn, f"{name}: {view}, {theme}: drawn texts with little contrast: {drawn[:5]}")
            if theme == "light":
                nameless, (unseen, missed) = b.run(NAMELESS), tab_through(b)
                check(not nameless, f"{name}: {view}: controls without a name: {nameless[:3]}")
                check(not unseen, f"{name}: {view}: the focus is not seen at {unseen[:3]}")
                check(not missed, f"{name}: {view}: Tab does not reach {missed[:3]}")
