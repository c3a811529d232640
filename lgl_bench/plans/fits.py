"""The unit of work: one fit for one task, and everything scored on it.

A unit is described by plain values, so that it can be sent to another process or machine. Its key is a hash of all
that determines its weights, the key of its parent among it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from lgl_bench.backbones import backbones
from lgl_bench.core.fingerprint import closure, digest, package_files, plugin_files
from lgl_bench.core.grammar import constant_text, plugin_name
from lgl_bench.core.registry import Registry
from lgl_bench.core.types import TrainingParameters
from lgl_bench.core.versions import versions
from lgl_bench.heads import heads
from lgl_bench.kernels.choice import Name, kernel_name, kernel_packages, thread_free
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.strategies import GraphKept, Past, strategies

STORE_FORMAT = 4
FIT_CODE = ("protocols", "backbones", "heads", "strategies", "kernels", "training")
"""Sub-packages that a fit depends on, with all that they import."""
RUN_CODE = (
    *("plans.tasks", "runs.answer_columns", "runs.answering", "runs.orders", "runs.records", "runs.scoring"),
    *("runs.matrix_row", "runs.worker", "runs.isolation.requests", "runs.isolation.packing", "runs.isolation.replies"),
    "runs.isolation.scoring_process",
)
"""Modules that put fits and answers together. What else they import belongs to fits, or is in the key itself."""


@dataclass(frozen=True, slots=True)
class ProtocolSetting:
    """A protocol by name with its parameters; those it does not take are None."""

    name: str
    split: str | None = None
    history: int | None = None
    label_delay: int | None = None
    nested: bool | None = None

    @property
    def shown_history(self) -> str:
        """The years that are kept, as rows name them."""
        return "all" if self.history is None else str(self.history)

    def build(self) -> Protocol:
        """The protocol itself."""
        given = {key: value for key, value in asdict(self).items() if key != "name" and value is not None}
        return protocols.get(self.name)(**given)


@dataclass(frozen=True, slots=True)
class StrategySetting:
    """A strategy by its expression, with what is known of it without its code.

    Attributes:
        name: Canonical expression; "" if tasks do not build on each other.
        warm: See `strategies.Strategy`, as the others.
        past: What its labels are offered of.
        graph: What stays in the graph.
    """

    name: str = "full"
    warm: bool = True
    past: Past = "all"
    graph: GraphKept = "all"

    @property
    def restart(self) -> str:
        """How a fit begins, as rows name it."""
        return "" if not self.name else "warm" if self.warm else "cold"


UNCHAINED = StrategySetting("", warm=False)
"""Tasks that do not build on each other have no past to keep."""


@dataclass(frozen=True, slots=True)
class ChainSpec:
    """A sequence of fits: one model kind on one stream under one seed.

    Attributes:
        stream: By name.
        data_dir: Where the stream is kept; None for the default.
        backbone_parameters: Sorted pairs.
        threads: Of every fit.
        device: "cpu" or "cuda".
        steps: Most steps of the optimiser in a fit; None for no limit.
        warm_steps: The same in a fit that goes on from an earlier one.
        kernels: That compute on the CPU, "native", "torch" or "dgl"; "" if nobody said, and they are chosen anew.
        strategy: What is kept of the past.
        given: Those of the parameters that the expression of the backbone gives; the others are the preset's.
        members: Models of every fit, which differ in their seed alone; their tasks are those of the chain's seed.
    """

    stream: str
    data_dir: str | None
    protocol: ProtocolSetting
    backbone: str
    head: str
    backbone_parameters: tuple[tuple[str, Any], ...]
    epochs: int
    lr: float
    seed: int
    threads: int = 1
    device: str = "cpu"
    steps: int | None = None
    warm_steps: int | None = None
    kernels: Name | Literal[""] = ""
    strategy: StrategySetting = StrategySetting()
    given: tuple[tuple[str, Any], ...] = ()
    members: int = 1

    @property
    def fit_kernels(self) -> str:
        """The kernels that compute its fits: on a GPU torch's, unless DGL was asked for."""
        return "torch" if self.kernels == "native" and self.device != "cpu" else self.kernels

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the backbone."""
        return dict(self.backbone_parameters)

    @property
    def shown_backbone(self) -> str:
        """The backbone with what its expression gives."""
        return backbone_text(self.backbone, self.given)

    @property
    def training(self) -> TrainingParameters:
        """How every model of it is fitted."""
        return TrainingParameters(self.epochs, self.lr, self.steps, self.warm_steps)


@dataclass(frozen=True, slots=True)
class Unit:
    """One task of a chain.

    Attributes:
        key: Name in the store.
        parent: Key of the last task before that is not skipped; "" for the first, for a skipped one, and if tasks do
            not build on each other.
        index: Number of the task in its protocol.
    """

    key: str
    parent: str
    index: int
    time: int
    role: str
    fold: str
    chain: ChainSpec


def backbone_text(name: str, parameters: Iterable[tuple[str, Any]]) -> str:
    """A backbone with parameters as rows name it; numbers are as short as they can be.

    >>> backbone_text("appnp", [("steps", 10), ("teleport", 0.2)]), backbone_text("gcn", [("dropout", 0.0)])
    ('appnp(steps=10,teleport=0.2)', 'gcn(dropout=0)')
    """
    inside = ",".join(f"{key}={_short(value)}" for key, value in parameters)
    return f"{name}({inside})" if inside else name


def _short(value: Any) -> str:
    short = f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return short if short and float(short) == value else constant_text(value)


def unit_key(chain: ChainSpec, prefix_checksum: str, time: int, fold: str, parent: str) -> str:
    """Hash of what determines the fit."""
    kernels = chain.kernels or kernel_name()
    described = {
        "prefix": prefix_checksum,
        "time": time,
        "fold": fold,
        "parent": parent,
        "protocol": asdict(chain.protocol),
        "strategy": asdict(chain.strategy),
        "backbone": chain.backbone,
        "head": chain.head,
        "parameters": [list(pair) for pair in chain.backbone_parameters],
        "epochs": chain.epochs,
        "lr": chain.lr,
        "steps": [chain.steps, chain.warm_steps],
        "seed": chain.seed,
        "threads": None if thread_free(chain.device, kernels) else chain.threads,
        "device": chain.device,
        "sources": [_fit_code(), *(plugin_digest(*one) for one in _fit_plugins(chain))],
        "kernels": kernels,
        "versions": versions("torch", *kernel_packages(kernels)),
        "format": STORE_FORMAT,
        # Not there for a plain name, whose keys are those of runs from before there were expressions.
        **({"given": [list(pair) for pair in chain.given]} if chain.given else {}),
    }
    if chain.members > 1:
        described["members"] = chain.members
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:24]


def keys_today(units: Sequence[Unit], prefixes: Mapping[int, str]) -> dict[str, str]:
    """The keys of a chain's units as the current code computes them, by the keys they have now.

    Args:
        units: Of one chain, in order.
        prefixes: Checksum of the stream up to each year.

    Raises:
        UnknownNameError: The backbone, the head or the protocol is not available.
    """
    found: dict[str, str] = {}
    for unit in units:
        parent = found.get(unit.parent, "")
        found[unit.key] = unit_key(unit.chain, prefixes[unit.time], unit.time, unit.fold, parent)
    return found


def _fit_plugins(chain: ChainSpec) -> list[tuple[Registry[Any], str]]:
    named: list[tuple[Registry[Any], str]] = [(protocols, chain.protocol.name), (backbones, chain.backbone)]
    named.append((heads, chain.head))
    if chain.strategy.name:
        named.append((strategies, plugin_name(chain.strategy.name)))
    return named


def plugin_digest(registry: Registry[Any], name: str) -> str:
    """Digest of the code of a plugin with all that it imports."""
    return _digest_of(registry.get(name))


@cache
def _digest_of(plugin: Any) -> str:
    return digest(closure(plugin_files(plugin)))


@cache
def _fit_code() -> str:
    return digest([*closure(package_files(*FIT_CODE)), *package_files(*RUN_CODE)])
