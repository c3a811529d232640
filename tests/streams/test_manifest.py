from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from lgl_bench.core.errors import DataError, StatisticsWarning
from lgl_bench.core.resources import shipped
from lgl_bench.streams import catalogue
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.describe import describe
from lgl_bench.streams.importers import importers
from lgl_bench.streams.manifest import Manifest, Statistic, check_checksum, check_parts, check_statistics, read_manifest
from lgl_bench.streams.store import open_stream, verify_stream
from lgl_bench.streams.stream import same
from tests.support.importing import assert_refused, import_
from tests.support.stream_files import ogb, table, zipped

PATHS = sorted(shipped("data_manifests").glob("*.toml"))
NAMES = [path.stem for path in PATHS]


def toy(**fields: Any) -> Manifest:
    texts = dict.fromkeys(("title", "description", "licence", "citation"), "")
    return Manifest(**{"name": "toy", "format": "table", **texts, **fields})


def test_every_set_of_the_benchmark_has_a_manifest() -> None:
    expected = "cora citeseer pubmed dblp-easy dblp-hard pharmabio ogb-arxiv acl-anthology acl-venues arxiv-structure"
    expected += " pubmed-temporal"
    assert set(expected.split()) <= set(NAMES)


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_every_manifest_says_what_a_user_needs(path: Path) -> None:
    manifest = read_manifest(path)
    assert manifest.name == path.stem
    assert manifest.format in importers
    assert manifest.licence
    assert manifest.citation
    assert manifest.homepage
    assert manifest.description
    assert manifest.statistics
    assert manifest.files or "import only" in manifest.notes
    for statistic in manifest.statistics:
        assert statistic.source
        assert bool(statistic.counts) == (statistic.figure == "edges")


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_class_names_are_as_many_as_the_classes_published(path: Path) -> None:
    manifest = read_manifest(path)
    assert len(set(manifest.class_names)) == len(manifest.class_names)
    published = {s.value for s in manifest.statistics if s.figure == "classes"}
    assert not manifest.class_names or published == {float(len(manifest.class_names))}


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_every_published_figure_is_one_that_is_computed(path: Path) -> None:
    """A misspelt figure would be found to be nothing, and no import could ever succeed."""
    known = describe(catalogue.twin("cora-twin"))
    known |= {f"homophily_{key}": value for key, value in known["homophily"].items()}
    assert {s.figure for s in read_manifest(path).statistics} <= set(known)


FIGURES = {
    "vertices": 10,
    "edges": 7,
    "arcs": 14,
    "imported": {"edge_lines": 9},
    "homophily": {"graph": 0.8104, "vertex": None},
    "years": [{}, {}],
}


@pytest.mark.parametrize(
    ("statistic", "told"),
    [
        ({"figure": "vertices", "value": 11}, "vertices: expected 11 (a table), found 10"),
        ({"figure": "edges", "value": 8, "counts": "pairs"}, r"edges (pairs): expected 8 (a table), found 7"),
        ({"figure": "edges", "value": 7, "counts": "arcs"}, "edges (arcs): expected 7 (a table), found 14"),
        ({"figure": "edges", "value": 7, "counts": "lines"}, "edges (lines): expected 7 (a table), found 9"),
        ({"figure": "years", "value": 3}, "years: expected 3 (a table), found 2"),
        (
            {"figure": "homophily_graph", "value": 0.811, "digits": 3},
            "expected 0.811 (a table), found 0.8104",
        ),
        ({"figure": "homophily_vertex", "value": 0.5, "digits": 3}, "expected 0.5 (a table), found nothing"),
    ],
    ids=lambda value: value["figure"] if isinstance(value, dict) else "",
)
def test_a_mismatch_is_an_error_where_verified_and_a_warning_where_not_and_tells_both_figures(
    statistic: dict[str, Any], told: str
) -> None:
    published = Statistic(**statistic, verified=True, source="a table")
    with pytest.raises(DataError, match="not the published files") as caught:
        check_statistics(toy(statistics=(published,)), FIGURES)
    assert told in str(caught.value)
    assert "toy" in str(caught.value)
    unverified = published.model_copy(update={"verified": False})
    with pytest.warns(StatisticsWarning, match="could never be checked") as warned:
        check_statistics(toy(statistics=(unverified,)), FIGURES)
    assert told in str(warned[0].message)


@pytest.mark.parametrize(
    "statistic",
    [
        {"figure": "vertices", "value": 10},
        {"figure": "edges", "value": 7, "counts": "pairs"},
        {"figure": "edges", "value": 14, "counts": "arcs"},
        {"figure": "edges", "value": 9, "counts": "lines"},
        {"figure": "years", "value": 2},
        {"figure": "homophily_graph", "value": 0.810, "digits": 3},
    ],
)
def test_a_figure_that_agrees_passes_in_silence(statistic: dict[str, Any]) -> None:
    check_statistics(toy(statistics=(Statistic(**statistic, verified=True),)), FIGURES)


def import_toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, verified: bool, vertices: int = 4) -> Path:
    published = Statistic(figure="vertices", value=vertices, verified=verified, source="a table")
    monkeypatch.setattr(catalogue, "manifests", lambda: {"toy": toy(statistics=(published,))})
    catalogue.import_stream("toy", table(tmp_path / "source", "csv"), tmp_path / "data")
    return tmp_path / "data" / "toy"


def test_an_import_that_contradicts_a_verified_figure_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match=r"expected 5 \(a table\), found 4"):
        import_toy(tmp_path, monkeypatch, verified=True, vertices=5)
    assert not (tmp_path / "data").exists()


def test_an_import_that_contradicts_an_unverified_figure_warns_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(StatisticsWarning, match=r"expected 5 \(a table\), found 4"):
        folder = import_toy(tmp_path, monkeypatch, verified=False, vertices=5)
    assert verify_stream(folder) == []


def test_a_stream_with_another_checksum_than_its_manifest_is_refused_with_both_and_the_state_to_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = table(tmp_path / "source", "csv")
    right = stream_checksum(catalogue.import_stream("mine", source, tmp_path / "mine"))
    monkeypatch.setattr(catalogue, "manifests", lambda: {"toy": toy(stream_checksum=right)})
    catalogue.import_stream("toy", source, tmp_path / "right")
    wrong = toy(stream_checksum="0" * 64, revision="commit 12ab")
    monkeypatch.setattr(catalogue, "manifests", lambda: {"toy": wrong})
    with pytest.raises(DataError, match=f"must be {'0' * 64}, found {right}; .*; take commit 12ab"):
        catalogue.import_stream("toy", source, tmp_path / "data")
    assert not (tmp_path / "data").exists()
    check_checksum(toy(), right)


def test_a_figure_that_is_not_the_published_one_names_the_state_of_the_source_to_take() -> None:
    published = Statistic(figure="vertices", value=11, verified=True, source="a table")
    with pytest.raises(DataError, match="or they are damaged; take commit 12ab"):
        check_statistics(toy(statistics=(published,), revision="commit 12ab"), FIGURES)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("packed", [False, True])
def test_a_part_that_is_not_the_published_one_is_refused_in_a_folder_and_in_a_zip(tmp_path: Path, packed: bool) -> None:
    folder = ogb(tmp_path / "arxiv")
    source = zipped(folder, tmp_path / "arxiv.zip") if packed else folder
    right = sha256(folder / "raw" / "node_year.csv.gz")
    check_parts(toy(parts={"node_year.csv.gz": right, "absent.csv.gz": "0" * 64}), source)
    with pytest.raises(DataError, match=f"expected sha256 {'0' * 64}, found {right}; get it again") as caught:
        check_parts(toy(parts={"node_year.csv.gz": "0" * 64}), source)
    assert "raw/node_year.csv.gz" in str(caught.value)
    assert str(source) in str(caught.value)


def test_an_archive_that_is_not_the_published_one_is_refused(tmp_path: Path) -> None:
    archive = zipped(ogb(tmp_path / "arxiv"), tmp_path / "arxiv.zip")
    file = {"name": "arxiv.zip", "urls": ["https://example.org/arxiv.zip"]}
    check_parts(toy(files=[file | {"sha256": sha256(archive)}]), archive)
    with pytest.raises(DataError, match=r"arxiv\.zip is not the published file of toy"):
        check_parts(toy(files=[file | {"sha256": "0" * 64}]), archive)


# the real sets: figures as the paper prints them, or as counted where it prints none

REAL: dict[str, tuple[str, dict[str, Any]]] = {
    "cora": ("planetoid", {"vertices": 2708, "arcs": 10556, "features": 1433, "classes": 7}),
    "citeseer": ("planetoid", {"vertices": 3327, "arcs": 9104, "features": 3703, "classes": 6}),
    "pubmed": ("planetoid", {"vertices": 19717, "arcs": 88648, "features": 500, "classes": 3}),
    "acl-venues": (
        "acl-venues",
        {"vertices": 17548, "edges": 213830, "features": 2000, "classes": 28, "known_at_t0": 20, "t0": 2005},
    ),
    "pubmed-temporal": (
        ".",
        {"vertices": 19717, "arcs": 88648, "features": 500, "classes": 3, "known_at_t0": 2, "t0": 1981},
    ),
    "arxiv-structure": (
        "ogbn_arxiv",
        {"vertices": 169343, "features": 128, "classes": 40, "known_at_t0": 15, "t0": 1997},
    ),
}
HOMOPHILY = {
    "cora": {"graph": 0.810, "vertex": 0.825, "class_insensitive": 0.766, "index": -0.620},
    "citeseer": {"graph": 0.736, "vertex": 0.706, "class_insensitive": 0.627, "index": -0.471},
    "pubmed": {"graph": 0.802, "vertex": 0.792, "class_insensitive": 0.664, "index": -0.605},
    "pubmed-temporal": {"graph": 0.802, "vertex": 0.792, "class_insensitive": 0.664, "index": -0.605},
    "arxiv-structure": {"class_insensitive": 0.421},
}
YEARS = {"cora": 1, "citeseer": 1, "pubmed": 1, "pubmed-temporal": 46, "acl-venues": 53, "arxiv-structure": 35}
LINES = {"acl-venues": 213830, "arxiv-structure": 1166243}
KINDS = dict.fromkeys(("cora", "citeseer", "pubmed", "pubmed-temporal", "acl-venues"), "sparse")
SPLITS = {"cora": (140, 500, 1000), "citeseer": (120, 500, 1000), "pubmed": (60, 500, 1000)}


@pytest.mark.real
@pytest.mark.parametrize("name", REAL)
def test_a_real_set_imports_with_the_figures_published(real_data: Path, tmp_path: Path, name: str) -> None:
    folder, expected = REAL[name]
    stream = catalogue.import_stream(name, real_data / folder, tmp_path)
    figures = describe(stream)
    assert {key: figures[key] for key in expected} == expected
    assert len(figures["years"]) == YEARS[name]
    found = {key: round(figures["homophily"][key], 3) for key in HOMOPHILY.get(name, {})}
    assert found == HOMOPHILY.get(name, {})
    assert figures["feature_kind"] == KINDS.get(name, "dense")
    if name in LINES:
        assert figures["imported"]["edge_lines"] == LINES[name]
    if name in SPLITS:
        assert stream.split is not None
        assert tuple(int((stream.split == code).sum()) for code in (1, 2, 3)) == SPLITS[name]
    assert same(stream, open_stream(tmp_path / name))


@pytest.mark.real
def test_the_new_class_of_pubmed_by_year_grows_as_counted_and_no_paper_is_of_1972(
    real_data: Path, tmp_path: Path
) -> None:
    stream = catalogue.import_stream("pubmed-temporal", real_data, tmp_path)
    sizes = [int(((stream.born == year) & (stream.labels == 1)).sum()) for year in range(1981, 1987)]
    assert sizes == [0, 1, 14, 49, 45, 57]
    assert stream.class_births() == {0: 1964, 2: 1970, 1: 1982}
    assert (stream.times[0], stream.times[-1], 1972 in stream.times) == (1964, 2010, False)
    assert stream.split is None


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('name = "toy"\ncolour = "red"\n', ("field 'colour'", "Extra inputs are not permitted", "correct or")),
        ('name = "toy"\n[twin]\ntimes = [1]\ncolour = 1\n', ("field 'twin.", "correct or remove it")),
        ('name = "toy\n', ("is no TOML", "line 6")),
        ('name = "To Y"\n', ("field 'name'", "correct or remove it")),
    ],
)
def test_a_manifest_with_an_unknown_field_is_named_with_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, phrases: tuple[str, ...]
) -> None:
    rest = 'title = "Toy"\ndescription = ""\nformat = "table"\nlicence = ""\ncitation = ""\n'
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "toy.toml").write_text(rest + text)
    monkeypatch.setattr(catalogue, "shipped", lambda folder: tmp_path / "manifests")
    source = table(tmp_path / "source", "csv")
    phrases = (f"the manifest '{tmp_path / 'manifests' / 'toy.toml'}'", *phrases)
    assert_refused(import_(tmp_path, source), tmp_path, *phrases)
