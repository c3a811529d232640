"""Open-WRF (Hoffmann et al. 2023): a classifier of known against new, trained on weak labels.

The q share of vertices with the highest novelty is labelled new, the rest known; a small GCN learns these labels
from features and graph, and its decision is the rejection.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.gcn import GCN
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Scores
from lgl_bench.streams.tensors import shared_tensor
from lgl_bench.thresholds import Threshold, thresholds
from lgl_bench.training.trainer import seeded


def weak_labels(novelty: FloatArray, q: float) -> IntArray:
    """1 (new) for the q share with the highest novelty, 0 for the rest; at least one vertex of each kind.

    >>> weak_labels(np.array([0.1, 0.9, 0.3, 0.8]), 0.5).tolist()
    [0, 1, 0, 1]
    """
    count = min(max(1, round(q * len(novelty))), len(novelty) - 1)
    labels = np.zeros(len(novelty), dtype=np.int64)
    labels[np.argsort(-novelty, kind="stable")[:count]] = 1
    return labels


@thresholds.register("open-wrf")
class OpenWrf(Threshold):
    """Trains a small GCN to tell the most novel share of vertices from the rest; its decision is the rejection.

    Args:
        q: Share of vertices labelled new, in (0, 1).
        fit: "train" learns from the training graph; "test" adds the unlabelled test graph, which makes it
            transductive.
        balance: Whether the two labels are weighted against their imbalance.
        hidden: Width of the GCN.
        dropout: Its dropout.
        lr: Its learning rate.
        epochs: Its epochs.
    """

    def __init__(
        self,
        q: float = 0.1,
        fit: Literal["train", "test"] = "train",
        balance: bool = True,
        hidden: int = 64,
        dropout: float = 0.5,
        lr: float = 0.01,
        epochs: int = 200,
    ) -> None:
        if not 0 < q < 1:
            raise UsageError(f"q = {q}: it must lie in (0, 1)")
        if fit not in ("train", "test"):
            raise UsageError(f"fit = '{fit}': it is 'train' or 'test'")
        if hidden < 1 or epochs < 1:
            raise UsageError(f"hidden = {hidden}, epochs = {epochs}: both must be at least 1")
        if not 0 <= dropout < 1:
            raise UsageError(f"dropout = {dropout}: it must lie in [0, 1)")
        if not 0 < lr < math.inf:
            raise UsageError(f"lr = {lr}: it must be positive and finite")
        self.q = q
        self.fit_on = fit
        self.balance = balance
        self.hidden = hidden
        self.dropout = dropout
        self.lr = lr
        self.epochs = epochs

    @property
    def track(self) -> str:
        """Transductive if test vertices take part."""
        return "transductive" if self.fit_on == "test" else "inductive"

    def fit(self, train: Scores, calibration: Scores, seed: int) -> None:
        """Trains the classifier, unless it waits for the test graph."""
        self.seed_ = seed
        self.train_ = train
        self.model_: Any = self._learn([train]) if self.fit_on == "train" else None

    def reject(self, test: Scores) -> BoolArray:
        """What the classifier calls new."""
        if not hasattr(self, "seed_"):
            raise PluginError("the open-wrf threshold has not been fitted; call fit first")
        model = self.model_ or self._learn([self.train_, test])
        model.eval()
        with torch.no_grad():
            _, output = model(inputs_of(test.graph))
        rejected: BoolArray = (output.argmax(dim=1) == 1).numpy()[test.scored]
        return rejected

    def _learn(self, parts: list[Scores]) -> GCN:
        labels = [torch.from_numpy(weak_labels(part.novelty[part.scored], self.q)) for part in parts]
        weight = None
        if self.balance:
            counts = torch.bincount(torch.cat(labels), minlength=2).float()
            weight = counts.sum() / (2 * counts.clamp_min(1))
        with seeded(self.seed_, "open-wrf"):
            model = GCN(Shape(parts[0].graph.features.shape[1], 2), self.hidden, 2, self.dropout)
            optimizer = torch.optim.Adam(model.parameters(), lr=self.lr, fused=True)
            for _ in range(self.epochs):
                optimizer.zero_grad()
                for part, label in zip(parts, labels, strict=True):
                    _, output = model(inputs_of(part.graph))
                    chosen = output[shared_tensor(part.scored)]
                    loss = torch.nn.functional.cross_entropy(chosen, label, weight)
                    (loss / len(parts)).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        return model
