"""declare.py [--layout] -- writes heed/_c.py, the ctypes declarations of everything in include/heed, heed/_ops.py, its ops
with a Pythonic face, and heed/_synonyms.py, what other programs call the settings, as the program knows it; `make lib` runs it.
--layout prints a C program that prints the size of every struct and the place of every field, with which the tests compare
the declarations."""
import glob
import os
import re
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(os.path.dirname(HERE), "include")
HEADERS = sorted(os.path.basename(p) for p in glob.glob(os.path.join(INCLUDE, "heed", "*.h")) if not p.endswith("program.h"))

BASE = {"void": None, "_Bool": "c_bool", "int": "c_int", "unsigned": "c_uint", "char": "c_char", "unsigned char": "c_ubyte", "double": "c_double",
        "float": "c_float", "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64"}


# ---- reading C ----

def tokens():
    """Of the preprocessed headers, without what they include from elsewhere."""
    source = "".join(f"#include <heed/{h}>\n" for h in HEADERS)
    compiler = os.environ.get("CC", "cc").split()
    text = subprocess.run(compiler + ["-E", "-std=c11", "-I", INCLUDE, "-x", "c", "-"], input=source, capture_output=True, text=True, check=True).stdout
    kept, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker.group(1).startswith(INCLUDE)
        elif ours and not line.startswith("#"):
            kept.append(line)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|_Pragma\s*\([^)]*\)", "", "\n".join(kept))
    return re.findall(r'[A-Za-z_]\w*|\d[\w.+-]*|"[^"]*"|\.\.\.|<<|>>|[^\s\w]', text)


class Parser:
    """Declarations as the headers write them, no more of C than that."""

    def __init__(self):
        self.t, self.at = tokens(), 0
        self.constants = {}  # name -> value
        self.enums = {}      # type -> {name: value}
        self.structs = {}    # name -> [(field, type)]; a type is a Python expression
        self.types = dict(BASE)
        self.functions = {}  # name -> (result, [(name, type, C tokens)])
        self.variables = {}  # name -> type
        self.field_enums = {}
        while self.at < len(self.t):
            self.declaration()

    def peek(self, k=0):
        return self.t[self.at + k] if self.at + k < len(self.t) else ""

    def take(self, expected=None):
        token = self.t[self.at]
        if expected and token != expected:
            raise SyntaxError(f"expected {expected}, found {' '.join(self.t[self.at - 5:self.at + 5])}")
        self.at += 1
        return token

    def skip(self, opening, closing):
        depth = 0
        while True:
            token = self.take()
            depth += (token == opening) - (token == closing)
            if depth == 0:
                return

    def value(self, *ends):
        """A constant expression up to one of these."""
        words = []
        while self.peek() not in ends:
            words.append(self.take())
        return eval(" ".join(words), {}, self.constants)

    def enum(self):
        self.take("{")
        names, value = {}, -1
        while self.peek() != "}":
            name = self.take()
            value += 1
            if self.peek() == "=":
                self.take()
                value = self.value(",", "}")
            names[name] = self.constants[name] = value
            if self.peek() == ",":
                self.take()
        self.take("}")
        return names

    def fields(self, owner):
        self.take("{")
        found = []
        while self.peek() != "}":
            base, words = self.base(owner)
            while True:
                name, kind, _ = self.declarator(base, words)
                found.append((name, kind))
                if words[-1] in self.enums:
                    self.field_enums[owner, name] = words[-1]
                if self.take() == ";":
                    break
        self.take("}")
        return found

    def base(self, owner=""):
        """The type before a declarator, as a Python expression, and its words."""
        words = []
        while re.match(r"[A-Za-z_]", self.peek()):
            word = self.peek()
            if word in ("struct", "union") and (self.peek(1) == "{" or self.peek(2) == "{"):
                self.take()
                name = self.take() if self.peek() != "{" else f"{owner}_part{sum(k.startswith(owner + '_part') for k in self.structs)}"
                self.structs[name] = self.fields(name)
                self.types[name] = name
                return name, [name]
            begun = [w for w in words if w not in ("const", "extern", "static", "inline", "struct", "enum")]
            if begun and word != "const" and not (begun == ["unsigned"] and word == "char"):
                break
            words.append(self.take())
        name = " ".join(w for w in words if w not in ("const", "extern", "static", "inline", "struct", "enum"))
        return self.types.get(name, name), [w for w in words if w not in ("extern", "static", "inline")]

    def declarator(self, base, words):
        """name, type, C text of a declarator after its base."""
        stars = 0
        while self.peek() in ("*", "const"):
            stars += self.take() == "*"
        kind = base if not stars else "c_char_p" if stars == 1 and words == ["const", "char"] else "c_void_p"
        if self.peek() == "(" and self.peek(1) == "*":  # a function pointer
            self.take("("), self.take("*")
            name = self.take()
            self.take(")")
            return name, f"CFUNCTYPE({', '.join([str(kind)] + [k for _, k, _ in self.parameters()])})", "function"
        name = self.take() if re.match(r"[A-Za-z_]", self.peek()) else ""
        sizes = []
        while self.peek() == "[":
            self.take()
            sizes.append(self.value("]") if self.peek() != "]" else 0)
            self.take("]")
        for size in reversed(sizes):
            kind = f"{kind} * {size}"
        return name, kind, " ".join(words + ["*" * stars + "[]" * len(sizes)]).strip()

    def parameters(self):
        self.take("(")
        found = []
        while self.peek() != ")":
            if self.peek() == "...":
                self.take()
                continue
            base, words = self.base()
            name, kind, text = self.declarator(base, words)
            if kind is not None:  # (void)
                found.append((name, "c_void_p" if " * " in str(kind) else kind, text))
            if self.peek() == ",":
                self.take()
        self.take(")")
        return found

    def declaration(self):
        word = self.peek()
        if word == ";":
            self.take()
        elif word == "typedef":
            self.take()
            self.typedef()
        elif word == "enum":
            self.take()
            self.enum()
            self.take(";")
        elif word == "struct" and self.peek(2) == "{":
            self.take()
            name = self.take()
            self.structs[name] = self.fields(name)
            self.types[name] = name
            self.take(";")
        else:
            self.function()

    def typedef(self):
        if self.peek() == "enum":
            self.take()
            names = self.enum()
            name = self.take()
            self.enums[name], self.types[name] = names, "c_int"
        elif self.peek() == "struct" and "{" in (self.peek(1), self.peek(2)):
            self.take()
            tag = self.take() if self.peek() != "{" else None
            # its name follows its fields
            start, depth = self.at, 0
            self.skip("{", "}")
            name, end = self.peek(), self.at
            self.at = start
            self.structs[name] = self.fields(name)
            self.types[name] = name
            if tag:
                self.types[tag] = name
            assert self.at == end and depth == 0
            self.take()
        else:
            base, words = self.base()
            name, kind, _ = self.declarator(base, words)
            self.types[name] = kind
            if self.peek() == "(":  # a function type is not used by value
                self.skip("(", ")")
        self.take(";")

    def function(self):
        inline = self.peek() == "static"
        base, words = self.base()
        name, kind, text = self.declarator(base, words)
        if self.peek() == "(":
            parameters = self.parameters()
            if not inline:
                self.functions[name] = (kind, parameters, text)
            if self.peek() == "{":
                return self.skip("{", "}")
        else:
            self.variables[name] = kind
            while self.peek() == ",":
                self.take()
                self.variables[self.take()] = kind
        self.take(";")


# ---- writing _c.py ----

def declarations(p):
    out = ['"""Written by declare.py from the headers in include/heed; not to be edited."""', "from ctypes import *", ""]
    out += [f"CONSTANTS = {p.constants!r}", "globals().update(CONSTANTS)"]
    out += [f"ENUMS = { {name: tuple(names) for name, names in p.enums.items()} !r}"]
    opaque = re.compile(r"\b(?!c_|CFUNCTYPE)(heed_\w+)")
    for name in p.structs:
        fields = ", ".join(f'("{f}", {k})' for f, k in p.structs[name])
        out += [f"\n\nclass {name}(Structure):", f"    _fields_ = [{fields}]"]
        enums = {f: e for (s, f), e in p.field_enums.items() if s == name}
        if enums:
            out.append(f"    _enums_ = {enums!r}")
        for word in opaque.findall(" ".join(k for _, k in p.structs[name] if k)):
            assert word in p.structs, f"{name}: {word} is unknown"
    out += ["\n\n# name: result, parameters", "FUNCTIONS = {"]
    for name, (result, parameters, _) in p.functions.items():
        kinds = "".join(str(k) + ", " for _, k, _ in parameters)
        out.append(f'    "{name}": ({result}, ({kinds.rstrip()})),')
    return "\n".join(out + ["}", ""])


# ---- writing _ops.py ----

INDEX = {"ids", "labels", "mask", "pad", "rows"}           # tensors of whole numbers
LEFT_OUT = {"recurrent_attention", "split", "gather_list"}  # structs of tensors, output parameters
OPTIONAL = {"b", "gain", "bias", "mask", "pad", "state", "score_bias", "k", "v"}
TWO = {"add", "sub", "mul", "div", "where", "matmul", "matmul_nt", "matmul_tn", "mse", "lora"}  # with inputs a, b or mask that must be given
CLASSES = {"xent": "logits, -1", "affine_xent": "w, 0"}  # the tensor and its dim that has a place for each class
KEYWORDS = {"beta", "mask"}  # by name alone: in softmax(x, -1) the number would be another library's dim
DEFAULTS = {"beta": "1.0", "eps": "1e-05", "shift": "0.0", "momentum": "0.1", "value": "0.0"}


def comments():
    """What ops.h says of each op: the comment behind its prototype, else the one right above it or above the struct of its arguments."""
    with open(os.path.join(INCLUDE, "heed", "ops.h")) as f:
        text = f.read()
    found = {}
    pattern = re.compile(r"(?:/\*((?:[^*]|\*(?!/))*)\*/\n(?:typedef struct \{[^}]*\} \w+;\n)?)?(?:heed_tensor \*|bool )heed_(\w+)\([^;]*\);(?:[ ]*/\*((?:[^*]|\*(?!/))*)\*/)?")
    for above, name, behind in pattern.findall(text):
        words = re.sub(r"\s*\n \* ", " ", behind or above).strip()
        found[name] = re.sub(r"\s+", " ", words).replace("NULL", "None").replace("heed_", "")
    return found


def op(p, name, says):
    """The source of one op."""
    inputs, call, words, options = [], [], [], []
    before = ["t = tape_of({inputs})"]
    _, parameters, _ = p.functions["heed_" + name]
    for n, _, text in parameters[1:]:
        n = "start" if n == "from" else n
        if text == "heed_tensor *":
            inputs.append(n)
            optional = n in OPTIONAL and not (n in ("b", "mask") and name in TWO)
            words.append(n + ("=None" if optional else ""))
            call.append(f"t.{'index' if n in INDEX else 'real'}({n})")
        elif text == "heed_tensor **":
            inputs.append("*x")
            words.insert(0, "x")
            before.append("x = [t.real(each) for each in x]")
            call.append("(c_void_p * len(x))(*x)")
        elif text.endswith("args *"):
            struct = text.split()[1]
            options = [f for f, _ in p.structs[struct] if not f.startswith("has_")]
            if "weights" in options:
                before.append(f"weights = weights_of(weights, {CLASSES[name]})")
            before.append(f"a = filled({struct}, {', '.join(f'{f}={f}' for f in options)})")
            call.append("byref(a)" if "weights" not in options else "t.keep(a)")
        elif n == "dims":
            call.append("len(shape)")
        elif n == "count":
            call.append("len(x)")
        elif text == "const int *":
            words.append(n)
            call.append("order_of(order, x)" if n == "order" else f"shape_of({n})")
        elif text == "heed_act":
            words.append(n)
            call.append(f'choice("heed_act", {n})')
        elif text == "const char *":
            words.append(n)
            call.append(f"t.text({n})")
        else:
            words.append(n + ("=" + DEFAULTS[n] if n in DEFAULTS else ""))
            call.append(f"{'float' if text == 'heed_real' else 'index'}({n})")  # NumPy's numbers, too
    named = [w for w in words if w.split("=")[0] in KEYWORDS and "=" in w]
    words = [w for w in words if "=" not in w] + [w for w in words if "=" in w and w not in named]
    words += ["*"] + named + [f"{o}=None" for o in options] + ["name=None"]
    out = [f"def {name}({', '.join(words)}):", f"    {textwrap.fill(says, 120)!r}"]
    out += ["    " + b.format(inputs=", ".join(inputs)) for b in before]
    call = ", ".join(["t.pointer if name is None else t.named(name)"] + call)
    return "\n".join(out + [f'    return t.made(lib.heed_{name}({call}), "{name}")'])


def ops(p):
    with open(os.path.join(INCLUDE, "heed", "ops.h")) as f:
        names = re.findall(r"heed_tensor \*heed_(\w+)\(", f.read())
    says = comments()
    names = [n for n in names if n not in LEFT_OUT]
    out = ['"""Written by declare.py from include/heed/ops.h; not to be edited."""', "from ctypes import byref, c_void_p",
           "", "from ._c import *", "from ._library import choice, filled, index, lib",
           "from .net import order_of, shape_of, tape_of, weights_of", ""]
    out += [f"__all__ = {names!r}"]
    return "\n".join(out) + "\n\n\n" + "\n\n\n".join(op(p, n, says.get(n, "")) for n in names) + "\n"


# ---- comparing with a compiler ----

def layout(p):
    out = ["#include <stdio.h>"] + [f"#include <heed/{h}>" for h in HEADERS] + ["int main(void) {"]
    for name, fields in p.structs.items():
        if "_part" in name:
            continue
        out.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        out += [f'    printf("{name}.{f} %zu\\n", offsetof({name}, {f}));' for f, _ in fields]
    return "\n".join(out + ["    return 0;", "}", ""])


# ---- synonyms ----

def synonyms():
    """The names of train/cli/synonyms.c that mean settings: for each the settings, of which a task has the first that it has."""
    source = open(os.path.join(os.path.dirname(HERE), "train", "cli", "synonyms.c")).read()
    table = source[source.index("setting_names[]"):source.index("{NULL, NULL}", source.index("setting_names[]"))]
    rows = [(ours, "".join(re.findall('"([^"]*)"', theirs)).strip()) for theirs, ours in re.findall(r'\{((?:\s*"[^"]*")+),\s*"([^"]+)"', table)]
    return ('"""What other programs call the settings of heed. Written by declare.py from train/cli/synonyms.c."""\n\n'
            "SETTINGS = (\n" + "".join(f'    ("{ours}",\n     "{theirs}"),\n' for ours, theirs in rows) + ")\n")


def main():
    p = Parser()
    if "--layout" in sys.argv:
        return print(layout(p))
    for name, text in (("_c.py", declarations(p)), ("_ops.py", ops(p)), ("_synonyms.py", synonyms())):
        with open(os.path.join(HERE, "heed", name), "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
