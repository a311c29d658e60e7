"""Lesson, one attention head computed in double precision with every matrix kept under its name."""
import ctypes
from ctypes import byref

import numpy as np

from . import _c
from ._library import Context, UsageError, lib, text
from .net import numbers


class Lesson:
    """softmax(beta Q K') V with Q = X W_Q + b_Q and so on, in double: lesson["Q"], lesson["raw"], lesson["weights"], lesson["output"].
    x (tokens, features), w_q, w_k, w_v (features, width). Others: z, b_q, b_k, b_v, beta, causal, hard,
    hide (one truth value per key), rotary."""

    def __init__(self, x, w_q, w_k, w_v, z=None, b_q=None, b_k=None, b_v=None, beta=None, causal=False, hard=False, hide=None, rotary=0.0):
        kept = {k: None if v is None else np.ascontiguousarray(numbers(v), float) for k, v in
                dict(x=x, z=z, w_q=w_q, w_k=w_k, w_v=w_v, b_q=b_q, b_k=b_k, b_v=b_v).items()}
        keys = "x" if z is None else "z"
        for name, rows in (("w_q", "x"), ("w_k", keys), ("w_v", keys)):
            if kept[name].ndim != 2 or kept[rows].ndim != 2 or kept[name].shape[0] != kept[rows].shape[1]:
                raise UsageError(f"{name} of shape {kept[name].shape} does not fit {rows} of shape {kept[rows].shape}")
        key, value, sources = kept["w_q"].shape[1], kept["w_v"].shape[1], len(kept[keys])
        if key != kept["w_k"].shape[1]:
            raise UsageError(f"w_q and w_k have {key} and {kept['w_k'].shape[1]} columns: expected equally many")
        kept["hide"] = None if hide is None else np.ascontiguousarray(hide, bool)
        for name, size in (("b_q", key), ("b_k", key), ("b_v", value), ("hide", sources)):
            if kept[name] is not None and kept[name].shape != (size,):
                raise UsageError(f"{name} has shape {kept[name].shape}: expected ({size},)")
        a = _c.heed_attention_trace_args(tokens=len(kept["x"]), features=kept["x"].shape[1], key=key, value=value,
                                beta=float("nan") if beta is None else beta, causal=causal, hard=hard, rotary=rotary)
        if z is not None:
            a.sources, a.memory = kept["z"].shape
        for name, matrix in kept.items():
            setattr(a, name, None if matrix is None else matrix.ctypes.data)
        c, made = Context(), _c.heed_attention_trace()
        try:
            c.made(lib.heed_attention_trace_make(c.pointer, byref(a), byref(made)), "Lesson")
            self.parts = parts_of(made)
        finally:
            lib.heed_attention_trace_free(byref(made))

    @classmethod
    def of(cls, made):
        """Of a heed_attention_trace, from which everything is copied."""
        lesson = cls.__new__(cls)
        lesson.parts = parts_of(made)
        return lesson

    def __getitem__(self, name):
        return self.parts[name]

    def __iter__(self):
        return iter(self.parts)

    def __repr__(self):
        return f"<heed.Lesson {', '.join(f'{k} {v.shape}' for k, v in self.parts.items())}>"


def parts_of(made):
    """Copies of a heed_attention_trace's matrices by name."""
    found = {}
    for i in range(_c.HEED_TRACE_COUNT):
        m = made.part[i]
        if m.x:
            found[text(lib.heed_attention_trace_name(i))] = np.array((ctypes.c_double * (m.rows * m.cols)).from_address(m.x)).reshape(m.rows, m.cols)
    return found
