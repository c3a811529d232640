"""A method that is run again uses the compiled loops, and cannot change those of the host."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from lgl_bench.kernels import Arcs, loops, neighbour_sum
from lgl_bench.kernels.compiled import VARIABLE, copy_compiled
from lgl_bench.submissions.reproduce import isolate
from lgl_bench.submissions.reproduce.isolate import choose_sandbox, run_isolated
from tests.support.bundles import sandboxes

COMPUTE = """
import json, sys
from pathlib import Path
import numpy as np, torch
from lgl_bench.kernels import Arcs, loops, neighbour_sum
neighbour_sum(Arcs.of_edges(np.array([[0, 1], [1, 0]]), 2), torch.ones(2, 3))
stats = [loop.stats for loop in (loops.sort_by_target, loops.sums)]
Path(stats[0].cache_path, "loops.mine.nbi").write_text("written in the sandbox")
try:
    Path(sys.argv[1], "loops.mine.nbi").write_text("written on the host")
except OSError:
    refused = True
else:
    refused = False
print(json.dumps([stats[0].cache_path, *(sum(one.cache_misses.values()) for one in stats), refused]))
"""


@pytest.mark.parametrize("name", ["bubblewrap", "namespaces"])
def test_compiled_loops_are_found_in_the_sandbox_and_the_hosts_are_out_of_reach(name, tmp_path, monkeypatch):
    if name not in sandboxes():
        pytest.skip(f"this machine has no {name}")
    monkeypatch.setattr(isolate, "_SANDBOXES", tuple(one for one in isolate._SANDBOXES if one[0] == name))
    neighbour_sum(Arcs.of_edges(np.array([[0, 1], [1, 0]]), 2), torch.ones(2, 3))  # compiled here, now or before
    host = Path(loops.sums.stats.cache_path)
    folder = (tmp_path / "own").resolve()
    folder.mkdir()
    sandbox = choose_sandbox(folder)
    copy_compiled(folder / "loops")
    done = run_isolated(sandbox, ("-c", COMPUTE, str(host)), **{VARIABLE: str(folder / "loops")})
    assert done.returncode == 0, done.stderr
    place, *misses, refused = json.loads(done.stdout)
    assert Path(place).is_relative_to(folder) and misses == [0, 0]
    assert refused and not (host / "loops.mine.nbi").exists() and (Path(place) / "loops.mine.nbi").exists()
