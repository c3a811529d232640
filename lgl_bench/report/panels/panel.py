"""A figure of the site: its charts, what they say, and the table behind them."""

from __future__ import annotations

from dataclasses import dataclass

from lgl_bench.report.data.tables import Table
from lgl_bench.report.svg.charts import Chart


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure.

    Attributes:
        name: Of its table's file, and its anchor.
        title: In words.
        about: How to read it.
        charts: The drawings; none if there is nothing to draw, for the reason in `empty`.
        table: What was drawn.
        empty: Why there is nothing to draw.
        wide: Whether its charts need the whole width.
        maps: Whether its charts are heat maps, which keep their size.
        kind: What the file of each of its charts is called, before the name of the stream; by default the name.
    """

    name: str
    title: str
    about: str
    charts: tuple[Chart, ...] = ()
    table: Table | None = None
    empty: str = ""
    wide: bool = False
    maps: bool = False
    kind: str = ""

    def __post_init__(self) -> None:
        if not self.kind:
            object.__setattr__(self, "kind", self.name)
