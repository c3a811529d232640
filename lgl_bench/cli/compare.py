"""`lgl-bench compare`: boards set against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json, print_table
from lgl_bench.core.errors import LglBenchError

_LISTED = 10
_READ = (
    "verdict on b; p is adjusted by Holm within stream and metric, the interval is not; inconclusive (n more seeds): "
    "the difference would be found with so many more, if it stays as it is; tie: not with a hundred in all"
)


@click.command()
@click.argument("boards", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, help="Compare these metrics; may be given again.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be given again.")
@click.option("--within", is_flag=True, help="Set every method against the best of its stream instead.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams, for their labels.")
@click.option("--draws", type=int, default=2000, show_default=True, help="Draws of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(boards: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Compare leaderboards: every further board against the first.

    BOARDS are leaderboard CSVs or run folders. From run folders the stored answers are tested; from CSVs only the
    intervals over seeds can be. Rows that are not comparable are named with the reason. The exit code is 1 where
    nothing could be compared.
    """
    from lgl_bench.leaderboard.compare import compare as compare_boards
    from lgl_bench.leaderboard.sources import open_board

    found = compare_boards([open_board(path) for path in boards], **given)
    if as_json:
        print_json(_document(found))
    else:
        _print(found)
    if found.rows.empty:
        sys.exit(LglBenchError.exit_code)


def _document(found: Any) -> dict[str, Any]:
    from lgl_bench.leaderboard.stats.signflip import LABEL
    from lgl_bench.leaderboard.testing import EXPLAINED

    return {
        "boards": found.boards,
        "comparisons": _records(found.rows),
        "tests": {name: EXPLAINED[name] for name in dict.fromkeys(found.rows["test"])},
        "years_p": LABEL,
        "refused": _records(found.refused),
        "only": _records(found.only),
        "across": found.across,
    }


def _records(frame: Any) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return plain


def _print(found: Any) -> None:
    from lgl_bench.leaderboard.stats.signflip import LABEL
    from lgl_bench.leaderboard.testing import EXPLAINED

    for number, name in enumerate(found.boards, 1):
        click.echo(f"[{number}] {name}")
    rows = found.rows
    if not rows.empty:
        click.echo()
        several = len(found.boards) > 2
        header = [*(["board"] if several else []), "stream", "backbone", "detector", "threshold"]
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
    names = [row[name] for name in ("stream", "backbone", "detector", "threshold")]
    lo, hi = row["lo"], row["hi"]
    interval = "-" if lo is None else f"[{lo:+.3f}, {hi:+.3f}]"
    difference = "-" if row["difference"] is None else f"{row['difference']:+.3f}"
    p = "-" if row["p_holm"] is None else f"{row['p_holm']:.3f}"
    front = [f"[{row['b'] + 1}]"] if several else []
    middle = [row["against"]] if against else []
    figures = [row["metric"], row["a_mean"], row["b_mean"], difference, interval, row["verdict"], p, row["test"]]
    return [*front, *names, *middle, *figures]


def _print_years(rows: Any, label: str) -> None:
    tested = rows[rows["years_p"].notna()]
    if tested.empty:
        return
    click.echo(f"\nsign-flip test over years ({label}; not part of the verdict)")
    columns = ["stream", "backbone", "detector", "threshold", "metric", "years", "years_p"]
    print_table(columns, [[row[name] for name in columns] for row in _records(tested)])


def _print_notes(rows: Any) -> None:
    noted = rows[rows["note"] != ""].groupby("note", sort=False)
    for number, (note, part) in enumerate(noted):
        if number == _LISTED:
            click.echo(f"... {noted.ngroups - _LISTED} more notes; --json has them all")
            return
        click.echo(f"note on {len(part)} of {len(rows)}: {note}")


def _print_refused(found: Any) -> None:
    if found.refused.empty:
        return
    click.echo(f"\nnot comparable: {len(found.refused)} rows")
    parts = found.refused.groupby("why", sort=False)
    for number, (why, part) in enumerate(parts):
        if number == _LISTED:
            click.echo(f"  ... {parts.ngroups - _LISTED} more reasons; --json has them all")
            return
        row = part.iloc[0]
        example = " ".join(str(row[name]) for name in ("stream", "backbone", "detector", "threshold")).strip()
        click.echo(f"  {len(part)} rows, such as {example}: {why}")


def _print_only(found: Any) -> None:
    for board, part in found.only.groupby("board", sort=True):
        click.echo(f"\nonly in [{int(board) + 1}]: {len(part)} rows")
        for row in _records(part.head(_LISTED)):
            click.echo(
                "  " + " ".join(str(row[name]) for name in ("stream", "backbone", "detector", "threshold")).strip()
            )
        if len(part) > _LISTED:
            click.echo(f"  ... {len(part) - _LISTED} more; --json has them all")


def _print_across(entry: dict[str, Any]) -> None:
    told = entry["reason"]
    if entry.get("friedman_p") is not None:
        told = f"Friedman's test p {entry['friedman_p']:.3f}; pairs by Wilcoxon's test, adjusted by Holm"
    place = f"{entry['kind']} ({len(entry['streams'])}), {entry['metric']}, suite {entry['suite']}, {entry['split']}"
    place += f", budget {entry['budget']} {entry['budget_version']}"
    click.echo(f"\nacross {place}{': ' + told if told else ''}")
    if len(entry["streams"]) < 2:
        return
    print_table(["mean rank", "method"], [[row["mean_rank"], row["method"]] for row in entry["ranks"][: 2 * _LISTED]])
    if entry["left_out"]:
        click.echo(f"left out, for a stream has several variants of each: {', '.join(entry['left_out'][:_LISTED])}")
    for bar in entry.get("bars", []):
        click.echo(f"not told apart: {', '.join(bar)}")
