from __future__ import annotations

import csv
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.report.paper_figures import paper_figures
from lgl_bench.report.paper_tables.inputs import paper_report
from lgl_bench.report.paper_tables.write import write_paper_tables
from lgl_bench.report.parity.measured import FILE, write_measured
from lgl_bench.report.parity.printed import printed_cells
from lgl_bench.report.site import build_site
from tests.report.paper_tables.made import with_every_mark
from tests.support.paper_boards import GDOC, ODIN, board_row, write_rows
from tests.support.report_boards import write_run, year_frame


@pytest.fixture
def parity(tmp_path) -> Path:
    folder = tmp_path / "boards" / "parity"
    folder.mkdir(parents=True)
    write_measured(with_every_mark(), folder / FILE)
    return folder


class Cells(HTMLParser):
    """The text of every cell of the tables, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += " ".join(data.split()) + " "


def shown(page: Path) -> list[list[str]]:
    parser = Cells()
    parser.feed(page.read_text(encoding="utf-8"))
    return [[" ".join(cell.split()) for cell in row] for row in parser.rows]


def test_the_page_lists_every_printed_cell_and_says_what_is_not_measured(tmp_path, parity):
    made = write_paper_tables([parity], tmp_path / "tables")
    cells = [cell for row in shown(tmp_path / "tables" / "index.html") for cell in row if cell.startswith("paper ")]
    assert len(cells) == made["cells"] == len(printed_cells())
    assert made["marks"] == {"within 0.03": 2, "explained": 1, "not explained": 1, "not measured": len(cells) - 4}
    assert sum("not measured" in cell for cell in cells) == len(cells) - 4
    assert made["few_seeds"] == 1


def test_every_mark_says_why_on_the_page(tmp_path, parity):
    write_paper_tables([parity], tmp_path / "tables")
    rows = {row[0]: row for row in reversed(shown(tmp_path / "tables" / "index.html")) if len(row) == 5}
    assert rows["ODIN"][1] == (
        "paper 0.89 / 0.84 ours 0.900 / 0.850 ± 0.010 / 0.000 diff. +0.010 / +0.010 ✓ within 0.03 3 seeds"
    )
    assert "? 2 seeds" in rows["ODIN"][2]
    assert "† explained 3 seeds with layer 0.880 / 0.770 (3 seeds)" in rows["IsoMax+"][1]
    assert "✗ not explained" in rows["gDOC"][1]
    assert "not with weights 0.870 / 0.720 (1 seed); layer, outputs, outputs-together not run" in rows["gDOC"][1]
    text = (tmp_path / "tables" / "index.html").read_text(encoding="utf-8")
    assert "The one with more seeds stands" in text and "not a target" in text


def test_the_page_needs_no_other_file_and_links_to_its_tables(tmp_path, parity):
    write_paper_tables([parity], tmp_path / "tables", command="lgl-bench report parity --paper-tables tables")
    text = (tmp_path / "tables" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"""(?:src=|rel="stylesheet")""", text)
    links = {link for link in re.findall(r'href="([^"#]+)"', text) if not link.startswith("data:")}
    assert links == {"index.html", "cells.csv", *(f"{name}.tex" for name in TABLES)}
    assert all((tmp_path / "tables" / link).is_file() for link in links)
    assert str(tmp_path) not in text and "--paper-tables tables" in text


TABLES = ("static", "temporal", "thresholds", "transductive", "planetoid")


def test_the_csv_has_every_printed_figure(tmp_path, parity):
    write_paper_tables([parity], tmp_path / "tables")
    with (tmp_path / "tables" / "cells.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(one.figures) for one in printed_cells())
    (row,) = [row for row in rows if (row["backbone"], row["detector"], row["metric"]) == ("gcn", "isomax+", "auroc")][
        :1
    ]
    assert (row["stream"], row["paper"], row["ours"], row["difference"]) == ("cora", "0.78", "0.7", "-0.08")
    assert (row["mark"], row["explained_by"], row["seeds"]) == ("explained", "layer", "3")
    assert (row["budget"], row["source"], row["commit"]) == ("paper", "parity", "0123456")


def test_measurements_are_found_by_name_by_folder_and_beside_a_board(tmp_path, parity):
    board = write_rows(parity.parent / "board.csv", board_row(ODIN, {"accuracy": 0.9, "auroc": 0.8}, budget="quick"))
    for given in (parity, parity / FILE, board):
        assert paper_report([given]).measured == 4
    assert paper_report([board]).left_out == {"quick": 1}


def test_a_run_folder_gives_the_measurements_of_its_year_rows(tmp_path):
    (odin,) = [one for one in printed_cells() if one.place == ODIN]
    years = year_frame(["cora"], [odin.expression], ["gcn"], [""], [0], protocol="leave-class-out", split="60-20-20")
    years = years.assign(strategy="", restart="", budget="paper", role="test", fold="1")
    found = paper_report([write_run(tmp_path / "run", years)])
    assert found.measured == 1
    (cell,) = [cell for table in found.tables for cell in table.cells if cell.ours is not None]
    assert cell.printed.place == ODIN and cell.ours is not None and (cell.ours.source, cell.ours.seeds) == ("parity", 3)


def test_nothing_that_answers_a_printed_cell_is_refused_with_what_there_is(tmp_path):
    board = write_rows(tmp_path / "board.csv", board_row(ODIN, {"accuracy": 0.9, "auroc": 0.8}, budget="quick"))
    with pytest.raises(DataError, match=r"there are 1 rows with the budget quick.*lgl-bench parity --stream cora"):
        write_paper_tables([board], tmp_path / "tables")
    done = CliRunner().invoke(main, ["report", str(board), "--paper-tables", str(tmp_path / "tables")])
    assert done.exit_code == 3 and "a cell the paper prints" in done.output
    assert not (tmp_path / "tables").exists()


def test_a_file_of_measurements_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"measured\.csv does not exist"):
        write_paper_tables([tmp_path / FILE], tmp_path / "tables")


def test_a_folder_that_is_there_is_replaced_only_by_force_and_never_if_it_is_not_ours(tmp_path, parity):
    write_paper_tables([parity], tmp_path / "tables")
    with pytest.raises(UsageError, match="exists already; give --force"):
        write_paper_tables([parity], tmp_path / "tables")
    write_paper_tables([parity], tmp_path / "tables", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UsageError, match="was not made by"):
        write_paper_tables([parity], tmp_path / "mine", force=True)


def test_the_command_says_how_many_cells_have_which_mark_and_json_has_the_same(tmp_path, parity):
    command = ["report", str(parity), "--paper-tables", str(tmp_path / "tables")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert "printed cells in 5 tables: 2 within 0.03, 1 explained, 1 not explained" in done.output
    assert "fewer than 3 seeds: 1 of the measured cells" in done.output
    again = CliRunner().invoke(main, [*command, "--force", "--json"])
    found = json.loads(again.output)
    assert found["marks"]["explained"] == 1 and found["tables"] == [f"{name}.tex" for name in TABLES]


def test_one_folder_cannot_be_both_a_site_and_the_tables(tmp_path, parity):
    place = str(tmp_path / "both")
    done = CliRunner().invoke(main, ["report", str(parity), "--paper-tables", place, "--html", place])
    assert done.exit_code == 2 and "a folder of its own" in done.output


def test_the_site_has_the_tables_on_a_page_if_there_are_measurements_beside_a_board(tmp_path, parity):
    board = write_rows(parity.parent / "board.csv", board_row(GDOC, {"accuracy": 0.9, "auroc": 0.8}, budget="quick"))
    with_page = build_site([board, parity / FILE], tmp_path / "site")
    text = (tmp_path / "site" / "paper.html").read_text(encoding="utf-8")
    assert "The paper's tables" in text.replace("&#39;", "'") and 'href="data/paper-cells.csv"' in text
    assert (tmp_path / "site" / "data" / "paper-cells.csv").is_file() and ".tex" not in text
    assert 'href="paper.html"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    shutil.rmtree(parity)
    without = build_site([board], tmp_path / "other")
    assert without["pages"] == with_page["pages"] - 1 and not (tmp_path / "other" / "paper.html").exists()
    assert "paper.html" not in (tmp_path / "other" / "index.html").read_text(encoding="utf-8")


def test_figures_pass_over_measurements(tmp_path, parity):
    board = write_rows(parity.parent / "board.csv", board_row(GDOC, {"accuracy": 0.9, "auroc": 0.8}))
    assert "figures" in paper_figures([board, parity, parity / FILE], tmp_path / "figures")
