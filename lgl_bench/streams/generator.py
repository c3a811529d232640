"""Synthetic streams with knobs, made only of integers, uniform draws and exact float operations.

No transcendental function and no reordered float sum takes part, so a recipe and a seed give the same stream,
bit for bit, on every platform. The embedded twins are recipes in the manifests of their originals.

A class born after the first year splits off from an older one. Only its features are new, and these must be learned:
its vertices have as many links, as many of them to vertices of their own year, and the same places in the order of
their year as all others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lgl_bench.core.seeds import generator
from lgl_bench.core.types import FloatArray, IntArray
from lgl_bench.streams.generated_features import generate_features
from lgl_bench.streams.lineage import Lineage, alive_classes, draw_older_first, lineage
from lgl_bench.streams.recipe import Recipe
from lgl_bench.streams.stream import Stream, StreamInfo, assemble

__all__ = ["Recipe", "generate"]


def generate(recipe: Recipe, info: StreamInfo) -> Stream:
    """The stream a recipe describes."""
    classes = lineage(recipe)
    born, labels = _vertices(recipe, classes.births)
    names = info.class_names or tuple(f"class {k}" for k in range(sum(recipe.births)))
    return assemble(
        StreamInfo(info.name, info.source, info.licence, info.citation, info.t0, names, info.imported),
        ids=np.arange(len(born)),
        born=born,
        labels=labels,
        features=generate_features(recipe, classes, born, labels),
        edges=_edges(recipe, classes, born, labels),
        split=_split(recipe, labels) if recipe.split else None,
    )


def _vertices(recipe: Recipe, births: IntArray) -> tuple[IntArray, IntArray]:
    """Years and classes, in order of birth; sizes of classes are skewed (the older, the larger)."""
    rng = generator(recipe.seed, "vertices")
    born: list[npt.NDArray[np.int64]] = []
    labels: list[npt.NDArray[np.int64]] = []
    for time, growth in zip(recipe.times, recipe.growth, strict=True):
        alive, newborn = alive_classes(recipe, births, time), np.flatnonzero(births == time)
        pool = alive if len(alive) else newborn
        grown = draw_older_first(rng, pool, growth) if len(pool) else pool
        year = np.concatenate([grown, np.repeat(newborn, recipe.birth_size)])
        if len(alive):
            year = rng.permutation(year)  # a vertex's place in its year must not reveal that its class is new
        labels.append(year)
        born.append(np.full(len(year), time, dtype=np.int64))
    return np.concatenate(born), np.concatenate(labels)


def _edges(recipe: Recipe, classes: Lineage, born: IntArray, labels: IntArray) -> IntArray:
    """Each new vertex links to vertices of its year or before: inside its class by chance `homophily`.

    A vertex whose class is born that year links into the parent class instead, but for a share `same_year` of the
    links inside, which stay among the vertices of one class and year, old or new. If it could link inside only to
    its own class, all these links would end in its own year, and birth years alone would reveal it.
    """
    rng, contemporary = generator(recipe.seed, "edges"), generator(recipe.seed, "same year")
    linked = rng.random(len(born)) >= recipe.isolated
    sources, targets = [], []
    start = 0
    for time in recipe.times:
        stop = int(np.searchsorted(born, time, side="right"))
        new = np.arange(start, stop)[linked[start:stop]]
        whole = int(recipe.links)
        extra = rng.random(len(new)) < recipe.links - whole
        place = np.repeat(np.arange(len(new)), whole + extra)
        source = new[place]
        inside = rng.random(len(source)) < recipe.homophily
        draws = rng.random((recipe.skew, len(source)))
        peer = peers(labels[new], place, draws[0])
        same_year = inside & (contemporary.random(len(source)) < recipe.same_year) & (peer != place)
        sources.append(source[same_year])
        targets.append(new[peer[same_year]])
        candidates = np.flatnonzero(linked[:stop])
        for k in np.unique(labels[source]):
            mine = (labels[source] == k) & ~same_year
            newborn = classes.births[k] == time and classes.parents[k] >= 0
            own = labels[candidates] == (classes.parents[k] if newborn else k)
            for chosen, pool in ((mine & inside, candidates[own]), (mine & ~inside, candidates[~own])):
                if len(pool):
                    # The least of several uniform draws prefers the old: a rich-get-richer rule without logs.
                    at = (draws[:, chosen] * len(pool)).astype(np.int64).min(axis=0)
                    sources.append(source[chosen])
                    targets.append(pool[at])
        start = stop
    return np.stack([np.concatenate([np.empty(0, np.int64), *part]) for part in (sources, targets)])


def peers(labels: IntArray, place: IntArray, draw: FloatArray) -> IntArray:
    """For each place another one of the same class, by a uniform draw in [0, 1); itself if there is none.

    Places that are alone in their class are each other's peers: else only large classes would have such links,
    and a newborn class is large in its year.

    >>> peers(np.array([0, 1, 0, 2, 0]), np.array([0, 0, 0, 1, 3]), np.array([0.0, 0.5, 0.9, 0.0, 0.0])).tolist()
    [2, 4, 4, 3, 1]
    """
    group = np.where(np.bincount(labels, minlength=1)[labels] > 1, labels, -1)
    order = np.argsort(group, kind="stable")
    first, end = (np.searchsorted(group[order], group[place], side=side) for side in ("left", "right"))
    rank = np.argsort(order, kind="stable")[place] - first
    step = 1 + (draw * (end - first - 1)).astype(np.int64)
    peer: IntArray = order[first + (rank + step) % np.maximum(end - first, 1)]
    return peer


def _split(recipe: Recipe, labels: IntArray) -> npt.NDArray[np.int8]:
    order = generator(recipe.seed, "split").permutation(len(labels))
    split = np.zeros(len(labels), dtype=np.int8)
    for k in np.unique(labels):
        split[order[labels[order] == k][:20]] = 1
    rest = order[split[order] == 0]
    split[rest[: len(rest) // 4]] = 2
    split[rest[len(rest) // 4 : 3 * len(rest) // 4]] = 3
    return split
