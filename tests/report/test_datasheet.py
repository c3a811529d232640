from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.report.datasheet import datasheet, origin, page_name, write_datasheet, write_datasheets
from lgl_bench.streams import catalogue
from lgl_bench.streams.catalogue import manifests, twin
from lgl_bench.streams.describe import describe
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import StreamInfo
from tests.support.command_line import assert_error, run

SMALL = Recipe(times=(2000, 2001, 2003), growth=(12, 8, 9), births=(2, 0, 1), birth_size=3, features=5, words=3)


def page_of(name: str, **facts: object) -> str:
    return datasheet(describe(generate(SMALL, StreamInfo(name, t0=2000, **facts))))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(manifests()))
def test_every_manifest_gives_a_page_with_its_options_figures_and_problems(name: str) -> None:
    manifest = manifests()[name]
    found = origin(name)
    assert found.about == manifest.description
    assert found.problems == manifest.problems and found.notes == manifest.notes
    assert found.problems, "every stream has its problems: the manifest should say them"
    assert dict(found.built)["importer"] == manifest.format
    assert {key: str(value) for key, value in manifest.options.items()}.items() <= dict(found.built).items()
    assert len(found.published) == len(manifest.statistics)


def test_a_page_says_source_licence_building_and_problems_and_draws_the_years() -> None:
    page = page_of(
        "acl-anthology", source="the source", licence="CC BY", citation="Cite it", imported={"edge_lines": 70}
    )
    manifest = manifests()["acl-anthology"]
    for text in ("the source", "CC BY", "Cite it", "70 <bdi>edge lines", manifest.revision, "least_papers", "24,318"):
        assert text in page
    assert f"<li><bdi>{manifest.problems[1]}</bdi></li>" in page and f"<p><bdi>{manifest.notes}</bdi></p>" in page
    assert page.count("<svg") >= 3
    for title in ("Growth", "Classes known and new", "Homophily and drift"):
        assert title in page


def test_the_tables_have_every_class_with_its_birth_and_every_year_with_its_figures() -> None:
    figures = describe(generate(SMALL, StreamInfo("mine", t0=2000)))
    page = datasheet(figures)
    for one in figures["per_class"]:
        row = f"<bdi>{one['name']}</bdi></th><td>{one['born']}</td><td>{one['vertices']}</td>"
        assert row in page
    for year in figures["years"]:
        assert f"{year['time']}</th><td>{year['vertices']}</td><td>{year['edges']}</td>" in page
    assert "2 known at t0 = 2000, 1 born after it" in page


def test_a_page_needs_no_other_file_and_runs_no_script() -> None:
    page = page_of("mine")
    assert "<script" not in page
    assert [ref for ref in re.findall(r'(?:href|src)="([^"]*)"', page) if not ref.startswith("data:")] == []


def test_what_a_stream_says_of_itself_is_escaped() -> None:
    page = page_of("mine", source="<script>alert(1)</script>", licence="a & b")
    assert "<script" not in page
    assert "a &amp; b" in page


def test_a_twin_says_that_it_is_synthetic_and_a_stream_of_your_own_that_it_has_no_manifest() -> None:
    found = origin("dblp-easy-twin(homophily=0.3)")
    assert "synthetic twin of dblp-easy" in found.about
    assert "says nothing about dblp-easy" in found.problems[0]
    assert "no manifest" in page_of("mine")


def test_a_static_stream_has_a_page_without_charts_over_the_years() -> None:
    page = datasheet(describe(twin("cora-twin")))
    assert "a single point in time" in page
    assert "Class births" in page


def test_describe_writes_the_page_beside_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path / "data"))
    result = run("data", "describe", "dblp-easy-twin", "--html", tmp_path / "sheet.html")
    assert result.exit_code == 0
    assert result.stdout.startswith("dblp-easy-twin")
    page = (tmp_path / "sheet.html").read_text(encoding="utf-8")
    assert page == datasheet(describe(catalogue.twin("dblp-easy-twin")))


def test_a_page_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="the page cannot be written to"):
        write_datasheet(describe(twin("cora-twin")), tmp_path / "file" / "sheet.html")
    result = run("data", "describe", "cora-twin", "--html", tmp_path / "file" / "sheet.html")
    assert_error(result, 2, "the page cannot be written to")


def test_several_streams_have_a_page_each_and_an_index_that_names_those_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path / "data"))
    result = run("data", "describe", "dblp-easy-twin", "cora-twin", "--html", tmp_path / "sheets")
    assert result.exit_code == 0 and result.stdout == f"{tmp_path / 'sheets' / 'index.html'}: 2 datasheets\n"
    pages = {path.name for path in (tmp_path / "sheets").iterdir()}
    assert pages == {"index.html", page_name("dblp-easy-twin"), page_name("cora-twin")}
    index = (tmp_path / "sheets" / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'<a href="([^"]*)"', index)) == pages - {"index.html"}
    assert all(f"<li><bdi>{name}</bdi>: " in index for name in manifests()) and "<script" not in index
    sheet = (tmp_path / "sheets" / page_name("cora-twin")).read_text(encoding="utf-8")
    assert '<a href="index.html">All datasheets</a>' in sheet
    again = run("data", "describe", "dblp-easy-twin", "cora-twin", "--html", tmp_path / "sheets", "--json")
    assert [one["name"] for one in json.loads(again.stdout)] == ["dblp-easy-twin", "cora-twin"]


def test_all_is_every_stream_of_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path))
    assert_error(run("data", "describe", "--all"), 2, "no stream is in")
    for name in ("one", "two"):
        write_stream(generate(SMALL, StreamInfo(name, t0=2000)), tmp_path / name)
    result = run("data", "describe", "--all")
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line in ("one", "two")] == ["one", "two"]


@pytest.mark.parametrize(
    "given, said",
    [
        ([], "which stream? Name one, or several, or give --all"),
        (["cora-twin", "--all"], "leave the names out"),
        (["cora-twin", "pubmed-twin", "--plot", "x.png"], "write one file of one stream"),
    ],
)
def test_wrong_usage_of_describe_is_named(given: list[str], said: str) -> None:
    assert_error(run("data", "describe", *given), 2, said)


def test_an_index_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>My site</h1>")
    with pytest.raises(UsageError, match="is no index of datasheets"):
        write_datasheets([describe(twin("cora-twin"))], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
