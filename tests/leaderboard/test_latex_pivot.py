from __future__ import annotations

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.leaderboard.latex_pivot import latex_pivot
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.write import canonical, write_board
from tests.support.report_boards import board_of, year_frame

PROGRAMS = ("pdflatex", "xelatex", "lualatex", "tectonic")


@pytest.fixture
def rows():
    years = year_frame(streams=["a_b", "c"], detectors=["msp", "good(msp,alpha=0.5)"], thresholds=[""])
    years = years.assign(stream_checksum="0" * 64)
    years = years[(years["stream"] == "c") | (years["backbone"] == "gcn")]
    frame = canonical(board_of(years))
    for metric, values in {"mean": [0.9, 0.8], "std": [0.012, 0.1], "n_seeds": [3, 3]}.items():
        frame.loc[frame["stream"] == "a_b", f"auroc_weighted_{metric}"] = values
    return frame


def _lines(text: str) -> dict[str, list[str]]:
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    cells = [line.removesuffix(r"\\").strip().split(" & ") for line in body]
    return {name: rest for name, *rest in cells}


def test_methods_are_rows_and_streams_columns_with_mean_and_deviation_and_the_best_in_bold(rows):
    text = latex_pivot(ranked(rows))
    assert r"method & a\_b & c \\" in text and r"\begin{tabular}{lrr}" in text
    found = _lines(text)
    # Rows of the first stream come in the order of the table: good(msp) 0.9, msp 0.8.
    first = rows[rows["stream"] == "a_b"].sort_values("auroc_weighted_mean", ascending=False)["detector"].tolist()
    best = "msp, gcn" if first[0] == "msp" else "good(msp), gcn"
    other = "good(msp), gcn" if best == "msp, gcn" else "msp, gcn"
    assert found[best][0] == r"$\mathbf{0.900 \pm 0.012}$"
    # Welch: the difference of 0.1 has a standard error of sqrt(0.012^2/3 + 0.1^2/3) = 0.058; three seeds do not tell.
    assert found[other][0] == r"$0.800 \pm 0.100$$^{?}$"
    assert found["msp, mlp"][0] == "--" and found["msp, mlp"][1].startswith("$0.")


def test_a_single_seed_has_no_deviation(rows):
    rows = rows.assign(auroc_weighted_std=float("nan"))
    assert r"\pm 0" not in latex_pivot(ranked(rows)).replace("%", "\n%").split("\n%")[0]


def test_two_rows_of_a_stream_that_share_a_short_name_have_their_parameters():
    years = year_frame(detectors=["odin(eps=0.1)", "odin(eps=0.2)"], backbones=["gcn"], thresholds=[""])
    found = _lines(latex_pivot(ranked(canonical(board_of(years)))))
    assert set(found) == {"odin(eps=0.1), gcn", "odin(eps=0.2), gcn"}


def test_decisions_have_a_table_of_their_own_by_their_own_metric():
    years = year_frame(detectors=["msp"], backbones=["gcn"], thresholds=["", "naive(delta=0.1)"])
    text = latex_pivot(ranked(canonical(board_of(years))))
    assert text.count(r"\begin{tabular}") == 2 and "msp, naive, gcn" in text


def test_the_command_gives_the_table_and_needs_latex_for_it(tmp_path, rows):
    write_board(rows, tmp_path / "board.csv")
    show = ["leaderboard", "show", str(tmp_path / "board.csv")]
    done = CliRunner().invoke(main, [*show, "--format", "latex", "--pivot"])
    assert done.exit_code == 0 and done.output == latex_pivot(ranked(rows)), done.output
    wrong = CliRunner().invoke(main, [*show, "--pivot"])
    assert wrong.exit_code == 2 and "--format latex" in wrong.output


def test_latex_sets_the_table(tmp_path, rows):
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"none of {', '.join(PROGRAMS)} is installed: the table was not compiled")
    text = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + latex_pivot(ranked(rows))
    (tmp_path / "table.tex").write_text(text + "\\end{document}\n", encoding="utf-8")
    flags = [] if program.endswith("tectonic") else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run([program, *flags, "table.tex"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and (tmp_path / "table.pdf").is_file(), done.stdout
