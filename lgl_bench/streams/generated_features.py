"""Features of a synthetic stream: dense (a centre per class and noise) or sparse (bags of words)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from lgl_bench.core.seeds import generator
from lgl_bench.core.types import Features, IntArray, Sparse
from lgl_bench.streams.lineage import Lineage, draw_older_first
from lgl_bench.streams.recipe import Recipe

Place = TypeVar("Place", np.int64, np.float64)
"""A place of a class is a coordinate of its centre or a word of its list."""


def generate_features(recipe: Recipe, lineage: Lineage, born: IntArray, labels: IntArray) -> Features:
    """One row per vertex, drawn from its class or, by chance `label_noise`, from any class born by its year."""
    rng = generator(recipe.seed, "features")
    year = np.searchsorted(recipe.times, born)
    stray = rng.random(len(labels)) < recipe.label_noise
    topic = np.where(stray, rng.integers(0, np.cumsum(recipe.births)[year]), labels)
    if recipe.feature_kind == "sparse":
        return _bags_of_words(recipe, rng, lineage, year, topic)
    centre = _centres(recipe, rng, lineage)[topic, year]
    noise = np.zeros(centre.shape)
    for _ in range(12):  # twelve uniforms: variance 1, close to normal, exact everywhere
        noise += rng.random(noise.shape) - 0.5
    features: npt.NDArray[np.float32] = (recipe.signal * centre + noise).astype(np.float32)
    return features


def inherit(recipe: Recipe, lineage: Lineage, own: npt.NDArray[Place]) -> npt.NDArray[Place]:
    """What each class has in each year: its own in some places, what its parent has in the others.

    The share of own places is `own_at_birth + (1 - own_at_birth) * min(age / divergence_years, 1)`. Places change
    one by one: a mean of two centres would be shorter than either, and its length would reveal a newborn class.

    Args:
        recipe: The recipe.
        lineage: Births and parents of the classes.
        own: (classes, years, places): what a class would have without a parent.
    """
    turn = generator(recipe.seed, "divergence").random((own.shape[0], own.shape[2]))
    age = np.maximum(np.array(recipe.times) - lineage.births[:, None], 0)
    share = recipe.own_at_birth + (1.0 - recipe.own_at_birth) * np.minimum(age / recipe.divergence_years, 1.0)
    found = own.copy()
    for k in np.flatnonzero(lineage.parents >= 0):  # in order of birth: the parent's places are complete
        found[k] = np.where(turn[k] < share[k][:, None], own[k], found[lineage.parents[k]])
    return found


def _centres(recipe: Recipe, rng: np.random.Generator, lineage: Lineage) -> npt.NDArray[np.float64]:
    """(classes, years, features): a corner of the cube that moves towards another one with `drift`."""
    start, end = (rng.integers(0, 2, size=(len(lineage.births), 1, recipe.features)) * 2.0 - 1.0 for _ in range(2))
    times = np.array(recipe.times)
    moved = np.minimum(recipe.drift * (times - times[0]) / max(times[-1] - times[0], 1), 1.0)[:, None]
    return inherit(recipe, lineage, (1.0 - moved) * start + moved * end)


def _word_lists(recipe: Recipe, rng: np.random.Generator, births: IntArray, length: int) -> IntArray:
    """(classes, length): own words; by chance `borrowed` a later class has the word of an older one at that place."""
    own = rng.integers(0, recipe.features, size=(len(births), length))
    borrowing = generator(recipe.seed, "borrowed")
    for k in np.flatnonzero(births > births[0]):
        lenders = draw_older_first(borrowing, np.flatnonzero(births < births[k]), length)
        borrowed = borrowing.random(length) < recipe.borrowed
        own[k] = np.where(borrowed, own[lenders, np.arange(length)], own[k])
    return own


def _bags_of_words(
    recipe: Recipe, rng: np.random.Generator, lineage: Lineage, year: IntArray, topic: IntArray
) -> Sparse:
    """A share `signal` of the words from a window of the class's word list, the rest common words."""
    times = np.array(recipe.times)
    length = recipe.vocabulary + int(recipe.drift * (recipe.times[-1] - recipe.times[0])) + 1
    own = _word_lists(recipe, rng, lineage.births, length)
    lists = inherit(recipe, lineage, np.repeat(own[:, None], len(times), axis=1))
    shape = (len(topic), recipe.words)
    window = (recipe.drift * (times - times[0])).astype(np.int64)[year]
    at = window[:, None] + rng.integers(0, recipe.vocabulary, size=shape)
    # The least of three draws: common words are much more common than others, as in any language.
    common = rng.integers(0, recipe.features, size=(3, *shape)).min(axis=0)
    words = np.where(rng.random(shape) < recipe.signal, lists[topic[:, None], year[:, None], at], common)
    rows = np.repeat(np.arange(len(topic)), recipe.words)
    codes = np.unique(rows * recipe.features + words.reshape(-1))
    lengths = np.bincount(codes // recipe.features, minlength=len(topic))
    return Sparse(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        (codes % recipe.features).astype(np.int32),
        np.ones(len(codes), dtype=np.float32),
        recipe.features,
    )
