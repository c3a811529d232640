"""The unit of work: one fit for one task, and everything scored on it.

A unit is described by plain values, so that it can be sent to another process or machine. Its key is a hash of all
that determines its weights, the key of its parent among it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lgl_bench.backbones import backbones
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.registry import Registry
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.thresholds import thresholds
from lgl_bench.training.trainer import TrainingParameters

STORE_FORMAT = 2
_LIBRARIES = {"abc", "builtins", "torch", "typing"}


@dataclass(frozen=True, slots=True)
class ProtocolSetting:
    """A protocol by name with its parameters; those it does not take are None."""

    name: str
    split: str | None = None
    history: int | None = None
    restart: str | None = None
    label_delay: int | None = None
    nested: bool | None = None

    def build(self) -> Protocol:
        """The protocol itself."""
        given = {key: value for key, value in asdict(self).items() if key != "name" and value is not None}
        return protocols.get(self.name)(**given)


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

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the backbone."""
        return dict(self.backbone_parameters)

    @property
    def training(self) -> TrainingParameters:
        """How every model of it is fitted."""
        return TrainingParameters(self.epochs, self.lr, self.steps, self.warm_steps)


@dataclass(frozen=True, slots=True)
class Unit:
    """One task of a chain.

    Attributes:
        key: Name in the store.
        parent: Key of the last task before that is not skipped; "" for the first, for a skipped one, and where tasks do
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


def unit_key(chain: ChainSpec, prefix_checksum: str, time: int, fold: str, parent: str) -> str:
    """Hash of what determines the fit."""
    described = {
        "prefix": prefix_checksum,
        "time": time,
        "fold": fold,
        "parent": parent,
        "protocol": asdict(chain.protocol),
        "backbone": chain.backbone,
        "head": chain.head,
        "parameters": [list(pair) for pair in chain.backbone_parameters],
        "epochs": chain.epochs,
        "lr": chain.lr,
        "steps": [chain.steps, chain.warm_steps],
        "seed": chain.seed,
        "threads": chain.threads,
        "device": chain.device,
        "sources": [_source_digest(backbones, chain.backbone), _source_digest(heads, chain.head)],
        "versions": _versions(),
        "format": STORE_FORMAT,
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:24]


def answer_digest(expression: Expression) -> str:
    """Digest of the sources of every detector in an expression: answers of another source are made again."""
    digests = [_source_digest(detectors, expression.name), *(answer_digest(part) for part in expression.arguments)]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def decision_digest(detector: Expression, threshold: Expression) -> str:
    """Digest of the sources of a detector and the threshold that decides on it."""
    return answer_digest(detector) + _source_digest(thresholds, threshold.name)


@cache
def named_digest(name: str) -> str:
    """The same for what fit.json calls `EXPR` or `EXPR|THRESHOLD`."""
    detector, _, threshold = name.partition("|")
    if threshold:
        return decision_digest(parse(detector), parse(threshold))
    return answer_digest(parse(detector))


def column_digests(columns: Iterable[str]) -> dict[str, str]:
    """Digests of the plugins behind the columns of answers, by what fit.json calls them."""
    names = [str(column).partition(":") for column in columns]
    return {name: named_digest(name) for kind, _, name in names if kind in ("novelty", "rejected")}


def _source_digest(registry: Registry[Any], name: str) -> str:
    return _digest_of(registry.get(name))


@cache
def _digest_of(plugin: Any) -> str:
    """Digest of the source files of a plugin and of the bases it is built on, libraries apart."""
    bases = [base for base in plugin.__mro__ if base.__module__.split(".")[0] not in _LIBRARIES]
    digest = hashlib.sha256()
    for file in sorted({file for base in bases if (file := inspect.getsourcefile(base))}):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:16]


@cache
def _versions() -> dict[str, str]:
    import dgl
    import torch

    return {"torch": torch.__version__, "dgl": dgl.__version__}
