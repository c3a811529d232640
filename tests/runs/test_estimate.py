from __future__ import annotations

from dataclasses import replace

import pytest

from lgl_bench.backbones import backbones
from lgl_bench.backbones.mlp import MLP
from lgl_bench.core.errors import PluginError
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, Unit
from lgl_bench.runs.estimate import checkpoint_mb, fit_seconds, memory_mb
from tests.support.graphs import small_stream

STREAM = small_stream()


def chain(backbone, **parameters):
    given = tuple(sorted(parameters.items()))
    return ChainSpec("small", None, ProtocolSetting("temporal"), backbone, "softmax", given, 10, 0.01, 0)


def seconds(backbone, **parameters):
    return fit_seconds(Unit("key", "", 0, 3, "test", "", chain(backbone, **parameters)), STREAM)


@pytest.fixture
def own():
    """Registers a backbone under the name `own`, and takes it away again."""
    with backbones.temporarily():
        yield backbones.register("own")


def test_a_backbone_nobody_has_heard_of_is_estimated_as_a_slow_one():
    assert seconds("own", hidden=64, layers=2) > seconds("gcn", hidden=64, layers=2) > 0
    assert memory_mb(chain("own", hidden=64), STREAM) == memory_mb(chain("gcn", hidden=64), STREAM)


def test_smaller_batches_are_more_steps_in_a_backbone_that_walks_in_them():
    for name in ("graphsage", "own"):
        assert seconds(name, batch=0.1) > seconds(name, batch=0.5) > seconds(name)
    assert seconds("gcn", batch=0.1) == seconds("gcn")


def test_a_budget_that_caps_the_steps_caps_the_time_of_many_small_batches():
    small = chain("graphsage", batch=0.01)

    def estimated(steps):
        return fit_seconds(Unit("key", "", 0, 3, "test", "", replace(small, steps=steps)), STREAM)

    assert estimated(None) == estimated(10_000) > estimated(100) > estimated(10)


@pytest.mark.parametrize("name", ["hidden", "layers", "heads", "batch"])
def test_a_parameter_that_is_no_number_counts_as_if_it_were_not_given(name):
    assert seconds("own", **{name: "wide"}) == seconds("own")
    assert memory_mb(chain("own", **{name: "wide"}), STREAM) == memory_mb(chain("own"), STREAM)


def test_the_weights_of_a_plugin_that_computes_with_them_are_counted_too(own):
    class Computes(MLP):
        def __init__(self, shape):
            super().__init__(shape)
            self.scale = float(self.projections[0].weight.detach().numpy().std())

    own(Computes)
    assert checkpoint_mb(chain("own"), STREAM) == pytest.approx(checkpoint_mb(chain("mlp"), STREAM))


def test_a_plugin_that_cannot_be_made_is_named_with_what_it_raised(own):
    class Refuses(MLP):
        def __init__(self, shape):
            raise ValueError("no luck")

    own(Refuses)
    with pytest.raises(PluginError, match="backbone own .* cannot be made: ValueError: no luck"):
        checkpoint_mb(chain("own"), STREAM)
