"""notebooks.py [--write] FILE... -- runs the code cells of each notebook, or the Python blocks of a page, in an empty folder, without
Jupyter. --write stores what they print, in the notebook, or in the block of text below each block; frames and pictures are not
stored. Ends with "N passed, N failed"."""
import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import traceback


def run_cell(source, names, count):
    """Runs a cell; its outputs as a notebook stores them. The value of a last expression is shown."""
    tree, out = ast.parse(source), io.StringIO()
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, f"cell {count}", "exec"), names)
        value = eval(compile(last, f"cell {count}", "eval"), names) if last else None
    outputs = []
    if out.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": out.getvalue().splitlines(True)})
    if value is not None:
        if hasattr(value, "_repr_html_"):
            assert len(value._repr_html_()) > 100
        outputs.append({"data": {"text/plain": repr(value).splitlines(True)}, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def run_cells(sources):
    """The outputs of all cells."""
    names, here = {"__name__": "__main__"}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return [run_cell(source, names, i + 1) for i, source in enumerate(sources)]
        finally:
            os.chdir(here)


def run_notebook(text):
    """The notebook with its outputs."""
    book = json.loads(text)
    cells = [c for c in book["cells"] if c["cell_type"] == "code"]
    for i, outputs in enumerate(run_cells("".join(c["source"]) for c in cells)):
        cells[i].update(outputs=outputs, execution_count=i + 1)
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def run_page(text):
    """The page with its outputs; a block that prints nothing has no block of text below it."""
    block = re.compile(r"```python\n(.*?)```\n(?:```text\n.*?```\n)?", re.DOTALL)
    outputs = iter(run_cells(block.findall(text)))

    def printed(found):
        said = "".join("".join(o.get("text") or o["data"]["text/plain"] + ["\n"]) for o in next(outputs))
        return f"```python\n{found[1]}```\n" + (f"```text\n{said}```\n" if said else "")
    return block.sub(printed, text)


def run(path, write):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = (run_page if path.endswith(".md") else run_notebook)(text)
    if write:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


passed, failed = 0, 0
for path in [a for a in sys.argv[1:] if a != "--write"]:
    try:
        run(path, "--write" in sys.argv)
        passed += 1
    except Exception:
        failed += 1
        print(f"FAILED {path}")
        traceback.print_exc(limit=-4)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
