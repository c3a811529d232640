"""The backbones of a suite: each by its name, with the parameters that its rows fix.

An expression gives parameters, `appnp(steps=10, teleport=0.2)`, and the sweep of a suite gives others; the rest comes
from the preset for the name. What is given stands in the rows, sorted and in the type that the backbone declares; what
is not given does not, so that `gcn` is `gcn` whatever its preset.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Constant, Expression, parse
from lgl_bench.plans.backbone_parameters import Pairs, typed_parameters
from lgl_bench.plans.plan_file import PluginFacts
from lgl_bench.plans.suite import Suite


class BackboneSetting(NamedTuple):
    """What models of a suite differ in, apart from the head.

    Attributes:
        name: In the registry; presets, costs and what suits it go by it.
        given: By its expression: sorted, and in the types that the backbone declares.
        swept: As the suite has the values, in its order.
    """

    name: str
    given: Pairs = ()
    swept: Pairs = ()

    @property
    def parameters(self) -> Pairs:
        """What the rows show of it."""
        return tuple(sorted(self.given + self.swept)) if self.given else self.swept

    @property
    def values(self) -> dict[str, Constant]:
        """The same as the backbone takes them: a width of 32.0 is 32."""
        return dict(typed_parameters(Expression(self.name, (), self.parameters)))

    @property
    def expression(self) -> str:
        """The canonical text of what a suite asks for."""
        return str(Expression(self.name, (), self.given))


def backbone_settings(suite: Suite, facts: PluginFacts | None = None) -> list[BackboneSetting]:
    """The backbones of a suite, each once for every combination of swept values.

    Args:
        suite: What is asked for.
        facts: What is recorded of plugins that may not be available.

    Raises:
        UsageError: A name or a value is wrong, a backbone is named twice, or a swept parameter is given too.
    """
    found = [resolve_backbone(text, facts) for text in suite.backbones]
    for one in found:
        if found.count(one) > 1:
            raise UsageError(f"the backbone {one.expression} is named twice; leave one out")
        both = [name for name, _ in one.given if name in suite.sweep]
        if both:
            raise UsageError(
                f"the suite {suite.name} sweeps {both[0]}, and the backbone {one.expression} fixes it: give it in one "
                "of the two"
            )
    sweeps = [tuple(zip(suite.sweep, values, strict=True)) for values in product(*suite.sweep.values())]
    return [one._replace(swept=swept) for one, swept in product(found, sweeps)]


def resolve_backbone(text: str, facts: PluginFacts | None = None) -> BackboneSetting:
    """A backbone as it is written, without swept values; the types of one that is not available are as written.

    Raises:
        UnknownNameError: It is not available, and nothing is recorded of it.
        UsageError: It does not take what is given.
    """
    asked = parse(text)
    if asked.name not in backbones and facts is not None and asked.name in facts.backbones:
        return BackboneSetting(asked.name, asked.parameters)
    return BackboneSetting(asked.name, typed_parameters(asked))
