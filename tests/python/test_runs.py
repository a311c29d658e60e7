"""Training, opening and using runs; records; other folders; what is refused, and what Ctrl-C does."""
import copy
import gc
import inspect
import json
import logging
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import heed
import numpy as np
from heed.data import write_png
from tools import SMALL, facts, raises

HEED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "release", "heed")


def written(svg):
    """Of an SVG, of which a sentence may be in several lines."""
    return " ".join(re.sub("<[^>]*>", " ", svg).split())


def weights(path):
    return (pathlib.Path(path) / "model.safetensors").read_bytes()


def reversed_pairs():
    return heed.train("seq2seq", [("a b", "b a"), ("b a", "a b")] * 20, layers=1, heads=2, width=16, block=8, batch=16, steps=5, threads=1)


def test_train_mlm_and_everything_of_it():
    said = []
    run = heed.train("mlm", facts(), out="run", progress=said.append, steps=60, evals=3, val="my facts.txt", **SMALL)
    assert [r.event for r in said].count("step") == 60 and [r.step for r in said if r.event == "eval"] == [20, 40, 60]
    assert run.task == "mlm" and run.path == "run" and run.step and run.result["step"] == 60 and not run.result["stopped"]
    assert run.settings["val"] == "my facts.txt" and len(run.net) > 1000
    m = run.metrics
    assert list(m["step"][m["split"] == "val"]) == [20, 40, 60] and np.isfinite(m["loss"]).all()
    # what the program makes of the same settings has the same bits
    if os.path.exists(HEED) and not os.environ.get("HEED_LIBRARIES"):  # of another build
        flags = [w for k, v in {**SMALL, "steps": 60, "evals": 3, "val": "my facts.txt"}.items() for w in ("--" + k, str(v))]
        subprocess.run([HEED, "train", "mlm", "my facts.txt", "-o", "same", *flags], check=True, capture_output=True)
        assert weights("run") == weights("same")
    # predictions
    words = "Paris is the capital of [MASK] ."
    (guesses,) = run.fill(words, top=3)
    assert len(guesses) == 3 and guesses[0][1] >= guesses[1][1] and len(run.fill("[MASK] is [MASK]")) == 2
    every = [token for token, _ in run.fill(words, top=1000)[0]]
    assert set(every) == set(run.vocabulary) and set(every[-5:]) == {"[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"}
    with raises(heed.DataError, "[MASK]"):
        run.fill("Paris")
    with raises(heed.UsageError, "causal"):
        run.generate("Paris")
    assert run.decode(run.encode("the capital of Rome")) == "the capital of Rome" and "Rome" in run.vocabulary
    # the record
    record = run.attend(words, rollout=True, occlusion=True, gradient=True)
    (block,) = record.blocks
    assert block.weights.shape == (2, 9, 9) and block.queries.labels[1] == "Paris" and block.queries.special[0]
    np.testing.assert_allclose(block.weights.sum(-1), 1, rtol=1e-5)
    raw = block.q @ block.k.transpose(0, 2, 1)
    np.testing.assert_allclose(raw, block.raw, rtol=1e-4, atol=1e-5)
    assert set(record.maps) >= {"rollout", "occlusion", "gradient"} and record.maps["rollout"].values.shape == (9, 9)
    ((position, says, found),) = record.predictions
    assert position == 6 and says == "[MASK]" and found[0][0] == guesses[0][0]
    assert abs(found[0][1] - guesses[0][1]) < 1e-6
    whole = record.words()
    assert whole.axes[0].labels[1] == "Paris" and np.allclose(whole.blocks[0].weights.sum(2), 1) and whole.blocks[0].q is None
    kept = record.blocks[0].weights
    assert record.text(head=1).startswith("encoder, layer 1 of 1, head 2")
    scales = {record.text(head=h).rstrip().rsplit("\n", 1)[-1] for h in range(len(block.heads))}
    assert len(scales) == 1 and len(block.heads) > 1, scales  # of the layer, for each of its heads
    for name, write in (("r.npz", record.npz), ("r.csv", record.csv), ("r.png", record.png), ("r.svg", record.png), ("r.html", record.html)):
        write(name)
        assert os.path.getsize(name) > 500
    drawn = pathlib.Path("r.svg").read_text()
    assert "Attention alone is no explanation" in written(drawn)
    assert ">encoder, layer 1 of 1" in drawn and all(f">{words}<" in drawn for words in ("head 1", "head 2")) and "head 0" not in drawn
    np.testing.assert_array_equal(heed.read("r.npz").blocks[0].weights, block.weights)
    with np.load("r.npz") as files:  # without the JSON within it
        assert files["encoder.0.attn.keys"].tolist() == files["maps.0.queries"].tolist() == block.keys.labels
        assert files["encoder.0.attn.heads"].tolist() == [0, 1] and set(files["maps"]) >= set(record.maps)
    assert json.loads(record.json())["heed"].startswith("attention") and "Paris" in record.text() and "<iframe" in record._repr_html_()
    title = record.title
    del record, block, run
    assert title == words and kept.sum() > 17  # arrays outlive their record and its run
    run = heed.open("run")
    assert run.fill(words, top=3)[0] == guesses
    own = run.evaluate()
    with raises(heed.DataError, "nothing.txt"):
        run.evaluate("nothing.txt")
    pathlib.Path("other.txt").write_text("Paris is the capital of Japan .\n" * 9)
    assert run.evaluate("my facts.txt") == run.evaluate(os.path.abspath("my facts.txt")) == own
    assert run.evaluate("other.txt")["loss"] != own["loss"] and run.evaluate() == own and run.settings["data"] == "my facts.txt"
    assert len(run.heads()["entropy"][0]) == 2 and [h for _, h, _, _ in run.ablate()] in ([0, 1], [1, 0])
    lesson = run.explain(words, layer=0, head=1)
    np.testing.assert_allclose(lesson["weights"], run.attend(words).blocks[0].weights[1], atol=1e-6)
    assert run.embed([words, "Rome"]).shape == (2, 16)
    influence = run.influence(words)
    assert influence.maps["influence"].values.shape == (9, 9)
    with raises(heed.UsageError, "the record has no layers to show"):
        influence.png("influence.png")
    # parameters without copies: what is written there changes the model
    bias = run.net["head.bias"].array
    bias[run.encode("Tokyo")] += 100
    assert run.fill(words)[0][0][0] == "Tokyo"
    run.save("changed")
    assert heed.open("changed").fill(words)[0][0][0] == "Tokyo"


def test_generate_stop_and_resume():
    run = heed.train("gpt", facts(), out="whole", steps=80, seed=3, **SMALL)
    seen = run.generate("Paris is", n=8, temperature=0)
    pieces = []
    assert run.generate("Paris is", n=8, temperature=0, on_token=pieces.append) == seen == "Paris is" + "".join(pieces)
    two = run.generate("The", n=5, samples=2, seed=3)
    assert len(two) == 2 and two[0] == run.generate("The", n=5, seed=3)
    letters = heed.train("gpt", facts(), out="letters", steps=2, **{**SMALL, "tokenizer": "char"})
    with raises(heed.DataError, "has not learned how a line begins"):
        letters.generate()
    ids = letters.encode("Paris")
    assert letters.generate(np.array(ids), n=3) == letters.generate(ids, n=3)
    assert letters.generate("P", n=3).startswith("P")
    with raises(KeyboardInterrupt):
        run.generate("The", n=100000, on_token=lambda t: os.kill(os.getpid(), signal.SIGINT))
    assert run.generate("Paris is", n=0) == "Paris is"
    for ids in ([-1], [2**32 + 1], [1, 10**6]):  # not wrapped, not dropped
        for use in (run.decode, run.attend):
            with raises(heed.UsageError, f"token {ids[-1]} is not in the vocabulary: expected 0 to {len(run.vocabulary) - 1}"):
                use(ids)
    for wrong in (dict(n=-1), dict(temperature=float("nan")), dict(temperature=-1), dict(top_k=-5), dict(top_p=2), dict(samples=65), dict(seed=-1)):
        with raises(heed.UsageError, f"{[*wrong][0]} is out of range: expected "):
            run.generate("Paris", **wrong)
    with raises(TypeError, "cannot be copied"):
        copy.copy(run.attend("Paris is"))
    with raises(ZeroDivisionError):
        run.generate("Paris", on_token=lambda t: 1 / 0)
    assert run.generate("Paris is", n=8, temperature=0) == seen
    part = heed.train("gpt", facts(), out="part", steps=80, progress=lambda r: r.step < 30, seed=3, **SMALL)
    assert part.result["stopped"] and part.result["step"] == 30 and part.generate("Paris", n=3)
    done = heed.resume("part", threads=1)
    assert done.result["step"] == 80 and not done.result["stopped"] and weights("part") == weights("whole")
    with raises(ZeroDivisionError):
        heed.train("gpt", facts(), out="raised", steps=80, progress=lambda r: r.step < 30 or 1 / 0, seed=3, **SMALL)
    assert heed.resume("raised", threads=1).result["step"] == 80 and weights("raised") == weights("whole")


def test_training_a_step_at_a_time():
    options = dict(layers=1, heads=2, width=16, block=8, batch=16, evals=2, threads=1)
    heed.train("gpt", facts(), out="whole", steps=12, **options)
    with heed.Training("gpt", facts(), out="steps", steps=12, **options) as training:
        steps = []
        for report in training:
            steps.append(report.step)
            assert report.loss > 0 and isinstance(training.run.generate("the", n=3), str)
        assert steps == list(range(1, 13)) and training.step() is None and training.result["step"] == 12
    assert weights("steps") == weights("whole")
    with raises(heed.UsageError, "was closed"):
        training.step()
    with heed.Training("gpt", facts(), out="early", steps=12, **options) as training:
        for _ in range(5):
            training.step()
        training.save()
    assert heed.resume("early").result["step"] == 12 and weights("early") == weights("whole")


def test_special_tokens_are_not_made():
    """Though they were the most probable, as with the command."""
    gpt, pairs = heed.train("gpt", facts(), steps=5, **SMALL), reversed_pairs()
    for run, norm, make in ((gpt, "norm", lambda: gpt.generate("Paris", n=3, temperature=0)),
                            (pairs, "decoder.0.norm3", lambda: pairs.translate("a b", beam=2))):
        run.net[norm + ".weight"].array[:], run.net[norm + ".bias"].array[:] = 0, 1
        run.net["embed.token.weight"].array[run.vocabulary.index("[UNK]")] = 9
        assert "[UNK]" not in make()


def test_killed_before_the_first_checkpoint():
    """What is left is what the command resumes, too: the run without its weights. It starts again, and is the same."""
    heed.train("gpt", facts(), out="run", steps=5, **SMALL)
    made = weights("run")
    shutil.rmtree("run/last")
    for name in ("model.safetensors", "metrics.csv"):
        os.remove(f"run/{name}")
    os.rename("my facts.txt", "moved.txt")
    with raises(heed.DataError, "the data of the run is missing: run/config.conf", 'heed.resume("run", data=PATH)'):
        heed.resume("run")
    os.rename("moved.txt", "my facts.txt")
    assert heed.resume("run", threads=1).result["step"] == 5 and weights("run") == made
    with raises(heed.DataError, "run is missing: nowhere: expected the folder of a run, found nothing"):
        heed.resume("nowhere")
    config = pathlib.Path("run/config.conf")
    config.write_text(config.read_text().replace("\nseed = 1\n", "\nseed = one\n"))
    with raises(heed.DataError, "seed is wrong: run/config.conf: expected a whole number, found one"):
        heed.open("run")


def test_without_a_tokenizer():
    """Token ids are what the command takes; what requires texts says so."""
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "exchange")
    gpt, bert = heed.import_(os.path.join(golden, "gpt2")), heed.import_(os.path.join(golden, "bert"))
    assert gpt.attend([3, 1, 4]).blocks[0].keys.labels == ["3", "1", "4"] and gpt.attend([3, 1, 4]).title == "3 1 4"
    np.testing.assert_array_equal(gpt.attend(np.array([3, 1, 4])).blocks[0].weights, gpt.attend("3 1 4").blocks[0].weights)
    made, pieces = gpt.generate([3, 1, 4], n=3, temperature=0, on_token=(seen := []).append), []
    assert made == [3, 1, 4] + seen and len(gpt.generate([3], n=2, samples=3)) == 3
    same = gpt.generate([3, 1], n=0, samples=2)
    same[0].append(9)
    assert same[1] == [3, 1]  # a list of its own for each sample
    words = gpt.generate("3 1 4", n=3, temperature=0, on_token=pieces.append)
    assert words == " ".join(map(str, made)) == "3 1 4" + "".join(pieces)
    for call in (lambda: gpt.attend([]), lambda: gpt.attend([1] * 5000), gpt.generate, lambda: gpt.generate([])):
        with raises(heed.DataError):
            call()
    with raises(heed.DataError, "holds no token", "as [3, 1, 4]: the run has no tokenizer"):
        gpt.generate()
    for use, wrongs in ((gpt.attend, (5, None, [1.5], ["a"], [[1, 2]], b"3 1")), (gpt.generate, (5, None, [1.5], [[1.5]], b"3 1"))):
        for wrong in wrongs:
            with raises(heed.UsageError, "expected a text or a sequence of token ids, found"):
                use(wrong)
    assert gpt.generate([[3, 1, 4], np.array([3])], n=3, temperature=0) == [made, gpt.generate([3], n=3, temperature=0)]
    for use in (lambda: bert.fill([3, 1]), lambda: bert.fill("3 1")):
        with raises(heed.UsageError, "fill requires a tokenizer", "vocab.txt"):
            use()
    with raises(heed.UsageError, "the run has no tokenizer", "expected token ids instead of texts"):
        gpt.encode("3 1")
    for wrong in ([3, 1], 5, []):
        with raises(heed.UsageError, f"expected a text or a list of texts, found {wrong}"):
            bert.embed(wrong)
    gpt.save("saved")
    with raises(heed.DataError, "there is no training to resume: saved has a model without its training", '`from_="saved"`'):
        heed.resume("saved")
    for method in ("evaluate", "heads", "ablate"):
        with raises(heed.DataError, "the run names no data", f"run.{method}(PATH)"):
            getattr(gpt, method)()


def test_data_that_was_moved():
    run = heed.train("gpt", facts(), out="run", steps=5, **SMALL)
    os.rename("my facts.txt", "moved.txt")
    for call, hint in ((run.evaluate, "run.evaluate(PATH)"), (run.heads, "run.heads(PATH)"), (run.ablate, "run.ablate(PATH)"),
                       (lambda: heed.resume("run", steps=6), 'heed.resume("run", data=PATH)')):
        with raises(heed.DataError, "the data of the run is missing: run/config.conf: data = my facts.txt; hint: ", hint):
            call()
    with raises(heed.UsageError, 'unknown setting "max_iters": did you mean steps?'):
        heed.resume("run", data="moved.txt", max_iters=6)
    with raises(heed.UsageError, 'unknown setting "output_dir"; hint: heed.settings("gpt")'):  # resume has no out
        heed.resume("run", data="moved.txt", output_dir="other")
    assert run.evaluate("moved.txt")["loss"] and heed.resume("run", steps=6, data="moved.txt").result["step"] == 6
    run = heed.train("gpt", "moved.txt", out="apart", val=facts(), steps=5, **SMALL)
    os.rename("my facts.txt", "apart.txt")
    for call, hint in ((run.evaluate, "run.evaluate(PATH)"), (lambda: heed.resume("apart", steps=6), 'heed.resume("apart", val=PATH)')):
        with raises(heed.DataError, "the validation data of the run is missing: apart/config.conf: val = my facts.txt; hint: ", hint):
            call()
    with raises(heed.DataError, 'heed.resume("apart", data="moved.txt", val=PATH)'):
        heed.resume("apart", data="moved.txt", steps=6)
    assert heed.resume("apart", steps=6, val="apart.txt").result["step"] == 6
    os.rename("run/last", "run/gone")
    with raises(heed.DataError, "run has lost its checkpoint", '`from_="run"`'):
        heed.resume("run", data="moved.txt")


def test_encoder_without_a_head():
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "exchange", "bert-encoder")
    run = heed.import_(golden)
    with raises(heed.UsageError, "imported without a head"):
        run.fill("3 1")
    with raises(heed.UsageError, "token 29 is not in the vocabulary: expected 0 to 28"):
        run.attend([29])
    assert run.embed("3 1").shape == (16,)


def test_ctrl_c():
    """It saves the run, raises KeyboardInterrupt, and leaves the handler as it was."""
    before = signal.getsignal(signal.SIGINT)
    at = lambda step: {"progress": lambda r: r.step != step or os.kill(os.getpid(), signal.SIGINT), **SMALL}
    with raises(KeyboardInterrupt, 'interrupted at step 20 of 100,000; the run is saved; hint: heed.resume("run") continues it'):
        heed.train("gpt", facts(), out="run", steps=100000, **at(20))
    assert signal.getsignal(signal.SIGINT) is before
    assert 20 <= heed.open("run", "last").step < 1000
    with raises(KeyboardInterrupt, 'interrupted at step 30 of 100,000; the run is saved; hint: heed.resume("run") continues it'):
        heed.resume("run", progress=at(30)["progress"])
    with raises(KeyboardInterrupt, "interrupted at step 20 of 100,000; nothing is saved; hint: with out=PATH"):
        heed.train("gpt", "my facts.txt", steps=100000, **at(20))
    last = lambda r: r.event != "saved" or r.step < 40 or os.kill(os.getpid(), signal.SIGINT)
    with raises(KeyboardInterrupt, 'interrupted after the last step; the run is saved; hint: heed.open("run") opens it'):
        heed.resume("run", progress=last, steps=40)
    assert heed.open("run", "last").step == 40
    assert sorted(os.listdir()) == ["my facts.txt", "run"]


def test_ctrl_c_on_data():
    """It ends an evaluation after a batch; the run goes on working."""
    run, lines = heed.train("gpt", facts(), steps=5, **SMALL), pathlib.Path("my facts.txt").read_text().splitlines() * 100
    own = run.evaluate()
    for method in (run.evaluate, run.heads, run.ablate):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with raises(KeyboardInterrupt):
            for _ in range(100):
                method(lines)
        assert run.evaluate() == own


def test_ctrl_c_in_a_record():
    """It ends the computing of a map; the run goes on working."""
    run, lib, returned = heed.train("gpt", facts(), steps=5, **SMALL), sys.modules["heed._library"].lib, []

    def interrupted(add):
        def call(*args):
            os.kill(os.getpid(), signal.SIGINT)
            returned.append(add(*args))
            return returned[-1]
        return call

    for name, use in (("occlusion_add", lambda: run.attend("Paris is the", occlusion=True)),
                      ("gradient_add", lambda: run.attend("Paris is the", gradient=True)), ("influence", lambda: run.influence("Paris is the"))):
        add = getattr(lib, "heed_" + name)
        setattr(lib, "heed_" + name, interrupted(add))
        with raises(KeyboardInterrupt):
            use()
        setattr(lib, "heed_" + name, add)
        assert use()
    assert not any(returned) and len(returned) == 3


def test_ctrl_c_in_a_search():
    """It ends the making of a text before its next token, also by a beam; the run goes on working."""
    run, lib, made = reversed_pairs(), sys.modules["heed._library"].lib, []
    generate = lib.heed_generate

    def interrupted(model, self, tape, how, out, about):
        os.kill(os.getpid(), signal.SIGINT)
        ok = generate(model, self, tape, how, out, about)
        made.append((ok, about[0].count))
        return ok

    for beam in (1, 4):
        own = run.translate("a b", beam=beam)
        lib.heed_generate = interrupted
        with raises(KeyboardInterrupt):
            run.translate(["a b", "b a"], beam=beam)
        lib.heed_generate = generate
        assert run.translate("a b", beam=beam) == own
    assert made == [(True, 0)] * 2


def test_ctrl_c_in_a_message():
    """What is raised while a message is passed on is raised by the call that it is about."""
    class Raising(logging.Handler):
        def emit(self, record):
            raise KeyboardInterrupt

    run, handler = heed.train("mlm", facts(), steps=5, **SMALL), Raising()
    logging.getLogger("heed").addHandler(handler)
    try:
        with raises(KeyboardInterrupt):
            run.fill("nobody [MASK]")
        other = threading.Thread(target=heed._library.LOG, args=(None, heed._library._c.HEED_WARN, b"a message in another thread"))
        other.start(), other.join()
    finally:
        logging.getLogger("heed").removeHandler(handler)
    assert run.fill("Paris [MASK]")


def test_closed():
    """Arrays and records outlive their run; what needs the run says that it was closed."""
    with heed.train("gpt", facts(), steps=5, **SMALL) as run:
        path, a, record = run.path, run.net["norm.weight"].array, run.attend("Paris is")
    assert not os.path.exists(path) and np.isfinite(a).all() and record.text() and repr(run) == "<heed.Run, closed>"
    for use in (lambda: run.generate("Paris"), lambda: run.settings, lambda: run.path, lambda: run.net, run.close):
        with raises(heed.UsageError, "the run was closed; hint: heed.open"):
            use()
    run = heed.train("gpt", facts(), steps=5, **SMALL)
    with raises(heed.UsageError, "the run was closed"):  # while it generates
        run.generate("Paris is", n=10, on_token=lambda token: run and run.close())
    with raises(AttributeError, "no 'nothing'"):
        heed.train("gpt", facts(), steps=5, **SMALL).nothing


def test_copies():
    run = heed.train("gpt", facts(), steps=5, **SMALL)
    for x in (run, run.net, run.net["norm.weight"], run.attend("Paris"), heed.AdamW(heed.Net())):
        for use in (pickle.dumps, copy.copy, copy.deepcopy):
            with raises(TypeError, f"a heed.{type(x).__name__} cannot be copied or pickled; hint: "):
                use(x)


def test_threads():
    """Calls of one run wait for each other."""
    run = heed.train("gpt", facts(), steps=5, **SMALL)
    alone, record, wrong = [run.generate("Paris is", n=10, seed=i) for i in range(10)], run.attend("Paris is"), []

    def work():
        try:
            for i, expected in enumerate(alone):
                assert run.generate("Paris is", n=10, seed=i) == expected and record.json() and run.attend("Rome").text() and run.predict("The")
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for step in (threading.Thread.start, threading.Thread.join):
        for t in threads:
            step(t)
    assert not wrong, wrong


def test_fork():
    """A forked process computes with several threads, too."""
    wide = {**SMALL, "width": 128, "batch": 32, "threads": 2}
    run = heed.train("gpt", facts(), out="forked", steps=3, **wide)
    child = os.fork()
    if not child:
        wrong = True
        try:
            own = heed.train("gpt", "my facts.txt", out="child", steps=3, **wide)
            wrong = run.generate("Paris is", n=5) != own.generate("Paris is", n=5)
        finally:
            os._exit(wrong)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended and status == 0


def test_memory_does_not_grow():
    """Thousands of calls, also ones that fail; a tenth of them first, so that all is allocated that is kept."""
    run = heed.train("mlm", facts(), steps=5, **SMALL)

    def calls(count):
        for _ in range(count):
            run.fill("Paris is [MASK]"), run.embed("Rome"), run.encode("the capital"), run.attend("Paris").blocks[0].weights.sum()
            with raises(heed.DataError, "no [MASK]"):
                run.fill("Paris")
        gc.collect()
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = calls(200)
    assert calls(2000) - before < 1e6


def test_folder_of_its_own():
    run = heed.train("gpt", facts(), steps=5, preset="nano", **SMALL)
    path = run.path
    assert os.path.exists(path) and run.settings["ff"] == "256" and run.settings["layers"] == "1"
    del run
    assert not os.path.exists(path)


def test_pairs_labels_pictures():
    lines = [f"{a}{b}\t{b}{a}" for a in "abcdefgh" for b in "abcdefgh"]
    pathlib.Path("pairs.tsv").write_text("\n".join(lines) + "\n")
    run = heed.train("seq2seq", "pairs.tsv", out="pairs", tokenizer="char", layers=1, heads=2, width=16, block=8, batch=16, steps=20, threads=1)
    made = run.translate("ab")
    record = run.attend("ab", target="ba")
    assert isinstance(made, str) and isinstance(run.translate("ab", beam=2), str) and {b.stack for b in record.blocks} == {"encoder", "decoder", "cross"}
    pathlib.Path("labels.tsv").write_text("".join(f"good\tfilm {i} was fine\nbad\tfilm {i} was dull\n" for i in range(20)))
    run = heed.train("textcls", "labels.tsv", out="labels", layers=1, heads=2, width=16, block=16, batch=8, steps=40, lr=3e-3, threads=1)
    assert run.labels == ["bad", "good"] and run.embed("film 3").shape == (16,)
    assert run.classify("film 3 was fine")[0][0] == "good"
    pathlib.Path("tags.tsv").write_text("".join(f"the {a} {b}\tD N V\n" for a in ("cat", "dog", "cow", "man") for b in ("sees", "runs", "eats", "is")))
    run = heed.train("tag", "tags.tsv", out="tags", layers=1, heads=2, width=16, block=16, batch=8, steps=40, lr=3e-3, threads=1)
    assert [g[0][0] for g in run.classify("the dog sees")] == ["D", "N", "V"]
    rng = np.random.default_rng(0)
    for name, channel in (("red", 0), ("blue", 2)):
        os.makedirs("colours/" + name)
        for i in range(12):
            x = rng.integers(0, 60, (8, 8, 3))
            x[..., channel] += 180
            write_png(f"colours/{name}/{i}.png", x.astype(np.uint8))
    run = heed.train("vit", "colours", out="vit", image_size=8, patch=4, layers=1, heads=2, width=16, batch=8, steps=40, lr=3e-3, threads=1)
    red = np.zeros((8, 8, 3), np.uint8)
    red[..., 0] = 220
    assert run.classify(red)[0][0] == "red" == run.classify("colours/red/0.png")[0][0] == run.classify(red / 255)[0][0]
    record = run.attend(red)
    assert record.blocks[0].keys.grid == (2, 2, 1)
    for settings, panels, of in (({}, 3, "[CLS]"), (dict(head=1), 1, "[CLS]"), (dict(query=3), 3, "patch 2,1"), (dict(head=-1, query=-1), 1, "patch 2,2")):  # beside the picture itself
        record.png("over.svg", **settings)
        drawn = pathlib.Path("over.svg").read_text()
        assert drawn.count("<image") == panels + 1 and ("head 1" in drawn) == (panels == 3) and f"attention of {of}, layer 1 of 1" in drawn
        assert "Attention alone is no explanation" in written(drawn)
    run.net["encoder.0.attn.qkv.weight"].array[:] *= 40  # heads that differ have one scale, also alone
    record, scales = run.attend(red), set()
    for head in (None, 0, 1):
        record.png("over.svg", head=head)
        scales.update(re.findall(r"[0-9.]+  of a row", pathlib.Path("over.svg").read_text()))
    assert len(scales) == 1 and len({w.max() for w in record.blocks[0].weights[:, 0, 1:].round(2)}) == 2
    for wrong in (dict(head=2), dict(head=-3), dict(query=5)):
        with raises(IndexError, "of "):
            record.png("over.svg", **wrong)
    with raises(heed.UsageError, "expected a name that ends in .png or .svg, found over.pdf"):
        record.png("over.pdf")
    with raises(heed.DataError, "nothing.png"):
        run.classify("nothing.png")
    with raises(heed.UsageError, "array"):
        run.classify(np.zeros(3))
    for wrong in (red.astype(float), -red.astype(int), red / 255 + np.nan):
        with raises(heed.UsageError, "from 0 to"):
            run.classify(wrong)
    for wrong in (red[None, ..., 0].repeat(8, axis=0).transpose(1, 2, 0), red[:0]):
        with raises(heed.UsageError, "1 to 4 channels"):
            run.classify(wrong)


def test_exchange():
    run = heed.train("gpt", facts(), out="run", steps=5, **SMALL)
    run.export("folder")
    again = heed.import_("folder", out="again")
    with raises(heed.UsageError, '`heed.train("gpt", DATA, norm="pre")`', '`run.onnx("model.onnx")` writes any run'):
        heed.train("gpt", facts(), steps=1, **{**SMALL, "norm": "post"}).export("post")
    imported = heed.import_("folder")
    assert repr(imported) == f"<heed.Run gpt, {len(run.net):,} parameters>"
    run.onnx("model.onnx")
    assert os.path.getsize("model.onnx") > 10000
    name = "decoder.0.attn.qkv.weight"
    np.testing.assert_array_equal(again.net[name].array, run.net[name].array)
    assert again.generate("Paris", n=4, temperature=0) == run.generate("Paris", n=4, temperature=0) and heed.open("again").task == "gpt"


def test_help():
    """help(heed) lists what there is, with a line about each."""
    for name in heed.__all__:
        found = getattr(heed, name)
        assert inspect.getdoc(found), name
        for method, f in vars(found).items() if inspect.isclass(found) else ():
            assert method.startswith("_") or not (inspect.isfunction(f) or isinstance(f, property)) or method in INNER or inspect.getdoc(f), (name, method)
    assert {"train", "open", "Run", "Net", "attention"} <= set(heed.__all__)


INNER = {"use", "copied", "named", "stale", "view", "now", "c", "items"}  # methods that only the package calls


def test_hostile_labels():
    """They stay text inside the frame of a notebook."""
    evil = '"><script>alert(1)</script></iframe>'
    pathlib.Path("evil.json").write_text(json.dumps({"weights": [[0.5, 0.5], [0.5, 0.5]], "tokens": [evil, "b"]}))
    shown = heed.read("evil.json")._repr_html_()
    assert shown.count("<iframe") == shown.count("</iframe>") == 1 and "<script" not in shown and shown.count('"') == 8, shown[:300]


def test_lines():
    pathlib.Path("two.json").write_text("".join(json.dumps({"weights": np.eye(n).tolist()}) + "\n" for n in (1, 2)))
    assert heed.read("two.json", 2).blocks[0].weights.shape == (1, 2, 2)
    with raises(heed.DataError, "`line=1` reads the first"):
        heed.read("two.json")
    for line in (-1, 2**32 + 1, 1.5, None):
        with raises(heed.UsageError, "line is out of range: expected 0 to"):
            heed.read("two.json", line)


def test_refused():
    facts()
    for wrong, words in ((dict(key_widht=3), 'unknown setting "key_widht": did you mean key_width?'), (dict(preset="huge"), "nano"), (dict(layers=-1), "layers")):
        with raises(heed.UsageError, words):
            heed.train("gpt", "my facts.txt", out="run", **wrong)
    for wrong, words in ((dict(learning_rate=1e-3), 'unknown setting "learning_rate": did you mean lr?'), (dict(num_train_epochs=1), "did you mean epochs?"),
                         (dict(norm_first=True), 'did you mean norm="pre"?'), (dict(random_seed=1), "did you mean seed?"), (dict(device="cpu"), 'heed.settings("gpt")'), (dict(png="loss.png"), 'heed.settings("gpt")'),
                         (dict(patch=2), "it is a setting of vit, caption, autoencoder, not of gpt")):
        with raises(heed.UsageError, words):
            heed.train("gpt", "my facts.txt", **wrong)
    with raises(heed.UsageError, 'steps is wrong: expected a whole number from 1 to 1000000000000, found "abc"'):
        heed.train("gpt", "my facts.txt", steps="abc")
    assert heed.UsageError.__module__ == "heed"
    with raises(heed.DataError, "nothing.txt"):
        heed.train("gpt", "nothing.txt", out="run")
    with raises(heed.UsageError, '"gtp" is not a task', "mlm"):
        heed.train("gtp", "my facts.txt")
    with raises(heed.DataError, "run is missing"):
        heed.open("run")
    with raises(heed.Error):
        heed.read("my facts.txt")
    with raises(heed.UsageError, "isa"):
        heed.Net(isa="sse9")
    for use in (lambda x: heed.open(x), lambda x: heed.resume(x), lambda x: heed.read(x), lambda x: heed.import_(x), heed.Net().save, heed.Net().load,
                lambda x: heed.train("gpt", "my facts.txt", out=x or b"")):
        for wrong in (5, None, b"run", "a\0b", "a\ud800b"):
            with raises(heed.UsageError, " is wrong: expected a path, found "):
                use(wrong)
    for wrong in (dict(seed="x"), dict(seed=-1), dict(seed=2**64), dict(threads=1.5), dict(threads=-1), dict(isa=5), dict(preset=5), dict(progress=5),
                  dict(isa=""), dict(preset=""), dict(lr="\ud800")):
        with raises(heed.UsageError, [*wrong][0], "expected"):
            heed.train("gpt", "my facts.txt", out="run", **{**SMALL, **wrong})
    assert heed.train("gpt", "my facts.txt", val=None, **{**SMALL, "steps": np.int64(2), "lr": np.float32(0.01), "norm": None, "tie": np.True_}).step == 2
    assert not os.path.exists("run")
    with raises(heed.DivergedError, "finite", '`heed.resume("run")` with `lr='):
        heed.train("gpt", "my facts.txt", out="run", **{**SMALL, "lr": 1e6, "steps": 20, "clip": 0})
    with raises(heed.DivergedError, "finite", "; nothing is saved; hint: a smaller `lr`"):
        heed.train("gpt", "my facts.txt", **{**SMALL, "lr": 1e6, "steps": 20, "clip": 0})
    with raises(heed.FailedError, "cannot write the data to /proc"):
        heed.train("gpt", ["a line"], out="/proc/run", **SMALL)
    assert heed.settings("gpt")["layers"][0].isdigit() and heed.settings("gpt")["layers"][1]
