"""What a synthetic stream is made of."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MOST_BYTES = 2**30
"""A recipe of a few bytes must not fill the memory of who reads it."""


class Recipe(BaseModel):
    """What a synthetic stream is made of.

    Attributes:
        times: The years.
        growth: Vertices born each year in classes that exist already.
        births: Classes born each year; the first year needs at least one.
        deaths: Year from which a class, by number in order of birth, gets no more vertices.
        birth_size: Vertices of a class in the year it is born.
        links: Edges each new vertex brings, on average.
        homophily: Chance that a new vertex links inside its own class, or, in the year its class is born, inside
            its family: its own class and its parent class.
        same_year: Share of the links inside that go to a vertex of the same class and year. The others go to any
            vertex of the class up to that year; to one of the parent class in the year the class is born.
        skew: How strongly older vertices attract edges: the oldest of `skew` draws is taken; 1 is uniform.
        isolated: Share of vertices that bring no edge and attract none.
        features: Number of features.
        feature_kind: Dense (a centre per class and noise) or sparse (a vocabulary per class and common words).
        signal: Dense: size of the centre against unit noise. Sparse: share of words from the class's own.
        words: Sparse: words of a vertex.
        vocabulary: Sparse: own words of a class.
        own_at_birth: Share of its centre's coordinates, or of its word list, that a class born after the first year
            has of its own in the year of its birth; the rest are its parent's.
        divergence_years: Years after its birth until a class has nothing left of its parent's.
        borrowed: Sparse: share of the own words of a class born after the first year that are words of older
            classes, so that only their combination is new and a rare word alone does not reveal the class.
        drift: Dense: share of the centre that has moved by the last year. Sparse: own words replaced per year.
        label_noise: Share of vertices whose features are drawn from another class that is born by then.
        split: Whether a public split (20 per class, then a quarter and a half of the rest) comes with it.
        seed: Seed of every draw.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    times: tuple[Annotated[int, Field(gt=-(2**53), lt=2**53)], ...] = Field(min_length=1)
    growth: tuple[int, ...]
    births: tuple[int, ...]
    deaths: dict[int, int] = {}
    birth_size: int = Field(default=8, ge=1)
    links: float = Field(default=3.0, ge=0)
    homophily: float = Field(default=0.8, ge=0, le=1)
    same_year: float = Field(default=0.0, ge=0, le=1)
    skew: int = Field(default=2, ge=1)
    isolated: float = Field(default=0.0, ge=0, le=1)
    features: int = Field(default=32, ge=1, lt=2**31)
    feature_kind: Literal["dense", "sparse"] = "dense"
    signal: float = Field(default=0.5, ge=0)
    words: int = Field(default=12, ge=1)
    vocabulary: int = Field(default=20, ge=1)
    own_at_birth: float = Field(default=1.0, ge=0, le=1)
    divergence_years: int = Field(default=4, ge=1)
    borrowed: float = Field(default=0.0, ge=0, le=1)
    drift: float = Field(default=0.0, ge=0)
    label_noise: float = Field(default=0.0, ge=0, le=1)
    split: bool = False
    seed: int = Field(default=0, gt=-(2**63), lt=2**63)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not len(self.times) == len(self.growth) == len(self.births):
            raise ValueError("times, growth and births must be equally long")
        if list(self.times) != sorted(set(self.times)):
            raise ValueError("times must ascend")
        if min(self.growth) < 0 or min(self.births) < 0 or self.births[0] < 1:
            raise ValueError("growth and births are counts, and the first year needs a class")
        if (needed := self._bytes()) > MOST_BYTES:
            raise ValueError(
                f"the stream would take about {needed:.0e} bytes to make, and {MOST_BYTES:.0e} are allowed"
            )
        return self

    def _bytes(self) -> float:
        """About the memory it takes to make the stream: its largest arrays, and how many of them there are at once."""
        classes, years = float(sum(self.births)), len(self.times)
        vertices = sum(self.growth) + classes * self.birth_size
        if self.feature_kind == "sparse":
            length = self.vocabulary + self.drift * (self.times[-1] - self.times[0]) + 1
            features = 10 * vertices * self.words + 3 * classes * years * length
        else:
            features = 4 * vertices * self.features + 3 * classes * years * self.features
        links = vertices * (self.links + 1) * (self.skew + 10)
        return 8 * (features + links + 5 * vertices + classes * years)
