from __future__ import annotations

import math

import pytest

from lgl_bench.core.registry import load_plugin
from lgl_bench.plans.preset_file import load_presets
from lgl_bench.plans.suite import load_suite
from lgl_bench.report.parity.arms import arms_of, preset_of
from lgl_bench.report.parity.cells import Cell, cells_of
from lgl_bench.report.parity.switches import published_code
from tests.support.bundles import plugins_forgotten

SWITCHES = published_code().switches


@pytest.fixture
def plugins():
    with plugins_forgotten():
        load_plugin(published_code().plugin)
        yield


def test_cells_are_run_as_the_paper_says_first_and_then_with_every_switch_that_changes_any():
    cells = [
        *cells_of("cora", "60-20-20", ("gcn", "graph-mlp"), ("softmax",)),
        *cells_of("pubmed", "60-20-20", ("gcn",)),
    ]
    found = [
        (arm.switch.name if arm.switch else "", arm.split, len(arm.cells))
        for switch in (None, *SWITCHES.values())
        for arm in arms_of(cells, switch)
    ]
    assert found == [
        ("", "60-20-20", 2),
        ("", "transductive", 1),
        ("", "60-20-20", 3),
        ("graph-mlp-batches", "60-20-20", 1),
        ("layer", "60-20-20", 2),
        ("layer", "60-20-20", 3),
        ("odin-step", "60-20-20", 2),
        ("odin-step", "60-20-20", 1),
        ("layer-and-step", "60-20-20", 2),
        ("layer-and-step", "60-20-20", 1),
        ("weights", "60-20-20", 1),
        ("prototypes", "60-20-20", 1),
        ("layer-and-prototypes", "60-20-20", 1),
        ("outputs", "60-20-20", 1),
        ("outputs", "60-20-20", 3),
        ("outputs-together", "60-20-20", 1),
        ("outputs-together", "60-20-20", 3),
        ("graph-mlp-together", "60-20-20", 1),
    ]


def test_arms_hold_the_cells_that_were_asked_for_and_no_others_though_a_plan_runs_every_combination():
    odd = [
        Cell("cora", "planetoid", "gcn", "softmax"),
        Cell("citeseer", "planetoid", "gcn", "softmax"),
        Cell("citeseer", "planetoid", "graphsage", "softmax"),
        Cell("pubmed", "planetoid", "graphsage", "softmax"),
        Cell("pubmed", "planetoid", "graphsage", "gdoc"),
    ]
    arms = arms_of(odd)
    assert sorted(map(str, odd)) == sorted(str(cell) for arm in arms for cell in arm.cells)
    for arm in arms:
        names = [{getattr(cell, name) for cell in arm.cells} for name in ("stream", "backbone", "head")]
        assert len(arm.cells) == math.prod(map(len, names))
    (whole,) = arms_of(cells_of("pubmed", "planetoid", ("gcn", "gat")))
    assert len(whole.cells) == 6, "a whole table is one plan"


def test_an_arm_is_a_suite_with_the_papers_detectors_and_no_threshold():
    (arm,) = arms_of(cells_of("dblp-easy", "temporal", ("gcn",), ("softmax",)))
    suite = load_suite(arm.suite).override(**arm.axes)
    assert (suite.name, suite.streams, suite.backbones, suite.select) == (
        "temporal",
        ("dblp-easy",),
        ("gcn",),
        "preset",
    )
    assert suite.detectors[0] == "odin" and not suite.thresholds and not suite.split
    (arm,) = arms_of(cells_of("cora", "planetoid", ("gcn",), ("gdoc",)))
    assert load_suite(arm.suite).override(**arm.axes).split == ("planetoid",)


def test_what_the_paper_says_needs_no_preset_file_but_in_the_transductive_check(tmp_path):
    table, check = arms_of(cells_of("pubmed", "60-20-20", ("graph-mlp",), ("softmax",)))
    assert table.write_presets(tmp_path) is None
    presets = load_presets(check.write_presets(tmp_path))
    assert presets.name == "random-split"
    written = presets.fit("pubmed", "planetoid", "graph-mlp", "softmax")
    assert (written.backbone, written.training) == (
        preset_of(check.cells[0], None).backbone,
        preset_of(check.cells[0], None).training,
    )


@pytest.mark.parametrize(("switch", "head"), [("layer", "gdoc"), ("weights", "gdoc-printed")])
def test_a_preset_file_has_the_parameters_of_every_cell_of_a_switch(plugins, tmp_path, switch, head):
    arm = arms_of(cells_of("citeseer", "60-20-20", heads=("gdoc",)), SWITCHES[switch])[-1]
    presets = load_presets(arm.write_presets(tmp_path))
    assert presets.name == f"published-{switch}" and len(presets.fits) == len(arm.cells) == 4
    for cell in arm.cells:
        written, wanted = presets.fit("citeseer", "60-20-20", cell.backbone, head), preset_of(cell, SWITCHES[switch])
        assert (written.backbone, written.training) == (wanted.backbone, wanted.training)


def test_a_preset_file_has_the_parameters_of_what_takes_the_place_of_a_detector(plugins, tmp_path):
    cell = Cell("citeseer", "60-20-20", "gcn", "softmax")
    arm = arms_of([cell], SWITCHES["odin-step"])[-1]
    presets = load_presets(arm.write_presets(tmp_path))
    place = ("citeseer", "60-20-20", "gcn")
    assert presets.detector(*place, "odin-published") == {"eps": 0.1, "temperature": 100.0}
    assert presets.detector(*place, "good(odin-published)") == {"alpha": 0.8}
    assert arm.axes["detectors"] == ("odin-published", "good(odin-published)")


def test_what_takes_the_place_of_a_backbone_is_planned_and_measured_as_the_cell(plugins, tmp_path):
    cell, switch = Cell("cora", "planetoid", "gat", "isomax+"), SWITCHES["gat-and-prototypes"]
    (arm,) = arms_of([cell], switch)
    assert arm.axes["backbones"] == ("gat-published",)
    written = load_presets(arm.write_presets(tmp_path)).fit("cora", "planetoid", "gat-published", "isomax-published")
    assert written.backbone == switch.preset(cell).backbone and written.backbone["layers"] == 2
