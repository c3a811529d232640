"""Which classes of a synthetic stream are born when, and from which class each of them splits off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lgl_bench.core.seeds import generator
from lgl_bench.core.types import IntArray
from lgl_bench.streams.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Lineage:
    """The classes in order of birth.

    Attributes:
        births: Year of birth of each class.
        parents: The class each class splits off from; -1 if no class was alive before it.
    """

    births: IntArray
    parents: IntArray


def lineage(recipe: Recipe) -> Lineage:
    """Births as in the recipe; a parent is drawn as the class of a new vertex is, so it is as old and as large."""
    rng = generator(recipe.seed, "parents")
    births = np.repeat(np.array(recipe.times, dtype=np.int64), recipe.births)
    parents = np.full(len(births), -1, dtype=np.int64)
    for time, count in zip(recipe.times, recipe.births, strict=True):
        alive = alive_classes(recipe, births, time)
        if count and len(alive):
            parents[births == time] = draw_older_first(rng, alive, count)
    return Lineage(births, parents)


def alive_classes(recipe: Recipe, births: IntArray, time: int) -> IntArray:
    """Classes born before a year that still get vertices in it."""
    known = [k for k in range(len(births)) if births[k] < time < recipe.deaths.get(k, time + 1)]
    return np.array(known, dtype=np.int64)


def draw_older_first(rng: np.random.Generator, classes: IntArray, size: int) -> IntArray:
    """Draws from classes in order of birth, the older the more often: the lesser of two uniform draws."""
    drawn: IntArray = classes[rng.integers(0, len(classes), size=(2, size)).min(axis=0)]
    return drawn
