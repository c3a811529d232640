from __future__ import annotations

import json

import pandas as pd
import pytest

from lgl_bench.leaderboard import text_tables as formats
from lgl_bench.leaderboard.ranking import ranked
from tests.support.boards import board, decided, figures, row


@pytest.fixture
def rows() -> pd.DataFrame:
    return ranked(
        board(
            row(0.8, detector="odin(eps=0.1,temperature=1.0)", backbone="a_b&c|d"),
            row(0.799, detector="msp", **figures("accuracy", 0.95, 0.01, 3)),
            row(0.5, None, 1, detector="energy"),
            row(None, detector="gdoc"),
        )
    )


def test_the_table_shows_intervals_marks_and_dashes(rows):
    header, cells = formats.cells(rows, ["auroc_weighted"])
    assert header == ["rank", "stream", "backbone", "detector", "auroc_weighted"]
    assert [line[0] for line in cells] == ["1", "2~", "3?", "-"]
    assert cells[0][-1] == "0.800 [0.775, 0.825]" and cells[2][-1] == "0.500" and cells[3][-1] == "-"


def test_markdown_bolds_the_best_value_of_every_column_and_keeps_its_columns(rows):
    text = formats.markdown(rows, ["accuracy", "auroc_weighted"])
    lines = text.splitlines()
    assert "a_b&c\\|d" in lines[2]
    assert "**0.800 [0.775, 0.825]**" in lines[2] and "**0.950" in lines[3] and "**0.799" not in text
    assert {line.replace("\\|", "").count("|") for line in lines[:6]} == {7}
    assert "not told apart" in lines[-1]


def test_latex_escapes_what_it_must_and_marks_ties(rows):
    text = formats.latex(rows, ["auroc_weighted"])
    assert r"a\_b\&c\textbar{}d" in text and r"auroc\_weighted" in text
    assert r"\textbf{0.800 [0.775, 0.825]}" in text and r"2$^{\sim}$ &" in text and r"3$^{?}$ &" in text
    assert text.startswith("\\begin{tabular}{rlllr}\n\\toprule") and "\\bottomrule\n\\end{tabular}" in text
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in body} == {4}
    assert text.count(r"\midrule") == 1


def test_every_special_character_of_latex_is_escaped():
    assert formats.escape("\\&%$#_{}~^<>") == (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"
    )


def test_json_gives_reasons_and_no_nan(rows):
    records = json.loads(json.dumps(formats.records(rows), allow_nan=False))
    last = records[-1]
    assert last["rank"] is None and last["metrics"]["auroc_weighted"]["mean"] is None
    assert last["metrics"]["auroc_weighted"]["reason"] == "nobody looked"
    assert records[0]["metrics"]["auroc_weighted"]["mean"] == 0.8 and records[0]["trust"] == "self-reported"


def test_the_table_marks_what_is_inconclusive_and_what_does_not_beat_the_floor():
    frame = board(
        row(0.80, detector="odin", above_floor="yes"),
        row(0.795, detector="msp", above_floor="no"),
        row(0.70, detector="degree", above_floor="floor"),
        row(0.60, detector="energy", above_floor="no"),
        row(0.90, detector="knn", failed_years=2, failed_seeds=1),
    )
    shown = ranked(frame)
    header, cells = formats.cells(shown, ["auroc_weighted"])
    assert header == ["rank", "stream", "backbone", "detector", "note", "auroc_weighted"]
    assert [line[0] for line in cells] == ["1", "2?29_", "3", "4_", "-"]
    assert [line[4] for line in cells[:4]] == ["", "", "floor", ""]
    assert cells[4][4] == "incomplete: 2 test years or folds failed with 1 seeds"
    latex = formats.latex(shown, ["auroc_weighted"])
    assert r"2$^{?29}$\_ &" in latex and r"4\_ &" in latex
    assert [record["above_floor"] for record in formats.records(shown)] == ["yes", "no", "floor", "no", ""]
    assert "does not beat random, degree and recency beyond noise" in formats.LEGEND


def test_references_and_the_upper_bound_say_what_they_are():
    frame = board(*(decided(name, 0.1) for name in ("naive(delta=0.1)", "never", "always", "oracle")))
    header, cells = formats.cells(ranked(frame), ["mcc"])
    at = header.index("note")
    assert {line[header.index("threshold")]: line[at] for line in cells} == {
        "naive(delta=0.1)": "",
        "never": "reference",
        "always": "reference",
        "oracle": "upper bound",
    }
