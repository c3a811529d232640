"""Datasheets of streams: each one page that needs no other file, made from the stream and its manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.files import write_text
from lgl_bench.report.data.names import slug
from lgl_bench.report.data.stream_facts import StreamFacts
from lgl_bench.report.panels.stream import stream_panels
from lgl_bench.report.site import ASSETS, templates
from lgl_bench.streams.catalogue import manifests, twins
from lgl_bench.streams.manifest import Manifest

_HEADING = "<h1>Datasheets</h1>"
"""What tells an index of datasheets from another page."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a stream comes from.

    Attributes:
        about: What it is, in a sentence or two.
        built: How it is built: what is done with which settings.
        notes: How to get it and how to run it.
        problems: What is known to be wrong with it or odd about it, one by one.
        published: Figures that an import is checked against: name, value, source, whether they were ever checked.
    """

    about: str
    built: tuple[tuple[str, str], ...]
    notes: str = ""
    problems: tuple[str, ...] = ()
    published: tuple[tuple[str, str, str, bool], ...] = ()


def write_datasheet(figures: dict[str, Any], path: Path) -> None:
    """Writes the page of a stream, whole or not at all; an older one is replaced.

    Args:
        figures: Of the stream, as `data describe` has them.
        path: The page.
    """
    try:
        write_text(Path(path), datasheet(figures))
    except OSError as error:
        raise UsageError(f"the page cannot be written to {path}: {error.strerror or error}") from error


def write_datasheets(streams: Sequence[dict[str, Any]], folder: Path) -> Path:
    """Writes the pages of several streams into a folder, with an index; older ones are replaced.

    Args:
        streams: Figures of each, as `data describe` has them.
        folder: Made if it is not there.

    Returns:
        The index.

    Raises:
        UsageError: The folder cannot be written to, or its index is that of something else.
    """
    index = Path(folder) / "index.html"
    try:
        if index.exists() and _HEADING not in index.read_text(encoding="utf-8", errors="replace"):
            raise UsageError(f"{index} is no index of datasheets and is not replaced; give another folder")
        index.parent.mkdir(parents=True, exist_ok=True)
        for figures in streams:
            write_text(
                index.parent / page_name(figures["name"]), datasheet(figures, back=("index.html", "All datasheets"))
            )
        write_text(index, _index(streams))
    except OSError as error:
        raise UsageError(f"the pages cannot be written to {folder}: {error.strerror or error}") from error
    return index


def page_name(stream: str) -> str:
    """The file of a stream's page among others."""
    return f"{slug(stream)}.html"


def datasheet(figures: dict[str, Any], *, back: tuple[str, str] | None = None) -> str:
    """The page of a stream as HTML.

    Args:
        figures: Of the stream, as `data describe` has them.
        back: Address and text of a link, if the page is one of several.
    """
    name = figures["name"]
    facts = StreamFacts(name, figures)
    # The page has the years as a table of its own, so there is none to download.
    panels = [replace(panel, table=None) for panel in stream_panels(facts, slug(name))]
    return _rendered("datasheet.html", title=name, f=figures, origin=origin(name), panels=panels, back=back)


def _index(streams: Sequence[dict[str, Any]]) -> str:
    sheets = [(figures, page_name(figures["name"]), origin(figures["name"])) for figures in streams]
    there = {figures["name"] for figures in streams}
    absent = [(name, origin(name)) for name in sorted(manifests()) if name not in there]
    return _rendered("datasheets.html", title="Datasheets", sheets=sheets, absent=absent)


def _rendered(template: str, **values: Any) -> str:
    style = (ASSETS / "site.css").read_text(encoding="utf-8")
    return str(templates().get_template(template).render(style=style, version=__version__, **values))


def origin(name: str) -> Origin:
    """Where the stream of that name comes from, by its manifest if it has one."""
    if (manifest := manifests().get(name)) is not None:
        return _published(manifest)
    if (manifest := twins().get(name.partition("(")[0])) is not None and manifest.twin is not None:
        recipe = manifest.twin.model_dump(exclude_defaults=True)
        return Origin(
            f"A synthetic twin of {manifest.name}: same years and class births, no real data.",
            (("made by", "the generator of lgl-bench"), *((key, str(value)) for key, value in recipe.items())),
            problems=(f"It is synthetic: what is measured on it says nothing about {manifest.name}.",),
        )
    return Origin("A stream of your own; it has no manifest.", ())


def _published(manifest: Manifest) -> Origin:
    built = {"importer": manifest.format, "state of the source": manifest.revision}
    built |= {key: str(value) for key, value in manifest.options.items()}
    return Origin(
        manifest.description,
        tuple((key, value) for key, value in built.items() if value),
        manifest.notes,
        manifest.problems,
        tuple(
            (f"{one.figure} {one.counts}".strip(), f"{one.value:,.{one.digits}f}", one.source, one.verified)
            for one in manifest.statistics
        ),
    )
