"""Synthetic streams with knobs, made only of integers, uniform draws and exact float operations.

No transcendental function and no reordered float sum takes part, so a recipe and a seed give the same stream,
bit for bit, on every platform. The embedded twins are recipes in the manifests of their originals.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from lgl_bench.core.seeds import generator
from lgl_bench.core.types import Features, IntArray, Sparse
from lgl_bench.streams.stream import Stream, StreamInfo, assemble


class Recipe(BaseModel):
    """What a synthetic stream is made of.

    Attributes:
        times: The years.
        growth: Vertices born each year in classes that exist already.
        births: Classes born each year; the first year needs at least one.
        deaths: Year from which a class, by number in order of birth, gets no more vertices.
        birth_size: Vertices of a class in the year it is born.
        links: Edges each new vertex brings, on average.
        homophily: Chance that a new vertex links inside its own class.
        skew: How strongly older vertices attract edges: the oldest of `skew` draws is taken; 1 is uniform.
        isolated: Share of vertices that bring no edge and attract none.
        features: Number of features.
        feature_kind: Dense (a centre a class and noise) or sparse (a vocabulary a class and common words).
        signal: Dense: size of the centre against unit noise. Sparse: share of words from the class's own.
        words: Sparse: words of a vertex.
        vocabulary: Sparse: own words of a class.
        drift: Dense: share of the centre that has moved by the last year. Sparse: own words replaced a year.
        label_noise: Share of vertices whose features are drawn from another class.
        split: Whether a public split (20 a class, then a quarter and a half of the rest) comes with it.
        seed: Seed of every draw.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    times: tuple[int, ...] = Field(min_length=1)
    growth: tuple[int, ...]
    births: tuple[int, ...]
    deaths: dict[int, int] = {}
    birth_size: int = Field(default=8, ge=1)
    links: float = Field(default=3.0, ge=0)
    homophily: float = Field(default=0.8, ge=0, le=1)
    skew: int = Field(default=2, ge=1)
    isolated: float = Field(default=0.0, ge=0, le=1)
    features: int = Field(default=32, ge=1)
    feature_kind: Literal["dense", "sparse"] = "dense"
    signal: float = Field(default=0.5, ge=0)
    words: int = Field(default=12, ge=1)
    vocabulary: int = Field(default=20, ge=1)
    drift: float = Field(default=0.0, ge=0)
    label_noise: float = Field(default=0.0, ge=0, le=1)
    split: bool = False
    seed: int = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not len(self.times) == len(self.growth) == len(self.births):
            raise ValueError("times, growth and births must be equally long")
        if list(self.times) != sorted(set(self.times)):
            raise ValueError("times must ascend")
        if min(self.growth) < 0 or min(self.births) < 0 or self.births[0] < 1:
            raise ValueError("growth and births are counts, and the first year needs a class")
        return self


def generate(recipe: Recipe, info: StreamInfo) -> Stream:
    """The stream a recipe describes."""
    born, labels = _vertices(recipe)
    names = info.class_names or tuple(f"class {k}" for k in range(sum(recipe.births)))
    return assemble(
        StreamInfo(info.name, info.source, info.licence, info.citation, info.t0, names, info.imported),
        ids=np.arange(len(born)),
        born=born,
        labels=labels,
        features=_features(recipe, born, labels),
        edges=_edges(recipe, born, labels),
        split=_split(recipe, labels) if recipe.split else None,
    )


def _vertices(recipe: Recipe) -> tuple[IntArray, IntArray]:
    """Years and classes, in order of birth; sizes of classes are skewed (the older, the larger)."""
    rng = generator(recipe.seed, "vertices")
    born: list[npt.NDArray[np.int64]] = []
    labels: list[npt.NDArray[np.int64]] = []
    known = 0
    for time, growth, births in zip(recipe.times, recipe.growth, recipe.births, strict=True):
        alive = np.array([k for k in range(known) if time < recipe.deaths.get(k, time + 1)], dtype=np.int64)
        fresh = np.repeat(np.arange(known, known + births), recipe.birth_size)
        pool = alive if len(alive) else np.arange(known, known + births)
        grown = pool[rng.integers(0, len(pool), size=(2, growth)).min(axis=0)] if len(pool) else pool
        year = np.concatenate([grown, fresh])
        labels.append(year)
        born.append(np.full(len(year), time, dtype=np.int64))
        known += births
    return np.concatenate(born), np.concatenate(labels)


def _edges(recipe: Recipe, born: IntArray, labels: IntArray) -> IntArray:
    """Each new vertex links to vertices of its year or before: inside its class by chance `homophily`."""
    rng = generator(recipe.seed, "edges")
    linked = rng.random(len(born)) >= recipe.isolated
    sources, targets = [], []
    start = 0
    for time in recipe.times:
        stop = int(np.searchsorted(born, time, side="right"))
        new = np.arange(start, stop)[linked[start:stop]]
        whole = int(recipe.links)
        extra = rng.random(len(new)) < recipe.links - whole
        source = np.repeat(new, whole + extra)
        inside = rng.random(len(source)) < recipe.homophily
        draws = rng.random((recipe.skew, len(source)))
        candidates = np.flatnonzero(linked[:stop])
        for k in np.unique(labels[source]):
            mine = labels[source] == k
            own = labels[candidates] == k
            for chosen, pool in ((mine & inside, candidates[own]), (mine & ~inside, candidates[~own])):
                if len(pool):
                    # The least of several uniform draws prefers the old: a rich-get-richer rule without logs.
                    at = (draws[:, chosen] * len(pool)).astype(np.int64).min(axis=0)
                    sources.append(source[chosen])
                    targets.append(pool[at])
        start = stop
    return np.stack([np.concatenate([np.empty(0, np.int64), *part]) for part in (sources, targets)])


def _features(recipe: Recipe, born: IntArray, labels: IntArray) -> Features:
    rng = generator(recipe.seed, "features")
    classes = sum(recipe.births)
    stray = rng.random(len(labels)) < recipe.label_noise
    topic = np.where(stray, rng.integers(0, classes, size=len(labels)), labels)
    if recipe.feature_kind == "sparse":
        return _sparse_features(recipe, rng, born, topic, classes)
    start, end = (rng.integers(0, 2, size=(classes, recipe.features)) * 2.0 - 1.0 for _ in range(2))
    span = max(recipe.times[-1] - recipe.times[0], 1)
    moved = np.minimum(recipe.drift * (born - recipe.times[0]) / span, 1.0)[:, None]
    centre = (1.0 - moved) * start[topic] + moved * end[topic]
    noise = np.zeros((len(labels), recipe.features))
    for _ in range(12):  # twelve uniforms: variance 1, close to normal, exact everywhere
        noise += rng.random(noise.shape) - 0.5
    features: npt.NDArray[np.float32] = (recipe.signal * centre + noise).astype(np.float32)
    return features


def _sparse_features(recipe: Recipe, rng: np.random.Generator, born: IntArray, topic: IntArray, classes: int) -> Sparse:
    """Bags of words: a share `signal` from a window of the class's own word list, the rest common words."""
    span = recipe.times[-1] - recipe.times[0]
    length = recipe.vocabulary + int(recipe.drift * span) + 1
    own = rng.integers(0, recipe.features, size=(classes, length))
    shape = (len(topic), recipe.words)
    window = (recipe.drift * (born - recipe.times[0])).astype(np.int64)
    at = window[:, None] + rng.integers(0, recipe.vocabulary, size=shape)
    # The least of three draws: common words are much more common than others, as in any language.
    common = rng.integers(0, recipe.features, size=(3, *shape)).min(axis=0)
    words = np.where(rng.random(shape) < recipe.signal, own[topic[:, None], at], common)
    rows = np.repeat(np.arange(len(topic)), recipe.words)
    codes = np.unique(rows * recipe.features + words.reshape(-1))
    lengths = np.bincount(codes // recipe.features, minlength=len(topic))
    return Sparse(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        (codes % recipe.features).astype(np.int32),
        np.ones(len(codes), dtype=np.float32),
        recipe.features,
    )


def _split(recipe: Recipe, labels: IntArray) -> npt.NDArray[np.int8]:
    order = generator(recipe.seed, "split").permutation(len(labels))
    split = np.zeros(len(labels), dtype=np.int8)
    for k in np.unique(labels):
        split[order[labels[order] == k][:20]] = 1
    rest = order[split[order] == 0]
    split[rest[: len(rest) // 4]] = 2
    split[rest[len(rest) // 4 : 3 * len(rest) // 4]] = 3
    return split
