"""The suites of the whole field, year by year and on static graphs."""

from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.core.references import FLOOR
from lgl_bench.detectors import detectors
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.plugin_facts import detector_facts, model_track
from lgl_bench.plans.suite import load_suite
from lgl_bench.plans.suited import check_suited, suited_texts, unsuited
from lgl_bench.runs.options import Settings
from lgl_bench.runs.scoring import names_in


def listed(suite):
    return {text for backbone in suite.backbones for text in suite.detectors_of(backbone)}


@pytest.mark.parametrize("name", ["rivals", "rivals-static"])
def test_every_detector_that_is_built_in_is_run_alone_or_around_another(name):
    suite = load_suite(name)
    run = {one for text in listed(suite) for one in names_in(parse(text))}
    assert run | set(FLOOR) == {one for one in detectors.names() if detectors.is_built_in(one)}


@pytest.mark.parametrize("name", ["rivals", "rivals-static"])
def test_every_detector_can_be_run_on_some_backbone_and_wrappers_nest(name):
    suite = load_suite(name)
    for text in listed(suite):
        assert any(not unsuited(text, backbone) for backbone in suite.backbones), text
    assert {"good(vim)", "propagate(scale(energy))", "react(fdbd)", "good(energy)", "good(msp)"} <= listed(suite)


def test_both_suites_ask_the_same_of_streams_that_other_suites_have_too():
    rivals, static = load_suite("rivals"), load_suite("rivals-static")
    for part in ("backbones", "detectors", "detectors_for", "reduced"):
        assert getattr(rivals, part) == getattr(static, part)
    assert rivals.streams == load_suite("temporal").streams
    assert (static.streams, static.split) == (load_suite("static").streams, load_suite("static").split)


def test_a_first_look_leaves_only_graphsage_out():
    suite = load_suite("rivals")
    assert set(suite.backbones) - set(suite.within("quick").backbones) == {"graphsage"}
    assert suite.within("paper").backbones == suite.backbones


def test_taking_one_backbone_leaves_out_what_does_not_work_on_it():
    suite = load_suite("rivals").override(backbones=("graphsage",))
    check_suited(suite)
    assert set(suite.detectors) - set(suited_texts(suite, "graphsage")) == {"nodesafe", "gkde"}


def test_a_detector_that_a_run_names_itself_is_refused_where_it_does_not_work():
    with pytest.raises(UsageError, match="the detector nodesafe can be run on no backbone of this run"):
        check_suited(load_suite("rivals").override(backbones=("graphsage",), detectors=("nodesafe",)))


def test_post_hoc_detectors_share_the_fits_of_softmax_and_tracks_stand_apart(data, out):
    settings = Settings(out, offline=True)
    plan, _ = plan_run("rivals", settings, budget="smoke", seeds=1, streams=["small"])
    single = [chain for chain in plan.units if chain.members == 1]
    chains = {(chain.backbone, chain.head): plan.scored[chain] + plan.tried[chain] for chain in single}
    own = {(name, head) for name, head in chains if name not in ("gcn", "graphsage")}
    assert own == {("gpn", "gpn"), ("oodgat", "softmax"), ("openwgl", "softmax")}
    heads = {"softmax", "isomax+", "doc", "gdoc", "genodin", "logitnorm"}
    assert {head for name, head in chains if name == "graphsage"} == heads
    assert {head for name, head in chains if name == "gcn"} == heads | {"nodesafe", "gkde"}
    assert len(chains["gcn", "softmax"]) > 25
    transductive = {
        (row.backbone, parse(row.detector).name)
        for row in plan.rows
        if "transductive"
        in (
            detector_facts(row.candidates[0].base, plan.plugins).track,
            model_track(row.backbone, row.head, plan.plugins),
        )
    }
    assert transductive == {
        *(("gcn", "grasp"), ("graphsage", "grasp"), ("gcn", "gkde")),
        *(("oodgat", "oodgat"), ("openwgl", "openwgl")),
    }
