"""The metrics the report shows: how each is written, which way is better, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from lgl_bench.leaderboard.table.schema import Figures


@dataclass(frozen=True, slots=True)
class Shown:
    """A metric as people read it."""

    name: str
    label: str
    about: str
    higher_is_better: bool = True


_ALL = (
    Shown(
        "auroc_weighted",
        "AUROC",
        "How well new vertices are told from known ones: the chance that a new vertex looks more novel than a known "
        "one. Years count by their number of new vertices. It ranks the detectors on streams with years.",
    ),
    Shown("accuracy", "Accuracy", "Share of the vertices of known classes that get the right class; mean over years."),
    Shown("aupr", "AUPR", "Area under precision and recall, new vertices being the positives; mean over years."),
    Shown(
        "fpr95",
        "FPR95",
        "Share of known vertices that are taken for new when 95 % of the new ones are found. Lower is better.",
        higher_is_better=False,
    ),
    Shown("oscr", "OSCR", "Area under right classifications of known vertices against new ones taken for known."),
    Shown(
        "mcc",
        "MCC",
        "Matthews' correlation of the decisions with the truth, all test years of a seed counted together: 1 is "
        "perfect, and rejecting nobody or everybody is worth 0. It ranks the decisions.",
    ),
    Shown("recall_new", "Recall of new", "Share of the new vertices that are rejected, all test years together."),
    Shown(
        "false_alarm_rate",
        "False alarms",
        "Share of the known vertices that are rejected, all test years together. Lower is better.",
        higher_is_better=False,
    ),
    Shown(
        "regret",
        "Regret",
        "MCC of the oracle, which sees the truth, less that of the row. Lower is better.",
        higher_is_better=False,
    ),
    Shown("macro_f1", "Macro F1", "F1 of 'new' and F1 of 'known', averaged; mean over the years that have both kinds."),
    Shown("micro_f1", "Micro F1", "Share of vertices that are rightly called new or known."),
    Shown("open_f1", "Open F1", "F1 over the known classes and one class 'new', averaged over classes."),
    Shown(
        "auroc_mean",
        "AUROC, mean",
        "Plain mean over years with at least five new vertices; over left-out classes, where it ranks the detectors.",
    ),
    Shown(
        "forgetting",
        "Forgetting",
        "Accuracy that the last model lost on the vertices of earlier years, against the best model since each was "
        "learned. Lower is better.",
        higher_is_better=False,
    ),
    Shown(
        "backward_transfer",
        "Backward transfer",
        "Accuracy of the last model on earlier years, less that of the model that had just learned each.",
    ),
    Shown("forward_transfer", "Forward transfer", "Accuracy on each year before it is learned, less that of guessing."),
    Shown(
        "emergence",
        "Emergence",
        "Years from the labels of a new class until its accuracy is within 0.9 of its final one. Lower is better.",
        higher_is_better=False,
    ),
    Shown("auroc_paper", "AUROC, paper", "Mean over every year that has one, the validation year included."),
)
METRICS = {shown.name: shown for shown in _ALL}
LIFELONG: tuple[str, ...] = ("forgetting", "emergence")
"""Shown only where there are any: most runs do not ask every model for every year."""
DETECTION: tuple[str, ...] = ("auroc_weighted", "auroc_mean", "accuracy", *LIFELONG, "aupr", "fpr95", "oscr")
DECISIONS: tuple[str, ...] = (
    "mcc",
    "recall_new",
    "false_alarm_rate",
    "open_f1",
    "regret",
    "macro_f1",
    "micro_f1",
    "accuracy",
)


def tooltip(figure: Figures) -> str:
    """A metric in words."""
    if figure.mean is None:
        return f"undefined: {figure.reason}"
    parts = [f"{figure.mean:.4f}"]
    if figure.lo is not None and figure.hi is not None:
        parts.append(f"95 % interval {figure.lo:.4f} to {figure.hi:.4f}")
    for count, what in ((figure.n_seeds, "seed"), (figure.n_years, "year or fold")):
        if count is not None:
            plural = what.replace("year or fold", "years or folds") if count != 1 else what
            parts.append(f"{count} {plural + 's' if count != 1 and what == 'seed' else plural}")
    return ", ".join(parts)
