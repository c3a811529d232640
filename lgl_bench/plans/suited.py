"""Which detectors can be run on which backbones; a pair that cannot be is left out of a run.

A detector may read what only its own backbone computes (`Detector.backbones`), or be trained with a head whose loss
sees the whole graph, which a backbone that walks in batches never does.
"""

from __future__ import annotations

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.detectors import detectors
from lgl_bench.heads import Head, heads
from lgl_bench.plans.plan_file import PluginFacts
from lgl_bench.plans.suite import Suite, has_shipped_detectors

NO_FACTS = PluginFacts()


def suited_texts(suite: Suite, backbone: str, facts: PluginFacts = NO_FACTS) -> list[str]:
    """The detectors of a suite that can be run on a backbone, by its name."""
    return [text for text in suite.detectors_of(backbone) if not unsuited(text, backbone, facts)]


def check_suited(suite: Suite) -> None:
    """Raises if a detector cannot be run on any backbone of a suite.

    A run that takes fewer backbones of a shipped suite, and names no detectors itself, leaves such ones out.
    """
    if has_shipped_detectors(suite):
        return
    for text in dict.fromkeys(text for backbone in suite.backbones for text in suite.detectors_of(backbone)):
        reasons = {backbone: unsuited(text, plugin_name(backbone)) for backbone in suite.backbones}
        if all(reasons.values()):
            raise UsageError(
                f"the detector {text} can be run on no backbone of this run ({', '.join(reasons)}): "
                f"{'; '.join(dict.fromkeys(reasons.values()))}. Add a backbone with --backbone, or leave it out"
            )


def unsuited(text: str, backbone: str, facts: PluginFacts = NO_FACTS) -> str:
    """Why a detector cannot be run on a backbone; empty if it can.

    Args:
        text: Its expression.
        backbone: By name.
        facts: What is recorded of detectors that are not available; one of which nothing is known works on any.
    """
    return _reason(parse(text), backbone, facts)


def _reason(expression: Expression, backbone: str, facts: PluginFacts) -> str:
    works_on = _backbones(expression.name, facts)
    if works_on and backbone not in works_on:
        return f"{expression.name} works on the backbone {' or '.join(works_on)} only"
    if expression.arguments:
        return next(filter(None, (_reason(one, backbone, facts) for one in expression.arguments)), "")
    head = _head(expression.name)
    if head and _sees_the_graph(head) and backbones.is_built_in(backbone) and not backbones.get(backbone).whole_graph:
        return f"the loss of the head {head} sees the whole graph, and {backbone} walks in batches"
    return ""


def _backbones(name: str, facts: PluginFacts) -> tuple[str, ...]:
    if name in detectors:
        return tuple(detectors.get(name).backbones)
    recorded = (one.backbones for text, one in facts.detectors.items() if parse(text).name == name)
    return next(recorded, ())


def _head(name: str) -> str:
    """The head that a detector is trained with, if it has one and both come with lgl-bench."""
    if not detectors.is_built_in(name) or not detectors.get(name).heads:
        return ""
    return str(detectors.get(name).heads[0])


def _sees_the_graph(head: str) -> bool:
    """Of a plugin this must be known without its code too: it is told by its first step."""
    return heads.is_built_in(head) and heads.get(head).graph_loss is not Head.graph_loss
