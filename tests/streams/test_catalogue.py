from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Sparse
from lgl_bench.streams import catalogue, homophily
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import StreamInfo
from tests.support.importing import assert_nothing_left, stored
from tests.support.stream_files import table


# names and recipes
@pytest.mark.parametrize(
    "name",
    ["my stream", "two\nlines", "end\n", "tab\t", "bell\a", "../up", "a/b", "a\\b", ".", "-x", "", "x" * 101, "a(b"],
)
def test_a_name_that_is_not_one_word_is_refused(tmp_path: Path, name: str) -> None:
    source = table(tmp_path / "source", "csv")
    with pytest.raises(UsageError, match="cannot be a stream's name; use letters, digits"):
        catalogue.import_stream(name, source, tmp_path / "data")
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize("name", ["../mine", "x" * 5000, "a\0b", "/etc"])
def test_a_stream_is_not_looked_for_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    stored(tmp_path)
    (tmp_path / "data").mkdir()
    with pytest.raises(UsageError, match="unknown stream"):
        catalogue.load(name, tmp_path / "data")


# twins
TWINS = {
    "dblp-easy-twin": (
        (range(1990, 2016), 2005, 0.171, 12, 4),
        "d300a29ba9a2750697b2950e570f83ce14ba865cfa00da6339b669982e64745f",
    ),
    "dblp-hard-twin": (
        (range(1990, 2016), 2004, 0.132, 73, 23),
        "75e94574851e95bdf2dc810b94b32be873f8ae0e478f0797f6b0cf2975bc3226",
    ),
    "ogb-arxiv-twin": (
        ((1971, *range(1986, 1989), *range(1990, 2021)), 1997, 0.421, 40, 25),
        "aa6b6f569504ffb2cf8abf3f9af601dd6309db9106198729c987470bd32ac785",
    ),
    "cora-twin": (
        ((0,), None, 0.766, 7, 0),
        "8f252194df10fa1ce778a34f8291e0a642fcc78466f1df15962e5b9fb07fe931",
    ),
    "citeseer-twin": (
        ((0,), None, 0.627, 6, 0),
        "eaa0fc0f0d40e6d81cc7634b9733937ab486de91298b03053c3aff3ea62bace6",
    ),
    "pubmed-twin": (
        ((0,), None, 0.664, 3, 0),
        "e136b2e035c4c7c492060162b2956af967382032b5acd7e65176fadcbda28dc0",
    ),
}


ARXIV_BIRTHS = {
    1971: 1, 1986: 1, 1987: 1, 1988: 1, 1990: 2, 1991: 2, 1995: 1, 1996: 3, 1997: 3, 1998: 4,
    1999: 6, 2000: 6, 2001: 4, 2002: 1, 2003: 1, 2004: 1, 2007: 2,
}  # fmt: skip


EVERY_TWIN = pytest.mark.parametrize("name", TWINS)


def test_these_sets_have_a_twin_and_each_carries_its_own_name() -> None:
    assert set(catalogue.twins()) == set(TWINS)
    for name in TWINS:
        stream = catalogue.twin(name)
        assert stream.name == name
        assert "synthetic twin" in stream.info.source


@EVERY_TWIN
def test_a_twin_has_the_years_t0_classes_and_homophily_of_its_original(name: str) -> None:
    (years, t0, published, classes, new), _ = TWINS[name]
    stream = catalogue.twin(name)
    births = stream.class_births()
    assert stream.times == tuple(years)
    assert stream.info.t0 == t0
    assert len(births) == classes
    assert sum(year > (t0 or 0) for year in births.values()) == new
    found = homophily.class_insensitive(stream.arcs, stream.labels)
    assert found == pytest.approx(published, abs=0.05)
    assert 1000 <= stream.num_vertices <= 5000


@EVERY_TWIN
def test_a_class_of_a_twin_is_born_when_its_recipe_says_with_eight_vertices_at_least(name: str) -> None:
    stream, recipe = catalogue.twin(name), catalogue.twins()[name].twin
    assert recipe is not None
    births = stream.class_births()
    planned = {time: count for time, count in zip(recipe.times, recipe.births, strict=True) if count}
    assert Counter(births.values()) == planned
    for k, year in births.items():
        assert int(((stream.labels == k) & (stream.born == year)).sum()) >= 8


def test_the_classes_of_the_arxiv_twin_are_born_as_published_for_every_year() -> None:
    assert Counter(catalogue.twin("ogb-arxiv-twin").class_births().values()) == ARXIV_BIRTHS


@pytest.mark.real
def test_the_births_published_for_arxiv_are_those_of_the_real_files(real_data: Path) -> None:
    from lgl_bench.streams.importers import importers
    from lgl_bench.streams.raw import build

    raw = importers.get("ogb")(real_data / "ogbn_arxiv", {"features": "none"})
    assert Counter(build(raw, StreamInfo("arxiv")).class_births().values()) == ARXIV_BIRTHS


@EVERY_TWIN
def test_a_twin_never_changes_in_silence(name: str) -> None:
    assert stream_checksum(catalogue.twin(name)) == TWINS[name][1]


@EVERY_TWIN
def test_a_twin_is_made_in_a_moment(name: str) -> None:
    start = time.perf_counter()
    catalogue.twin(name)
    assert time.perf_counter() - start < 5.0


@EVERY_TWIN
def test_the_features_of_a_twin_are_of_the_kind_of_its_original(name: str) -> None:
    sparse = isinstance(catalogue.twin(name).features, Sparse)
    assert sparse == (name != "ogb-arxiv-twin")


@pytest.mark.parametrize("name", ["cora-twin", "my-own-twin"])
def test_real_data_cannot_be_imported_under_the_name_of_a_twin(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' is the name of an embedded twin"):
        catalogue.import_stream(name, table(tmp_path / "source", "csv"), tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_folder_under_the_name_of_a_twin_is_never_opened_in_its_place(tmp_path: Path) -> None:
    catalogue.import_stream("mine", table(tmp_path / "source", "csv"), tmp_path)
    (tmp_path / "mine").rename(tmp_path / "cora-twin")
    assert stream_checksum(catalogue.load("cora-twin", tmp_path)) == TWINS["cora-twin"][1]


def test_a_twin_with_a_changed_recipe_has_a_name_of_its_own_and_differs_in_that_alone():
    plain, other = catalogue.load("dblp-easy-twin"), catalogue.load("dblp-easy-twin( homophily = .9 )")
    assert other.name == "dblp-easy-twin(homophily=0.9)"
    assert np.array_equal(plain.labels, other.labels) and np.array_equal(plain.ids, other.ids)
    low, high = (homophily.graph_level(stream.arcs, stream.labels) for stream in (plain, other))
    assert high > low + 0.3
