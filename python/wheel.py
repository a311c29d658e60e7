"""wheel.py BUILD OUT -- makes a wheel of the package heed from the static library in BUILD: the shared library, which finds
what it uses in its own folder, the system libraries that it uses, and the tag by the newest glibc that all need."""
import base64
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "heed_attention"
# Every Linux has these; the rest of what the libraries use is put beside them.
SYSTEM = re.compile(r"^(ld-linux.*|libc|libm|libpthread|libdl|librt)\.so")

METADATA = """Metadata-Version: 2.1
Name: heed-attention
Version: {version}
Summary: A tiny trainable transformer framework in C: tensors, layers, training, and what models attend to
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Description-Content-Type: text/markdown

Import it as `heed`. Text file or picture folder in, trained model out; attention as arrays and as a page inside a notebook.
"""
NOTICE = """The folder heed/lib also holds libraries of other projects, unchanged: jansson (MIT licence), utf8proc (MIT and Unicode
licences), zlib (zlib licence), and GCC's libgomp (GPL 3 with the GCC Runtime Library Exception)."""


# hypot is the one function of which glibc 2.35 has a newer version, for its errno; the older one runs on more systems.
OLDER = """__asm__(".symver hypot_before, hypot@GLIBC_2.2.5");
double hypot_before(double x, double y);
double __wrap_hypot(double x, double y) { return hypot_before(x, y); }
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def link(build, folder):
    """The shared library from the static one. A loader before glibc 2.36 cannot read packed relocations."""
    compiler = os.environ.get("CC", "cc").split()
    older = []
    if platform.machine() == "x86_64":
        source = os.path.join(folder, "older.c")
        with open(source, "w") as f:
            f.write(OLDER)
        older = ["-Wl,--wrap=hypot", "-fPIC", "-fvisibility=hidden", source]
    made = os.path.join(folder, "libheed.so.0")
    run(*compiler, "-shared", "-o", made, "-Wl,-soname,libheed.so.0", "-Wl,--no-undefined", "-Wl,-Bsymbolic-functions", "-Wl,-z,nodelete", "-Wl,-s",
        "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN", "-Wl,--whole-archive", os.path.join(build, "libheed.a"),
        "-Wl,--no-whole-archive", *older, "-ljansson", "-lutf8proc", "-lz", "-fopenmp", "-lm", "-lpthread")
    if older:
        os.remove(older[-1])
    return made


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))


def bundle(made, folder):
    """Copies what they use, and what that uses."""
    found = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", made)))
    todo = [n for n in needed(made)]
    while todo:
        name = todo.pop()
        path = os.path.join(folder, name)
        if SYSTEM.match(name) or os.path.exists(path):
            continue
        shutil.copy(os.path.realpath(found[name]), path)
        todo += needed(path)


def tag(folder):
    """py3-none-manylinux_2_N_x86_64, by the newest glibc that a library asks for."""
    versions = {tuple(map(int, v.split("."))) for path in glob.glob(os.path.join(folder, "*"))
                for v in re.findall(r"GLIBC_(2\.\d+)", run("readelf", "--version-info", path))}
    return "py3-none-manylinux_%d_%d_%s" % (*max(versions), platform.machine())


def version():
    with open(os.path.join(HERE, "heed", "__init__.py")) as f:
        return re.search(r'__version__ = "(.*)"', f.read()).group(1)


def write(path, folder, kind):
    """The archive, with a record of what is in it."""
    info, record = f"{NAME}-{version()}.dist-info", []
    with open(os.path.join(HERE, "..", "LICENSE")) as f:
        licence = f.read()
    texts = {f"{info}/METADATA": METADATA.format(version=version()), f"{info}/licenses/LICENSE": licence, f"{info}/licenses/NOTICE": NOTICE,
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: heed\nRoot-Is-Purelib: false\nTag: {kind}\n"}
    files = {f"heed/{os.path.basename(p)}": p for p in sorted(glob.glob(os.path.join(HERE, "heed", "*.py")))}
    files.update({f"heed/lib/{n}": os.path.join(folder, n) for n in sorted(os.listdir(folder))})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        def put(name, data):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # equal contents are equal wheels
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        for name, source in files.items():
            with open(source, "rb") as f:
                put(name, f.read())
        for name, text in texts.items():
            put(name, text.encode())
        put(f"{info}/RECORD", ("\n".join(record) + f"\n{info}/RECORD,,\n").encode())


def main():
    build, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        bundle(link(build, folder), folder)
        kind = tag(folder)
        path = os.path.join(out, f"{NAME}-{version()}-{kind}.whl")
        write(path, folder, kind)
    print(f"{path}: {os.path.getsize(path):,} bytes")


main()
