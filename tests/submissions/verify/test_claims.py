"""Each kind of plugin on its way from a file to a reproduced row; it is verified by a process that never saw it."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lgl_bench.core.registry import load_plugin
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.plans.methods import Candidate
from lgl_bench.plans.plan_file import DetectorFacts, PluginFacts
from lgl_bench.protocols import protocols
from lgl_bench.streams.catalogue import import_stream
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce.reproduce import reproduce
from lgl_bench.submissions.verify.claims import check_claims
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import PLUGIN, Forged, plugins_forgotten
from tests.support.graphs import small_stream

BACKBONE = '''
from lgl_bench.backbones import backbones
from lgl_bench.backbones.gcn import GCN

@backbones.register("mine-gcn")
class Mine(GCN):
    """A GCN that counts every link twice."""

    def step(self, layer, inputs, h):
        return 2.0 * super().step(layer, inputs, h)
'''
HEAD = '''
from lgl_bench.detectors import detectors
from lgl_bench.detectors.msp import Msp
from lgl_bench.heads import heads
from lgl_bench.heads.softmax import Softmax

@heads.register("mine-head")
class Warm(Softmax):
    """Softmax at another temperature."""

    def logits(self, output):
        return output / 2.0

@detectors.register("mine-msp")
class OnMine(Msp):
    heads = ("mine-head",)
'''
THRESHOLD = '''
from lgl_bench.thresholds import Threshold, thresholds

@thresholds.register("mine-cut")
class Cut(Threshold):
    """A fixed cut; it calls itself transductive, which only its code could tell."""

    track = "transductive"

    def __init__(self, at: float = 0.5) -> None:
        self.at = at

    def reject(self, test):
        return test.novelty[test.scored] > self.at
'''
PROTOCOL = '''
from lgl_bench.protocols import protocols
from lgl_bench.protocols.temporal import Temporal

@protocols.register("mine-years")
class LastYears(Temporal):
    """All but the first task of the temporal protocol."""

    def tasks(self, stream, seed):
        yield from list(super().tasks(stream, seed))[1:]
'''
IMPORTER = """
import numpy as np

from lgl_bench.streams.importers import importers
from lgl_bench.streams.raw import RawGraph

@importers.register("mine-npz")
def read(source, options):
    found = np.load(source)
    return RawGraph(*(found[name] for name in ("ids", "born", "labels", "features", "edges")))
"""
SUITE = """
name = "mine"
version = 1
title = "Mine"
protocol = "mine-years"
streams = ["small"]
backbones = ["gcn"]
detectors = ["msp"]
"""


TRANSDUCTIVE = '''
from lgl_bench.detectors import detectors
from lgl_bench.detectors.grasp import Grasp


@detectors.register("mine-grasp")
class MineGrasp(Grasp):
    """GRASP under another name, without a choice."""

    grid = {}
'''


@dataclass(frozen=True)
class Walk:
    """A plugin: its source, what is run with it, what a reviewer is told, and the rows that hang on it.

    Attributes:
        claims: Words of a note that `verify` must give.
        rows: Cells of at least one row.
    """

    source: str
    axes: dict[str, Any]
    claims: tuple[str, ...]
    rows: dict[str, str]
    suite: str = ""
    needs: tuple[str, ...] = field(default=())


WALKS = {
    "backbone": Walk(
        BACKBONE, {"backbones": ["mine-gcn"], "detectors": ["msp"]}, ("mine-gcn",), {"backbone": "mine-gcn"}
    ),
    "head": Walk(HEAD, {"detectors": ["mine-msp"]}, ("mine-msp", "the head mine-head"), {"head": "mine-head"}),
    "detector": Walk(PLUGIN, {"detectors": ["margin-of-mine"]}, ("margin-of-mine", "in [0, 1]"), {"head": "softmax"}),
    "transductive_detector": Walk(
        TRANSDUCTIVE,
        {"detectors": ["mine-grasp"]},
        ("mine-grasp", "its track is transductive"),
        {"head": "softmax", "track": "transductive"},
    ),
    "threshold": Walk(
        THRESHOLD,
        {"detectors": ["msp"], "thresholds": ["mine-cut"]},
        ("mine-cut(at=0.5)", "its track is transductive"),
        {"threshold": "mine-cut(at=0.5)", "track": "transductive"},
    ),
    "protocol": Walk(PROTOCOL, {}, ("mine-years", "vertices"), {"protocol": "mine-years(t0=1)"}, SUITE),
    "stream": Walk(IMPORTER, {"streams": ["imported"], "detectors": ["msp"]}, (), {"stream": "imported"}),
}


@pytest.fixture(scope="module")
def bundles(base) -> dict[str, Path]:
    """A bundle for each kind, from a run in this process that has the plugin for its time."""
    stream = small_stream(seed=7)
    arrays = {name: getattr(stream, name) for name in ("ids", "born", "labels", "features")}
    np.savez(base.folder / "source.npz", edges=stream.upto(stream.times[-1]).graph.edges, **arrays)
    found = {}
    for kind, walk in WALKS.items():
        plugin = base.folder / f"mine_{kind}.py"
        plugin.write_text(walk.source)
        suite = base.folder / f"{kind}.toml"
        suite.write_text(walk.suite)
        with plugins_forgotten():
            load_plugin(plugin)
            if kind == "stream":
                import_stream("imported", base.folder / "source.npz", base.data, format_name="mine-npz", t0=1)
            axes = {"thresholds": ["none"], "seeds": 1, **walk.axes}
            out = base.carry_out(f"mine-{kind}", suite=str(suite) if walk.suite else "smoke", **axes)
        found[kind] = base.folder / f"mine-{kind}-bundle"
        submit(out, found[kind], plugins=[plugin], data_dir=base.data)
    return found


@pytest.fixture(scope="module")
def verified(base, bundles) -> dict[str, Any]:
    """What `verify --json` says of each bundle in a new process, to which a trap is given as a plugin."""
    trap = base.folder / "trap.py"
    trap.write_text("raise SystemExit('a plugin was run')")
    script = "import sys; from lgl_bench.cli import main; [main(['--plugin', sys.argv[1], 'verify', path, '--json', "
    script += "'--rescore', '--data-dir', sys.argv[2]], standalone_mode=False) for path in sys.argv[3:]]"
    command = [sys.executable, "-c", script, str(trap), str(base.data), *map(str, bundles.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    decoder, text, said = json.JSONDecoder(), done.stdout, {}
    for kind in bundles:
        said[kind], end = decoder.raw_decode(text)
        text = text[end:].lstrip()
    return said


@pytest.mark.parametrize("kind", WALKS)
def test_a_plugin_of_every_kind_is_verified_without_its_code_and_what_it_claims_is_shown(verified, kind):
    about = verified[kind]
    assert about["differences"] == []
    assert about["rows"] > 0
    assert not WALKS[kind].claims or any(all(w in note for w in WALKS[kind].claims) for note in about["notes"])
    # Only rows without any part that is a plugin can be answered again.
    answered_again = {
        "stream": {"rescored"},
        "detector": {"recomputed", "rescored"},
        "transductive_detector": {"recomputed", "rescored"},
        "threshold": {"recomputed", "rescored"},
    }
    assert set(about["rows_by_trust"]) == answered_again.get(kind, {"recomputed"})


@pytest.mark.parametrize("kind", WALKS)
def test_a_plugin_of_every_kind_leads_to_reproduced_rows(base, bundles, here, kind):
    result = reproduce(bundles[kind], [base.folder / f"mine_{kind}.py"], data_dir=base.data)
    assert result.differences == []
    assert set(result.frame["trust"]) == {"reproduced"}
    rows = result.frame
    for column, value in WALKS[kind].rows.items():
        rows = rows[rows[column] == value]
    assert len(rows)


@pytest.fixture
def foreign(bundles, tmp_path) -> Forged:
    """A copy of the bundle of a protocol that is not here."""
    return Forged(Path(shutil.copytree(bundles["protocol"], tmp_path / "foreign")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.assign(vertex=frame["vertex"] + 10_000), "distinct vertices of the stream"),
        (lambda frame: frame.assign(vertex=frame["vertex"].iloc[0]), "distinct vertices of the stream"),
        (lambda frame: frame.assign(vertex=frame["vertex"].astype("float64")), "not int64"),
    ],
)
def test_vertices_of_a_protocol_that_is_not_here_are_at_least_the_streams(foreign, base, change, words):
    assert "mine-years" not in protocols
    foreign.change_table(foreign.answers(0), change)
    foreign.seal()
    with pytest.raises(BundleError, match=words):
        verify(foreign.folder, base.data)


@pytest.mark.parametrize("known", [[0, 1, 99], [0, 0, 1], "all", [0, 1, 4]])
def test_classes_of_a_protocol_that_is_not_here_are_at_least_the_streams_by_then(foreign, base, known):
    # Class 4 is born in the last year.
    key = foreign.plan()["fits"][0]
    foreign.change_json(f"fits/{key}.json", lambda fields: fields.update(known=known))
    foreign.seal()
    with pytest.raises(BundleError, match="known =|field 'known'"):
        verify(foreign.folder, base.data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plan: plan["plugins"].update(protocols={}), "mine-years"),
        (lambda plan: plan["plugins"].update(thresholds={"naive": {"track": "x", "ranked": True}}), "needs no claim"),
        (lambda plan: plan["plugins"].update(backbones=["gcn"]), "needs no claim"),
        (lambda plan: [chain.update(tasks=None) for chain in plan["chains"]], "nor are its tasks recorded"),
        (lambda plan: [task.update(time=99) for chain in plan["chains"] for task in chain["tasks"]], "the year 99"),
        (lambda plan: [chain["protocol"].update(split="other") for chain in plan["chains"]], "plan.json"),
    ],
)
def test_a_plan_that_claims_too_little_or_too_much_of_plugins_is_refused(foreign, base, change, words):
    foreign.change_json("plan.json", change)
    foreign.seal()
    with pytest.raises(BundleError, match=words):
        verify(foreign.folder, base.data)


def test_a_threshold_that_is_not_the_suites_is_refused_by_name(bundles, base, tmp_path):
    forged = Forged(Path(shutil.copytree(bundles["threshold"], tmp_path / "forged")))
    forged.change_json("plan.json", lambda plan: plan["suite"].update(thresholds=["mine-cut(at=0.9)"]))
    forged.seal()
    with pytest.raises(BundleError, match=r"mine-cut\(at=0.9\)"):
        verify(forged.folder, base.data)


@pytest.mark.parametrize(("track", "refused"), [("inductive", True), ("transductive", False)])
def test_a_plugin_that_wraps_a_transductive_detector_cannot_claim_to_be_inductive(track, refused):
    text = "theirs(grasp(alpha=0.0,delta=1.001,percentile=5.0,steps=8))"
    facts = DetectorFacts(head="softmax", bounded=True, track=track)
    row = SimpleNamespace(candidates=(Candidate("softmax", text),), protocol=ProtocolSetting("temporal"))
    plan = SimpleNamespace(plugins=PluginFacts(detectors={text: facts}), rows=[row], units=[], thresholds=[])
    with pytest.raises(BundleError, match="claimed to be inductive") if refused else contextlib.nullcontext():
        check_claims(plan)
