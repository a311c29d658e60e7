"""The operators and methods of Tensor, each an op."""
from numbers import Number
from operator import index

import numpy as np

from . import _ops as ops
from ._library import UsageError
from .net import Tensor


def add(a, b):
    return ops.scale(a, 1.0, b) if isinstance(b, Number) else ops.add(a, b)


def sub(a, b):
    return ops.scale(a, 1.0, -b) if isinstance(b, Number) else ops.sub(a, b)


def rsub(a, b):
    return ops.scale(a, -1.0, b) if isinstance(b, Number) else ops.sub(b, a)


def mul(a, b):
    return ops.scale(a, b) if isinstance(b, Number) else ops.mul(a, b)


def div(a, b):
    return ops.scale(a, 1.0 / b) if isinstance(b, Number) else ops.div(a, b)


def power(a, b):
    if b == 2:
        return ops.mul(a, a)
    if b == 0.5:
        return ops.sqrt(a)
    raise UsageError(f"a tensor to the power of {b}: expected 2 or 0.5; hint: heed.exp(heed.log(x) * {b})")


def counted(x, d):
    """The number of a dim, which may be counted from the end."""
    if not -x.ndim <= d < x.ndim:
        raise IndexError(f"dim {d} of a tensor of {x.ndim} dims")
    return d % x.ndim


def item(x, at):
    """x[2], x[:, 1:4], x[..., -1]: whole numbers, which drop their dim, and ranges of step 1."""
    at = at if isinstance(at, tuple) else (at,)
    wrong = [part for part in at if not (part is Ellipsis or isinstance(part, slice) or hasattr(part, "__index__")) or isinstance(part, (bool, np.ndarray))]
    if wrong:
        raise UsageError(f"an index of a tensor is a whole number or a range: found {wrong[0]!r:.60}; hint: x.numpy() has all indices of NumPy")
    if any(part is Ellipsis for part in at):
        i = next(i for i, part in enumerate(at) if part is Ellipsis)
        at = at[:i] + (slice(None),) * (x.ndim - len(at) + 1) + at[i + 1:]
    if len(at) > x.ndim:
        raise IndexError(f"{len(at)} indices for a tensor of {x.ndim} dims")
    shape = list(x.shape)
    at = tuple(part if isinstance(part, slice) else index(part) for part in at)
    for d, part in enumerate(at):
        if not isinstance(part, slice) and not -shape[d] <= part < shape[d]:
            raise IndexError(f"index {part} of a dim of size {shape[d]}")
        start, stop, step = (part if isinstance(part, slice) else slice(part % shape[d], part % shape[d] + 1)).indices(shape[d])
        if step != 1:
            raise IndexError("a range of a tensor has step 1")
        if (start, stop) != (0, shape[d]):
            x = ops.slice(x, d, start, stop - start)
    kept = [n for d, n in enumerate(x.shape) if d >= len(at) or isinstance(at[d], slice)]
    return x if len(kept) == x.ndim else ops.reshape(x, kept)


def reduced(whole, one):
    """Over all elements, or over one dim, which is dropped unless it is to be kept."""
    def reduce(x, dim=None, keepdim=False, *, axis=None, keepdims=False):
        """Over all elements, or over one dim. axis and keepdims are NumPy's names of dim and keepdim."""
        dim, keepdim = axis if dim is None else dim, keepdim or keepdims
        if dim is None:
            return whole(x)
        d = counted(x, dim)
        y = one(x, d)
        return y if keepdim else ops.reshape(y, [n for i, n in enumerate(x.shape) if i != d])
    return reduce


def largest(x):
    return ops.reshape(ops.max_dim(ops.reshape(x, (x.size,)), 0), ())


def transposed(x):
    """The last two dims exchanged."""
    order = list(range(x.ndim))
    order[-2:] = reversed(order[-2:])
    return ops.permute(x, order)


def shaped(function):
    """A method that takes x.reshape(2, 3) and x.reshape((2, 3))."""
    def method(x, *shape):
        return function(x, shape[0] if len(shape) == 1 and np.ndim(shape[0]) else shape)
    method.__doc__ = function.__doc__
    return method


for name, method in {
        "__add__": add, "__radd__": add, "__sub__": sub, "__rsub__": rsub, "__mul__": mul, "__rmul__": mul, "__truediv__": div,
        "__rtruediv__": lambda a, b: ops.div(a.net.input(float(b)) if isinstance(b, Number) else b, a),
        "__matmul__": lambda a, b: ops.matmul(a, b), "__rmatmul__": lambda a, b: ops.matmul(b, a),
        "__neg__": lambda a: ops.scale(a, -1.0), "__pow__": power, "__getitem__": item, "T": property(transposed),
        "sum": reduced(ops.sum, ops.sum_dim), "mean": reduced(ops.mean, ops.mean_dim), "max": reduced(largest, ops.max_dim),
        "reshape": shaped(ops.reshape), "permute": shaped(ops.permute), "exp": ops.exp, "log": ops.log, "sqrt": ops.sqrt,
        "tanh": ops.tanh, "sigmoid": ops.sigmoid, "relu": ops.relu, "gelu": ops.gelu, "silu": ops.silu, "softmax": ops.softmax}.items():
    setattr(Tensor, name, method)
