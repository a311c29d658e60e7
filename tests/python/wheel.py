"""The package of the wheel, with its own libraries: trains, generates and shows."""
import heed
import os
import tempfile

folder = os.path.dirname(os.path.abspath(heed.__file__))
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "libheed" in line}
assert libraries and all(path.startswith(folder) for path in libraries), libraries
with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    with open("text.txt", "w") as f:
        f.write("Paris is the capital of France .\nRome is the capital of Italy .\n" * 20)
    run = heed.train("gpt", "text.txt", tokenizer="word", packing="lines", layers=1, heads=2, width=16, block=8, batch=8, steps=10)
    assert run.generate("Paris", n=3) and len(run.attend("Paris is the").html()) > 50000
    os.chdir("/")
