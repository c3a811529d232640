"""The methods of a suite on one stream and backbone: what is scored for each, and what is still to be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Constant, Expression, build, complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.runs.preset_file import PresetFile
from lgl_bench.runs.presets import detector_preset, good_preset, grid, preset, resolve_good
from lgl_bench.runs.suite import Suite
from lgl_bench.runs.units import ProtocolSetting

AUTO = "auto"
# What `good(auto)` chooses among where the suite names no detector that could be its base: the paper's three.
BASES = ("odin", "isomax+", "gdoc")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that is scored: an expression on its head."""

    head: str
    base: str


@dataclass(frozen=True, slots=True)
class Row:
    """A method on a stream: what becomes one row of the leaderboard, or several with thresholds.

    Attributes:
        parameters: Backbone parameters that are swept.
        head: Of all candidates; "auto" where they differ.
        detector: Canonical expression; "auto" stands where something is chosen.
        candidates: What is scored; one of several is chosen.
        alpha: Weight of the neighbours where the row is GOOD over a candidate; "auto" where it is chosen.
        preset: Where the parameters of the fit come from.
        trials: Tuning trials behind the preset.
    """

    stream: str
    protocol: ProtocolSetting
    backbone: str
    parameters: tuple[tuple[str, Any], ...]
    head: str
    detector: str
    candidates: tuple[Candidate, ...]
    alpha: float | str | None
    preset: str
    trials: int = 0

    @property
    def chosen(self) -> bool:
        """Whether something about it is chosen."""
        return len(self.candidates) > 1 or self.alpha == AUTO

    @property
    def concrete(self) -> str:
        """What a row without a choice is, as an expression; `good(auto)` of a preset is shown by another name."""
        base = self.candidates[0].base
        return base if self.alpha is None else f"good({base},alpha={self.alpha})"

    @property
    def shown_backbone(self) -> str:
        """The backbone as the leaderboard names it, swept parameters included."""
        inside = ",".join(f"{name}={value:g}" for name, value in self.parameters)
        return f"{self.backbone}({inside})" if inside else self.backbone


@dataclass(frozen=True, slots=True)
class Methods:
    """Resolves the detectors of a suite for one stream, protocol and backbone."""

    suite: Suite
    stream: str
    protocol: ProtocolSetting
    split: str
    backbone: str
    parameters: tuple[tuple[str, Any], ...]
    presets: PresetFile | None = None

    def row(self, text: str) -> Row:
        """The row of an expression as the suite writes it."""
        expression = parse(text)
        if self.presets is not None:
            expression = self.presets.fill(expression, self.stream, self.split, self.backbone)
        if expression.name != "good":
            name, candidates = self._candidates(expression)
            return self._row(name, candidates, None)
        if expression.arguments == (Expression(AUTO),):
            return self._auto(expression)
        resolved = resolve_good(expression, self.stream, self.split, self.backbone)
        if len(expression.arguments) != 1 or expression.arguments[0].name == "good":
            # GOOD over GOOD is no mix of stored scores: it is scored as it stands.
            return self._row(*self._concrete(resolved), None)
        given = dict(expression.parameters)
        chooses = self.suite.select != "preset" and "alpha" not in given
        name, candidates = self._candidates(expression.arguments[0] if chooses else resolved.arguments[0])
        if chooses:
            return self._row(f"good({name},alpha={AUTO})", candidates, AUTO)
        whole = self._complete(Expression("good", (parse(candidates[0].base),), resolved.parameters))
        alpha = float(dict(whole.parameters)["alpha"])
        return self._row(str(Expression("good", (parse(name),), whole.parameters)), candidates, alpha)

    def _auto(self, expression: Expression) -> Row:
        """`good(auto)`: base and alpha of the preset, or chosen among the other detectors of the suite."""
        if expression.parameters:
            raise UsageError(f"'{expression}': good(auto) chooses alpha itself; name a detector to fix it")
        if self.suite.select == "preset":
            base, alpha = good_preset(self.stream, self.split, self.backbone)
            _, candidates = self._candidates(Expression(base))
            return self._row("good(auto)", candidates, alpha)
        texts = [text for text in self.suite.detectors_of(self.backbone) if parse(text).name != "good"]
        found = [candidate for text in texts or BASES for candidate in self._candidates(parse(text))[1]]
        return self._row("good(auto)", tuple(dict.fromkeys(found)), AUTO)

    def _candidates(self, expression: Expression) -> tuple[str, tuple[Candidate, ...]]:
        """A detector as it is shown, and what is scored for it: ODIN's grid where its parameters are chosen."""
        given = dict(expression.parameters)
        if expression.name != "odin" or self.suite.select == "preset" or len(given) == 2 or expression.arguments:
            return self._concrete(expression)
        axes: dict[str, tuple[Constant, ...]] = {**grid("all", "odin"), **{name: (v,) for name, v in given.items()}}
        found: list[Candidate] = []
        for values in product(*axes.values()):
            point = Expression("odin", (), tuple(sorted(zip(axes, values, strict=True))))
            found += self._concrete(point)[1]
        fixed = complete(expression, detectors).parameters if given else ()
        shown = Expression("odin", (Expression(AUTO),), tuple(pair for pair in fixed if pair[0] in given))
        return str(shown), tuple(found)

    def _concrete(self, expression: Expression) -> tuple[str, tuple[Candidate, ...]]:
        whole = self._complete(expression)
        return str(whole), (Candidate(build(whole, detectors).heads[0], str(whole)),)

    def _complete(self, expression: Expression) -> Expression:
        return complete(
            expression, detectors, lambda name: detector_preset(self.stream, self.split, self.backbone, name)
        )

    def _row(self, detector: str, candidates: tuple[Candidate, ...], alpha: float | str | None) -> Row:
        heads = list(dict.fromkeys(candidate.head for candidate in candidates))
        head = heads[0] if len(heads) == 1 else AUTO
        tuned = self.presets.fit(self.stream, self.split, self.backbone, heads[0]) if self.presets else None
        name = tuned.name if tuned else preset(self.stream, self.split, self.backbone, heads[0]).name
        trials = self.presets.trials_of(self.stream, self.split, self.backbone, heads[0]) if self.presets else 0
        return Row(
            self.stream,
            self.protocol,
            self.backbone,
            self.parameters,
            head,
            detector,
            candidates,
            alpha,
            name,
            trials if tuned else 0,
        )
