"""layout.py FILE -- compares sizes and places of fields, as a compiler gives them, with the declarations of the package."""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "heed"))
import _c

wrong, count = [], 0
with open(sys.argv[1]) as f:
    for line in f:
        (name, _, field), value = line.split()[0].partition("."), int(line.split()[1])
        struct = getattr(_c, name)
        found = getattr(struct, field).offset if field else ctypes.sizeof(struct)
        count += 1
        if found != value:
            wrong.append(f"{line.strip()}: found {found}")
print("".join(w + "\n" for w in wrong), end="")
sys.exit(bool(wrong) or count < 1000)
