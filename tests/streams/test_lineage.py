"""A class that is born later splits off from an older one: its parent, its links, its features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lgl_bench.core.types import Sparse
from lgl_bench.streams import homophily
from lgl_bench.streams.generated_features import inherit
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.lineage import Lineage, lineage
from lgl_bench.streams.stream import Stream, StreamInfo

BASE: dict[str, Any] = {
    "times": list(range(2000, 2008)),
    "growth": [200] * 8,
    "births": [4, 0, 1, 0, 0, 0, 0, 0],
    "birth_size": 40,
    "seed": 5,
}
CHILD, BIRTH = 4, 2002


def recipe(**knobs: Any) -> Recipe:
    return Recipe(**BASE | knobs)


def make(**knobs: Any) -> Stream:
    return generate(recipe(**knobs), StreamInfo("synthetic"))


def dense(stream: Stream) -> npt.NDArray[np.float32]:
    return stream.features.dense() if isinstance(stream.features, Sparse) else stream.features


def neighbours_of_the_newborn(stream: Stream) -> npt.NDArray[np.int64]:
    """Every neighbour of a vertex of the new class, at the end of the year of its birth."""
    arcs = stream.upto(BIRTH).graph.edges
    return np.asarray(arcs[1][stream.labels[arcs[0]] == CHILD])


def distances(stream: Stream, years: range) -> tuple[float, float]:
    """How far the mean of the new class is, in some years, from its parent's mean and from another's on average."""
    x = dense(stream)
    some = np.isin(stream.born, list(years))
    means = np.stack([x[some & (stream.labels == k)].mean(axis=0) for k in range(5)])
    away = np.sqrt(((means - means[CHILD]) ** 2).sum(axis=1))
    parent = int(lineage(recipe()).parents[CHILD])
    return float(away[parent]), float(np.mean([away[k] for k in range(4) if k != parent]))


def words_of(stream: Stream, classes: list[int]) -> set[int]:
    return set(np.flatnonzero(dense(stream)[np.isin(stream.labels, classes)].any(axis=0)).tolist())


def test_a_parent_is_alive_and_older_and_the_classes_of_the_first_year_have_none() -> None:
    found = lineage(recipe(births=[3, 2, 0, 4, 0, 0, 3, 1], deaths={0: 2003, 1: 2003}))
    assert found.births.tolist() == [2000] * 3 + [2001] * 2 + [2003] * 4 + [2006] * 3 + [2007]
    assert found.parents[:3].tolist() == [-1] * 3
    assert all(found.births[p] < year for p, year in zip(found.parents[3:], found.births[3:], strict=True))
    assert found.parents[3:5].max() <= 2
    assert found.parents[5:].min() >= 2


def test_a_class_born_after_all_others_died_has_no_parent_and_links_to_itself() -> None:
    knobs: dict[str, Any] = {"births": [1, 0, 1, 0, 0, 0, 0, 0], "deaths": {0: 2002}, "homophily": 1.0}
    assert lineage(recipe(**knobs)).parents.tolist() == [-1, -1]
    stream = make(**knobs)
    assert (stream.labels[stream.arcs[0]] == stream.labels[stream.arcs[1]]).all()


def test_a_later_year_changes_neither_the_vertices_nor_the_parents_of_the_years_before() -> None:
    longer = {"times": [*BASE["times"], 2008], "growth": [*BASE["growth"], 50], "births": [*BASE["births"], 2]}
    before, after = make(), make(**longer)
    assert np.array_equal(before.labels, after.labels[: before.num_vertices])
    assert lineage(recipe(**longer)).parents[:5].tolist() == lineage(recipe()).parents.tolist()


def test_a_newborn_vertex_links_into_its_parent_class_and_later_ones_into_their_own() -> None:
    stream = make(homophily=1.0)
    parent = lineage(recipe()).parents[CHILD]
    assert set(stream.labels[neighbours_of_the_newborn(stream)].tolist()) == {parent}
    later = stream.arcs[:, stream.born[stream.arcs[0]] > BIRTH]
    child = later[1][(stream.labels[later[0]] == CHILD) & (stream.born[later[1]] <= stream.born[later[0]])]
    assert set(stream.labels[child].tolist()) == {CHILD}


def test_same_year_links_stay_inside_one_class_and_year() -> None:
    stream = make(homophily=1.0, same_year=1.0)
    one, other = stream.arcs
    assert stream.num_edges > 0
    assert (stream.labels[one] == stream.labels[other]).all()
    assert (stream.born[one] == stream.born[other]).all()


def test_same_year_is_the_share_of_the_links_inside_for_old_and_newborn_classes_alike() -> None:
    stream = make(homophily=1.0, same_year=0.5, growth=[400] * 8, links=2.0)
    arcs = stream.upto(BIRTH).graph.edges
    ends = arcs[:, (stream.born[arcs[0]] == BIRTH)]
    same = stream.born[ends[1]] == BIRTH
    newborn = stream.labels[ends[0]] == CHILD
    # a same-year edge counts at both its ends: 2 * 0.5 of 1 + 0.5
    assert same[newborn].mean() == pytest.approx(2 / 3, abs=0.07)
    assert same[~newborn].mean() == pytest.approx(2 / 3, abs=0.07)


@pytest.mark.parametrize("wanted", [0.2, 0.5, 0.8])
def test_homophily_stays_the_chance_of_a_link_inside_the_class_with_same_year_links(wanted: float) -> None:
    stream = make(homophily=wanted, same_year=0.3)
    assert homophily.graph_level(stream.arcs, stream.labels) == pytest.approx(wanted, abs=0.05)


def test_noise_topics_come_only_from_classes_that_are_born_by_the_year_of_the_vertex() -> None:
    clean, noisy = (make(signal=3.0, label_noise=noise) for noise in (0.0, 1.0))
    means = np.stack([dense(clean)[clean.labels == k].mean(axis=0) for k in range(5)])
    topic = ((dense(noisy)[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert set(topic[noisy.born < BIRTH].tolist()) == set(range(4))
    for year in range(BIRTH, 2008):
        assert (topic[noisy.born == year] == CHILD).mean() == pytest.approx(1 / 5, abs=0.1)


def test_a_class_has_its_own_share_at_birth_and_nothing_of_its_parent_after_the_years_of_divergence() -> None:
    small = recipe(times=[2000, 2001, 2002, 2003], growth=[1] * 4, births=[1, 1, 0, 0], own_at_birth=0.25,
                   divergence_years=2)  # fmt: skip
    own = np.repeat(np.array([[[7]], [[9]]]), 4, axis=1).repeat(4000, axis=2)
    found = inherit(small, Lineage(np.array([2000, 2001]), np.array([-1, 0])), own)
    assert (found[0] == 7).all()
    is_own = found[1] == 9
    # 0.25, then 0.25 + 0.75 * 1/2, then 1
    assert is_own.mean(axis=1)[1:].tolist() == pytest.approx([0.25, 0.625, 1.0], abs=0.03)
    assert (is_own[2] >= is_own[1]).all()


def test_a_grandchild_inherits_what_its_parent_has_of_its_own_parent() -> None:
    small = recipe(times=[2000, 2001, 2002], growth=[1] * 3, births=[1, 1, 1], own_at_birth=0.0, divergence_years=9)
    own = np.repeat(np.arange(3)[:, None, None], 3, axis=1).repeat(5, axis=2)
    found = inherit(small, Lineage(np.array([2000, 2001, 2002]), np.array([-1, 0, 1])), own)
    assert np.array_equal(found[2, 2], found[1, 2])
    assert (found[:, 0] == 0).all()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_features_start_near_the_parent_and_end_as_far_from_it_as_from_any_class(kind: str) -> None:
    knobs: dict[str, Any] = {"feature_kind": kind, "features": 200, "signal": 0.9, "own_at_birth": 0.3}
    stream = make(**knobs, divergence_years=3, growth=[400] * 8)
    parent, others = distances(stream, range(BIRTH, BIRTH + 1))
    assert parent < 0.75 * others
    parent, others = distances(stream, range(BIRTH + 3, 2008))
    assert parent == pytest.approx(others, rel=0.15)


def test_a_dense_centre_keeps_its_length_while_it_moves_away() -> None:
    stream = make(signal=2.0, own_at_birth=0.5, features=64)
    length = np.linalg.norm(dense(stream), axis=1)
    newborn = (stream.labels == CHILD) & (stream.born == BIRTH)
    assert length[newborn].mean() == pytest.approx(length[~newborn].mean(), rel=0.02)


def test_borrowed_words_are_words_of_older_classes() -> None:
    knobs: dict[str, Any] = {"feature_kind": "sparse", "features": 4000, "signal": 1.0, "vocabulary": 30}
    borrowed, fresh = (make(**knobs, borrowed=share) for share in (1.0, 0.0))
    assert words_of(borrowed, [CHILD]) <= words_of(borrowed, [0, 1, 2, 3])
    assert len(words_of(fresh, [CHILD]) - words_of(fresh, [0, 1, 2, 3])) > 20
    # a new combination, not the list of any one class
    assert all(len(words_of(borrowed, [CHILD]) - words_of(borrowed, [k])) > 10 for k in range(4))
