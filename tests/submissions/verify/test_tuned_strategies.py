"""Bundles whose strategies were tuned: taken as sent where the preset is the submitter's own, and nowhere else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lgl_bench.plans.preset_entries import StrategyEntry
from lgl_bench.plans.preset_file import write_presets
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged
from tests.support.refusals import refused

TUNED = "replay(balance=auto,graph=all,pick=random,size=6)"
PLAIN = "replay(balance=auto,graph=all,pick=random,size=200)"


@pytest.fixture(scope="module")
def bundle(base) -> Path:
    """A run of two backbones; only one of them has a tuned strategy."""
    preset = base.folder / "strategies.toml"
    where = {"stream": "small", "split": "temporal", "backbone": "gcn"}
    write_presets(preset, [StrategyEntry(**where, strategy="replay", parameters={"size": 6}, studies={"tune-1": 3})])
    axes = {"backbones": ["gcn", "mlp"], "detectors": ["msp"], "strategies": ["finetune", "replay"], "seeds": 1}
    out = base.carry_out("tuned-strategies", preset=preset, **axes)
    submit(out, base.folder / "tuned-strategies-bundle")
    return base.folder / "tuned-strategies-bundle"


@pytest.fixture
def forged(bundle, tmp_path) -> Forged:
    return Forged(Path(shutil.copytree(bundle, tmp_path / "forged")))


def tuned_rows(plan):
    return [row for row in plan["rows"] if row["strategy"]["name"] == TUNED]


def everywhere(plan, change) -> None:
    """Changes the tuned strategy of every row and chain."""
    for one in [*plan["rows"], *plan["chains"]]:
        if one["strategy"]["name"] == TUNED:
            change(one)


def test_a_bundle_with_a_tuned_strategy_is_recomputed_and_says_what_it_took_as_sent(base, bundle):
    result = verify(bundle, base.data)
    assert result.differences == []
    assert "parameters of the preset 'strategies' are taken as they were sent" in result.notes
    frame = result.frame[result.frame["detector"] == "msp"].set_index(["backbone", "strategy"])
    assert {*frame.index} == {("gcn", "finetune"), ("gcn", TUNED), ("mlp", "finetune"), ("mlp", PLAIN)}
    assert frame.loc[("gcn", TUNED), ["preset", "tuning_trials"]].tolist() == ["strategies", 3]
    assert frame.loc[("mlp", PLAIN), "tuning_trials"] == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: one["strategy"].update(past="all"), ("replay", "past: all", "past: memory")),
        (lambda one: one["strategy"].update(graph="kept"), ("replay", "graph: kept")),
        (lambda one: one["strategy"].update(warm=False), ("replay", "cold")),
        (lambda one: one["protocol"].update(history=2), ("replay", "history: 2")),
        (lambda one: one["strategy"].update(name=TUNED.replace("size=6", "size=0")), ("plan.json", "size = 0")),
        (lambda one: one["strategy"].update(name="replay(size=6)"), ("plan.json", "replay(size=6)")),
        (lambda one: one["strategy"].update(name="agem(size=6)"), ("plan.json", "none of the suite's")),
        (lambda one: one["strategy"].update(name="nobody(size=6)"), ("plan.json", "nobody")),
    ],
)
def test_what_a_strategy_is_not_is_refused_whoever_tuned_it(forged, base, change, words):
    forged.change_json("plan.json", lambda plan: everywhere(plan, change))
    forged.seal()
    refused(forged, base, *words)


def test_a_tuned_strategy_under_the_papers_preset_is_refused(forged, base):
    paper = next(row["preset"] for row in forged.plan()["rows"] if row["preset"].startswith("paper"))

    def claim(plan):
        for row in tuned_rows(plan):
            row.update(preset=paper, trials=0)

    forged.change_json("plan.json", claim)
    forged.seal()
    refused(forged, base, "plan.json", "none of the suite's")


def test_one_row_under_the_papers_preset_beside_tuned_ones_is_refused(base, tmp_path):
    preset = tmp_path / "beside.toml"
    where = {"stream": "small", "split": "temporal", "backbone": "mlp"}
    write_presets(preset, [StrategyEntry(**where, strategy="replay", parameters={"size": 6})])
    axes = {"backbones": ["mlp"], "detectors": ["msp", "energy"], "strategies": ["replay"], "seeds": 1}
    out = base.carry_out("beside", preset=preset, **axes)
    submit(out, tmp_path / "bundle")
    forged = Forged(tmp_path / "bundle")
    forged.change_json("plan.json", lambda plan: plan["rows"][0].update(preset="paper", trials=0))
    forged.seal()
    refused(forged, base, "plan.json", "the row msp on small, mlp", PLAIN)


def test_values_that_the_suite_gives_are_not_tuned(forged, base):
    def fix(plan):
        plan["suite"]["strategies"] = ["finetune", "replay(size=200)"]

    forged.change_json("plan.json", fix)
    forged.seal()
    refused(forged, base, "plan.json", "none of the suite's")
