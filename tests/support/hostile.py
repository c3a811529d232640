"""A plugin file whose plugins harm whoever shares a process with them; `EXPECTED` says what becomes of each.

Those that hang are in `test_run`: they take a time limit, which on a busy machine would hit the others too.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import random
import signal
import sys
import threading
import time
import warnings

import numpy as np
import torch

from lgl_bench.backbones import backbones
from lgl_bench.backbones.gcn import GCN
from lgl_bench.core.types import Truth
from lgl_bench.detectors import Detector, detectors
from lgl_bench.heads import heads
from lgl_bench.heads.softmax import Softmax
from lgl_bench.thresholds import Threshold, thresholds

SCORED = None
READ_ONLY = "read-only"

EXPECTED: dict[str, str | None] = {}
"""Per detector: a part of the reason of its failure, or None if it is scored as what it is, MSP."""


def harms(expected: str | None):
    """Registers a detector that does its harm in `score`, and gives the scores of MSP if it comes to that."""

    def register(harm):
        name = harm.__name__.replace("_", "-")
        EXPECTED[name] = expected

        class Hostile(Detector):
            def score(self, model, graph):
                novelty = 1 - model.probabilities(graph).max(axis=1)
                found = harm(model, graph)
                return novelty if found is None else found

        Hostile.__name__ = Hostile.__qualname__ = harm.__name__
        globals()[harm.__name__] = detectors.register(name)(Hostile)
        return globals()[harm.__name__]

    return register


class WritesLabels(Detector):
    def fit(self, model, train, fit_vertices, calibration):
        train.labels[:] = 0

    def score(self, model, graph):
        raise AssertionError("fit did not raise")


detectors.register("writes-labels")(WritesLabels)
EXPECTED["writes-labels"] = READ_ONLY


@harms(READ_ONLY)
def writes_edges(model, graph):
    graph.edges[:] = 0


@harms(READ_ONLY)
def writes_features(model, graph):
    graph.features[:] = 0


@harms(READ_ONLY)
def writes_born(model, graph):
    graph.born[:] = 0


@harms(READ_ONLY)
def writes_known(model, graph):
    model.known[:] = 0


@harms(SCORED)
def unlocks_and_writes(model, graph):
    for array in (graph.edges, graph.features, graph.born, model.known):
        array.setflags(write=True)
        array[:] = 0


@harms(SCORED)
def zeroes_outputs(model, graph):
    model.outputs(graph).logits.zero_()
    model.outputs(graph).embeddings.zero_()


@harms(SCORED)
def zeroes_weights(model, graph):
    for weight in model.parameters():
        weight.data.zero_()


@harms(SCORED)
def forgets_a_class(model, graph):
    model.known = model.known[:1]


@harms(SCORED)
def changes_the_dtype(model, graph):
    torch.set_default_dtype(torch.float64)


@harms(SCORED)
def changes_the_device(model, graph):
    torch.set_default_device("meta")


@harms(SCORED)
def leaves_gradients_off(model, graph):
    torch.set_grad_enabled(False)


@harms(SCORED)
def reseeds(model, graph):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


@harms(SCORED)
def takes_threads(model, graph):
    torch.set_num_threads(4)
    threading.Thread(target=time.sleep, args=(600,)).start()


@harms(SCORED)
def changes_folder(model, graph):
    os.chdir("/")


@harms(SCORED)
def clears_the_environment(model, graph):
    os.environ.clear()


@harms(SCORED)
def changes_filters(model, graph):
    warnings.simplefilter("error")
    np.seterr(all="raise")
    np.set_printoptions(precision=1)


@harms(SCORED)
def takes_signals(model, graph):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(600)


@harms("sent an answer that cannot be used")
def patches_numpy(model, graph):
    np.isfinite = lambda array: np.ones(np.shape(array), dtype=bool)
    return np.full(graph.num_vertices, np.nan)


@harms(SCORED)
def patches_torch_and_lgl_bench(model, graph):
    torch.softmax = torch.relu = lambda tensor, *given, **named: tensor * 0
    sys.modules["lgl_bench.detectors.msp"].msp = lambda logits: torch.zeros(len(logits), dtype=torch.float64)
    detectors._plugins["msp"] = WritesLabels  # past register, which would refuse the name: it means harm


@harms(SCORED)
def opens_files(model, graph):
    with contextlib.suppress(OSError):
        globals()["kept"] = [open(os.devnull, "rb") for _ in range(500)]  # noqa: PTH123, SIM115


@harms(SCORED)
def forks_and_returns_twice(model, graph):
    os.fork()


@harms(SCORED)
def leaves_a_daemon(model, graph):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)


@harms("ended without an answer")
def exits_at_once(model, graph):
    os._exit(0)


@harms("exit code 3")
def exits_with_a_code(model, graph):
    os._exit(3)


@harms("SystemExit: 4")
def exits_politely(model, graph):
    sys.exit(4)


@harms("SIGSEGV")
def reads_nowhere(model, graph):
    ctypes.string_at(0)


@harms("SIGABRT")
def aborts(model, graph):
    os.write(2, b"last \xff words\n")
    os.abort()


@harms("SIGKILL")
def kills_itself(model, graph):
    os.kill(os.getpid(), signal.SIGKILL)


@harms("SIGTERM")
def kills_its_group(model, graph):
    os.kill(0, signal.SIGTERM)


@harms("KeyboardInterrupt")
def interrupts(model, graph):
    raise KeyboardInterrupt


@harms("memory limit of 1,100 MiB")
def allocates_without_end(model, graph):
    kept = []
    while True:
        kept.append(np.ones(4_000_000))


@harms("memory limit of 1,100 MiB")
def forks_and_allocates(model, graph):
    for _ in range(2):
        if os.fork() == 0:
            kept = np.ones(60_000_000)
            time.sleep(600 + kept[0])
    time.sleep(600)


@harms(SCORED)
def prints_megabytes(model, graph):
    for _ in range(300):
        sys.stdout.write("{" + "x" * 10_000 + "\n")
        sys.stderr.write("y" * 10_000)
        os.write(1, b"\xff" * 10_000)


@harms(SCORED)
def closes_its_output(model, graph):
    os.close(1)
    os.close(2)


@harms("ended without an answer")
def closes_everything(model, graph):
    os.closerange(0, 1000)


@harms("cannot be used")
def writes_into_every_file(model, graph):
    for number in range(3, 20):
        with contextlib.suppress(OSError):
            os.write(number, b"\x00" * 7 + b"\x02{]")
    time.sleep(600)


@harms("cannot be used")
def forges_a_huge_answer(model, graph):
    for number in range(3, 20):
        with contextlib.suppress(OSError):
            os.write(number, b"\xff" * 100_000)
    time.sleep(600)


@harms(r"lone \udc80 surrogate")
def says_a_lone_surrogate(model, graph):
    raise ValueError("lone \udc80 surrogate\x1b[31m\n")


@harms("UnicodeDecodeError")
def says_no_text(model, graph):
    b"\xff\xfe".decode()


class Mute(Exception):  # noqa: N818
    def __str__(self):
        raise RuntimeError("no")


@harms("Mute")
def says_nothing(model, graph):
    raise Mute


@harms("ValueError: xxx")
def says_too_much(model, graph):
    raise ValueError("x" * 10_000_000)


@harms("scores must be numbers")
def gives_objects(model, graph):
    return np.array([object()] * graph.num_vertices)


@harms("shape (3000000,)")
def gives_too_many(model, graph):
    return np.zeros(3_000_000)


@harms("not finite")
def gives_no_numbers(model, graph):
    return np.full(graph.num_vertices, np.nan)


@harms("scores must be numbers")
def gives_complex_numbers(model, graph):
    return np.full(graph.num_vertices, 1j)


@harms(SCORED)
def looks_for_the_truth(model, graph):
    if any(isinstance(one, Truth) or type(one).__name__ == "Stream" for one in gc.get_objects()):
        raise AssertionError("the truth is within reach")


@thresholds.register("writes-novelty")
class WritesNovelty(Threshold):
    def reject(self, test):
        test.novelty[:] = 1
        return test.novelty[test.scored] > 0


@thresholds.register("leaves")
class Leaves(Threshold):
    def reject(self, test):
        sys.exit("the threshold left")


@backbones.register("raises")
class Raises(GCN):
    def step(self, layer, inputs, h):
        raise RuntimeError("no such layer")


@backbones.register("dies")
class Dies(GCN):
    def step(self, layer, inputs, h):
        if self.training:
            return super().step(layer, inputs, h)
        os._exit(5)


@backbones.register("spoils")
class Spoils(GCN):
    def step(self, layer, inputs, h):
        found = super().step(layer, inputs, h)
        if not self.training:
            inputs.features.zero_()
        return found


@heads.register("forgets")
class Forgets(Softmax):
    def loss(self, output, labels):
        os.environ.clear()
        raise KeyError("labels")
