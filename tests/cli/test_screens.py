"""What commands print at 60, 80, 120 and 200 columns, word for word, from one small board.

The screens are the files in `screens/`. If one should change, write them anew and look at the difference:

    LGL_BENCH_WRITE_SCREENS=1 pytest tests/cli/test_screens.py && git diff tests/cli/screens
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.leaderboard.boards import open_board, pool
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.report.terminal.closing import closing
from lgl_bench.report.terminal.layout import sentences, text_width
from tests.support.boards import board, decided, figures, row

SCREENS = Path(__file__).parent / "screens"
WIDTHS = (60, 80, 120, 200)
COMMANDS = {
    "show": ["leaderboard", "show", "board.csv", "--top", "5"],
    "show-all-full": ["leaderboard", "show", "board.csv", "--all", "--full"],
    "compare-within": ["compare", "board.csv", "--within", "--top", "4"],
    "compare-boards": ["compare", "older.csv", "board.csv"],
}
OWN = {"detector": ["mahalanobis"], "threshold": ["quantile"]}


def _rows(shift: float = 0.0) -> list[dict[str, object]]:
    """A real stream and a twin: ties, rows of one short name, the floor, failures, decisions, the upper bound."""
    rows = [
        row(0.853 + shift, 0.012, detector="good(mahalanobis,alpha=0.5)", backbone="graph-mlp", above_floor="yes"),
        row(0.852, 0.012, detector="mahalanobis", backbone="graph-mlp", above_floor="yes"),
        row(0.851, 0.03, detector="energy(temperature=1.0)", backbone="graphsage", above_floor="yes"),
        row(0.84, 0.004, detector="good(odin(eps=0.05,temperature=1000.0),alpha=0.2)", above_floor="yes"),
        row(0.80, 0.004, detector="good(odin(eps=0.05,temperature=1000.0),alpha=0.8)", above_floor="yes"),
        row(0.62, 0.09, detector="msp", above_floor="no"),
        row(0.55, 0.01, detector="degree", above_floor="floor"),
        row(0.50, 0.01, detector="recency", above_floor="floor"),
        row(0.49, 0.01, detector="random", above_floor="floor"),
        row(0.90, 0.01, detector="knn(k=50)", backbone="gat", failed_years=2, failed_seeds=1),
        row(None, detector="vim(dim=0.5)", backbone="gat"),
    ]
    rows += [decided("quantile(q=0.1)", 0.31), decided("naive(delta=0.1)", 0.30), decided("never", 0.0)]
    rows += [
        decided("open-wrf(balance=true,dropout=0.5,epochs=50,fit=train,hidden=64,lr=0.01,q=0.1)", 0.12),
        decided("oracle", 0.52) | {"track": "upper bound"},
    ]
    twin = {"stream": "dblp-easy-twin", "stream_checksum": "d" * 64}
    rows += [row(0.71 + shift, None, 1, **twin), row(0.69, None, 1, detector="odin(eps=0.1,temperature=1.0)", **twin)]
    return [cells | figures("recall_new", 0.6, 0.02, 3) if cells["threshold"] else cells for cells in rows]


@pytest.fixture
def boards(tmp_path, monkeypatch):
    write_board(board(*_rows()), tmp_path / "board.csv")
    write_board(board(*_rows(shift=-0.2)), tmp_path / "older.csv")
    monkeypatch.chdir(tmp_path)


def _check(name: str, width: int, text: str) -> None:
    lines = text.splitlines()
    assert max(map(text_width, lines)) <= width and "…" not in text
    path = SCREENS / f"{name}-{width}.txt"
    if os.environ.get("LGL_BENCH_WRITE_SCREENS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; the docstring of this file says what to do"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("boards")
def test_a_screen_is_as_it_was(monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", str(width))
    result = CliRunner().invoke(main, COMMANDS[name])
    assert result.exit_code == 0, result.output
    _check(name, width, result.stdout)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.usefixtures("boards")
def test_the_end_of_a_run_is_as_it_was(width):
    pooled = pool([open_board(Path("board.csv"))])
    paragraphs = closing(ranked(pooled.frame, None, pooled.runs, pooled.tester), OWN)
    _check("run-ends", width, "\n\n".join(sentences(text, width) for text in paragraphs) + "\n")


def test_there_is_no_screen_that_nothing_is_held_against():
    assert {path.name for path in SCREENS.iterdir()} == {
        f"{name}-{width}.txt" for name in (*COMMANDS, "run-ends") for width in WIDTHS
    }
