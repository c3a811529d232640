"""The track of a row: that of its protocol, unless a detector or threshold looks at the test vertices together."""

from __future__ import annotations

import pytest

from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.plans.plan_file import DetectorFacts, PluginFacts, read_plan
from lgl_bench.plans.plugin_facts import detector_facts, model_track

pytestmark = pytest.mark.usefixtures("engines")
BOARD = "leaderboard.csv"
PLUGIN = '''
from lgl_bench.detectors import detectors
from lgl_bench.detectors.grasp import Grasp


@detectors.register("mine")
class Mine(Grasp):
    """GRASP under another name."""
'''


def tracks(folder):
    frame = read_board(folder / BOARD)
    rows = zip(frame["detector"], frame["threshold"], frame["track"], strict=True)
    return {(detector.split("(")[0], threshold.split("(")[0]): track for detector, threshold, track in rows}, frame


def test_rows_of_a_transductive_detector_are_in_a_track_of_their_own(out, carry_out):
    carry_out(detectors=["msp", "grasp", "good(grasp)"], thresholds=["naive", "oracle"], thresholds_on="all")
    found, frame = tracks(out)
    assert found["msp", ""] == "inductive" and found["msp", "naive"] == "inductive"
    assert {found[name, cut] for name in ("grasp", "good") for cut in ("", "naive")} == {"transductive"}
    assert {found[name, "oracle"] for name in ("msp", "grasp", "good")} == {"upper bound"}
    assert frame.loc[frame["track"] == "inductive", "detector"].str.contains("grasp").sum() == 0
    assert len(ranked(frame)) == len(frame)


def test_a_choice_among_transductive_and_other_detectors_is_transductive(out, carry_out):
    carry_out(detectors=["msp", "grasp", "good(auto)"], thresholds=["none"], select="t1")
    found, _ = tracks(out)
    assert found["good", ""] == "transductive" and found["msp", ""] == "inductive"


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    with detectors.temporarily():
        load_plugin(path)
        yield


def test_the_track_of_a_plugin_is_recorded_and_stays_when_it_is_not_available(out, carry_out, mine):
    carry_out(detectors=["mine", "good(mine)"], thresholds=["none"])
    facts = read_plan(out).plugins
    # Every setting it is chosen among.
    assert len(facts.detectors) > 1 and {one.track for one in facts.detectors.values()} == {"transductive"}
    found, _ = tracks(out)
    assert {found["mine", ""], found["good", ""]} == {"transductive"}
    with detectors.temporarily():
        detectors._plugins.pop("mine")
        assert detector_facts(next(iter(facts.detectors)), facts).track == "transductive"
        carry_out(detectors=["msp"], thresholds=["none"])
        found, _ = tracks(out)
        assert found["mine", ""] == "transductive" and found["msp", ""] == "inductive"


def test_a_plan_file_that_records_no_track_is_read_as_inductive():
    old = PluginFacts.model_validate({"detectors": {"theirs": {"head": "softmax", "bounded": True}}})
    assert old.detectors["theirs"] == DetectorFacts(head="softmax", bounded=True, track="inductive")
    assert detector_facts("theirs", old).track == "inductive"


HEAD = '''
from lgl_bench.detectors import Detector, detectors
from lgl_bench.heads import heads
from lgl_bench.heads.softmax import Softmax


@heads.register("mine-head")
class MineHead(Softmax):
    """Softmax, trained on the graph that is scored."""

    track = "transductive"


@detectors.register("mine-msp")
class MineMsp(Detector):
    heads = ("mine-head",)

    def score(self, model, graph):
        return 1.0 - model.probabilities(graph).max(axis=1)
'''


def test_rows_of_a_head_that_trains_on_the_test_graph_are_transductive_with_and_without_its_code(
    out, carry_out, tmp_path
):
    path = tmp_path / "head.py"
    path.write_text(HEAD)
    with detectors.temporarily(), heads.temporarily():
        load_plugin(path)
        carry_out(detectors=["msp", "mine-msp"], thresholds=["none"])
    facts = read_plan(out).plugins
    assert facts.heads == facts.transductive_heads == ("mine-head",) and not facts.transductive_backbones
    found, _ = tracks(out)
    assert found["mine-msp", ""] == "transductive" and found["msp", ""] == "inductive"
    assert (
        model_track("gcn", "mine-head", facts) == "transductive" and model_track("gcn", "softmax", facts) == "inductive"
    )
