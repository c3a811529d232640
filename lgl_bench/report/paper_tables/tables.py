"""The tables of the paper that print figures of methods, laid out as the paper has them.

Left out are those of data sets and hyperparameters: an import compares the homophily of a stream with the published
one, and alpha of GOOD is a parameter that our cells are run with, not a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lgl_bench.core.grammar import plugin_name
from lgl_bench.leaderboard.published import THRESHOLDS
from lgl_bench.plans.paper_presets import STATIC, TEMPORAL
from lgl_bench.report.paper_tables.ours import OurCell, OurNumbers
from lgl_bench.report.parity.cells import BACKBONES, GOOD, HEADS, TRANSDUCTIVE
from lgl_bench.report.parity.printed import PrintedCell
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.verdict import Verdict, verdict

_SPELLED = {
    **{"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "ogb-arxiv": "OGB-arXiv"},
    **{"gcn": "GCN", "graphsage": "GraphSAGE", "gat": "GAT", "graph-mlp": "Graph-MLP"},
    **{"odin": "ODIN", "isomax+": "IsoMax+", "gdoc": "gDOC", "good": "GOOD"},
    **{"open-wrf": "Open-WRF", "openwgl": "OpenWGL", "naive": "Naive"},
}
_DETECTORS = (*HEADS.values(), GOOD)


@dataclass(frozen=True, slots=True)
class PaperCell:
    """A printed cell with what we say of it.

    Attributes:
        printed: The cell of the paper.
        ours: Our number; None if there is none.
        verdict: What is said of the difference.
        switched: The same cell with each switch that was measured.
        untried: Switches that change the cell and were not measured.
        note: On the printed cell.
    """

    printed: PrintedCell
    ours: OurCell | None
    verdict: Verdict
    switched: tuple[OurCell, ...] = ()
    untried: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of the paper.

    Attributes:
        name: Of its file and anchor.
        title: What it holds.
        about: What its figures are.
        digits: That the paper prints at least.
        columns: Their headings.
        groups: Each a heading and its rows, which are a name and one cell per column; None if nothing is printed there.
    """

    name: str
    title: str
    about: str
    digits: int
    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, tuple[PaperCell | None, ...]], ...]], ...]

    @property
    def cells(self) -> list[PaperCell]:
        """All that are printed, row by row."""
        return [cell for _, rows in self.groups for _, cells in rows for cell in cells if cell is not None]


def spelled(name: str) -> str:
    """A stream, backbone, detector or threshold as the paper spells it.

    >>> spelled("isomax+"), spelled("dblp-easy")
    ('IsoMax+', 'dblp-easy')
    """
    return _SPELLED.get(name, name)


def answered(one: PrintedCell, numbers: OurNumbers) -> PaperCell:
    """A printed cell with our number and what is said of it."""
    ours, switched = numbers.standing(one), numbers.switched(one)
    measured = {cell.switch for cell in switched}
    return PaperCell(
        one,
        ours,
        verdict(ours, switched),
        tuple(switched),
        () if one.threshold else published_code().untried(one.cell, measured),
        published_code().note(one.cell.split, one.cell.backbone),
    )


def paper_tables(printed: Sequence[PrintedCell], numbers: OurNumbers) -> list[PaperTable]:
    """The tables, in the order of the paper."""
    cells = [answered(one, numbers) for one in printed]
    models = [cell for cell in cells if not cell.printed.threshold and cell.printed.cell.split != TRANSDUCTIVE]
    decided = [cell for cell in cells if cell.printed.threshold]
    checks = [cell for cell in cells if cell.printed.cell.split == TRANSDUCTIVE]
    accuracies = "Accuracy over known classes / AUROC of new classes against known ones"
    folds = f"{accuracies}; one class left out at a time, means over the left-out classes."
    years = f"{accuracies}; means over all years that have one."
    return [
        _detectors("static", "Detectors on static graphs, random 60-20-20 split", folds, 2, models, STATIC, "60-20-20"),
        _detectors("temporal", "Detectors on temporal graphs", years, 2, models, _PRINTED_ORDER, "temporal"),
        _thresholds(decided),
        _transductive(checks),
        _detectors("planetoid", "Detectors on static graphs, Planetoid split", folds, 3, models, STATIC, "planetoid"),
    ]


_PRINTED_ORDER = ("ogb-arxiv", *(name for name in TEMPORAL if name != "ogb-arxiv"))
_Rows = tuple[tuple[str, tuple[PaperCell | None, ...]], ...]


def _rows(
    cells: Sequence[PaperCell],
    rows: Sequence[str],
    columns: Sequence[str],
    at: Callable[[PaperCell], tuple[str, str]],
) -> _Rows:
    """Rows that have at least one printed cell."""
    found = {at(cell): cell for cell in cells}
    lines = [(spelled(row), tuple(found.get((row, column)) for column in columns)) for row in rows]
    return tuple((name, line) for name, line in lines if any(cell is not None for cell in line))


def _detectors(
    name: str, title: str, about: str, digits: int, cells: Sequence[PaperCell], streams: Sequence[str], split: str
) -> PaperTable:
    groups = []
    for stream in streams:
        own = [one for one in cells if (one.printed.cell.stream, one.printed.cell.split) == (stream, split)]
        rows = _rows(own, _DETECTORS, BACKBONES, lambda one: (one.printed.detector, one.printed.cell.backbone))
        groups.append((spelled(stream), rows))
    return PaperTable(name, title, about, digits, tuple(map(spelled, BACKBONES)), tuple(groups))


def _thresholds(cells: Sequence[PaperCell]) -> PaperTable:
    def at(one: PaperCell) -> tuple[str, str]:
        return one.printed.cell.stream, plugin_name(one.printed.threshold)

    groups = (
        ("Static", _rows(cells, STATIC, THRESHOLDS, at)),
        ("Temporal", _rows(cells, _PRINTED_ORDER, THRESHOLDS, at)),
    )
    about = "Micro F1 of new against known; each threshold on the model with the best AUROC of its stream."
    title = "Thresholds on the best model of each stream"
    return PaperTable("thresholds", title, about, 3, tuple(map(spelled, THRESHOLDS)), groups)


def _transductive(cells: Sequence[PaperCell]) -> PaperTable:
    rows = _rows(cells, BACKBONES, STATIC, lambda one: (one.printed.cell.backbone, one.printed.cell.stream))
    about = "Accuracy on the Planetoid split with all classes known and the whole graph in training."
    title = "Graph-MLP's transductive check"
    return PaperTable("transductive", title, about, 3, tuple(map(spelled, STATIC)), (("", rows),))
