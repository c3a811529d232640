"""Plans of answers that were made outside lgl-bench: rows without a backbone, a head or a detector of ours.

A row says so: its backbone is called `external-METHOD`, its head and preset `external`, and so is its threshold if the
method decides itself who is new. Its detector has the name of the method, or is one of ours if the method gives logits.
Of all these plan.json records what it records of plugins that a reader does not have. The floor belongs to every board,
and to this one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from lgl_bench.core.errors import UsageError, quoted
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.grammar import is_name
from lgl_bench.core.references import EXTERNAL
from lgl_bench.core.types import TrainingParameters
from lgl_bench.detectors import detectors
from lgl_bench.plans.budget import budget
from lgl_bench.plans.fits import STORE_FORMAT, ChainSpec, Unit
from lgl_bench.plans.methods import Candidate, MethodRow, Methods, row_texts
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.plans.plan import Plan, threshold_texts
from lgl_bench.plans.plan_file import DetectorFacts, PluginFacts, ThresholdFacts
from lgl_bench.plans.settings import ChainSetting, chain_settings
from lgl_bench.plans.suite import Suite, load_suite, read_fields
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.stream import Stream

_SUITES = {
    ("temporal", ""): "temporal",
    ("leave-class-out", ""): "static",
    ("leave-class-out", "planetoid"): "planetoid",
}
"""By protocol and split, the suite among whose rows such a row stands; any other has a suite of its own."""
_UNKNOWN = TrainingParameters(epochs=1, lr=1.0)
"""What plan.json has in place of training parameters that nobody knows."""


@dataclass(frozen=True, slots=True)
class ExternalRequest:
    """What is answered.

    Attributes:
        method: Its name, by which rows know it.
        protocol: By name.
        split: Of a static protocol; "" for its usual one.
        history: Years of the past that tasks show; None for all.
        label_delay: Years until labels arrive.
        budget: Whose rows it may be compared with: "paper" has no limits, to others the method must have kept.
        detectors: Of ours, as expressions, if the method gives logits; empty if it gives novelty itself.
        decides: Whether it says itself who is new.
        bounded: Whether its novelty lies in [0, 1] as it is.
    """

    method: str
    protocol: str = "temporal"
    split: str = ""
    history: int | None = None
    label_delay: int = 0
    budget: str = "paper"
    detectors: tuple[str, ...] = ()
    decides: bool = False
    bounded: bool = True

    @property
    def backbone(self) -> str:
        """How rows call what the method is made of."""
        return f"{EXTERNAL}-{self.method}"


def check_method(name: str) -> None:
    """Raises if a method cannot have that name."""
    if not is_name(name):
        raise UsageError(
            f"method = {quoted(name)}: use lower-case letters, digits, - and _, a letter first, such as 'my-method'"
        )
    if name in detectors:
        raise UsageError(
            f"method = '{name}': that is a registered detector, and rows of the two could not be told apart"
        )
    if name == EXTERNAL or name == "auto":
        raise UsageError(f"method = '{name}': the name has a meaning of its own; choose another")


def setting_of(request: ExternalRequest, stream: str) -> ChainSetting:
    """Protocol and strategy of a request."""
    return chain_settings(_suite(request, stream), _facts(request))[0]


def external_plan(
    request: ExternalRequest, name: str, stream: Stream, seeds: int, digest: Callable[[int, int], str], tasks: TaskCache
) -> Plan:
    """The plan of answers that are there.

    Args:
        request: What was answered.
        name: Of the stream.
        stream: The stream.
        seeds: How many.
        digest: Of the answers to a task, by seed and number of the task; they are what the keys are made of.
        tasks: Of the stream.
    """
    suite = _suite(request, name)
    plan = Plan(suite, budget(request.budget), seeds, tasks=tasks, plugins=_facts(request))
    plan.thresholds = tuple(_threshold(plan, text) for text in threshold_texts(suite))
    prefixes = prefix_checksums(stream)
    plan.checksums[name] = prefixes[stream.times[-1]]
    plan.t0s[name] = stream.info.t0
    setting = setting_of(request, name)
    plan.rows = _rows(request, suite, name, setting)
    training = plan.budget.cap(Preset("", {}, _UNKNOWN)).training
    bases = sorted({candidate.base for row in plan.rows for candidate in row.candidates})
    for seed in range(seeds):
        chain = ChainSpec(
            *(name, None, setting.protocol, request.backbone, EXTERNAL, (), training.epochs, training.lr, seed),
            steps=training.steps,
            warm_steps=training.warm_steps,
            strategy=setting.strategy,
        )
        plan.scored[chain], plan.tried[chain] = bases, []
        plan.units[chain] = _units(chain, prefixes, tasks, digest, stream.static)
    return plan


def _units(
    chain: ChainSpec, prefixes: dict[int, str], tasks: TaskCache, digest: Callable[[int, int], str], static: bool
) -> list[Unit]:
    units: list[Unit] = []
    last = ""
    for task in tasks.outlines(chain):
        # As in `plan`: what is skipped goes on from nothing, and nothing goes on from it.
        parent = "" if task.skipped else last
        key = _key(chain, prefixes[task.time], (task.time, task.fold), parent, digest(chain.seed, task.index))
        units.append(Unit(key, parent, task.index, task.time, task.role, task.fold, chain))
        if not task.skipped and not static:
            last = key
    return units


def _key(chain: ChainSpec, prefix: str, task: tuple[int, str], parent: str, answers: str) -> str:
    """A hash of all that is known of the answers to a task: where they were asked for, and what they are."""
    described = [prefix, *task, parent, asdict(replace(chain, data_dir=None)), answers, STORE_FORMAT]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:24]


def _suite(request: ExternalRequest, stream: str) -> Suite:
    """The suite among whose rows a row of answers stands, with the row's own axes."""
    axes = {
        "streams": (stream,),
        "backbones": (request.backbone,),
        "detectors": request.detectors or (request.method,),
        "thresholds": (EXTERNAL,) if request.decides else ("none",),
        "thresholds_on": "all",
        "select": "preset",
        "split": (request.split,) if request.split else (),
        "history": request.history,
        "label_delay": request.label_delay,
    }
    usual = _SUITES.get((request.protocol, request.split if request.split == "planetoid" else ""))
    if usual is not None:
        return load_suite(usual).override(**axes)
    title = "Answers made outside lgl-bench"
    name = f"{EXTERNAL}-{request.protocol}"
    own = {"name": name, "version": 1, "title": title, "protocol": request.protocol}
    start = {**own, **{axis: axes[axis] for axis in ("streams", "backbones", "detectors")}}
    return read_fields(start, name).override(**axes)


def _facts(request: ExternalRequest) -> PluginFacts:
    own = DetectorFacts(head=EXTERNAL, bounded=request.bounded)
    decision = ThresholdFacts(track="inductive", ranked=True)
    return PluginFacts(
        backbones=(request.backbone,),
        heads=(EXTERNAL,),
        detectors={} if request.detectors else {request.method: own},
        thresholds={EXTERNAL: decision} if request.decides else {},
    )


def _threshold(plan: Plan, text: str) -> str:
    return text if text == EXTERNAL else str(plan.budget.cap_threshold(parse(text)))


def _rows(request: ExternalRequest, suite: Suite, stream: str, setting: ChainSetting) -> list[MethodRow]:
    where = (suite, stream, setting.protocol, setting.strategy, setting.protocol.build().split, request.backbone, ())
    methods = Methods(*where)
    texts = row_texts(suite, request.backbone, floor=True, facts=_facts(request))
    return [_row(methods, text) for text in texts]


def _row(methods: Methods, text: str) -> MethodRow:
    if parse(text).name in detectors:
        row = methods.row(text)
    else:
        where = (methods.stream, methods.protocol, methods.strategy, methods.backbone, ())
        row = MethodRow(*where, EXTERNAL, text, (Candidate(EXTERNAL, text),), None, EXTERNAL)
    candidates = tuple(Candidate(EXTERNAL, candidate.base) for candidate in row.candidates)
    return replace(row, head=EXTERNAL, candidates=candidates, preset=EXTERNAL)


def canonical_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Detectors of ours as rows name them."""
    return tuple(dict.fromkeys(str(complete(parse(text), detectors)) for text in texts))
