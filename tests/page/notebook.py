"""notebook.py RECORD -- shows a record's page in the frame that a notebook gives it, and changes its views in headless Chromium.
Needs the package heed. Ends with "N passed, N failed"."""
import os
import sys
import tempfile
import time

import heed
from browser import Browser

passed, failed = 0, 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED ", what, flush=True)


def enter(b, frame):
    """Opens a page with the frame and goes on inside it: it has an origin of its own, so it is a target of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False) as f:
        f.write("<!DOCTYPE html><title>notebook</title><p>A cell.</p>" + frame)
    frames = lambda: {t["targetId"] for t in b.call("Target.getTargets")["targetInfos"] if t["type"] == "iframe"}
    before, found, end = frames(), set(), time.monotonic() + 30
    b.call("Page.navigate", url="file://" + f.name)
    while not found and time.monotonic() < end:
        found = frames() - before
    os.unlink(f.name)
    outside = b.session
    b.session = b.call("Target.attachToTarget", targetId=found.pop(), flatten=True)["sessionId"]
    for domain in ("Runtime", "Log"):
        b.call(domain + ".enable")
    return outside


def press(b, tab):
    b.run(f"document.querySelectorAll('#tabs button')[{tab}].click()")
    time.sleep(0.2)


def main():
    frame = heed.Page(heed.read(sys.argv[1]), opening="view=matrix")._repr_html_()
    b = Browser()
    try:
        outside = enter(b, frame)
        check(b.wait("document.documentElement.dataset.ready !== undefined"), "the page draws")
        shown = "[...document.querySelectorAll('.view')].filter(v => !v.hidden).map(v => v.id).join()"
        check(b.run(shown) == "view-matrix", "it opens where it was asked to")
        tabs = b.run("[...document.querySelectorAll('#tabs button')].map(t => t.textContent)")
        for i, name in enumerate(tabs):
            press(b, i)
            check(b.run(shown) not in ("", None) and (i == 0) == (b.run(shown) == "view-overview"), f"the view {name}")
            check(b.run("location.href").startswith("about:srcdoc#view="), f"{name}: its link")
        b.run("location.hash = '#view=matrix&layer=2'")
        time.sleep(0.2)
        check(b.run(shown) == "view-matrix" and b.run("heed.state.layer") == 1, "a link inside the frame is followed")
        b.run("document.querySelector('a.skip').click()")
        check(b.run("location.href").startswith("about:srcdoc"), "a link to a place in the page stays there")
        check(not b.errors, f"console: {b.errors[:2]}")
        b.session = outside
        check(b.run("location.href").startswith("file:") and not b.run("location.hash"), "the notebook stays where it is")

        enter(b, frame.replace("&lt;base href=&quot;about:srcdoc&quot;&gt;", ""))
        b.wait("document.documentElement.dataset.ready !== undefined")
        press(b, 0)
        check(b.run("location.href") != "about:srcdoc#view=overview", "without its base it would not (the check bites)")
    finally:
        b.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
