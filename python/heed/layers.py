"""Layers: each makes its parameters in a net, under its name, and is called with tensors or arrays of the net's step. Further settings
are the fields of the layer's struct of arguments in heed/nn.h."""
from ctypes import byref

from . import _c
from . import _ops as ops
from ._library import choice, filled, index, lib, text_bytes


class Layer:
    """A layer whose parameters heed's own init makes. Subclasses name its struct, init and apply."""

    kind = init = run = None

    def __init__(self, net, name, *args):
        self.net, self.name, self.args, self.layer = net, name, args, self.kind()  # args hold texts that heed reads
        self.init(byref(self.layer), net.store, text_bytes(name, "name"), *args)
        net.context.check()

    def __call__(self, x):
        return self.made(self.run(byref(self.layer), self.net.pointer, self.net.real(x)))

    def made(self, y):
        return self.net.made(y, self.name)

    def __repr__(self):
        return f"<heed.{type(self).__name__} {self.name}>"


class Linear(Layer):
    """act(x W' + b): x (..., inputs) -> (..., outputs)."""

    kind, init = _c.heed_linear, lib.heed_linear_init

    def __init__(self, net, name, inputs, outputs, bias=True, act="identity", init=None):
        self.act = choice("heed_act", act)
        super().__init__(net, name, filled(_c.heed_linear_args, **{"in": inputs}, out=outputs, no_bias=not bias, init=init))

    def __call__(self, x):
        return self.made(lib.heed_linear_act(byref(self.layer), self.net.pointer, self.net.real(x), self.act))


class Embedding:
    """The rows of a table that ids name: (...) -> (..., width)."""

    def __init__(self, net, name, rows, width, init="normal:0.02"):
        with net.scope(name):
            self.net, self.name, self.weight = net, name, net.param("weight", (rows, width), init)

    def __call__(self, ids):
        return ops.embed(self.weight, ids, name=self.name)


class Position(Layer):
    """x (B,T,width) plus a row for each position, from `start` on. kind: learned, sinusoidal, sinusoidal-2d, no-positions."""

    kind, init = _c.heed_position, lib.heed_position_init

    def __init__(self, net, name, len, width, kind="learned"):
        super().__init__(net, name, choice("heed_position_kind", kind), index(len), index(width))

    def __call__(self, x, start=0):
        return self.made(lib.heed_position_apply(byref(self.layer), self.net.pointer, self.net.real(x), start))


class Norm(Layer):
    """LayerNorm or, with kind="rms", RMSNorm over the last dim: x (..., width) -> (..., width)."""

    kind, init, run = _c.heed_norm, lib.heed_norm_init, lib.heed_norm_apply

    def __init__(self, net, name, width, kind="layer", eps=1e-5, bias=True):
        super().__init__(net, name, filled(_c.heed_norm_args, kind=kind, width=width, eps=eps, no_bias=not bias))


class BatchNorm(Layer):
    """Batch norm over all but the last dim: x (..., width) -> (..., width). Training steps use the batch's mean and variance and update the
    running ones, which eval uses."""

    kind, init, run = _c.heed_batchnorm, lib.heed_batchnorm_init, lib.heed_batchnorm_apply

    def __init__(self, net, name, width):
        super().__init__(net, name, index(width))


class Dropout(Layer):
    """In training, each number is 0 with probability p, 0 <= p < 1, else divided by 1 - p."""

    kind, init, run = _c.heed_dropout_layer, lib.heed_dropout_layer_init, lib.heed_dropout_layer_apply

    def __init__(self, net, name, p):
        super().__init__(net, name, p)


class Conv(Layer):
    """Convolution, channels last: x (B,H,W,inputs), or (B,T,inputs) if size is one number. stride, pad, dilation, groups, extra:
    as in heed.conv2d."""

    kind, init, run = _c.heed_conv, lib.heed_conv_init, lib.heed_conv_apply

    def __init__(self, net, name, inputs, outputs, size, transposed=False, bias=True, init=None, **conv):
        size = (0, size) if isinstance(size, int) else size
        if size[0] == 0:  # along a sequence heed reads the second of each pair
            conv = {k: (0, v) if isinstance(v, int) and k != "groups" else v for k, v in conv.items()}
        super().__init__(net, name, filled(_c.heed_conv_layer_args, **{"in": inputs}, out=outputs, size=size, conv=conv,
                                           transposed=transposed, no_bias=not bias, init=init))


class Attention(Layer):
    """Multi-head attention: x (B,T,width) -> (B,T,width). Settings: heads, kv_heads, key, value, causal, hard, beta, dropout,
    rotary, no_out, no_bias, cross, memory_width, explicit_path, init, out_init."""

    kind, init = _c.heed_mha, lib.heed_mha_init

    def __init__(self, net, name, width, heads, **settings):
        super().__init__(net, name, filled(_c.heed_mha_args, width=width, heads=heads, **settings))

    def __call__(self, x, memory=None, score_bias=None, pad=None):
        n = self.net
        inputs = _c.heed_mha_inputs(memory=n.real(memory), score_bias=n.real(score_bias), pad=n.index(pad))
        return self.made(lib.heed_mha_apply(byref(self.layer), n.pointer, n.real(x), byref(inputs)))


class FeedForward(Layer):
    """down(act(up(x))) or, if gated, down(act(gate(x)) up(x)), at each position. Settings: act, gated, no_bias, init, out_init."""

    kind, init, run = _c.heed_ff, lib.heed_ff_init, lib.heed_ff_apply

    def __init__(self, net, name, width, inner, act="gelu", **settings):
        super().__init__(net, name, filled(_c.heed_ff_args, width=width, inner=inner, act=act, **settings))


def block_args(width, heads, inner, attn, mlp, settings):
    """Of an encoder's or a decoder's block."""
    return filled(_c.heed_block_args, **{
        "attn": {"width": width, "heads": heads, **attn}, "mlp": {"width": width, "inner": inner or 4 * width, "act": "gelu", **mlp},
        "pre_norm": True, "eps": 1e-5, **settings})


class Block(Layer):
    """Attention and feed-forward with norms and residuals: x (B,T,width) -> (B,T,width). attn, mlp: further settings of Attention
    and FeedForward, as dicts. Others: pre_norm (True unless given), norm, norm_no_bias, eps, dropout."""

    kind, init = _c.heed_block, lib.heed_block_init

    def __init__(self, net, name, width, heads, inner=None, causal=False, attn={}, mlp={}, **settings):
        super().__init__(net, name, block_args(width, heads, inner, {"causal": causal, **attn}, mlp, settings))

    def __call__(self, x, pad=None):
        n = self.net
        inputs = _c.heed_block_inputs(pad=n.index(pad))
        return self.made(lib.heed_block_apply(byref(self.layer), n.pointer, n.real(x), byref(inputs)))


class DecoderBlock(Layer):
    """Causal self-attention, attention to memory (B,S,width), feed-forward. Settings as of Block, and cross, as attn."""

    kind, init = _c.heed_block, lib.heed_block_init

    def __init__(self, net, name, width, heads, inner=None, attn={}, cross={}, mlp={}, **settings):
        cross = {"width": width, "heads": heads, **cross}
        super().__init__(net, name, block_args(width, heads, inner, attn, mlp, {"cross": cross, **settings}))

    def __call__(self, x, memory, pad=None, memory_pad=None):
        n = self.net
        inputs = _c.heed_block_inputs(pad=n.index(pad), memory=n.real(memory), memory_pad=n.index(memory_pad))
        return self.made(lib.heed_block_apply(byref(self.layer), n.pointer, n.real(x), byref(inputs)))


class RNN(Layer):
    """Stacked recurrent layers: x (B,T,inputs) -> (B,T,width), twice as wide if bidirectional. cell: rnn, gru, lstm. Settings:
    layers, bidirectional, act, one_bias, dropout, init."""

    kind, init = _c.heed_rnn, lib.heed_rnn_init

    def __init__(self, net, name, inputs, width, cell="lstm", act="tanh", **settings):
        super().__init__(net, name, filled(_c.heed_rnn_args, **{"in": inputs}, width=width, cell=cell, act=act, **settings))

    def __call__(self, x, pad=None):
        n = self.net
        return self.made(lib.heed_rnn_apply(byref(self.layer), n.pointer, n.real(x), n.index(pad), None, None))
