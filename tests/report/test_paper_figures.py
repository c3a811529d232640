from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.detectors import detector_panel
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


@pytest.fixture(scope="module")
def figures(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    paper_figures([run], folder)
    return folder


def test_every_figure_of_the_page_comes_as_svg_pdf_and_png_the_same_each_time(run, figures, tmp_path):
    made = paper_figures([run], tmp_path / "two")
    names = sorted(path.name for path in figures.iterdir())
    kinds = ("alpha", "classes", "cost", "growth", "heat-map", "homophily", "leaders", "ranking", "sensitivity")
    assert names == sorted(f"{kind}-dblp-easy-twin.{end}" for kind in kinds for end in ("svg", "pdf", "png"))
    assert len(made["figures"]) == len(names) and set(made["left_out"]) == {"good", "delay", "critical"}
    for name in names:
        content = (figures / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes(), name
        assert len(content) > 2000


def test_a_figure_of_a_paper_is_the_drawing_of_the_page_with_its_styles(run, figures):
    (chart,) = detector_panel(report_rows(read_sources([run]))).charts
    text = (figures / "heat-map-dblp-easy-twin.svg").read_text(encoding="utf-8")
    body = chart.svg.split(">", 1)[1]
    assert text.rstrip().endswith(body) and ".heat { fill: #" in text and "var(" not in text
    size = {name: float(ElementTree.fromstring(text).get(name)) for name in ("width", "height")}
    box = re.search(r'viewBox="0 0 (\S+) (\S+)"', chart.svg)
    assert size == {"width": float(box.group(1)), "height": float(box.group(2))}


def test_the_words_of_a_figure_are_words_in_its_pdf_too(figures):
    for path in figures.glob("*.svg"):
        assert "mathdefault" not in path.read_text(encoding="utf-8")
    assert b"/FontFile2" in (figures / "leaders-dblp-easy-twin.pdf").read_bytes()


def test_figures_that_are_there_are_replaced_only_when_asked_and_other_files_stay(tmp_path):
    run = write_run(tmp_path / "run", year_frame(streams=["nowhere"], detectors=["msp"], thresholds=[""], seeds=1))
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "paper.tex").touch()
    paper_figures([run], folder)
    with pytest.raises(UsageError, match="--force"):
        paper_figures([run], folder)
    paper_figures([run], folder, force=True)
    assert (folder / "paper.tex").exists() and not list(folder.glob(".*"))


def test_what_cannot_be_drawn_is_left_out_with_its_reason(tmp_path):
    odd = year_frame(detectors=["$x_$"], streams=["nowhere"], years=[2006], thresholds=["never"])
    made = paper_figures([write_run(tmp_path / "run", odd)], tmp_path / "figures")
    assert made["figures"] == []
    kinds = {"leaders", "detectors", "good", "ranking", "cost", "alpha", "sensitivity", "delay", "critical"}
    assert set(made["left_out"]) == {*kinds, "growth-nowhere"}


def test_a_dollar_sign_in_a_name_is_a_dollar_sign(tmp_path):
    odd = year_frame(detectors=["$x_$"], streams=["nowhere"], thresholds=[""], seeds=1)
    made = paper_figures([write_run(tmp_path / "run", odd)], tmp_path / "figures")
    assert any(path.endswith("heat-map-nowhere.pdf") for path in made["figures"])
    assert ">$x_$</text>" in (tmp_path / "figures" / "heat-map-nowhere.svg").read_text(encoding="utf-8")
