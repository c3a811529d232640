from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic import ValidationError

from lgl_bench.core.errors import UsageError
from lgl_bench.streams import catalogue
from lgl_bench.streams.generator import Recipe
from tests.support.recipes import BASE


@pytest.mark.parametrize(
    "change", ["features=2000000000", "links=1e9", "skew=1000000000", "birth_size=100000000", "words=1000000000"]
)
def test_a_recipe_that_would_fill_the_memory_is_refused(change: str) -> None:
    name = "ogb-arxiv-twin" if "features" in change else "cora-twin"
    with pytest.raises(UsageError, match="it would have .*; at most .* are generated"):
        catalogue.load(f"{name}({change})")


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
