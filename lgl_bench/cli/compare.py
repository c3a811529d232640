"""`lgl-bench compare`: boards set against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lgl_bench.cli.output import print_json, print_table
from lgl_bench.core.errors import LglBenchError

if TYPE_CHECKING:
    import pandas as pd

    from lgl_bench.leaderboard.compare.boards import Comparison

_LISTED = 10
_NAMES = ("stream", "strategy", "backbone", "detector", "threshold")
_READ = (
    "verdict on b; p is adjusted by Holm within stream and metric, the interval is not; inconclusive (n more seeds): "
    "the difference would be found with so many more, if it stays as it is; tie: not with a hundred in all"
)


@click.command()
@click.argument("boards", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, help="Compare these metrics; may be repeated.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be repeated.")
@click.option("--within", is_flag=True, help="Set every method against the best of its stream instead.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams, for their labels.")
@click.option("--draws", type=int, default=2000, show_default=True, help="Draws of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(boards: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Compare leaderboards: every further board against the first.

    BOARDS are leaderboard CSVs or run folders. From run folders the stored answers are tested; from CSVs only the
    intervals over seeds can be. Rows that are not comparable are named with the reason. The exit code is 1 if
    nothing could be compared.
    """
    from lgl_bench.leaderboard.boards import open_board
    from lgl_bench.leaderboard.compare.boards import compare as compare_boards

    found = compare_boards([open_board(path) for path in boards], **given)
    if as_json:
        print_json(_document(found))
    else:
        _print(found)
    if found.rows.empty:
        sys.exit(LglBenchError.exit_code)


def _document(found: Comparison) -> dict[str, Any]:
    from lgl_bench.leaderboard.compare.questions import EXPLAINED
    from lgl_bench.leaderboard.stats.signflip import LABEL

    return {
        "boards": found.boards,
        "comparisons": _records(found.rows),
        "tests": {name: EXPLAINED[name] for name in dict.fromkeys(found.rows["test"])},
        "years_p": LABEL,
        "refused": _records(found.refused),
        "only": _records(found.only),
        "across": found.across,
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def _print(found: Comparison) -> None:
    from lgl_bench.leaderboard.compare.questions import EXPLAINED
    from lgl_bench.leaderboard.stats.signflip import LABEL

    for number, name in enumerate(found.boards, 1):
        click.echo(f"[{number}] {name}")
    rows = found.rows
    if not rows.empty:
        click.echo()
        several = len(found.boards) > 2
        header = [*(["board"] if several else []), *_NAMES]
        against = bool((rows["against"] != "").any())
        header += [*(["against"] if against else []), "metric", "a", "b", "b - a", "95 %", "verdict", "p", "test"]
        print_table(header, [_cells(row, several, against) for row in _records(rows)])
        click.echo(f"\n{_READ}")
        for test in dict.fromkeys(rows["test"]):
            click.echo(f"{test}: {EXPLAINED[test]}")
        _print_years(rows, LABEL)
        _print_notes(rows)
    _print_refused(found)
    _print_only(found)
    for entry in found.across:
        _print_across(entry)


def _cells(row: dict[str, Any], several: bool, against: bool) -> list[Any]:
    names = [row[name] for name in _NAMES]
    lo, hi = row["lo"], row["hi"]
    interval = "-" if lo is None else f"[{lo:+.3f}, {hi:+.3f}]"
    difference = "-" if row["difference"] is None else f"{row['difference']:+.3f}"
    p = "-" if row["p_holm"] is None else f"{row['p_holm']:.3f}"
    front = [f"[{row['b'] + 1}]"] if several else []
    middle = [row["against"]] if against else []
    figures = [row["metric"], row["a_mean"], row["b_mean"], difference, interval, row["verdict"], p, row["test"]]
    return [*front, *names, *middle, *figures]


def _print_years(rows: pd.DataFrame, label: str) -> None:
    tested = rows[rows["years_p"].notna()]
    if tested.empty:
        return
    click.echo(f"\nsign-flip test over years ({label}; not part of the verdict)")
    columns = [*_NAMES, "metric", "years", "years_p"]
    print_table(columns, [[row[name] for name in columns] for row in _records(tested)])


def _print_notes(rows: pd.DataFrame) -> None:
    by_note = rows[rows["note"] != ""].groupby("note", sort=False)
    for number, (note, part) in enumerate(by_note):
        if number == _LISTED:
            click.echo(f"... {by_note.ngroups - _LISTED} more notes; --json has them all")
            return
        click.echo(f"note on {len(part)} of {len(rows)}: {note}")


def _print_refused(found: Comparison) -> None:
    if found.refused.empty:
        return
    click.echo(f"\nnot comparable: {len(found.refused)} rows")
    parts = found.refused.groupby("why", sort=False)
    for number, (why, part) in enumerate(parts):
        if number == _LISTED:
            click.echo(f"  ... {parts.ngroups - _LISTED} more reasons; --json has them all")
            return
        row = part.iloc[0]
        example = " ".join(str(row[name]) for name in _NAMES).strip()
        click.echo(f"  {len(part)} rows, such as {example}: {why}")


def _print_only(found: Comparison) -> None:
    for board in sorted(set(found.only["board"])):
        part = found.only[found.only["board"] == board]
        click.echo(f"\nonly in [{board + 1}]: {len(part)} rows")
        for row in _records(part.head(_LISTED)):
            click.echo("  " + " ".join(str(row[name]) for name in _NAMES).strip())
        if len(part) > _LISTED:
            click.echo(f"  ... {len(part) - _LISTED} more; --json has them all")


def _print_across(entry: dict[str, Any]) -> None:
    result = entry["reason"]
    if entry.get("friedman_p") is not None:
        result = f"Friedman's test p {entry['friedman_p']:.3f}; pairs by Wilcoxon's test, adjusted by Holm"
    place = f"{entry['kind']} ({len(entry['streams'])}), {entry['metric']}, suite {entry['suite']}, {entry['split']}"
    place += f", budget {entry['budget']} {entry['budget_version']}"
    click.echo(f"\nacross {place}{': ' + result if result else ''}")
    if len(entry["streams"]) < 2:
        return
    print_table(["mean rank", "method"], [[row["mean_rank"], row["method"]] for row in entry["ranks"][: 2 * _LISTED]])
    if entry["left_out"]:
        click.echo(f"left out, because a stream has several variants of each: {', '.join(entry['left_out'][:_LISTED])}")
    for bar in entry.get("bars", []):
        click.echo(f"not told apart: {', '.join(bar)}")
