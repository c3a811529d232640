"""The methods of a suite on one stream and backbone: what is scored for each, and what is still to be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, build, complete, parse
from lgl_bench.core.members import members_of
from lgl_bench.core.references import FLOOR
from lgl_bench.detectors import detectors, head_of
from lgl_bench.detectors.variants import variants
from lgl_bench.plans.fits import ProtocolSetting, StrategySetting, backbone_text
from lgl_bench.plans.paper_presets import detector_preset, good_preset, preset, resolve_good
from lgl_bench.plans.plan_file import PluginFacts
from lgl_bench.plans.preset_entries import StrategyEntry
from lgl_bench.plans.preset_file import PresetFile
from lgl_bench.plans.suite import Suite
from lgl_bench.plans.suited import NO_FACTS, suited_texts

AUTO = "auto"
# What `good(auto)` chooses among if the suite names no detector that could be its base: the paper's three.
BASES = ("odin", "isomax+", "gdoc")


class FitKind(NamedTuple):
    """What candidates share that are scored on the same fits of a chain.

    Attributes:
        members: Models of every fit; 1 unless the candidate is an ensemble.
    """

    head: str
    members: int = 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that is scored: an expression on its head."""

    head: str
    base: str

    @property
    def fit_kind(self) -> FitKind:
        """Which fits it is scored on."""
        return FitKind(self.head, members_of(self.base))


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method on a stream: what becomes one row of the leaderboard, or several with thresholds.

    Attributes:
        parameters: Backbone parameters that its expression gives or that are swept.
        head: Of all candidates; "auto" if they differ.
        detector: Canonical expression; "auto" stands for what is chosen.
        candidates: What is scored; one of several is chosen. The first is the preset's.
        alpha: Weight of the neighbours if the row is GOOD over a candidate; "auto" if it is chosen.
        preset: Where the parameters of the fit come from.
        trials: Tuning trials behind the preset.
        fallback_alpha: Weight of the neighbours if nothing can be chosen; the first candidate goes with it.
    """

    stream: str
    protocol: ProtocolSetting
    strategy: StrategySetting
    backbone: str
    parameters: tuple[tuple[str, Any], ...]
    head: str
    detector: str
    candidates: tuple[Candidate, ...]
    alpha: float | str | None
    preset: str
    trials: int = 0
    fallback_alpha: float | None = None

    @property
    def chosen(self) -> bool:
        """Whether something about it is chosen."""
        return len(self.candidates) > 1 or self.alpha == AUTO

    @property
    def tuned(self) -> bool:
        """Whether its parameters come from a file of its submitter."""
        return not self.preset.startswith("paper")

    @property
    def concrete(self) -> str:
        """What a row without a choice is, as an expression; `good(auto)` of a preset is shown by another name."""
        base = self.candidates[0].base
        return base if self.alpha is None else f"good({base},alpha={self.alpha})"

    @property
    def shown_backbone(self) -> str:
        """The backbone as the leaderboard names it, with the parameters that the row fixes."""
        return backbone_text(self.backbone, self.parameters)


@dataclass(frozen=True, slots=True)
class Methods:
    """Resolves the detectors of a suite for one stream, protocol, strategy and backbone.

    Attributes:
        presets: Tuned parameters.
        strategy_entry: What the strategy was tuned by.
    """

    suite: Suite
    stream: str
    protocol: ProtocolSetting
    strategy: StrategySetting
    split: str
    backbone: str
    parameters: tuple[tuple[str, Any], ...]
    presets: PresetFile | None = None
    strategy_entry: StrategyEntry | None = None

    def rows(self, texts: Sequence[str]) -> list[MethodRow]:
        """The rows of several expressions; those that can score on any head take one that the others train."""
        fixed = {text: self.row(text) for text in texts if not scores_on_any_head(text)}
        heads = trained_heads(fixed.values())
        return [fixed.get(text) or self.row(text, heads) for text in texts]

    def row(self, text: str, heads: Iterable[str] = ()) -> MethodRow:
        """The row of an expression as the suite writes it.

        Args:
            text: The expression.
            heads: Those that are trained anyway; a detector that can score on any takes one of them, softmax first.
        """
        expression = parse(text)
        if scores_on_any_head(text):
            name, (candidate,) = self._concrete(expression)
            trained = sorted(heads, key=lambda head: (head != candidate.head, head))
            return self._row(name, (Candidate((*trained, candidate.head)[0], candidate.base),), None)
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
        name, candidates = self._candidates(resolved.arguments[0])
        whole = self._complete(Expression("good", (parse(candidates[0].base),), resolved.parameters))
        alpha = float(dict(whole.parameters)["alpha"])
        if chooses:
            return self._row(f"good({name},alpha={AUTO})", candidates, AUTO, alpha)
        return self._row(str(Expression("good", (parse(name),), whole.parameters)), candidates, alpha, alpha)

    def _auto(self, expression: Expression) -> MethodRow:
        """`good(auto)`: base and alpha of the preset, or chosen among the other detectors of the suite."""
        if expression.parameters:
            raise UsageError(f"'{expression}': good(auto) chooses alpha itself; name a detector to fix it")
        if self.suite.select == "preset":
            base, alpha = good_preset(self.stream, self.split, self.backbone)
            _, candidates = self._candidates(Expression(base))
            return self._row("good(auto)", candidates, alpha)
        texts = [text for text in suited_texts(self.suite, self.backbone) if parse(text).name != "good"]
        texts = [text for text in texts if not scores_on_any_head(text)]
        base, alpha = good_preset(self.stream, self.split, self.backbone)
        by_text = [self._candidates(parse(text))[1] for text in texts or BASES]
        # The paper's base if the run has it, the first detector otherwise.
        by_text.sort(key=lambda part: parse(part[0].base).name != base)
        found = tuple(dict.fromkeys(candidate for part in by_text for candidate in part))
        return self._row("good(auto)", found, AUTO, alpha)

    def _candidates(self, expression: Expression) -> tuple[str, tuple[Candidate, ...]]:
        """A detector as it is shown, and what is scored for it: its grid if its parameters are chosen.

        The preset's setting comes first: it is what stands if nothing can be chosen.
        """
        settings = [] if self.suite.select == "preset" or expression.arguments else variants(expression)
        if len(settings) < 2:
            return self._concrete(expression)
        found = [self._concrete(setting)[1][0] for setting in (expression, *settings)]
        given = {name for name, _ in expression.parameters}
        fixed = tuple(pair for pair in complete(expression, detectors).parameters if pair[0] in given)
        return str(Expression(expression.name, (Expression(AUTO),), fixed)), tuple(dict.fromkeys(found))

    def _concrete(self, expression: Expression) -> tuple[str, tuple[Candidate, ...]]:
        whole = self._complete(expression)
        return str(whole), (Candidate(head_of(build(whole, detectors)), str(whole)),)

    def _complete(self, expression: Expression) -> Expression:
        return complete(
            expression, detectors, lambda name: detector_preset(self.stream, self.split, self.backbone, name)
        )

    def _row(
        self,
        detector: str,
        candidates: tuple[Candidate, ...],
        alpha: float | str | None,
        fallback_alpha: float | None = None,
    ) -> MethodRow:
        heads = list(dict.fromkeys(candidate.head for candidate in candidates))
        head = heads[0] if len(heads) == 1 else AUTO
        where = (self.stream, self.split, self.backbone, heads[0])
        entries = [self.presets.entry(*where) if self.presets else None, self.strategy_entry]
        tuned = [entry for entry in entries if entry is not None]
        name = self.presets.name if self.presets and tuned else preset(*where).name
        return MethodRow(
            self.stream,
            self.protocol,
            self.strategy,
            self.backbone,
            self.parameters,
            head,
            detector,
            candidates,
            alpha,
            name,
            sum(entry.trials for entry in tuned),
            fallback_alpha,
        )


def row_texts(suite: Suite, backbone: str, *, floor: bool, facts: PluginFacts = NO_FACTS) -> list[str]:
    """The detectors of a suite on a backbone; the floor joins them once per stream.

    Args:
        suite: Whose detectors.
        backbone: By name.
        floor: Whether strategy, backbone and its parameters are the first, so that the floor joins.
        facts: What is recorded of detectors that are not available.
    """
    texts = suited_texts(suite, backbone, facts)
    named = {str(parse(text)) for text in texts}
    return texts + [name for name in FLOOR if floor and name not in named]


def scores_on_any_head(text: str) -> bool:
    """Whether a detector can score on whatever head is trained; one that is not available is taken not to."""
    expression = parse(text)
    if expression.name == AUTO or expression.arguments or expression.name not in detectors:
        return False
    return not detectors.get(expression.name).heads


def trained_heads(rows: Iterable[MethodRow]) -> list[str]:
    """The heads that rows have trained; a row whose detector scores on any head takes one of them and adds none."""
    return [candidate.head for row in rows if not scores_on_any_head(row.detector) for candidate in row.candidates]
