"""What foreign code changes in a process is put back, and what it replaces in libraries is refused."""

from __future__ import annotations

import locale
import os
import random
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.core.guard import preserved_state, unpatched
from lgl_bench.core.registry import load_plugin


def state():
    """What a process computes with, as far as it can be looked at."""
    return {
        "folder": Path.cwd(),
        "environment": dict(os.environ),
        "paths": list(sys.path),
        "output": (id(sys.stdout), id(sys.stderr)),
        "random": random.getstate(),
        "numpy": (np.geterr(), np.get_printoptions()["precision"], np.random.get_state()[1].tolist()),
        "torch": torch.get_rng_state().tolist(),
        "threads": torch.get_num_threads(),
        "defaults": (torch.get_default_dtype(), torch.empty(0).device, torch.is_grad_enabled()),
        "exact": torch.are_deterministic_algorithms_enabled(),
        "filters": list(warnings.filters),
        "locale": locale.setlocale(locale.LC_ALL),
        "alarm": signal.getsignal(signal.SIGALRM),
    }


HARM = """
import locale, os, random, signal, sys, warnings
import numpy, torch

os.chdir("/")
os.environ["LGL_BENCH_HARM"] = "1"
os.environ.pop("PATH", None)
sys.path.insert(0, "/nowhere")
sys.stdout = sys.stderr = None
random.seed(0)
numpy.random.seed(0)
numpy.seterr(all="raise")
numpy.set_printoptions(precision=1)
torch.manual_seed(0)
torch.set_num_threads(torch.get_num_threads() + 1)
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
warnings.simplefilter("error")
locale.setlocale(locale.LC_ALL, "C")
signal.signal(signal.SIGALRM, signal.SIG_IGN)
"""


def test_the_state_of_the_process_comes_back_whatever_happened_to_it():
    before = state()
    with pytest.raises(KeyError), preserved_state():
        exec(HARM)
        raise KeyError("and it raised too")
    assert state() == before


def test_a_plugin_file_leaves_the_process_as_it_was_and_may_print(tmp_path, capsys):
    before = state()
    (tmp_path / "harms.py").write_text(f"print('loaded')\n{HARM}")
    load_plugin(tmp_path / "harms.py")
    assert state() == before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("import numpy; numpy.mean = lambda *given: 0.0", "numpy.mean"),
        ("import numpy; numpy.exp = numpy.log", "numpy.exp"),
        ("import torch; torch.Tensor.numpy = lambda tensor: None", "torch.Tensor.numpy"),
        ("import torch; del torch.softmax", "torch.softmax"),
        ("import builtins; builtins.len = lambda anything: 0", "builtins.len"),
        ("from lgl_bench.detectors import msp; msp.Msp.score = lambda *given: 0", "lgl_bench.detectors.msp.Msp.score"),
        ("from lgl_bench.detectors import good; good.mix = max", "lgl_bench.detectors.good.mix"),
        ("import sys, torch; torch.relu = torch.sigmoid; sys.exit(3)", None),
    ],
)
def test_a_plugin_file_that_replaces_what_others_use_is_refused_by_name_and_undone(tmp_path, code, named):
    import lgl_bench.detectors.good
    import lgl_bench.detectors.msp  # noqa: F401  what is not loaded yet cannot be replaced

    kept = np.mean, np.exp, torch.Tensor.numpy, torch.softmax, len, torch.relu, lgl_bench.detectors.good.mix
    (tmp_path / "patches.py").write_text(code)
    with pytest.raises(PluginError, match="patches.py") as caught:
        load_plugin(tmp_path / "patches.py")
    assert (f"patches.py changes {named} when it is imported" if named else "SystemExit: 3") in str(caught.value)
    assert kept == (np.mean, np.exp, torch.Tensor.numpy, torch.softmax, len, torch.relu, lgl_bench.detectors.good.mix)


def test_importing_a_library_or_its_compiler_is_no_change():
    with unpatched("nobody"):
        import scipy.signal  # noqa: F401
        import sklearn.ensemble  # noqa: F401
        import torch._dynamo  # noqa: F401
