"""Logits and embeddings of somebody else's model, scored by our detectors: those that need nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import signature
from lgl_bench.core.grammar import parse
from lgl_bench.core.references import FLOOR
from lgl_bench.core.types import Task
from lgl_bench.detectors import Calibration, detectors
from lgl_bench.evaluation.answer import Answer
from lgl_bench.evaluation.given_outputs import GivenOutputs, NeedsModelError
from lgl_bench.plans.external import canonical_texts
from lgl_bench.runs.answering import TaskAnswers, add_parts
from lgl_bench.runs.scoring import Part, PartAnswers, Trained, calibration_of, score_part

HEAD = "softmax"
"""What logits of somebody else are taken for."""
WRAPPED = "energy"
"""What detectors that wrap another wrap, unless others are asked for."""


class OutputScoring:
    """Scores task after task; what fails on the first, or needs more than outputs on any, is left out of all.

    Args:
        asked: Detectors as expressions; empty for all that can be run.
    """

    def __init__(self, asked: tuple[str, ...] = ()) -> None:
        self.kept: tuple[str, ...] = ()
        self.left_out: dict[str, str] = {}
        self._asked = asked
        self._before: dict[int, Trained] = {}

    @property
    def begun(self) -> bool:
        """Whether a task was scored."""
        return bool(self._before)

    def answer(self, task: Task, model: GivenOutputs, seed: int) -> Answer:
        """The answer to a task.

        Raises:
            UsageError: No detector can be run.
        """
        now = Trained(model, task)
        texts = self.kept or tuple(self._candidates())
        calibration = self._calibration(now, seed)
        found = TaskAnswers(task, None)
        bases = dict.fromkeys(map(scored_base, texts))
        needs: set[str] = set()

        def respond(part: Part) -> PartAnswers:
            try:
                return score_part(part, now, calibration)
            except NeedsModelError:
                needs.add(str(part.detector))
                raise

        add_parts(found, [Part(parse(text)) for text in bases], respond)
        self._keep(texts, {name: reason for name, reason in found.failed.items() if name in needs or not self.kept})
        self._before[seed] = now
        needed = set(map(scored_base, self.kept))
        return Answer(
            model.predict(task.test)[task.scored],
            {name: values for name, values in found.novelty.items() if name in needed},
            {name: values for name, values in found.neighbour.items() if name in needed},
            confidence=model.probabilities(task.test)[task.scored].max(axis=1),
            failed={name: reason for name, reason in found.failed.items() if name in needed},
        )

    def _calibration(self, now: Trained, seed: int) -> Calibration:
        """As in a run if all outputs for that are given; else the training vertices as the test graph shows them."""
        task, before = now.task, self._before.get(seed)
        assert isinstance(now.model, GivenOutputs)
        if (task.calibration is None and before is not None) or now.model.has(task.train.graph):
            return calibration_of(now, before, seed)
        if task.trained is None:
            raise UsageError("the protocol does not say where training vertices are in task.test: give train_logits")
        return Calibration(
            now.model, task.train, now.fit_vertices, task.test, task.trained.copy(), seed=seed, trained=task.trained
        )

    def _candidates(self) -> Iterator[str]:
        """Canonical expressions of what may be run; the others are left out with a reason."""
        if self._asked:
            yield from canonical_texts(self._asked)
            return
        for name in detectors.names():
            kind = detectors.get(name)
            if not detectors.is_built_in(name) or name in FLOOR:
                continue
            if kind.backbones:
                self.left_out[name] = f"it works on the backbone {' or '.join(kind.backbones)} only"
            elif HEAD not in kind.heads:
                self.left_out[name] = f"it works on the head {' or '.join(kind.heads)} only"
            else:
                yield from canonical_texts([_text(name)])

    def _keep(self, texts: tuple[str, ...], failed: dict[str, str]) -> None:
        self.left_out |= {text: failed[scored_base(text)] for text in texts if scored_base(text) in failed}
        self.kept = tuple(text for text in texts if text not in self.left_out)
        if not self.kept:
            first, reason = next(iter(self.left_out.items()))
            raise UsageError(f"no detector can be run on these logits; {first}: {reason}")


def _text(name: str) -> str:
    """A detector as it is asked for: alone, or around another as often as it takes one."""
    wrapped, _ = signature(detectors.get(name))
    return f"{name}({','.join([WRAPPED] * len(wrapped))})" if wrapped else name


def scored_base(text: str) -> str:
    """What is scored for an expression: GOOD is mixed from stored scores of its base.

    >>> scored_base("good(msp,alpha=0.5)"), scored_base("energy(temperature=1.0)")
    ('msp', 'energy(temperature=1.0)')
    """
    expression = parse(text)
    if expression.name == "good" and len(expression.arguments) == 1 and expression.arguments[0].name != "good":
        return str(expression.arguments[0])
    return text
