"""What crosses a file has one door: no other module spells an answer column, a column of the board, or its file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import lgl_bench
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.table.columns import columns
from lgl_bench.leaderboard.table.schema import FACTS, HEADLINE

PACKAGE = Path(lgl_bench.__file__).parent
TABLE = ("leaderboard/table/",)
_METRICS = {column.name for column in columns(HEADLINE)} - {*KEY, *FACTS, *HEADLINE}
_REASONS = {"_reason", *(name for name in _METRICS if name.endswith("_reason"))}
_SUFFIX = re.compile(r"_(mean|std|lo|hi|n_seeds|n_years)")
# Left out are columns whose names are ordinary words or stand in other files too: those of the key (stream, head,
# split, ...) are keys of plan.json and columns of years.parquet, which also has chosen, device, n_new, fit_seconds,
# peak_memory_mb and tuning_trials; versions and created_at are keys of plan.json; an interval is one in any table.
FACTS_OF_A_BOARD = {"above_floor", "failed_years", "failed_seeds", "trust", "submitter", "schema_version"}

# What is spelled, and the modules that may; a folder ends with a slash.
DOORS: dict[str, tuple[Callable[[str], bool], tuple[str, ...]]] = {
    "answer column": (
        lambda text: re.search(r"\b(novelty|neighbour|rejected):", text) is not None,
        ("runs/answer_columns.py",),
    ),
    "metric column": (lambda text: text in _METRICS - _REASONS or _SUFFIX.fullmatch(text) is not None, TABLE),
    # Rows of years and of classes have reasons of their own: only those who make or add up these rows may name them.
    "reason column": (
        lambda text: text in _REASONS,
        (*TABLE, "grading/", "leaderboard/aggregate.py"),
    ),
    "fact column": (lambda text: text in FACTS_OF_A_BOARD, TABLE),
    "fit.json": (lambda text: "fit.json" in text, ("runs/records.py", "runs/fit_files.py")),
    "leaderboard.csv": (lambda text: "leaderboard.csv" in text, ("leaderboard/table/names.py",)),
    "years.parquet": (lambda text: "years.parquet" in text, ("grading/year_table.py",)),
}
# Modules that spell a name with another meaning.
EXCEPTIONS = {
    ("metric column", "cli/parity.py"): "columns of the parity table, not of a board",
    ("fact column", "cli/submissions.py"): "a key of the JSON it prints",
}


def spelled(source: str) -> Iterator[tuple[int, str]]:
    """Every text constant of a module, parts of f-strings included, with its line; docstrings are left out."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


@cache
def modules() -> dict[str, list[tuple[int, str]]]:
    """What every module of the package spells."""
    return {
        path.relative_to(PACKAGE).as_posix(): list(spelled(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def found_outside(what: str) -> dict[str, list[str]]:
    """Modules outside the door that spell it, each with its lines."""
    is_spelled, door = DOORS[what]
    found: dict[str, list[str]] = {}
    for name, texts in modules().items():
        if any(name == place or (place.endswith("/") and name.startswith(place)) for place in door):
            continue
        for line, text in texts:
            if is_spelled(text):
                found.setdefault(name, []).append(f"{name}:{line}: {text!r}")
    return found


@pytest.mark.parametrize("what", DOORS)
def test_nobody_outside_the_door_spells_it(what):
    found = found_outside(what)
    wrong = [line for name, lines in found.items() if (what, name) not in EXCEPTIONS for line in lines]
    assert not wrong, f"ask the door ({', '.join(DOORS[what][1])}) for: {wrong}"


@pytest.mark.parametrize(("what", "name"), EXCEPTIONS)
def test_an_exception_that_is_no_longer_needed_is_removed(what, name):
    if (PACKAGE / name).is_file():
        assert name in found_outside(what), f"{name} asks the door by now: remove the exception"


def test_the_walk_sees_constants_and_parts_of_formats_but_no_docstrings():
    source = '"""auroc_mean_lo"""\nx = f"{metric}_mean"\ny = frame["above_floor"]\n'
    assert sorted(spelled(source)) == [(2, "_mean"), (3, "above_floor")]
    texts = [text for _, text in spelled(source)]
    assert [what for what in DOORS if any(DOORS[what][0](text) for text in texts)] == ["metric column", "fact column"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("novelty:msp", "answer column"),
        ("accuracy_n_years", "metric column"),
        ("auroc_mean_lo", "metric column"),
        ("_reason", "reason column"),
        ("fits/key/fit.json", "fit.json"),
    ],
)
def test_every_way_to_spell_is_seen(text, what):
    assert DOORS[what][0](text)


@pytest.mark.parametrize("text", ["auroc_mean", "a_mean", "unranked_reason", "mean", "not rejected", "confidence"])
def test_names_of_metrics_and_other_words_are_free(text):
    assert not any(is_spelled(text) for is_spelled, _ in DOORS.values())
