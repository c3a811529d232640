"""What a bundle says of plugins that are not here: taken as claimed, checked as far as possible, and shown.

`verify` loads no plugin. What grading needs of one is in plan.json; tasks of a protocol that is a plugin come from the
bundle itself, and its vertices, years and classes must at least be the stream's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.references import is_external
from lgl_bench.core.registry import Registry
from lgl_bench.core.types import IntArray
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.plans.methods import AUTO
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import DetectorFacts
from lgl_bench.plans.plugin_facts import protocol_name
from lgl_bench.plans.rebuild import Expected
from lgl_bench.protocols import protocols
from lgl_bench.runs.answer_columns import VERTEX
from lgl_bench.strategies import strategies
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.bundle.layout import BundleError, answers_file, fit_file
from lgl_bench.submissions.bundle.opening import Bundle
from lgl_bench.submissions.verify.tables import read_parquet
from lgl_bench.thresholds import thresholds


def built_in(registry: Registry[Any], text: str) -> bool:
    """Whether every plugin that an expression names comes with lgl-bench; "auto" stands for a choice among them."""
    try:
        names = plugin_names(parse(text))
    except UsageError:
        return False
    return all(name == AUTO or registry.is_built_in(name) for name in names)


def plugin_names(expression: Expression) -> list[str]:
    """The name of an expression and of all that it wraps."""
    return [expression.name, *(name for part in expression.arguments for name in plugin_names(part))]


def check_claims(plan: Plan) -> list[str]:
    """Raises if a plugin is used without a claim, or if there is a claim on what is built in; returns the claims."""
    claims = plan.plugins
    bases = {candidate.base for row in plan.rows for candidate in row.candidates}
    used: dict[str, tuple[Registry[Any], set[str], Iterable[str]]] = {
        "backbones": (backbones, {chain.backbone for chain in plan.units}, claims.backbones),
        "heads": (heads, {chain.head for chain in plan.units}, claims.heads),
        "detectors": (detectors, bases, claims.detectors),
        "thresholds": (thresholds, {*plan.thresholds}, claims.thresholds),
        "strategies": (strategies, {one.strategy.name for one in plan.units if one.strategy.name}, claims.strategies),
    }
    for kind, (registry, names, claimed) in used.items():
        _check_claimed(kind, {name for name in names if not built_in(registry, name)}, set(claimed))
    settings = {chain.protocol for chain in plan.units} | {row.protocol for row in plan.rows}
    foreign = {protocol_name(one) for one in settings if not protocols.is_built_in(one.name)}
    _check_claimed("protocols", foreign, set(claims.protocols))
    for kind, of in (("backbones", claims.transductive_backbones), ("heads", claims.transductive_heads)):
        _check_claimed(f"transductive_{kind}", set(), {*of} - {*getattr(claims, kind)})
    for row in plan.rows:
        for candidate in row.candidates:
            facts = claims.detectors.get(candidate.base)
            if facts is not None and facts.head != candidate.head:
                raise BundleError(
                    f"plan.json: {candidate.base} is claimed to score on the head {facts.head}, not on {candidate.head}"
                )
            if facts is not None and facts.track != "transductive" and _wraps_transductive(parse(candidate.base)):
                raise BundleError(
                    f"plan.json: {candidate.base} is claimed to be {facts.track}, but wraps a transductive detector"
                )
    return _notes(plan)


def _wraps_transductive(expression: Expression) -> bool:
    own = [name for name in plugin_names(expression) if detectors.is_built_in(name)]
    return any(detectors.get(name).track == "transductive" for name in own)


def claimed_task(bundle: Bundle, key: str, task: Expected, stream: Stream) -> Expected:
    """The task of a protocol that is not here, as the record of its fit and its answers say.

    Its year, vertices and classes must be those of the stream up to that year.
    """
    answers = answers_file(key)
    if task.time not in stream.times:
        raise BundleError(f"plan.json: the fit {key} is of the year {task.time}, which {stream.name} does not have")
    record = bundle.fit(key)
    if record is None:
        return task
    seen = stream.born <= task.time
    known = _known(fit_file(key), record.known, stream.labels[seen])
    skipped = "its protocol says so" if record.status == "skipped" else ""
    vertices: IntArray = np.empty(0, dtype=np.int64)
    if answers in bundle:
        columns = read_parquet(bundle.folder / answers, answers, int(seen.sum()))
        vertices = columns.get(VERTEX, vertices)
        if vertices.dtype != np.int64:
            raise BundleError(f"{answers}, column {VERTEX}: it is of type {vertices.dtype}, not int64")
        at = positions(stream.ids)(vertices)
        if (at < 0).any() or not seen[at].all() or len(np.unique(at)) != len(at):
            raise BundleError(
                f"{answers}, column {VERTEX}: they are not distinct vertices of the stream up to {task.time}"
            )
    return replace(task, known=known, vertices=vertices, skipped=skipped)


def _known(name: str, given: list[int], labels: IntArray) -> IntArray:
    known: IntArray = np.array(given, dtype=np.int64)
    if len(np.unique(known)) != len(known) or not np.isin(known, labels[labels >= 0]).all():
        raise BundleError(
            f"{name}: known = {ascii(given)[:200]}; they are distinct classes of the stream up to that year"
        )
    return known


def _check_claimed(kind: str, used: set[str], claimed: set[str]) -> None:
    for name in sorted(used - claimed):
        raise BundleError(
            f"plan.json: {name} is no part of lgl-bench, and 'plugins' has nothing on it under '{kind}': the run was "
            "made by an older version; give its command again, nothing is trained again, and submit anew"
        )
    for name in sorted(claimed - used):
        raise BundleError(f"plan.json: 'plugins' claims something of {name} under '{kind}', which needs no claim")


def _bounds(detector: DetectorFacts) -> str:
    return "in [0, 1]" if detector.bounded else "without bounds"


def _notes(plan: Plan) -> list[str]:
    claims = plan.plugins
    outside = [name for name in claims.backbones if is_external(name)]
    found = [
        f"the answers of {name} were made outside lgl-bench: every number is recomputed from them, but whether a "
        "method gave them, and what it saw, is the word of who sends them"
        for name in outside
    ]
    for kind, names, of in (
        ("backbone", claims.backbones, claims.transductive_backbones),
        ("head", claims.heads, claims.transductive_heads),
    ):
        tracks = {name: ", and its track is claimed to be transductive" if name in of else "" for name in names}
        ours = ((name, track) for name, track in tracks.items() if not is_external(name))
        found += [f"the {kind} {name} is not part of lgl-bench{track}" for name, track in ours]
    for name, detector in claims.detectors.items():
        bounds = _bounds(detector)
        track = "" if detector.track == "inductive" else f", and its track is {detector.track}"
        found.append(f"claimed of the detector {name}: it scores on the head {detector.head}, {bounds}{track}")
    for name, threshold in claims.thresholds.items():
        ranked = "may be ranked" if threshold.ranked else "is an upper bound"
        found.append(f"claimed of the threshold {name}: its track is {threshold.track}, and it {ranked}")
    for name, strategy in claims.strategies.items():
        start = "goes on from the year before" if strategy.warm else "starts anew every year"
        labels = "all labels" if strategy.past == "all" else "new and remembered labels"
        found.append(f"claimed of the strategy {name}: it {start} and sees {labels}, graph: {strategy.graph}")
    for name, protocol in claims.protocols.items():
        found.append(
            f"claimed of the protocol {name}: its split is {protocol.split}, its track {protocol.track}, and all its "
            "tasks with their years, vertices and known classes"
        )
    return found
