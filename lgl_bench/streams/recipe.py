"""What a synthetic stream is made of."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lgl_bench.core.validation import Flag, Number, Whole

_MAX_TIMES = 10_000
_MAX_VERTICES = 200_000
_MAX_VALUES = 5_000_000  # of any table that is drawn: some seconds and 100 MB
_Time: TypeAlias = Annotated[Whole, Field(ge=-(2**31), le=2**31)]


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

    times: tuple[_Time, ...] = Field(min_length=1, max_length=_MAX_TIMES)
    growth: tuple[Whole, ...]
    births: tuple[Whole, ...]
    deaths: dict[int, Whole] = {}
    birth_size: Whole = Field(default=8, ge=1)
    links: Number = Field(default=3.0, ge=0)
    homophily: Number = Field(default=0.8, ge=0, le=1)
    same_year: Number = Field(default=0.0, ge=0, le=1)
    skew: Whole = Field(default=2, ge=1)
    isolated: Number = Field(default=0.0, ge=0, le=1)
    features: Whole = Field(default=32, ge=1)
    feature_kind: Literal["dense", "sparse"] = "dense"
    signal: Number = Field(default=0.5, ge=0)
    words: Whole = Field(default=12, ge=1)
    vocabulary: Whole = Field(default=20, ge=1)
    own_at_birth: Number = Field(default=1.0, ge=0, le=1)
    divergence_years: Whole = Field(default=4, ge=1)
    borrowed: Number = Field(default=0.0, ge=0, le=1)
    drift: Number = Field(default=0.0, ge=0)
    label_noise: Number = Field(default=0.0, ge=0, le=1)
    split: Flag = False
    seed: Whole = Field(default=0, gt=-(2**63), lt=2**63)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not len(self.times) == len(self.growth) == len(self.births):
            raise ValueError("times, growth and births must be equally long")
        if list(self.times) != sorted(set(self.times)):
            raise ValueError("times must ascend")
        if min(self.growth) < 0 or min(self.births) < 0 or self.births[0] < 1:
            raise ValueError("growth and births are counts, and the first year needs a class")
        for what, count, most in self._sizes():
            if count > most:
                raise ValueError(f"it would have {count:.6g} {what}; at most {most:,} are generated")
        return self

    def _sizes(self) -> list[tuple[str, float, int]]:
        """What is generated, how much of it, and how much may be: known before anything is drawn."""
        years, classes = len(self.times), sum(self.births)
        vertices = sum(self.growth) + classes * self.birth_size
        own = self.features if self.feature_kind == "dense" else self.vocabulary + self.drift * self._span
        return [
            ("vertices", vertices, _MAX_VERTICES),
            ("classes times years", classes * years, _MAX_VERTICES),
            ("draws for its edges", vertices * (1 + self.links) * self.skew, _MAX_VALUES),
            ("pairs of a class and an edge", vertices * self.links * classes, 100 * _MAX_VALUES),
            ("features", self.features, _MAX_VERTICES),
            (
                "values of features",
                vertices * (self.features if self.feature_kind == "dense" else self.words),
                _MAX_VALUES,
            ),
            ("values that classes have of their own", classes * years * own, _MAX_VALUES),
        ]

    @property
    def _span(self) -> int:
        return self.times[-1] - self.times[0]
