"""The page on parity may explain nothing that no measurement shows."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

from lgl_bench.report.paper_tables.words import FEW, SIGNS
from lgl_bench.report.parity.left import verdicts
from lgl_bench.report.parity.measured import FILE, read_measured
from lgl_bench.report.parity.printed import printed_cells
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.table import parity_table
from lgl_bench.report.parity.verdict import Mark
from tests.docs.walk import walk

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")


def rows():
    with (ROOT / "leaderboard" / "parity" / "parity.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_figure_of_the_page_is_one_of_the_table():
    columns = [f"{metric}_{part}" for metric in ("accuracy", "auroc") for part in ("paper", "ours", "std")]
    known = {f"{float(row[column]):.3f}" for row in rows() for column in columns if row[column]}
    quoted = set(re.findall(r"(?<![\d.])0\.\d{3}(?!\d)", PAGE))
    assert quoted and quoted <= known, quoted - known


def test_a_cell_far_from_the_printed_one_that_no_switch_brings_near_is_named_as_unexplained():
    folder = ROOT / "leaderboard" / "parity"
    report = (folder / "parity.md").read_text(encoding="utf-8")
    far = report.partition("## Cells further than")[2].partition("\n## ")[0]
    said = list(verdicts(parity_table(read_measured(folder / FILE))))
    unexplained = [row for row, _, answer in said if answer.mark == Mark.OPEN]
    assert unexplained and far.count("| not explained") == len(unexplained)
    for row in unexplained:
        assert re.search(rf"^\| {re.escape(' | '.join(row.place))} \| .* \| not explained", far, re.MULTILINE), (
            row.place
        )


def test_the_command_of_the_page_writes_the_papers_tables_from_the_boards_of_the_repository(tmp_path):
    shutil.copytree(ROOT / "leaderboard", tmp_path / "here" / "leaderboard")
    at = PAGE.index("## The paper's tables with our numbers")
    section = tmp_path / "section.md"
    section.write_text(PAGE[at : PAGE.index("\n## ", at)], encoding="utf-8")
    (step,) = walk(section, tmp_path, [])
    assert "--paper-tables" in step.block.text
    page = (tmp_path / "here" / "paper-tables" / "index.html").read_text(encoding="utf-8")
    assert page.count("<span>paper</span>") == len(printed_cells())
    named = re.findall(r"`([a-z]+)\.tex`", section.read_text(encoding="utf-8"))
    assert sorted(path.stem for path in (tmp_path / "here" / "paper-tables").glob("*.tex")) == sorted(named)


def test_the_page_shows_every_mark_as_the_tables_do():
    shown = re.findall(r"^\| ([a-z0-9. ]+) \| (\S) \| (\S+) \| [^|]+ \|$", PAGE, re.MULTILINE)
    assert [(word, sign) for word, sign, _ in shown] == [
        *((sign.word, sign.page) for sign in SIGNS.values()),
        ("few seeds", FEW.page),
    ]


def test_the_page_says_what_every_switch_changes():
    declared = [(switch.name, switch.changes) for switch in published_code().switches.values()]
    shown = re.findall(r"^\| `([a-z-]+)` \| (.+) \| .+ \|$", PAGE, re.MULTILINE)
    assert shown == declared
