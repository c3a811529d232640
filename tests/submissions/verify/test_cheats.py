"""The table of cheats in docs/trust.md, executed: each dishonest bundle is built and shown to each command."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from lgl_bench.core.registry import load_plugin
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce.reproduce import reproduce
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged, plugins_forgotten, sandboxes
from tests.support.cheating import MINE, MSP, Case
from tests.support.cheats import CHEATS

PAGE = Path(__file__).parents[3] / "docs" / "trust.md"
WORDS = {"refused", "difference", "not ranked", "shown", "claimed", "passes"}


def table() -> dict[str, tuple[str, ...]]:
    """What the page says of each cheat: one word per command."""
    after = PAGE.read_text(encoding="utf-8").split("| what is done | verify | verify --rescore | reproduce |")[1]
    lines = after.split("\n\n")[0].strip().splitlines()[1:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: tuple(words) for name, *words in cells}


@pytest.fixture(scope="module")
def honest(base) -> SimpleNamespace:
    """An honest run of a built-in detector and a plugin, and its bundle."""
    with plugins_forgotten():
        load_plugin(base.plugin)
        out = base.carry_out("honest", detectors=[MSP, MINE], thresholds=["none"])
    submit(out, base.folder / "honest-bundle", submitter="A. Nother", plugins=[base.plugin])
    return SimpleNamespace(**{**vars(base), "out": out, "bundle": base.folder / "honest-bundle"})


@pytest.fixture
def case(honest, tmp_path) -> Case:
    forged = Forged(Path(shutil.copytree(honest.bundle, tmp_path / "forged")))
    return Case(honest, tmp_path, forged, honest.plugin, honest.data)


def outcome(case: Case, command) -> str:
    """What a command makes of a cheat, in the words of the page."""
    try:
        result = command(case.forged.folder)
    except BundleError as error:
        assert case.refusal and case.refusal in str(error)
        return "refused"
    if result.differences:
        return "difference"
    rows = ranked(result.frame.assign(board=0)).query("detector == @case.detector and threshold == ''")
    assert len(rows) == 1
    (row,) = rows.to_dict("records")
    if pd.isna(row["rank"]):
        assert row["unranked_reason"] and (row["failed_years"] or row["failed_seeds"])
        return "not ranked"
    if case.claimed:
        listed = set(re.findall(r"\w+", " ".join(note for note in result.notes if "word of" in note)))
        return "claimed" if set(case.claimed) <= listed else "passes"
    if case.shown:
        return "shown" if {name: str(row[name]) for name in case.shown} == case.shown else "passes"
    return "passes"


def commands(case: Case):
    """The commands of the table's columns."""
    return (
        lambda path: verify(path, case.data),
        lambda path: verify(path, case.data, rescore=True),
        lambda path: reproduce(path, [case.plugin], detectors=[case.detector], data_dir=case.data, jobs=1),
    )


def test_every_row_of_the_table_is_executed_and_every_cheat_has_a_row():
    assert list(table()) == list(CHEATS)
    assert {word for words in table().values() for word in words} == WORDS


def test_an_honest_bundle_passes_every_command(case, here):
    found = [command(case.forged.folder) for command in commands(case)]
    assert [outcome(case, lambda path, one=one: one) for one in found] == ["passes"] * 3
    trust = [one.frame.set_index("detector").loc[MSP, "trust"] for one in found]
    assert trust == ["recomputed", "rescored", "reproduced"]


@pytest.mark.parametrize("name", CHEATS)
def test_every_command_says_of_a_cheat_what_the_table_says(case, name, request, monkeypatch):
    CHEATS[name](case)
    if not case.sandboxed:
        request.getfixturevalue("here")
    elif not sandboxes():
        pytest.skip("this machine allows no sandbox")
    (case.place / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(case.place / "temporary"))
    assert tuple(outcome(case, command) for command in commands(case)) == table()[name]
