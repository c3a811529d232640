from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from makers import table
from pydantic import ValidationError

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Sparse
from lgl_bench.streams import catalogue, homophily
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.stream import Stream, StreamInfo, same

BASE: dict[str, Any] = {
    "times": [2000, 2001, 2003, 2004],
    "growth": [200, 200, 200, 200],
    "births": [4, 0, 1, 0],
    "seed": 5,
}


def make(**knobs: Any) -> Stream:
    return generate(Recipe(**BASE | knobs), StreamInfo("synthetic"))


def dense(stream: Stream) -> npt.NDArray[np.float32]:
    return stream.features.dense() if isinstance(stream.features, Sparse) else stream.features


def degrees(stream: Stream) -> npt.NDArray[np.int64]:
    return np.bincount(stream.arcs[0], minlength=stream.num_vertices)


def separation(stream: Stream) -> float:
    """Share of vertices whose nearest class mean is their own."""
    x, y = dense(stream), stream.labels
    means = np.stack([x[y == k].mean(axis=0) for k in range(stream.num_classes)])
    return float((((x[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == y).mean())


def movement(stream: Stream, k: int = 0) -> float:
    """How far the mean of a class moves from the first year to the last."""
    x = dense(stream)
    first, last = (x[(stream.labels == k) & (stream.born == t)].mean(axis=0) for t in (2000, 2004))
    return float(np.abs(first - last).sum())


def test_the_same_recipe_gives_the_same_stream_and_another_seed_another() -> None:
    assert same(make(), make())
    assert stream_checksum(make(seed=6)) != stream_checksum(make())


def test_each_year_has_its_growth_and_its_births() -> None:
    stream = make(growth=[10, 20, 0, 40], births=[2, 0, 1, 3], birth_size=9)
    assert Counter(stream.born.tolist()) == {2000: 10 + 18, 2001: 20, 2003: 9, 2004: 40 + 27}
    assert stream.class_births() == {0: 2000, 1: 2000, 2: 2003, 3: 2004, 4: 2004, 5: 2004}
    sizes = Counter(zip(stream.labels.tolist(), stream.born.tolist(), strict=True))
    assert [sizes[k, year] for k, year in stream.class_births().items()][2:] == [9, 9, 9, 9]


def test_a_class_gets_no_vertices_from_the_year_of_its_death() -> None:
    assert (make().labels[make().born >= 2003] == 1).any()
    stream = make(deaths={1: 2003})
    assert (stream.labels[stream.born < 2003] == 1).any()
    assert not (stream.labels[stream.born >= 2003] == 1).any()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_homophily_is_the_chance_of_a_link_inside_the_class(kind: str) -> None:
    for wanted in (0.1, 0.5, 0.9):
        stream = make(homophily=wanted, feature_kind=kind)
        assert homophily.graph_level(stream.arcs, stream.labels) == pytest.approx(wanted, abs=0.05)


def test_links_are_the_edges_a_vertex_brings() -> None:
    few, many = make(links=1.5), make(links=6.0)
    assert few.num_edges / few.num_vertices == pytest.approx(1.5, abs=0.1)
    assert many.num_edges / many.num_vertices == pytest.approx(6.0, abs=0.4)
    assert make(links=0.0).num_edges == 0


def test_isolated_is_the_share_of_vertices_without_an_edge() -> None:
    assert (degrees(make(isolated=0.0)) == 0).mean() < 0.01
    assert (degrees(make(isolated=0.3)) == 0).mean() == pytest.approx(0.3, abs=0.04)
    assert make(isolated=1.0).num_edges == 0


def test_with_skew_older_vertices_have_a_greater_degree() -> None:
    def old_to_new(stream: Stream) -> float:
        degree, third = degrees(stream), stream.num_vertices // 3
        return float(degree[:third].mean() / degree[-third:].mean())

    even, skewed, steep = (old_to_new(make(skew=skew)) for skew in (1, 2, 4))
    assert 1.0 < even < skewed < steep
    assert degrees(make(skew=4)).max() > 1.5 * degrees(make(skew=1)).max()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_signal_separates_the_classes(kind: str) -> None:
    none, some, much = (separation(make(signal=signal, feature_kind=kind, features=40)) for signal in (0.0, 0.3, 0.9))
    assert none < some - 0.1
    assert some < much
    assert much > 0.9


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_drift_moves_the_features_of_a_class_over_the_years(kind: str) -> None:
    knobs: dict[str, Any] = {"feature_kind": kind, "signal": 0.9, "features": 60, "vocabulary": 8}
    drift = 0.9 if kind == "dense" else 2.0
    assert movement(make(**knobs, drift=drift)) > 1.5 * movement(make(**knobs, drift=0.0))


def test_label_noise_gives_some_vertices_the_features_of_another_class() -> None:
    clean, noisy = (separation(make(signal=2.0, label_noise=noise)) for noise in (0.0, 0.3))
    assert clean == 1.0
    # a fifth of the strays draw their own class again
    assert noisy == pytest.approx(1 - 0.3 * 4 / 5, abs=0.06)


def test_sparse_features_are_bags_of_words_and_dense_ones_are_full() -> None:
    bags = make(feature_kind="sparse", features=50, words=7).features
    assert isinstance(bags, Sparse)
    assert bags.shape[1] == 50
    assert set(bags.values.tolist()) == {1.0}
    assert np.diff(bags.indptr).max() <= 7
    assert np.diff(bags.indptr).min() >= 1
    full = make(feature_kind="dense", features=9).features
    assert not isinstance(full, Sparse)
    assert full.shape[1] == 9
    assert full.dtype == np.float32


def test_a_split_has_twenty_vertices_of_each_class_and_is_left_out_unless_asked_for() -> None:
    assert make().split is None
    stream = make(split=True, births=[4, 0, 0, 0])
    assert stream.split is not None
    assert Counter(stream.labels[stream.split == 1].tolist()) == dict.fromkeys(range(4), 20)
    rest = stream.num_vertices - 80
    assert [int((stream.split == code).sum()) for code in (2, 3)] == [rest // 4, 3 * rest // 4 - rest // 4]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"growth": [1]}, "equally long"),
        ({"times": [2000, 2001, 2001, 2004]}, "must ascend"),
        ({"births": [0, 1, 1, 1]}, "the first year needs a class"),
        ({"growth": [1, 1, -1, 1]}, "counts"),
        ({"homophily": 1.5}, "less than or equal to 1"),
        ({"colour": 1}, "Extra inputs"),
    ],
)
def test_a_recipe_that_makes_no_sense_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Recipe(**BASE | change)


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


@pytest.mark.parametrize("name", ["dblp-easy-twin(homophly=1)", "dblp-easy-twin(homophily=7)", "dblp-easy-twin(gcn)"])
def test_a_recipe_with_a_wrong_value_is_refused(name):
    with pytest.raises(UsageError, match="dblp-easy-twin"):
        catalogue.load(name)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("birth_size=1000000000", "vertices; at most 200,000 are generated"),
        ("links=1e300", "draws for its edges; at most"),
        ("skew=1000000", "draws for its edges; at most"),
        ("features=1000000000", "features; at most 200,000 are generated"),
        ("words=1000000", "values of features; at most"),
        ("vocabulary=1000000000", "values that classes have of their own; at most"),
        ("drift=1e18", "values that classes have of their own; at most"),
        ("features=100000, feature_kind=dense", "values of features; at most"),
        ("seed=1e400", "larger than any number that can be held"),
        ("seed=99999999999999999999", "field 'seed': Input should be less than"),
        ("seed=true", "field 'seed': Input should be a valid integer"),
        ("homophily=true", "field 'homophily': Input should be a valid number"),
        ("birth_size=2.5", "field 'birth_size': Input should be a valid integer"),
    ],
)
def test_a_twin_that_would_be_too_large_or_makes_no_sense_is_refused_before_it_is_made(change: str, told: str) -> None:
    start = time.monotonic()
    with pytest.raises(UsageError, match=told):
        catalogue.twin(f"dblp-easy-twin({change})")
    assert time.monotonic() - start < 2
