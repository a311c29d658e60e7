"""Net, parameters with the tape on which their computations are recorded, and Tensor, a value on that tape."""
import contextlib
import ctypes
import itertools
from ctypes import byref, c_int

import numpy as np

from . import _c
from ._library import Context, Error, Owner, UsageError, array, check_range, index, lib, text, text_bytes
from .data import path_bytes

MODES = {"eval": _c.HEED_EVAL, "train": _c.HEED_TRAIN, "trace": _c.HEED_TRACE}


def shape_of(shape):
    return (c_int * len(shape))(*map(index, shape))


def numbers(x, **how):
    """An array of real numbers."""
    try:
        found = np.asarray(x, **how)
    except ValueError:
        raise UsageError("the input is wrong: expected an array of numbers, found lists of different lengths") from None
    if found.dtype.kind not in "fiub":
        raise UsageError(f"the input is wrong: expected an array of numbers, found {x!r:.60} of {found.dtype}")
    return found


def order_of(order, x):
    """The dims of x in another order."""
    if len(order) != np.ndim(x):
        raise UsageError(f"permute: expected all {np.ndim(x)} dims, found {len(order)}")
    return shape_of(order)


def weights_of(weights, x, dim):
    """The weights as floats, one for each class: as many as this dim of x has; None without weights."""
    if weights is None:
        return None
    weights = np.ascontiguousarray(weights, np.float32)
    if weights.shape != (np.shape(x)[dim],):
        raise UsageError(f"weights have shape {weights.shape}: expected one for each of {np.shape(x)[dim]} classes")
    return weights


def tape_of(*inputs):
    """The net whose tape records an op on these inputs: that of the first tensor among them."""
    for x in inputs:
        if isinstance(x, Tensor):
            return x.net
    raise TypeError("an op needs at least one heed.Tensor among its inputs; hint: net.input(array)")


class Net(Owner):
    """Named parameters, and a tape that records what is computed with them.

        net = heed.Net(seed=1)
        layer = heed.Linear(net, "layer", 2, 1)
        optimizer = heed.AdamW(net, lr=0.01)
        for step in range(100):
            net.train(step)
            loss = heed.mse(layer(x), y)
            loss.backward()
            optimizer.step()

    train, eval and trace begin a step, in which the tensors of the one before end: an op refuses them, and so does their
    array. Parameters last as long as anything refers to the net or to their arrays. One thread may use a net at a time."""

    def __init__(self, seed=1, threads=0, isa=None):
        c = Context(seed, threads, isa)
        self.use(c, c.made(lib.heed_params_new(c.pointer)), c.made(lib.heed_tape_new(c.pointer)))
        self.eval()

    def use(self, context, store, tape):
        self.context, self.store, self.pointer = context, store, tape
        self.numbers, self.kept, self.mode = itertools.count(), [], None
        self.count = next(self.numbers)  # of the step: what an earlier one made has another
        return self

    def moved(self):
        """To be called when heed begins a step on the tape: the tensors before it end."""
        self.count = next(self.numbers)
        self.kept.clear()

    # ---- steps ----

    def begin(self, mode, step=0, micro=0):
        """Begins a step: train, eval and trace."""
        self.moved()
        self.mode = mode
        check_range("step", step, 0, 2**64 - 1), check_range("micro", micro, 0, 2**32 - 1)
        lib.heed_tape_begin_micro(self.pointer, MODES[mode], step, micro)
        self.context.check()

    def train(self, step, micro=0):
        """Begins a training step, whose number seeds dropout. micro: of several micro-batches whose gradients are added."""
        self.begin("train", step, micro)

    def eval(self):
        """Begins a step that records nothing; dropout is off."""
        self.begin("eval")

    def trace(self):
        """As eval, but recorded, for the gradients of inputs."""
        self.begin("trace")

    # ---- values ----

    def input(self, x, grad=False):
        """A copy of x as a tensor of this step: of reals, or of indices if x holds whole numbers or truth values. grad: backward
        computes its gradient."""
        x = numbers(x)
        if x.dtype.kind in "iub":
            return self.ids(x)
        t = self.copied(lib.heed_input, x, np.float32)
        return t.want_grad() if grad else t

    def ids(self, x):
        """A copy of whole numbers or truth values as an index tensor."""
        x = np.asarray(x)
        low, high = -2**31, 2**31 - 1
        whole = x.dtype.kind in "biu" or (x.dtype.kind == "f" and (x == np.floor(x)).all())
        if not whole or (x.size and not low <= x.min() <= x.max() <= high):
            raise UsageError(f"ids: expected whole numbers from {low} to {high}, found an array of {x.dtype}")
        return self.copied(lib.heed_input_ids, x, np.int32)

    def copied(self, function, x, kind):
        x = numbers(x, order="C").astype(kind, copy=False)  # ascontiguousarray would give a scalar a dim
        return self.made(function(self.pointer, x.ctypes.data, x.ndim, shape_of(x.shape)), "input")

    def made(self, pointer, what):
        """The result of an op; its error."""
        return Tensor(self, self.context.made(pointer, what), self.count)

    def real(self, x):
        """An op's input: the address of a tensor; anything else becomes one of reals."""
        if isinstance(x, Tensor):
            if x.net is self and (x.count == self.count or x.count is None):
                return x.pointer
            raise Error("a tensor of another net" if x.net is not self else x.stale())
        return None if x is None else self.copied(lib.heed_input, x, np.float32).pointer

    def index(self, x):
        """The same for indices."""
        return self.real(x) if x is None or isinstance(x, Tensor) else self.ids(x).pointer

    def named(self, name):
        return lib.heed_name_scope(self.pointer, self.text(name))

    def text(self, words):
        """A text that heed keeps by its address until the next step."""
        self.kept.append(text_bytes(words, "name"))
        return self.kept[-1]

    def keep(self, struct):
        """The same for a struct and its arrays."""
        self.kept.append(struct)
        return byref(struct)

    # ---- parameters ----

    def param(self, name, shape, init="kaiming"):
        """Makes a parameter and returns it. shape: its sizes, or one number. name: unique within the open scopes, which come before it.
        init: zero, one, const:V, normal:S (deviation S), uniform:A (in [-A, A)), kaiming, kaiming:N (fan-in N), xavier. The values
        depend only on the seed and the full name."""
        shape = shape if np.ndim(shape) else (shape,)
        p = lib.heed_param_new(self.store, text_bytes(name, "name"), text_bytes(init, "init"), len(shape), shape_of(shape))
        return Tensor(self, self.context.made(p, name), None)

    @contextlib.contextmanager
    def scope(self, name):
        """Names of parameters made within begin with this one and a dot."""
        name = text_bytes(name, "name").replace(b"%", b"%%")
        try:
            self.context.made(lib.heed_scope_push(self.store, name), "scope")
            yield
        finally:
            lib.heed_scope_pop(self.store)

    def entries(self):
        """heed's structs of all parameters and states."""
        for i in range(lib.heed_params_count(self.store)):
            yield _c.heed_param.from_address(lib.heed_params_at(self.store, i))

    def parameters(self, trained=False):
        """A dict of all parameters and states by name, in their order. trained: only those that an optimizer changes."""
        return {text(e.name): Tensor(self, e.tensor, None) for e in self.entries() if e.trained or not trained}

    def __getitem__(self, name):
        found = lib.heed_params_find(self.store, text_bytes(name, "name"))
        if not found:
            raise KeyError(name)
        return Tensor(self, _c.heed_param.from_address(found).tensor, None)

    def __contains__(self, name):
        return bool(lib.heed_params_find(self.store, text_bytes(name, "name")))

    def __len__(self):
        """The number of scalar parameters, frozen ones included, states excluded."""
        return lib.heed_params_numel(self.store)

    def freeze(self, pattern):
        """Stops the training of the parameters whose names match ("encoder.*"). Returns how many matched."""
        return lib.heed_freeze(self.store, text_bytes(pattern, "pattern"))

    def decay(self, pattern, on):
        """Sets whether weight decay applies to the parameters whose names match; by default it does to those of two or more dims.
        Returns how many matched."""
        return lib.heed_set_decay(self.store, text_bytes(pattern, "pattern"), on)

    def lr_scale(self, pattern, scale):
        """Sets the factor of the learning rate of the parameters whose names match; 1 by default. Returns how many matched."""
        return lib.heed_set_lr_scale(self.store, text_bytes(pattern, "pattern"), scale)

    def lora(self, pattern, rank, alpha):
        """Adds adapters of this rank to the weights whose names match: ops then read W + alpha / rank B A. Returns how many matched. Hu et
        al. 2022, sec. 4.1."""
        n = lib.heed_lora_add(self.store, text_bytes(pattern, "pattern"), index(rank), alpha)
        self.context.check()
        return n

    def merge_lora(self):
        """Replaces each adapted weight W by W + alpha / rank B A and removes the adapters. The net must have no optimizer."""
        self.context.made(lib.heed_lora_merge(self.store), "merge_lora")

    def zero_grads(self):
        """Sets all gradients to zero, as the step of an optimizer does."""
        lib.heed_zero_grads(self.store)

    def grad_norm(self):
        """The square root of the sum of the squares of all trained gradients."""
        return lib.heed_grad_norm(self.store)

    def save(self, path):
        """Writes all parameters and states as a safetensors file."""
        self.context.made(lib.heed_save(self.store, path_bytes(path)), "save")

    def load(self, path):
        """Fills all parameters and states from such a file, which must have the same names and shapes; otherwise nothing changes."""
        self.context.made(lib.heed_load(self.store, path_bytes(path)), "load")

    # ---- probes ----

    def probe(self, pattern, grad=False):
        """From now on, keeps the values inside ops whose path matches ("*.weights"), for probed. grad: their gradients, too."""
        lib.heed_probe(self.pointer, text_bytes(pattern, "pattern"), grad)
        self.context.check()

    def unprobe(self):
        """Ends all probes."""
        lib.heed_probe_clear(self.pointer)

    def probed(self):
        """The values that probes kept in this step, by path."""
        found, path = {}, ctypes.c_char_p()
        for i in range(lib.heed_probe_count(self.pointer)):
            pointer = lib.heed_probe_at(self.pointer, i, byref(path))
            found[text(path.value)] = Tensor(self, pointer, self.count)
        return found

    # ---- checks ----

    def gradcheck(self, loss, samples=4):
        """Compares the gradients of loss(), a function that returns a scalar tensor, with central differences of up to `samples`
        elements of each trained parameter: the largest relative error, and where it is. In single precision 0.01 is usual; an op
        with a wrong gradient has 0.1 and more. Gradients are zero afterwards."""
        failed = []

        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        def record(_, tape):
            outer, self.pointer, self.count = (self.pointer, self.count), tape, next(self.numbers)
            try:
                return None if failed else loss().pointer
            except BaseException as e:  # C cannot raise it
                failed.append(e)
                lib.heed_fail(self.context.pointer, _c.HEED_FAILED, b"the loss raised an exception")
            finally:
                self.pointer, self.count = outer

        check = lib.heed_gradcheck_store(self.context.pointer, self.store, record, None, samples)
        if failed:
            lib.heed_clear(self.context.pointer)
            raise failed[0]
        self.context.check()
        return check.error, text(check.worst)


class Tensor(Owner):
    """A value of a net's step, or a parameter. Operators and methods are heed's ops: + - * / @, x[i:j], x.T, x.sum(), ..."""

    __slots__ = ("net", "pointer", "count", "__weakref__")
    __array_ufunc__ = None  # array * tensor is the tensor's

    def __init__(self, net, pointer, count):
        self.net, self.pointer, self.count = net, pointer, count  # count: of the step that made it; None: a parameter

    def stale(self):
        return "a tensor of an earlier step: it ended when the next one began"

    @property
    def c(self):
        """heed's struct."""
        if self.count is not None and self.count != self.net.count:
            raise Error(self.stale())
        return _c.heed_tensor.from_address(self.pointer)

    # ---- what it is ----

    @property
    def shape(self):
        """The sizes of its dims."""
        c = self.c
        return tuple(c.shape[:c.dims])

    @property
    def ndim(self):
        """The number of its dims."""
        return self.c.dims

    @property
    def size(self):
        """The number of its elements."""
        return self.c.size

    @property
    def name(self):
        """A parameter's full name, else None."""
        return text(self.c.name)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        if self.count is not None and self.count != self.net.count:
            return "<heed.Tensor of an earlier step>"
        return f"<heed.Tensor {self.name or text(self.c.made_by) or 'input'} {self.shape}>"

    # ---- its numbers ----

    def view(self, address, kind):
        if self.count is None:
            return array(address, self.shape, self.net, kind)
        return View(array(address, self.shape, self.net, kind), self) if address else None

    @property
    def array(self):
        """The numbers without a copy: of a parameter an array, through which it may be changed; of a step's tensor a heed.View,
        which refuses use once the next step has begun."""
        c = self.c
        return self.view(c.x, "<f4") if c.x else self.view(c.i, "<i4")

    def numpy(self):
        """A copy of the numbers."""
        c = self.c
        return array(c.x, self.shape, None).copy() if c.x else array(c.i, self.shape, None, "<i4").copy()

    def __array__(self, dtype=None, copy=None):
        return self.numpy().astype(dtype or np.float32 if self.c.x else dtype or np.int32, copy=False)

    @property
    def grad(self):
        """The gradient, as `array` gives the numbers; None before backward."""
        return self.view(self.c.g, "<f4")

    def item(self):
        """The value of a tensor of one element, as a float or an int."""
        return self.numpy().item()

    __float__ = item

    # ---- gradients ----

    def want_grad(self):
        """Has backward compute the gradient of this tensor, which is not a parameter; before it is used."""
        self.net.context.made(lib.heed_want_grad(self.net.pointer, self.net.real(self)), "want_grad")
        return self

    def backward(self, grad=None):
        """Adds the gradients of this scalar to those of all parameters and of the tensors that want one. Another tensor needs its
        own gradient, of its shape."""
        n = self.net
        if grad is None:
            return n.context.made(lib.heed_backward(n.pointer, n.real(self)), "backward")
        grad = np.ascontiguousarray(grad, np.float32)
        if grad.shape != self.shape:
            raise UsageError(f"a gradient of shape {grad.shape} for a tensor of shape {self.shape}")
        return n.context.made(lib.heed_backward_from(n.pointer, n.real(self), grad.ctypes.data), "backward")


class View(np.lib.mixins.NDArrayOperatorsMixin):
    """The numbers of a step's tensor without a copy, usable like an array until the next step begins. np.asarray of it is a copy;
    so is what indexing and arithmetic give."""

    def __init__(self, numbers, tensor):
        self._numbers, self._tensor = numbers, tensor

    @property
    def now(self):
        self._tensor.c  # refuses
        return self._numbers

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("a heed.View is copied; hint: np.asarray(view)")
        return self.now.astype(dtype or self._numbers.dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **settings):
        plain = lambda x: x.now if isinstance(x, View) else x
        if out is not None:
            settings["out"] = tuple(plain(x) for x in out)
        result = getattr(ufunc, method)(*(plain(x) for x in inputs), **settings)
        return out[0] if out is not None else result

    def __array_function__(self, function, kinds, inputs, settings):
        plain = lambda x: x.now if isinstance(x, View) else type(x)(plain(y) for y in x) if isinstance(x, (list, tuple)) else x
        result = function(*(plain(x) for x in inputs), **{k: plain(x) for k, x in settings.items()})
        return result.copy() if isinstance(result, np.ndarray) else result

    def __getitem__(self, at):
        return np.array(self.now[at])[()]

    def __setitem__(self, at, value):
        self.now[at] = value

    def __len__(self):
        return len(self.now)

    def __repr__(self):
        return f"heed.View({self.now!r})"

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self.now, name)  # shape, dtype, sum, mean, ...
        if isinstance(found, np.ndarray):
            return found.copy()
        if not callable(found):
            return found

        def call(*inputs, **settings):
            result = getattr(self.now, name)(*inputs, **settings)
            return result.copy() if isinstance(result, np.ndarray) else result
        return call
