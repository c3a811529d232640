from __future__ import annotations

import pytest

from lgl_bench.core.expressions import Expression, complete, signature
from lgl_bench.strategies import strategies

WITH_GRID = ["agem", "ewc", "lwf", "mas", "replay", "ssm", "twp"]


def test_those_with_a_size_or_a_strength_have_a_grid():
    assert sorted(name for name in strategies.names() if strategies.get(name).grid) == WITH_GRID


@pytest.mark.parametrize("name", WITH_GRID)
def test_every_value_of_a_grid_is_in_the_range_of_its_parameter_and_stays_as_it_is(name):
    plugin = strategies.get(name)
    _, accepted = signature(plugin)
    for parameter, values in plugin.grid.items():
        assert list(values) == sorted(set(values)) and len(values) > 1
        for value in values:
            whole = complete(Expression(name, (), ((parameter, value),)), strategies)
            found = dict(whole.parameters)[parameter]
            assert (found, type(found)) == (value, type(value))
            assert getattr(plugin(**dict(whole.parameters)), parameter) == value
    defaults = {parameter: accepted[parameter][1] for parameter in plugin.grid}
    assert all(plugin.grid[parameter].count(value) for parameter, value in defaults.items())
