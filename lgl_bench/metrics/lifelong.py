"""What learning on does to what was learned: forgetting, transfer, and how soon new classes are recognised."""

from __future__ import annotations

from lgl_bench.metrics import ChainAnswers, ChainMetric, metrics
from lgl_bench.metrics.emerging import emergence
from lgl_bench.metrics.matrix import backward_transfer, forgetting, forward_transfer
from lgl_bench.metrics.over_time import OverYears, mean_over_years
from lgl_bench.metrics.year_matrix import accuracies, against_last, guessing


@metrics.register("forgetting")
class Forgetting(ChainMetric):
    """Accuracy that the last model lost on earlier years, against the best model since each was learned."""

    label = "Forgetting"
    about = (
        "Accuracy that the last model lost on the vertices of earlier years, against the best model since each was "
        "learned, over classes that both know. Lower is better, and negative is a gain."
    )
    range = (-1.0, 1.0)
    higher_is_better = False

    def __call__(self, chain: ChainAnswers) -> OverYears:
        """`matrix.forgetting` of accuracies."""
        if chain.matrix is None:
            return OverYears(None, 0, chain.no_matrix)
        return forgetting(against_last(chain.matrix))


@metrics.register("backward_transfer")
class BackwardTransfer(ChainMetric):
    """Accuracy of the last model on earlier years, less that of the model that had just learned each."""

    label = "Backward transfer"
    about = (
        "Accuracy of the last model on the vertices of earlier years, less that of the model that had just learned "
        "each, over classes that both know. Negative is forgetting."
    )
    range = (-1.0, 1.0)

    def __call__(self, chain: ChainAnswers) -> OverYears:
        """`matrix.backward_transfer` of accuracies."""
        if chain.matrix is None:
            return OverYears(None, 0, chain.no_matrix)
        return backward_transfer(against_last(chain.matrix))


@metrics.register("forward_transfer")
class ForwardTransfer(ChainMetric):
    """Accuracy on each year before it is learned, less that of guessing among the classes known by then."""

    label = "Forward transfer"
    about = "Accuracy on each year before it is learned, less that of guessing among the classes known by then."
    range = (-1.0, 1.0)

    def __call__(self, chain: ChainAnswers) -> OverYears:
        """`matrix.forward_transfer` of accuracies."""
        if chain.matrix is None:
            return OverYears(None, 0, chain.no_matrix)
        return forward_transfer(accuracies(chain.matrix), guessing(chain.matrix))


@metrics.register("emergence")
class Emergence(ChainMetric):
    """Years from a class's labels until its accuracy is within 0.9 of its final one, the mean over new classes."""

    label = "Emergence"
    about = (
        "Years from when the labels of a new class arrive until its accuracy first reaches 0.9 of its final one; the "
        "mean over the classes that became known on the way. Lower is better."
    )
    range = (0.0, None)
    higher_is_better = False

    def __call__(self, chain: ChainAnswers) -> OverYears:
        """`emerging.emergence`, the mean over classes that have a value."""
        found = emergence(chain.years)
        reasons = sorted({value.reason for value in found.values() if value.reason})
        why = "no class became known after the first year" if not found else "; ".join(reasons)
        return mean_over_years([value.value for value in found.values()], why)
