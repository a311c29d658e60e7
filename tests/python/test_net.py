"""Tensors, ops, layers, gradients, optimizers against NumPy; what is refused."""
import gc

import heed
import numpy as np
from tools import raises

close = lambda a, b: np.testing.assert_allclose(np.asarray(a), b, rtol=2e-5, atol=2e-6)
rng = np.random.default_rng(0)


def inputs(*shapes):
    net = heed.Net(seed=1, threads=1)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    return net, arrays, [net.input(a) for a in arrays]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_operators():
    net, (a, b, m), (x, y, z) = inputs((2, 3), (2, 3), (3, 4))
    for got, expected in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (x @ z, a @ m), (-x, -a), (x + 2, a + 2), (2 - x, 2 - a),
                          (3 * x, 3 * a), (x / 4, a / 4), (1 / x, 1 / a), (x ** 2, a ** 2), (x + b, a + b), (b - x, b - a), (a @ z, a @ m),
                          (x.T, a.T), (x.sum(), a.sum()), (x.sum(0), a.sum(0)), (x.mean(-1), a.mean(-1)), (x.max(dim=1, keepdim=True), a.max(1, keepdims=True)),
                          (x.max(), a.max()), (x.sum(axis=0), a.sum(0)), (x.mean(axis=-1, keepdims=True), a.mean(-1, keepdims=True)), (x[1], a[1]), (x[:, 1:], a[:, 1:]), (x[..., -1], a[..., -1]), (x.reshape(3, 2), a.reshape(3, 2)), (x.reshape(np.int64(6)), a.reshape(6)),
                          (x.exp(), np.exp(a)), (x.softmax(), softmax(a)), (heed.concat([x, y], 1), np.concatenate([a, b], 1)),
                          (heed.slice(x, 1, 1, np.int64(2)), a[:, 1:3]), (x * np.float32(2), 2 * a), (heed.scale(x, 2, 1), 2 * a + 1), (net.input(3.0), 3.0)):
        assert got.shape == np.shape(expected), (got, np.shape(expected))
        close(got, expected)


def test_ops_with_arguments():
    net, (a, w, c), (x, y, _) = inputs((2, 5, 4), (3, 4), (2, 4))
    close(heed.affine(x, w), a @ w.T)
    close(heed.affine_act(x, w, "relu"), np.maximum(a @ w.T, 0))
    hidden = np.array([1, 1, 0, 1])
    close(heed.softmax(x, beta=2.0, mask=hidden), softmax(np.where(hidden, 2 * a, -np.inf)))
    close(heed.permute(x, (2, 0, 1)), a.transpose(2, 0, 1))
    logits, labels = a.reshape(-1, 4), np.array([0, 1, 2, 3, -100, 1, 2, -100, 0, 3])
    kept, weights = labels >= 0, np.array([1.0, 2.0, 0.5, 1.0])
    each = -np.log(softmax(logits))[np.arange(10), np.maximum(labels, 0)]
    close(heed.xent(logits, net.ids(labels)), each[kept].mean())
    share = weights[labels[kept]]
    close(heed.xent(net.input(logits), labels, weights=weights), (each[kept] * share).sum() / share.sum())
    close(heed.max_pool(net.input(np.arange(16.0).reshape(1, 4, 4, 1)), size=2)[0, :, :, 0], [[5, 7], [13, 15]])
    picture, kernel = rng.standard_normal((1, 5, 5, 1)), rng.standard_normal((1, 1, 3, 3))
    expected = [[(picture[0, i:i + 3, j:j + 3, 0] * kernel[0, 0]).sum() for j in (0, 2)] for i in (0, 2)]
    close(heed.conv2d(net.input(picture), kernel, stride=2)[0, :, :, 0], expected)
    for wrong in (np.array([2**31]), np.array([0.5]), np.array([np.nan]), ["1"]):
        with raises(heed.UsageError, "ids: expected whole numbers"):
            net.ids(wrong)
    assert net.ids(np.array([1.0, 0.0])).shape == net.ids([True, False]).shape == (2,)
    with raises(TypeError, "strides"):
        heed.conv2d(net.input(picture), kernel, strides=2)


def test_attention():
    net, arrays, (q, k, v) = inputs((1, 4, 6), (1, 4, 6), (1, 4, 6))
    y = heed.attention(q, k, v, heads=2, key=3, value=3, causal=True, beta=0.7)
    seen = np.tril(np.ones((4, 4), bool))
    heads = [[x[0, :, 3 * h:3 * h + 3] for x in arrays] for h in range(2)]
    close(y[0], np.concatenate([softmax(np.where(seen, 0.7 * a @ b.T, -np.inf)) @ c for a, b, c in heads], 1))


def test_training_and_optimizer():
    """A step of Adam by hand; then a fit of XOR."""
    net = heed.Net(seed=3)
    w, o = net.param("w", np.array([2, 3]), "normal:1"), heed.Adam(net, lr=np.float32(0.1))
    before, x = w.numpy(), rng.standard_normal((5, 3)).astype(np.float32)
    net.train(0)
    ((net.input(x) @ w.T) ** 2).sum().backward()
    g = 2 * before @ (x.T @ x)
    close(w.grad, g)
    o.step()
    close(w, before - 0.1 * g / (np.abs(g) + 1e-8))
    assert not w.grad.any()
    heed.Muon(net, muon_momentum=0.9, muon_iterations=5)
    with raises(TypeError, "muon_iterations"):
        heed.AdamW(net, muon_iterations=5)
    net = heed.Net(seed=1)
    up, down = heed.Linear(net, "up", 2, 8, act="tanh"), heed.Linear(net, "down", 8, 1)
    o, x, y = heed.AdamW(net, lr=0.05), [[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]]
    for step in range(200):
        net.train(step)
        loss = heed.mse(down(up(x)), y)
        loss.backward()
        o.step()
    assert loss.item() < 1e-3 and len(net) == 33
    with raises(heed.UsageError, "momentum"):
        heed.AdamW(net, momentum=0.9)
    assert abs(heed.Schedule("cosine", steps=100, warmup=10)(4) - 0.5) < 1e-6


def test_layers():
    """Each layer runs, and its gradients are those of its values."""
    x = rng.standard_normal((2, 6, 8)).astype(np.float32)
    for make in (lambda n: heed.Linear(n, "l", 8, 5, act="gelu"), lambda n: heed.Norm(n, "l", 8), lambda n: heed.Norm(n, "l", 8, kind="rms"),
                 lambda n: heed.Attention(n, "l", 8, 2, causal=True, kv_heads=1, rotary=1e4), lambda n: heed.FeedForward(n, "l", 8, 16, gated=True, act="silu"),
                 lambda n: heed.Block(n, "l", 8, 2), lambda n: heed.Block(n, "l", 8, 2, pre_norm=False, norm="rms", attn={"no_bias": True}),
                 lambda n: heed.RNN(n, "l", 8, 5, cell="gru", bidirectional=True), lambda n: heed.Position(n, "l", 6, 8), lambda n: heed.BatchNorm(n, "l", 8),
                 lambda n: heed.Conv(n, "l", 8, 4, 3, pad=1), lambda n: heed.Dropout(n, "l", 0.0)):
        net = heed.Net(seed=2, threads=1)
        layer = make(net)
        scale = net.param("scale", (1,), "one")  # so that every layer trains something
        y = layer(x)
        assert y.shape[:2] == (2, 6), layer
        error, worst = net.gradcheck(lambda: ((layer(x) * scale) ** 2).mean())
        assert error < 0.02, (layer, error, worst)
    net = heed.Net()
    decoder, ids = heed.DecoderBlock(net, "d", 8, 2), heed.Embedding(net, "e", 9, 8)
    assert decoder(ids([[1, 2, 3]]), x[:1]).shape == (1, 3, 8) and net["e.weight"].shape == (9, 8)
    net.freeze("d.*")
    error, _ = net.gradcheck(lambda: (heed.stop_gradient(net["e.weight"]) * net["e.weight"]).sum())
    assert error > 0.3  # the check bites: half of the gradient is missing


def test_arrays():
    """Parameters share heed's memory, and outlive the net; views of a step end with it."""
    net = heed.Net()
    w = net.param("w", (2, 2), "one")
    a = w.array
    a[0, 0] = 5
    net.eval()
    assert w.numpy()[0, 0] == 5 and (net.input(np.eye(2)) @ w).numpy()[0, 0] == 5 and not np.shares_memory(w.numpy(), a)
    y = w * 2
    view = y.array
    assert view.shape == (2, 2) and (view + 1)[0, 0] == 11 and view.sum() == 16 and np.concatenate([view, view]).shape == (4, 2)
    copy = np.asarray(view)
    net.eval()
    for use in (lambda: view + 1, lambda: view[0], lambda: view.sum(), lambda: np.sum(view), lambda: np.asarray(view), lambda: view.shape, lambda: len(view),
                lambda: repr(view), lambda: y.numpy(), lambda: y.shape, lambda: y + 1, lambda: heed.exp(y), lambda: y.backward()):
        with raises(heed.Error, "earlier step"):
            use()
    assert copy[0, 0] == 10
    with raises(heed.Error, "another net"):
        heed.Net().input(1.0) + w
    del net, w, y, view, use
    gc.collect()
    assert a[0, 0] == 5 and a.sum() == 8


def test_cycle():
    """Objects that refer to each other are closed in any order."""
    for _ in range(50):
        net = heed.Net()
        optimizer, names = heed.AdamW(net), {}
        net.param("w", (1000,))
        names.update(names=names, net=net, optimizer=optimizer, context=net.context)
        del net, optimizer, names
        gc.collect()


def test_errors():
    net, _, (x, y) = inputs((2, 3), (2, 3))
    with raises(heed.UsageError, "matmul", "inner 3 != 2"):
        x @ y
    assert (x @ y.T).shape == (2, 2)  # the error was cleared
    net.eval()
    with raises(heed.UsageError, "hint: begin the step with net.train(step)"):
        heed.mse(net.input(np.ones((1, 2))), np.ones((1, 2))).backward()
    other = heed.Net()
    layer, optimizer = heed.Linear(other, "layer", 2, 1), heed.SGD(other, lr=1.0)
    other.train(0)
    heed.mse(layer(np.full((1, 2), 1e30)), np.ones((1, 1))).backward()
    with raises(heed.DivergedError, "hint: a smaller lr, or optimizer.clip(1.0) before each step"):
        optimizer.step()
    net, _, (x, y) = inputs((2, 3), (2, 3))
    with raises(heed.UsageError, "is not one of", "gelu"):
        heed.activate(x, "gellu")
    with raises(heed.UsageError, "input 1 is NULL"):
        heed.add(x, None)
    with raises(TypeError, "net.input"):
        heed.add(1.0, 2.0)
    with raises(heed.UsageError, "all 2 dims"):
        x.permute(1)
    with raises(heed.UsageError, "each of 3 classes"):
        heed.xent(x, [0, 1], weights=[1, 2])
    with raises(IndexError):
        x[5]
    with raises(IndexError):
        x[np.int64(5)]
    with raises(KeyError):
        net["nothing"]
    with raises(heed.DataError, "nothing.safetensors"):
        net.load("nothing.safetensors")
    for wrong in (None, "a", ["a"], [1j], [[1], [2, 3]], {}, object()):
        with raises(heed.UsageError, "expected an array of numbers, found"):
            net.input(wrong)
    for wrong in (heed.mse, heed.add):
        with raises(heed.UsageError, "expected an array of numbers, found"):
            wrong(x, "a")
    for wrong in ([0, 1], None, np.ones((2, 3), bool), 1.5, True):
        with raises(heed.UsageError, "an index of a tensor is a whole number or a range"):
            x[wrong]
    for wrong in (net.param, net.probe, net.freeze, net.lora, heed.Linear, heed.Norm):
        with raises(heed.UsageError, "expected a text, found None"):
            wrong(*((net, None, 2, 2) if isinstance(wrong, type) else (None, 2, 1) if wrong == net.lora else (None, (2,)) if wrong == net.param else (None,)))
    for wrong in (dict(lr="a"), dict(lr=np.nan)):
        with raises(heed.UsageError, "lr is out of range"):
            heed.AdamW(net, **wrong)
    for wrong in (-1, 1.5, "a"):
        with raises(heed.UsageError, "step is out of range"):
            heed.Net().train(wrong)
    large = 2**32 + 8  # for C's int, 8
    for wrong in (lambda: heed.Linear(net, "large", large, 4), lambda: heed.BatchNorm(net, "large", large), lambda: net.param("large", (large,)),
                  lambda: heed.Conv(net, "large", 3, 4, (large, 3)), lambda: heed.reshape(x, (large, 3)), lambda: heed.sum_dim(x, 2**32)):
        with raises(heed.UsageError, "a whole number is out of range"):
            wrong()
    with raises(heed.UsageError, "most is out of range"):
        heed.AdamW(net).clip(np.nan)
    with raises(heed.UsageError, "a gradient of shape"):
        x.backward(np.ones(3))
    with raises(heed.UsageError, "expected 2 or 0.5"):
        x ** 3
    net.param("w", 1)
    with raises(heed.UsageError, "w"):
        net.param("w", (1,))
    with raises(ZeroDivisionError):
        net.gradcheck(lambda: 1 / 0)
    assert (x + 1).shape == (2, 3)


def test_probes_files_and_adapters():
    net = heed.Net(seed=1)
    with net.scope("a"):
        attention = heed.Attention(net, "b", 8, 2)
    net.probe("*.weights")
    net.eval()
    attention(np.ones((1, 3, 8)))
    close(net.probed()["a.b.weights"], np.full((1, 2, 3, 3), 1 / 3))
    net.save("net.safetensors")
    kept = net["a.b.qkv.weight"].numpy()
    net["a.b.qkv.weight"].array[:] = 0
    net.load("net.safetensors")
    close(net["a.b.qkv.weight"], kept)
    assert net.freeze("*.qkv.*") == 2 and set(net.parameters(trained=True)) == {"a.b.out.weight", "a.b.out.bias"}
    assert net.lora("a.b.out.weight", 2, 4.0) == 1 and "a.b.out.weight.lora.a" in net
    net.merge_lora()
    assert "a.b.out.weight.lora.a" not in net


def test_lesson():
    x, w = rng.standard_normal((3, 4)), [rng.standard_normal((4, 2)) for _ in range(3)]
    l = heed.Lesson(x, *w)
    p = softmax(x @ w[0] @ (x @ w[1]).T / np.sqrt(2))
    np.testing.assert_allclose(l["output"], p @ (x @ w[2]), rtol=1e-13)
    hidden = heed.Lesson(x, *w, hide=[False, True, False])["weights"]
    assert not hidden[:, 1].any() and hidden.sum() > 2.9
    with raises(ValueError, "w_k"):
        heed.Lesson(x, w[0], w[1][:3], w[2])
    with raises(ValueError, "b_q"):
        heed.Lesson(x, *w, b_q=[1])
    with raises(ValueError, "hide"):
        heed.Lesson(x, *w, hide=[True])
