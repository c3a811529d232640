from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lgl_bench.core.types import Sparse
from lgl_bench.streams import homophily
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.stream import Stream, StreamInfo, same
from tests.support.recipes import BASE


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
