"""The site: every page, style, script and table, in one folder that opens from disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.table.names import BOARD_FILE
from lgl_bench.leaderboard.table.text import NOT_IN_TABLE
from lgl_bench.report.data.metrics import METRICS, tooltip
from lgl_bench.report.data.names import slug
from lgl_bench.report.data.notices import notices, runs_of
from lgl_bench.report.data.rows import TWIN_MARK, ShownRow, report_rows
from lgl_bench.report.data.sources import ReportInput, read_sources
from lgl_bench.report.data.stream_facts import StreamFacts, stream_facts
from lgl_bench.report.data.tables import rows_table, write_table
from lgl_bench.report.data.words import file_name, without_paths
from lgl_bench.report.pages.findings import findings
from lgl_bench.report.pages.method import Places, references, standings
from lgl_bench.report.panels.detectors import detector_panel
from lgl_bench.report.panels.gallery import gallery
from lgl_bench.report.panels.over_base import over_base_panel
from lgl_bench.report.panels.over_time import curve_table, leaders_panel
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.panels.stream import stream_panels
from lgl_bench.report.paper_tables.inputs import PaperReport, board_paths, found_report
from lgl_bench.report.site_folder import replacing

_HERE = Path(__file__).parent
ASSETS = _HERE / "assets"
"""Styles and scripts of the pages."""


def build_site(
    paths: Iterable[Path], place: Path, *, force: bool = False, data_dir: Path | None = None, command: str = ""
) -> dict[str, Any]:
    """Builds a site, whole or not at all.

    Args:
        paths: Run folders and leaderboard CSVs.
        place: Folder of the site.
        force: Whether a site that is there is replaced.
        data_dir: Folder of the streams.
        command: What the user typed, shown on the pages.

    Returns:
        Number of pages, rows and bytes.
    """
    paths = list(paths)
    sources = read_sources(board_paths(paths))
    paper = found_report(paths, sources)
    about = {
        "made_by": f"lgl-bench {__version__}",
        "command": without_paths(command),
        "inputs": [without_paths(one.name) for one in sources],
    }
    with replacing(place, force, about) as folder:
        site = _Site(folder, sources, data_dir, command, paper)
        site.write()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        return {"site": str(place), "pages": site.pages, "rows": len(site.rows), "bytes": size}


MAX_ROWS = 600
"""The first page holds every row of a site up to here; of a larger one each stream's page holds its own."""
FIRST_ROWS = 10
"""Of each place, on the pages that do not hold every row: as many as are open at first on those that do."""


class _Site:
    def __init__(
        self,
        folder: Path,
        sources: list[ReportInput],
        data_dir: Path | None,
        command: str,
        paper: PaperReport | None,
    ) -> None:
        self.folder = folder
        self.sources = sources
        self.data_dir = data_dir
        self.paper = paper
        self.rows = report_rows(sources, data_dir)
        self.whole = len(self.rows) <= MAX_ROWS
        self.pages = 0
        self.places = list(dict.fromkeys(row.place for row in self.rows))
        self.streams = sorted({place.stream for place in self.places})
        self.methods: dict[tuple[str, ...], list[ShownRow]] = {}
        for row in self.rows:
            self.methods.setdefault(row.method, []).append(row)
        self.templates = templates()
        self.templates.globals |= {
            "command": command,
            "version": __version__,
            "runs": runs_of(sources),
            "stream_pages": [(name, f"{slug(name)}.html") for name in self.streams],
            "metrics": METRICS,
            "has_paper": paper is not None,
        }

    def write(self) -> None:
        for name in ("assets", "data", "streams", "methods"):
            (self.folder / name).mkdir()
        for path in sorted(ASSETS.iterdir()):
            (self.folder / "assets" / path.name).write_bytes(path.read_bytes())
        facts = {name: stream_facts(name, self._checksum(name), self.data_dir) for name in self.streams}
        self._index()
        self._figures()
        self._page("guide.html", "guide.html", title="How to read this")
        if self.paper is not None:
            self._paper(self.paper)
        for name in self.streams:
            self._stream(name, facts[name])
        standing = Places(self.rows)
        for method, rows in self.methods.items():
            self._method(method, rows, standing)

    def _index(self) -> None:
        from lgl_bench.report.pages.boards import boards, choices

        # Maps of twins are among the figures; without a real stream they are what there is to see.
        shown = [row for row in self.rows if not row.place.twin] or self.rows
        panels = [detector_panel(shown), over_base_panel(shown)]
        self._page(
            "index.html",
            "index.html",
            title=_title(self.sources),
            boards=boards(self.rows, None if self.whole else FIRST_ROWS),
            open_at_first=FIRST_ROWS,
            choices=choices(self.rows),
            findings=findings(self.rows),
            panels=[panel for panel in panels if panel.charts],
            notices=notices(self.sources, self.rows),
            counts=(len(self.streams), len(self.methods), len(self.rows)),
            seeds=max((row.figures[row.ranks_by].n_seeds or 0 for row in self.rows), default=0),
        )
        write_table(rows_table(self.rows), self.folder / "data" / BOARD_FILE)

    def _figures(self) -> None:
        panels = gallery(self.rows, self.sources)
        self._page("figures.html", "figures.html", title="Figures", panels=self._written(panels))

    def _paper(self, report: PaperReport) -> None:
        from lgl_bench.report.paper_tables.page import cells_table, page_values

        self._page("paper.html", "paper.html", **page_values(report, "data/paper-cells.csv", tex=False))
        write_table(cells_table(report), self.folder / "data" / "paper-cells.csv")

    def _stream(self, name: str, facts: StreamFacts) -> None:
        from lgl_bench.report.datasheet import datasheet, page_name
        from lgl_bench.report.pages.boards import boards

        sheet = f"datasheets/{page_name(name)}" if facts.figures else ""
        if sheet:
            text = datasheet(facts.figures, back=(f"../streams/{slug(name)}.html", "Rows on this stream"))
            self._write(sheet, text)
        rows = [row for row in self.rows if row.place.stream == name]
        panels = [*stream_panels(facts, slug(name)), detector_panel(rows, f"{slug(name)}-detectors")]
        panels.append(leaders_panel(rows, f"{slug(name)}-leaders"))
        self._page(
            "stream.html",
            f"streams/{slug(name)}.html",
            title=name,
            twin=any(row.place.twin for row in rows),
            facts=facts,
            sheet=sheet,
            panels=self._written(panels),
            boards=boards(rows, FIRST_ROWS if self.whole else None),
            whole=not self.whole,
            static=bool(facts.years) and len(facts.years) < 2,
        )

    def _method(self, method: tuple[str, ...], rows: list[ShownRow], places: Places) -> None:
        found = standings(rows, places)
        name = slug(*method)
        drawn = [one for one in found if one.chart is not None]
        if drawn:
            write_table(curve_table([one.row for one in drawn]), self.folder / "data" / f"curve-{name}.csv")
        self._page(
            "method.html",
            f"methods/{name}.html",
            title=rows[0].name,
            strategy=rows[0].shown_strategy,
            backbone=method[0],
            detector=method[1],
            rows=rows,
            standings=found,
            drawn=drawn,
            references=references(method[0], method[1], rows[0].shown_strategy),
            table=f"curve-{name}.csv",
        )

    def _checksum(self, stream: str) -> str:
        found = {place.checksum for place in self.places if place.stream == stream}
        return found.pop() if len(found) == 1 else ""

    def _written(self, panels: list[Panel]) -> list[Panel]:
        for panel in panels:
            if panel.table is not None:
                write_table(panel.table, self.folder / "data" / f"{panel.name}.csv")
        return panels

    def _page(self, template: str, place: str, **values: Any) -> None:
        root = "../" * place.count("/")
        text = self.templates.get_template(template).render(root=root, here=place, **values)
        self._write(place, text)

    def _write(self, place: str, text: str) -> None:
        path = self.folder / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
        self.pages += 1


def templates() -> Any:
    """The templates of all pages, with what they call."""
    try:
        import jinja2
    except ImportError as error:
        raise UsageError("--html needs jinja2; install it with: pip install 'lgl-bench[report]'") from error
    from markupsafe import Markup

    from lgl_bench.report.pages.boards import NOT_ABOVE_FLOOR, amount, standing_in_words

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        # Whatever text is shown: an error may name the folder it was looked for in.
        finalize=lambda value: without_paths(value) if type(value) is str else value,
    )
    # Drawings are made in svg/, which escapes every text itself.
    made.filters |= {"drawing": Markup, "amount": amount, "slug": slug}
    made.filters |= {"without_values": without_values, "tooltip": tooltip, "standing_in_words": standing_in_words}
    made.filters |= {"file_name": file_name}
    made.globals |= {"NOT_ABOVE_FLOOR": NOT_ABOVE_FLOOR, "TWIN_MARK": TWIN_MARK, "NOT_IN_TABLE": NOT_IN_TABLE}
    return made


def _title(sources: list[ReportInput]) -> str:
    titles = [str(one.plan.suite.get("title", "")) for one in sources if one.plan]
    distinct = list(dict.fromkeys(title for title in titles if title))
    return distinct[0] if len(distinct) == 1 else "Open-world lifelong graph learning"
