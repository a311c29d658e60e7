"""Written by declare.py from include/heed/ops.h; not to be edited."""
from ctypes import byref, c_void_p

from ._c import *
from ._library import choice, filled, index, lib
from .net import order_of, shape_of, tape_of, weights_of

__all__ = ["add", "sub", "mul", "div", "where", "scale", "activate", "identity", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "gelu",
    "gelu_tanh", "silu", "clamp", "stop_gradient", "matmul", "matmul_nt", "matmul_tn", "affine", "affine_act", "lora", "softmax",
    "log_softmax", "hardmax", "layer_norm", "rms_norm", "batch_norm", "dropout", "dropout_add", "conv2d", "conv2d_transposed", "conv1d",
    "conv1d_transposed", "max_pool", "avg_pool", "global_pool", "embed", "gather", "sum", "mean", "sum_dim", "mean_dim", "max_dim",
    "reshape", "permute", "concat", "slice", "pad", "note", "xent", "affine_xent", "bce", "mse", "recurrent", "rotary", "attention",
    "cross_attention", "self_attention", "attention_explicit"]


def add(a, b, *, name=None):
    """a + b"""
    t = tape_of(a, b)
    return t.made(lib.heed_add(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "add")


def sub(a, b, *, name=None):
    """a - b"""
    t = tape_of(a, b)
    return t.made(lib.heed_sub(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "sub")


def mul(a, b, *, name=None):
    """a b"""
    t = tape_of(a, b)
    return t.made(lib.heed_mul(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "mul")


def div(a, b, *, name=None):
    """a / b"""
    t = tape_of(a, b)
    return t.made(lib.heed_div(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "div")


def where(mask, a, b, *, name=None):
    """mask != 0 ? a : b; mask is an index tensor that broadcasts like the others"""
    t = tape_of(mask, a, b)
    return t.made(lib.heed_where(t.pointer if name is None else t.named(name), t.index(mask), t.real(a), t.real(b)), "where")


def scale(x, scale, shift=0.0, *, name=None):
    """scale x + shift"""
    t = tape_of(x)
    return t.made(lib.heed_scale(t.pointer if name is None else t.named(name), t.real(x), float(scale), float(shift)), "scale")


def activate(x, act, *, name=None):
    """act(x)"""
    t = tape_of(x)
    return t.made(lib.heed_activate(t.pointer if name is None else t.named(name), t.real(x), choice("heed_act", act)), "activate")


def identity(x, *, name=None):
    """x, as a view"""
    t = tape_of(x)
    return t.made(lib.heed_identity(t.pointer if name is None else t.named(name), t.real(x)), "identity")


def exp(x, *, name=None):
    """e^x"""
    t = tape_of(x)
    return t.made(lib.heed_exp(t.pointer if name is None else t.named(name), t.real(x)), "exp")


def log(x, *, name=None):
    """natural logarithm"""
    t = tape_of(x)
    return t.made(lib.heed_log(t.pointer if name is None else t.named(name), t.real(x)), "log")


def sqrt(x, *, name=None):
    """x >= 0; the derivative at 0 is infinite"""
    t = tape_of(x)
    return t.made(lib.heed_sqrt(t.pointer if name is None else t.named(name), t.real(x)), "sqrt")


def tanh(x, *, name=None):
    """1 - 2 / (1 + exp(2 x))"""
    t = tape_of(x)
    return t.made(lib.heed_tanh(t.pointer if name is None else t.named(name), t.real(x)), "tanh")


def sigmoid(x, *, name=None):
    """1 / (1 + exp(-x))"""
    t = tape_of(x)
    return t.made(lib.heed_sigmoid(t.pointer if name is None else t.named(name), t.real(x)), "sigmoid")


def relu(x, *, name=None):
    """max(x, 0); derivative 0 at 0"""
    t = tape_of(x)
    return t.made(lib.heed_relu(t.pointer if name is None else t.named(name), t.real(x)), "relu")


def gelu(x, *, name=None):
    """x Phi(x), Phi the normal distribution"""
    t = tape_of(x)
    return t.made(lib.heed_gelu(t.pointer if name is None else t.named(name), t.real(x)), "gelu")


def gelu_tanh(x, *, name=None):
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Hendrycks & Gimpel 2016, sec. 2"""
    t = tape_of(x)
    return t.made(lib.heed_gelu_tanh(t.pointer if name is None else t.named(name), t.real(x)), "gelu_tanh")


def silu(x, *, name=None):
    """x / (1 + exp(-x))"""
    t = tape_of(x)
    return t.made(lib.heed_silu(t.pointer if name is None else t.named(name), t.real(x)), "silu")


def clamp(x, lo, hi, *, name=None):
    """min(max(x, lo), hi); derivative 1 in [lo, hi], else 0"""
    t = tape_of(x)
    return t.made(lib.heed_clamp(t.pointer if name is None else t.named(name), t.real(x), float(lo), float(hi)), "clamp")


def stop_gradient(x, *, name=None):
    """x; no gradient flows back"""
    t = tape_of(x)
    return t.made(lib.heed_stop_gradient(t.pointer if name is None else t.named(name), t.real(x)), "stop_gradient")


def matmul(a, b, *, name=None):
    """a b"""
    t = tape_of(a, b)
    return t.made(lib.heed_matmul(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "matmul")


def matmul_nt(a, b, *, name=None):
    """a b': (..,m,k) x (..,n,k)"""
    t = tape_of(a, b)
    return t.made(lib.heed_matmul_nt(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "matmul_nt")


def matmul_tn(a, b, *, name=None):
    """a' b: (..,k,m) x (..,k,n)"""
    t = tape_of(a, b)
    return t.made(lib.heed_matmul_tn(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "matmul_tn")


def affine(x, w, b=None, *, name=None):
    """x W' + b: x (...,in), w (out,in), b (out) or None -> (...,out)"""
    t = tape_of(x, w, b)
    return t.made(lib.heed_affine(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b)), "affine")


def affine_act(x, w, act, b=None, *, name=None):
    """act(x W' + b), one pass over the output"""
    t = tape_of(x, w, b)
    return t.made(lib.heed_affine_act(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b), choice("heed_act", act)), "affine_act")


def lora(w, a, b, start, scale, *, name=None):
    """A low-rank change of a weight: w with scale B A added to its rows [from, from + rows). w (out,in..), a (r,in), b (rows,r),
    in the product of all dims of w after the first -> like w. Hu et al. 2022, eq. 3, on the weight instead of its output."""
    t = tape_of(w, a, b)
    return t.made(lib.heed_lora(t.pointer if name is None else t.named(name), t.real(w), t.real(a), t.real(b), index(start), float(scale)), "lora")


def softmax(x, *, beta=1.0, mask=None, name=None):
    """Softmax over the last dim: p_j = exp(beta x_j) / sum_k exp(beta x_k) over the unmasked k. mask: index, 0 at masked entries,
    which broadcasts over leading dims of size 1 or missing; or None. Masked entries are 0, and a fully masked row is zeros with
    zero gradients."""
    t = tape_of(x, mask)
    return t.made(lib.heed_softmax(t.pointer if name is None else t.named(name), t.real(x), float(beta), t.index(mask)), "softmax")


def log_softmax(x, *, beta=1.0, mask=None, name=None):
    """log of softmax; masked entries are 0"""
    t = tape_of(x, mask)
    return t.made(lib.heed_log_softmax(t.pointer if name is None else t.named(name), t.real(x), float(beta), t.index(mask)), "log_softmax")


def hardmax(x, *, beta=1.0, mask=None, name=None):
    """One-hot of the largest unmasked entry (lowest index if tied); the backward is softmax's."""
    t = tape_of(x, mask)
    return t.made(lib.heed_hardmax(t.pointer if name is None else t.named(name), t.real(x), float(beta), t.index(mask)), "hardmax")


def layer_norm(x, gain=None, bias=None, eps=1e-05, *, name=None):
    """Over the last dim: (x - mean) / sqrt(var + eps) gain + bias, var biased. Ba et al. 2016, eq. 4"""
    t = tape_of(x, gain, bias)
    return t.made(lib.heed_layer_norm(t.pointer if name is None else t.named(name), t.real(x), t.real(gain), t.real(bias), float(eps)), "layer_norm")


def rms_norm(x, gain=None, eps=1e-05, *, name=None):
    """Over the last dim: x / sqrt(mean(x^2) + eps) gain. Zhang & Sennrich 2019, eq. 4"""
    t = tape_of(x, gain)
    return t.made(lib.heed_rms_norm(t.pointer if name is None else t.named(name), t.real(x), t.real(gain), float(eps)), "rms_norm")


def batch_norm(x, mean, var, gain=None, bias=None, eps=1e-05, momentum=0.1, *, name=None):
    """Over all but the last dim (channels last): (x - m) / sqrt(v + eps) gain + bias. In training, m and v are the batch's mean
    and biased variance, and the running statistics mean and var (C) become (1 - momentum) times themselves plus momentum times
    the batch's (the variance unbiased, as in PyTorch); a batch needs two rows. In eval, m and v are mean and var. Ioffe & Szegedy
    2015, alg. 1."""
    t = tape_of(x, gain, bias, mean, var)
    return t.made(lib.heed_batch_norm(t.pointer if name is None else t.named(name), t.real(x), t.real(gain), t.real(bias), t.real(mean),
    t.real(var), float(eps), float(momentum)), "batch_norm")


def dropout(x, p, *, name=None):
    """In training, each element is 0 with probability p in [0, 1) (rounded to a multiple of 1/65536), else x / (1 - p); in eval,
    x. Srivastava et al. 2014, sec. 10, inverted."""
    t = tape_of(x)
    return t.made(lib.heed_dropout(t.pointer if name is None else t.named(name), t.real(x), float(p)), "dropout")


def dropout_add(onto, x, p, *, name=None):
    """onto + dropout(x, p), of one shape, in one pass."""
    t = tape_of(onto, x)
    return t.made(lib.heed_dropout_add(t.pointer if name is None else t.named(name), t.real(onto), t.real(x), float(p)), "dropout_add")


def conv2d(x, w, b=None, *, stride=None, pad=None, dilation=None, groups=None, extra=None, name=None):
    """x (B,H,W,C), w (O, C/groups, kh, kw), b (O) or None -> (B,H',W',O). a may be None"""
    t = tape_of(x, w, b)
    a = filled(heed_conv_args, stride=stride, pad=pad, dilation=dilation, groups=groups, extra=extra)
    return t.made(lib.heed_conv2d(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b), byref(a)), "conv2d")


def conv2d_transposed(x, w, b=None, *, stride=None, pad=None, dilation=None, groups=None, extra=None, name=None):
    """Transposed convolution, the gradient of conv2d with respect to its input: x (B,H,W,C), w (C, O/groups, kh, kw), b (O) or
    None -> (B,H',W',O), H' = (H-1) s - 2p + d(k-1) + extra + 1. Zeiler et al. 2010"""
    t = tape_of(x, w, b)
    a = filled(heed_conv_args, stride=stride, pad=pad, dilation=dilation, groups=groups, extra=extra)
    return t.made(lib.heed_conv2d_transposed(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b), byref(a)), "conv2d_transposed")


def conv1d(x, w, b=None, *, stride=None, pad=None, dilation=None, groups=None, extra=None, name=None):
    """The same along a sequence: x (B,T,C), w (O, C/groups, k). Only elements 1 of a are read."""
    t = tape_of(x, w, b)
    a = filled(heed_conv_args, stride=stride, pad=pad, dilation=dilation, groups=groups, extra=extra)
    return t.made(lib.heed_conv1d(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b), byref(a)), "conv1d")


def conv1d_transposed(x, w, b=None, *, stride=None, pad=None, dilation=None, groups=None, extra=None, name=None):
    """conv2d_transposed along a sequence: x (B,T,C), w (C, O/groups, k)."""
    t = tape_of(x, w, b)
    a = filled(heed_conv_args, stride=stride, pad=pad, dilation=dilation, groups=groups, extra=extra)
    return t.made(lib.heed_conv1d_transposed(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b), byref(a)), "conv1d_transposed")


def max_pool(x, *, size=None, stride=None, pad=None, name=None):
    """The maximum of each window: (B,H,W,C) -> (B,H',W',C), H' = floor((H + 2p - k) / s) + 1; ties: the gradient goes to the
    first"""
    t = tape_of(x)
    a = filled(heed_pool_args, size=size, stride=stride, pad=pad)
    return t.made(lib.heed_max_pool(t.pointer if name is None else t.named(name), t.real(x), byref(a)), "max_pool")


def avg_pool(x, *, size=None, stride=None, pad=None, name=None):
    """The mean of each window, of the same shape."""
    t = tape_of(x)
    a = filled(heed_pool_args, size=size, stride=stride, pad=pad)
    return t.made(lib.heed_avg_pool(t.pointer if name is None else t.named(name), t.real(x), byref(a)), "avg_pool")


def global_pool(x, *, name=None):
    """mean: (B,H,W,C) -> (B,C)"""
    t = tape_of(x)
    return t.made(lib.heed_global_pool(t.pointer if name is None else t.named(name), t.real(x)), "global_pool")


def embed(table, ids, *, name=None):
    """rows of the table: (V,d), (...) -> (...,d)"""
    t = tape_of(table, ids)
    return t.made(lib.heed_embed(t.pointer if name is None else t.named(name), t.real(table), t.index(ids)), "embed")


def gather(x, rows, *, name=None):
    """rows of x viewed as (N,d): (...,d), (n) -> (n,d)"""
    t = tape_of(x, rows)
    return t.made(lib.heed_gather(t.pointer if name is None else t.named(name), t.real(x), t.index(rows)), "gather")


def sum(x, *, name=None):
    """over all elements: a scalar"""
    t = tape_of(x)
    return t.made(lib.heed_sum(t.pointer if name is None else t.named(name), t.real(x)), "sum")


def mean(x, *, name=None):
    """over all elements: a scalar"""
    t = tape_of(x)
    return t.made(lib.heed_mean(t.pointer if name is None else t.named(name), t.real(x)), "mean")


def sum_dim(x, dim, *, name=None):
    """over one dim, which is kept with size 1"""
    t = tape_of(x)
    return t.made(lib.heed_sum_dim(t.pointer if name is None else t.named(name), t.real(x), index(dim)), "sum_dim")


def mean_dim(x, dim, *, name=None):
    """over one dim, which is kept with size 1"""
    t = tape_of(x)
    return t.made(lib.heed_mean_dim(t.pointer if name is None else t.named(name), t.real(x), index(dim)), "mean_dim")


def max_dim(x, dim, *, name=None):
    """The maximum over one dim, which is kept with size 1; ties: the gradient goes to the lowest index"""
    t = tape_of(x)
    return t.made(lib.heed_max_dim(t.pointer if name is None else t.named(name), t.real(x), index(dim)), "max_dim")


def reshape(x, shape, *, name=None):
    """a view; one entry may be -1"""
    t = tape_of(x)
    return t.made(lib.heed_reshape(t.pointer if name is None else t.named(name), t.real(x), len(shape), shape_of(shape)), "reshape")


def permute(x, order, *, name=None):
    """y.shape[i] = x.shape[order[i]]; a copy"""
    t = tape_of(x)
    return t.made(lib.heed_permute(t.pointer if name is None else t.named(name), t.real(x), order_of(order, x)), "permute")


def concat(x, dim, *, name=None):
    """x[0] .. x[count - 1] one after the other along a dim; their other dims must be equal"""
    t = tape_of(*x)
    x = [t.real(each) for each in x]
    return t.made(lib.heed_concat(t.pointer if name is None else t.named(name), index(dim), len(x), (c_void_p * len(x))(*x)), "concat")


def slice(x, dim, start, size, *, name=None):
    """[from, from + size) of a dim: a view if the elements are contiguous, else a copy"""
    t = tape_of(x)
    return t.made(lib.heed_slice(t.pointer if name is None else t.named(name), t.real(x), index(dim), index(start), index(size)), "slice")


def pad(x, dim, before, after, value=0.0, *, name=None):
    """`before` and `after` entries of `value` are added at the ends of a dim"""
    t = tape_of(x)
    return t.made(lib.heed_pad(t.pointer if name is None else t.named(name), t.real(x), index(dim), index(before), index(after),
    float(value)), "pad")


def note(x, value, *, name=None):
    """Returns x and keeps it for probes under "NAME.value", with NAME from at."""
    t = tape_of(x)
    return t.made(lib.heed_note(t.pointer if name is None else t.named(name), t.real(x), t.text(value)), "note")


def xent(logits, labels, *, ignore=None, smoothing=None, weights=None, name=None):
    """mean over the counted rows of -sum_c target_c w_c log softmax(logits)_c, which without args is -log softmax(logits)[label]:
    logits (...,C), labels (...) from 0 to C-1, or ignored; another label is HEED_DATA. 0 if no row is counted. args may be None"""
    t = tape_of(logits, labels)
    weights = weights_of(weights, logits, -1)
    a = filled(heed_xent_args, ignore=ignore, smoothing=smoothing, weights=weights)
    return t.made(lib.heed_xent(t.pointer if name is None else t.named(name), t.real(logits), t.index(labels), t.keep(a)), "xent")


def affine_xent(x, w, labels, b=None, *, ignore=None, smoothing=None, weights=None, name=None):
    """xent of the logits x W' + b, of which only a block of rows is in memory at a time: x (...,in), w (C,in), b (C) or None,
    labels (...). The gradients are computed with the logits, in forward."""
    t = tape_of(x, w, b, labels)
    weights = weights_of(weights, w, 0)
    a = filled(heed_xent_args, ignore=ignore, smoothing=smoothing, weights=weights)
    return t.made(lib.heed_affine_xent(t.pointer if name is None else t.named(name), t.real(x), t.real(w), t.real(b), t.index(labels),
    t.keep(a)), "affine_xent")


def bce(logits, targets, *, name=None):
    """mean of max(x,0) - x y + log(1 + exp(-|x|)): logits and targets y in [0, 1] of one shape"""
    t = tape_of(logits, targets)
    return t.made(lib.heed_bce(t.pointer if name is None else t.named(name), t.real(logits), t.real(targets)), "bce")


def mse(a, b, *, name=None):
    """mean of (a - b)^2"""
    t = tape_of(a, b)
    return t.made(lib.heed_mse(t.pointer if name is None else t.named(name), t.real(a), t.real(b)), "mse")


def recurrent(gates, w, b=None, state=None, pad=None, *, cell=None, act=None, reverse=None, name=None):
    """Recurrent layers: all time steps in one op. gates (B,T,G h): the contribution of the input, W_x x + b_x, for rnn (G = 1),
    gru (r z n) or lstm (i f g o). w (G h, h), b (G h) or None: the weights of the state. state (B,S): the state before the first
    step, or None for zeros; S = h, for lstm 2h (h, then c). pad (B,T) index or None: where it is 0, the state is unchanged. ->
    (B,T,S): the state after each step. rnn h' = act(x + h W' + b) Elman 1990 gru h' = (1-z) n + z h, n = tanh(x_n + r (h W' +
    b)_n) Cho et al. 2014, PyTorch's form lstm c' = s(f) c + s(i) tanh(g), h' = s(o) tanh(c') Hochreiter & Schmidhuber 1997"""
    t = tape_of(gates, w, b, state, pad)
    a = filled(heed_recurrent_args, cell=cell, act=act, reverse=reverse)
    return t.made(lib.heed_recurrent(t.pointer if name is None else t.named(name), t.real(gates), t.real(w), t.real(b), t.real(state),
    t.index(pad), byref(a)), "recurrent")


def rotary(x, *, heads=None, width=None, first=None, theta=None, name=None):
    """Rotary positions: the first heads * width columns of x (...,T,C) are heads of `width` numbers; the token at position p =
    first + t has its pairs (x_i, x_{i + width/2}) rotated by the angle p theta^(-2i / width), as LLaMA in transformers does.
    Further columns are copied. Then the product of a query and a key depends on the distance between their positions alone. Su et
    al. 2021, eq. 15 and 34. -> (...,T,C)"""
    t = tape_of(x)
    a = filled(heed_rotary_args, heads=heads, width=width, first=first, theta=theta)
    return t.made(lib.heed_rotary(t.pointer if name is None else t.named(name), t.real(x), byref(a)), "rotary")


def attention(q, k, v, score_bias=None, pad=None, *, heads=None, kv_heads=None, key=None, value=None, beta=None, causal=None, hard=None,
    dropout=None, name=None):
    """q (B,Tq,h e), k (B,Tk,g e), v (B,Tk,g d2) -> (B,Tq,h d2), for g key-value heads. score_bias (1|B, 1|h, Tq, Tk) or None. pad
    (B,Tk) index, 0 where a key is padding, or None. A query that sees no key gives zeros and zero gradients. Keeps q (B,h,Tq,e),
    k (B,g,Tk,e), v (B,g,Tk,d2), scores (after beta and bias, before the mask, including masked ones) and weights (before dropout)
    (B,h,Tq,Tk), each computed only if probed."""
    t = tape_of(q, k, v, score_bias, pad)
    a = filled(heed_attention_args, heads=heads, kv_heads=kv_heads, key=key, value=value, beta=beta, causal=causal, hard=hard, dropout=dropout)
    return t.made(lib.heed_attention(t.pointer if name is None else t.named(name), t.real(q), t.real(k), t.real(v), t.real(score_bias),
    t.index(pad), byref(a)), "attention")


def cross_attention(q, kv, score_bias=None, pad=None, *, heads=None, kv_heads=None, key=None, value=None, beta=None, causal=None,
    hard=None, dropout=None, name=None):
    """The same with keys and values in one stacked projection: kv (B,Tk,g(e+d2)) = [k of all heads | v]."""
    t = tape_of(q, kv, score_bias, pad)
    a = filled(heed_attention_args, heads=heads, kv_heads=kv_heads, key=key, value=value, beta=beta, causal=causal, hard=hard, dropout=dropout)
    return t.made(lib.heed_cross_attention(t.pointer if name is None else t.named(name), t.real(q), t.real(kv), t.real(score_bias),
    t.index(pad), byref(a)), "cross_attention")


def self_attention(qkv, score_bias=None, pad=None, *, heads=None, kv_heads=None, key=None, value=None, beta=None, causal=None, hard=None,
    dropout=None, name=None):
    """Self-attention on one stacked projection: qkv (B,T,h e + g(e+d2)) = [q of all heads | k | v]."""
    t = tape_of(qkv, score_bias, pad)
    a = filled(heed_attention_args, heads=heads, kv_heads=kv_heads, key=key, value=value, beta=beta, causal=causal, hard=hard, dropout=dropout)
    return t.made(lib.heed_self_attention(t.pointer if name is None else t.named(name), t.real(qkv), t.real(score_bias), t.index(pad),
    byref(a)), "self_attention")


def attention_explicit(q, k, v, score_bias=None, pad=None, *, heads=None, kv_heads=None, key=None, value=None, beta=None, causal=None,
    hard=None, dropout=None, name=None):
    """attention composed of matmul, scale, add, softmax, dropout and matmul: a reference."""
    t = tape_of(q, k, v, score_bias, pad)
    a = filled(heed_attention_args, heads=heads, kv_heads=kv_heads, key=key, value=value, beta=beta, causal=causal, hard=hard, dropout=dropout)
    return t.made(lib.heed_attention_explicit(t.pointer if name is None else t.named(name), t.real(q), t.real(k), t.real(v),
    t.real(score_bias), t.index(pad), byref(a)), "attention_explicit")
