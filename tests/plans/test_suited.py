from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.msp import Msp
from lgl_bench.plans.paper_presets import preset
from lgl_bench.plans.plan_file import DetectorFacts, PluginFacts
from lgl_bench.plans.suite import load_suite
from lgl_bench.plans.suited import check_suited, suited_texts, unsuited
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from tests.support.graphs import small_stream


@pytest.fixture(autouse=True)
def mine():
    with detectors.temporarily():

        @detectors.register("mine")
        class Mine(Msp):
            backbones = ("gat", "mlp")

        yield


def test_a_detector_with_backbones_of_its_own_and_what_wraps_it_is_left_out_on_others():
    for text in ("mine", "good(mine)", "react(good(mine), percentile=80)"):
        assert unsuited(text, "gcn") == "mine works on the backbone gat or mlp only"
        assert unsuited(text, "mlp") == ""


def test_a_head_whose_loss_sees_the_whole_graph_is_left_out_on_backbones_that_walk_in_batches():
    said = "the loss of the head nodesafe sees the whole graph, and graph-mlp walks in batches"
    assert unsuited("good(nodesafe)", "graph-mlp") == said
    assert {unsuited("nodesafe", name) for name in ("gcn", "gat", "sgc", "mlp")} == {""}
    assert unsuited("gnnsafe", "graphsage") == ""


def test_a_suite_runs_what_is_suited_on_each_backbone():
    suite = load_suite("smoke").override(backbones=("gcn", "graph-mlp", "mlp"), detectors=("msp", "nodesafe", "mine"))
    assert [suited_texts(suite, name) for name in suite.backbones] == [
        ["msp", "nodesafe"],
        ["msp"],
        list(suite.detectors),
    ]
    check_suited(suite)


def test_a_detector_that_suits_no_backbone_of_a_run_is_refused_with_the_reason():
    suite = load_suite("smoke").override(detectors=("msp", "good(mine)"))
    with pytest.raises(
        UsageError, match=r"good\(mine\) can be run on no .*gcn, graph-mlp.* the backbone gat or mlp only"
    ):
        check_suited(suite)


def test_what_is_recorded_of_a_plugin_that_is_not_available_decides():
    facts = PluginFacts(detectors={"theirs(k=3)": DetectorFacts(head="softmax", bounded=True, backbones=("gat",))})
    assert unsuited("good(theirs)", "gcn", facts) == "theirs works on the backbone gat only"
    assert unsuited("theirs", "gat", facts) == "" == unsuited("nobodys", "gcn", facts)


def test_whoever_answers_tasks_directly_is_told_the_same():
    method = Method("gcn", "softmax", preset("small", "temporal", "gcn", "softmax"), (parse("mine"),))
    with pytest.raises(UsageError, match="the detector mine cannot score on the backbone gcn: mine works on"):
        next(answer_tasks(small_stream(), Temporal(), method, 0))
