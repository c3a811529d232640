"""`lgl-bench data`: list, describe, fetch, import and verify streams."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json, print_table, text
from lgl_bench.core.errors import DataError, UsageError, quoted

_data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="Folder of the streams; else LGL_BENCH_DATA, else the platform's cache folder.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def data() -> None:
    """Streams: list, describe, fetch, import, verify."""


@data.command("list")
@_data_dir
@_json
def list_(data_dir: Path | None, as_json: bool) -> None:
    """List every stream: imported, fetchable, embedded."""
    from lgl_bench.streams import catalogue

    folder, rows = catalogue.data_folder(data_dir), stream_rows(data_dir)
    if as_json:
        print_json({"data_dir": str(folder), "streams": rows})
        return
    click.echo(f"Data folder: {folder}\n")
    print_streams(rows)


def stream_rows(data_dir: Path | None = None) -> list[dict[str, Any]]:
    """Every stream with its state, sizes and a sentence; what nobody has counted is None."""
    from lgl_bench.streams import catalogue, sizes

    folder = catalogue.data_folder(data_dir)
    manifests, twins, present = catalogue.manifests(), catalogue.twins(), catalogue.imported(folder)
    rows: list[dict[str, Any]] = []
    for name in sorted({*manifests, *twins, *present}):
        manifest = manifests.get(name)
        if name in twins:
            state, what = "embedded", f"synthetic twin of {twins[name].name}"
            size = sizes.twin_size(name)
        else:
            fetchable = "fetch" if manifest and manifest.files else "import"
            state = "imported" if name in present else fetchable
            what = manifest.description if manifest else "your own"
            size = sizes.published_size(manifest) if manifest else sizes.StreamSize()
            size = sizes.imported_size(folder / name) if name in present else size
        rows.append({"name": name, "state": state, "description": what, **size._asdict()})
    return rows


def print_streams(rows: list[dict[str, Any]]) -> None:
    """Streams as a table."""
    counts = ("vertices", "edges", "classes", "years", "megabytes")
    shown = [name for name in counts if any(row[name] is not None for row in rows)]
    header = ["name", "state", *("MiB" if name == "megabytes" else name for name in shown), "what"]
    cells = [[row["name"], row["state"], *(row[name] for name in shown), _short(row["description"])] for row in rows]
    print_table(header, cells)


@data.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everything", is_flag=True, help="Every stream in the data folder.")
@_data_dir
@_json
@click.option("--plot", "plot_file", type=click.Path(path_type=Path), help="Draw the years into an image file.")
@click.option(
    "--vertices",
    "vertex_file",
    type=click.Path(path_type=Path),
    help="Write number, name, time and class of every vertex into a .csv or .parquet file, to join with answers.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path),
    help="Write a datasheet with charts, one HTML file; of several streams or --all into a folder, with an index.",
)
def describe(
    names: tuple[str, ...],
    everything: bool,
    data_dir: Path | None,
    as_json: bool,
    plot_file: Path | None,
    vertex_file: Path | None,
    page: Path | None,
) -> None:
    """Describe streams: counts, classes, homophily, and every year."""
    from lgl_bench.streams import catalogue
    from lgl_bench.streams.describe import describe as figures_of
    from lgl_bench.streams.describe import plot

    if everything or len(names) != 1:
        if plot_file is not None or vertex_file is not None:
            raise UsageError("--plot and --vertices write one file of one stream; name one")
        _describe_several(_several(names, everything, data_dir), data_dir, page, as_json)
        return
    stream = catalogue.load(names[0], data_dir)
    figures = figures_of(stream)
    if plot_file is not None:
        plot(figures, plot_file)
    if vertex_file is not None:
        _write_vertices(stream, vertex_file)
    if page is not None:
        from lgl_bench.report.datasheet import write_datasheet

        write_datasheet(figures, page)
    if as_json:
        print_json(figures)
    else:
        _print_figures(figures)


def _several(names: tuple[str, ...], everything: bool, data_dir: Path | None) -> list[str]:
    """The streams that are described together."""
    from lgl_bench.streams import catalogue

    if names and everything:
        raise UsageError("--all is every stream in the data folder; leave the names out")
    if names:
        return list(dict.fromkeys(names))
    if not everything:
        raise UsageError("which stream? Name one, or several, or give --all; 'lgl-bench data list' shows them")
    folder = catalogue.data_folder(data_dir)
    found = catalogue.imported(folder)
    if not found:
        raise UsageError(f"no stream is in {folder}; 'lgl-bench data list' says how to get them")
    return found


def _describe_several(names: list[str], data_dir: Path | None, page: Path | None, as_json: bool) -> None:
    from lgl_bench.streams import catalogue
    from lgl_bench.streams.describe import describe as figures_of

    found = [figures_of(catalogue.load(name, data_dir)) for name in names]
    if page is not None:
        from lgl_bench.report.datasheet import write_datasheets

        index = write_datasheets(found, page)
        if not as_json:
            click.echo(f"{index}: {len(found)} datasheets")
            return
    if as_json:
        print_json(found)
        return
    for at, figures in enumerate(found):
        click.echo("\n" * bool(at), nl=False)
        _print_figures(figures)


@data.command("import")
@click.argument("name")
@click.option("--from", "source", required=True, type=click.Path(path_type=Path), help="Folder or archive.")
@click.option("--format", "format_name", help="Layout: planetoid, ogb, adjlist, table or acl-anthology.")
@click.option("--t0", help="Last year (or month: 2014-05) of the first training task; auto takes the proposed one.")
@click.option("--unit", type=click.Choice(["year", "month"]), help="What dates are rounded to: year, unless given.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="Option of the format.")
@click.option("--force", is_flag=True, help="Replace a stream of that name.")
@_data_dir
@_json
def import_(
    name: str,
    source: Path,
    format_name: str | None,
    t0: str | None,
    unit: str | None,
    options: tuple[str, ...],
    force: bool,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Import a stream from files you have, checked against its manifest if it has one."""
    from lgl_bench.streams import catalogue

    stream = catalogue.import_stream(
        name,
        source,
        data_dir,
        format_name=format_name,
        t0=t0,
        options=dict(_pair(option) for option in options) | ({"unit": unit} if unit else {}),
        force=force,
    )
    _print_summary(stream, catalogue.data_folder(data_dir), as_json)


@data.command()
@click.argument("name")
@click.option("--offline", is_flag=True, help="Use only files downloaded before.")
@click.option("--force", is_flag=True, help="Replace a stream of that name.")
@_data_dir
@_json
def fetch(name: str, offline: bool, force: bool, data_dir: Path | None, as_json: bool) -> None:
    """Download a stream's files and import them."""
    from lgl_bench.streams import catalogue

    stream = catalogue.fetch_stream(
        name, data_dir, offline=offline, force=force, progress=sys.stderr.isatty() and not as_json
    )
    _print_summary(stream, catalogue.data_folder(data_dir), as_json)


@data.command()
@click.argument("name")
@_data_dir
@_json
def verify(name: str, data_dir: Path | None, as_json: bool) -> None:
    """Check every byte of an imported stream, and its canonical checksum."""
    from lgl_bench.streams import catalogue
    from lgl_bench.streams.store import verify_stream

    folder = catalogue.data_folder(data_dir)
    if name in catalogue.twins():
        damage: list[str] = []
    elif name in catalogue.imported(folder):
        damage = verify_stream(folder / name)
    else:
        catalogue.load(name, data_dir)  # raises, saying what to do
        damage = []
    if as_json:
        print_json({"name": name, "ok": not damage, "damage": damage})
    elif not damage:
        click.echo(f"{name}: every file and the stream checksum are as they should be")
    if damage:
        raise DataError(f"{name} is damaged: {'; '.join(damage)}. Import it again with --force")


def _print_summary(stream: Any, folder: Path, as_json: bool) -> None:
    from lgl_bench.streams.checksum import stream_checksum
    from lgl_bench.streams.start import propose_start, start_note

    start = None if stream.static or stream.info.t0 is not None else propose_start(stream)
    summary = {
        "name": stream.name,
        "folder": str(folder / stream.name),
        "vertices": stream.num_vertices,
        "edges": stream.num_edges,
        "unknown_edges": 0,
        **stream.info.imported,
        "named": stream.names is not None,
        "t0": stream.info.t0,
        "proposed_t0": start.t0 if start else None,
        "notes": list(stream.info.notes),
        "stream_checksum": stream_checksum(stream),
    }
    if as_json:
        print_json(summary)
        return
    click.echo(
        f"Imported {stream.name} into {summary['folder']}: {stream.num_vertices:,} vertices, "
        f"{stream.num_edges:,} edges from {stream.info.imported['edge_lines']:,} lines "
        f"(dropped: {stream.info.imported['self_loops']:,} self-loops, "
        f"{stream.info.imported['repeated_edges']:,} repeats)." + _left_out(stream.info.imported)
    )

    if stream.names is not None:
        click.echo(f"  ids are names, such as {quoted(stream.names[0])}, kept beside the numbers of the vertices")
    for note in filter(None, [*stream.info.notes, start_note(stream)]):
        click.echo(f"  {note}")


def _left_out(imported: dict[str, int]) -> str:
    """What an importer left out, as a sentence; of edges the summary says it, and of unknown ends a note."""
    told = ("edge_lines", "self_loops", "repeated_edges", "unknown_edges")
    counted = [f"{count:,} {key.replace('_', ' ')}" for key, count in imported.items() if key not in told]
    return f" Left out: {', '.join(counted)}." if counted else ""


def _write_vertices(stream: Any, path: Path) -> None:
    from lgl_bench.streams.names import vertex_frame

    writers = {".csv": "to_csv", ".parquet": "to_parquet"}
    if path.suffix not in writers:
        raise UsageError(f"--vertices {path}: the file must end in .csv or .parquet")
    try:
        getattr(vertex_frame(stream), writers[path.suffix])(path, index=False)
    except OSError as error:
        raise UsageError(f"the vertices cannot be written to {path}: {error.strerror or error}") from error


def _print_figures(figures: dict[str, Any]) -> None:
    from lgl_bench.streams.stream import time_text

    homophily, over_time = figures["homophily"], figures["homophily_over_time"]
    lines = {
        "source": figures["source"],
        "licence": figures["licence"],
        "citation": figures["citation"] or "not stated",
        "vertices": f"{text(figures['vertices'])} ({text(figures['isolated'])} isolated)"
        + (", with names" if figures["named"] else ""),
        "edges": f"{text(figures['edges'])} pairs, {text(figures['arcs'])} arcs" + _lines(figures["imported"]),
        "features": f"{text(figures['features'])} {figures['feature_kind']}",
        "classes": _classes(figures),
        "homophily": f"class-insensitive {text(homophily['class_insensitive'])} "
        f"(over the years {text(over_time['mean'])} +- {text(over_time['std'])}), "
        f"graph {text(homophily['graph'])}, vertex {text(homophily['vertex'])}, "
        f"index {text(homophily['index'])}",
        "checksum": figures["stream_checksum"],
    }
    click.echo(figures["name"])
    for key, value in [*lines.items(), *(("import", note) for note in figures["notes"])]:
        click.echo(f"  {key:<10} {value}")
    click.echo()
    columns = ["time", "vertices", "edges", "known", "new", "homophily", "drift"]
    rows = [
        [time_text(year["time"], figures["unit"]), *(year[key] for key in columns[1:])] for year in figures["years"]
    ]
    print_table(columns, rows)


def _classes(figures: dict[str, Any]) -> str:
    if figures["t0"] is None:
        return f"{figures['classes']}"
    from lgl_bench.streams.stream import time_text

    return (
        f"{figures['classes']}: {figures['known_at_t0']} known at t0 = {time_text(figures['t0'], figures['unit'])}, "
        f"{figures['new_classes']} new after it"
    )


def _lines(imported: dict[str, int]) -> str:
    return f" (from {text(imported['edge_lines'])} lines as imported)" if "edge_lines" in imported else ""


def _pair(option: str) -> tuple[str, str]:
    key, sign, value = option.partition("=")
    if not sign:
        raise UsageError(f"--option {option}: it must look like KEY=VALUE, for example id=paper_id")
    return key, value


def _short(sentence: str, width: int = 70) -> str:
    return sentence if len(sentence) <= width else sentence[: width - 3].rsplit(" ", 1)[0] + " ..."
