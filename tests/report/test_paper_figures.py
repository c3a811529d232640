from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.report.paper_figures import paper_figures
from tests.support.report_boards import write_run, year_frame


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    years = year_frame(
        detectors=[f"good(msp,alpha={alpha})" for alpha in (0.0, 0.5, 1.0)],
        backbones=["gcn"],
        thresholds=["", *(f"open-wrf(fit={fit},q={q})" for fit in ("train", "test") for q in (0.1, 0.2, 0.3))],
    )
    return write_run(tmp_path_factory.mktemp("runs") / "run", years)


def test_every_figure_of_the_paper_comes_as_svg_pdf_and_png_the_same_each_time(run, tmp_path):
    made = [paper_figures([run], tmp_path / name) for name in ("one", "two")]
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == len(made[0]["figures"]) == 15
    for start in ("alpha-sweep", "threshold-sensitivity", "growth-", "homophily-", "curves-"):
        assert sorted(name.rsplit(".", 1)[1] for name in names if name.startswith(start)) == ["pdf", "png", "svg"]
    for name in names:
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes(), name
        assert len(content) > 2000


def test_figures_that_are_there_are_replaced_only_when_asked_and_other_files_stay(run, tmp_path):
    (tmp_path / "paper.tex").touch()
    paper_figures([run], tmp_path)
    with pytest.raises(UsageError, match="--force"):
        paper_figures([run], tmp_path)
    paper_figures([run], tmp_path, force=True)
    assert (tmp_path / "paper.tex").exists() and not list(tmp_path.glob(".*"))


def test_what_cannot_be_drawn_is_left_out_with_its_reason(tmp_path):
    odd = year_frame(detectors=["$x_$"], streams=["nowhere"], years=[2006], thresholds=[""])
    made = paper_figures([write_run(tmp_path / "run", odd)], tmp_path / "figures")
    assert made["figures"] == []
    assert {name.split("-")[0] for name in made["left_out"]} == {"alpha", "threshold", "growth", "curves"}
