"""Leaderboard CSVs: cells, lines and columns of a board that is shipped."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from lgl_bench.leaderboard.table.read import read_board
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import TOKENS, damage_bytes, damage_folder, damage_text, files_in, one_of

_SHIPPED = Path(__file__).resolve().parents[2] / "leaderboard" / "temporal.csv"


def _make(folder: Path, rng: random.Random) -> None:
    with _SHIPPED.open(encoding="utf-8", newline="") as file:
        rows = [row for row, _ in zip(csv.reader(file), range(5), strict=False)]
    _write(folder, rows)


def _write(folder: Path, rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    (folder / "board.csv").write_text(text.getvalue(), encoding="utf-8", errors="surrogateescape")


def _damage_cells(folder: Path, rng: random.Random) -> None:
    with rng.choice(files_in(folder)).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        rows = list(csv.reader(file))
    at, column = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    token = rng.choice(TOKENS).decode(errors="surrogateescape")
    which = rng.randrange(6)
    if which == 0:
        for row in rows:
            del row[column]
    elif which == 1:
        for row in rows:
            row.insert(rng.randrange(len(row)), row[column])
    elif which == 2:
        rows.append(rows[at])
    elif which == 3:
        rows[0][column] = rng.choice(rows[0])
    else:
        rows[at][column] = rng.choice([token, "", rng.choice(rows[at]), rng.choice(rows[-1])])
    _write(folder, rows)


def _damage_lines(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, ".csv")


def _run(source: Path, out: Path) -> None:
    read_board(source / "board.csv")


KINDS = [Kind("board", _make, one_of(_damage_cells, _damage_cells, _damage_lines, damage_bytes, damage_folder), _run)]
