"""The boards of record: what `leaderboard/boards.toml` says of them, what they hold, and leaderboard/README.md of both.

python -m benchmarks.boards     # writes leaderboard/README.md
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lgl_bench.grading.board_years import read_board_years
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.read import read_board

ROOT = Path(__file__).resolve().parents[1]
BOARDS = ROOT / "leaderboard"
TABLE = BOARDS / "boards.toml"
README = BOARDS / "README.md"
PARITY = "parity"
_STREAM = "--stream"
FIT = [
    *("stream", "stream_checksum", "protocol", "split", "strategy", "label_delay", "backbone", "head", "preset"),
    *("budget", "budget_version", "seed", "time", "fold", "fit_seconds"),
]
"""What tells the fits behind year rows apart: two of one chain, as in an ensemble, differ in their seconds."""


@dataclass(frozen=True)
class Board:
    """A board of record, or the parity tables, which have no suite.

    Attributes:
        name: Of its CSV.
        title: What it asks.
        suite: Whose rows it has.
        budget: Of all its rows.
        seeds: Of all its rows.
        folder: Of its run, below the folder of all runs.
        runs: Options of its commands.
        why: Why it has this budget.
    """

    name: str
    title: str
    suite: str
    budget: str
    seeds: int
    folder: str
    runs: tuple[str, ...]
    why: str

    def commands(self) -> list[list[str]]:
        """Its commands, without what depends on the machine."""
        return [[*self._begin(), *shlex.split(options), *self._end()] for options in self.runs]

    def streams(self) -> set[str]:
        """The streams that its commands name; empty if one takes those of the suite."""
        found = [set(_streams_in(shlex.split(options)).values()) for options in self.runs]
        return set().union(*found) if all(found) else set()

    def on(self, streams: Collection[str]) -> Board | None:
        """The part of it that is on some streams; None if it has none of them.

        >>> all_of = Board("static", "", "static", "paper", 5, "static", ("", "--stream cora --seeds 2"), "")
        >>> all_of.on(["pubmed"]).runs, all_of.on(["cora"]).runs
        (('--stream pubmed',), ('--stream cora', '--seeds 2 --stream cora'))
        """
        found = []
        for options in self.runs:
            words = shlex.split(options)
            named = _streams_in(words)
            there = [name for name in streams if not named or name in named.values()]
            if there:
                rest = [word for at, word in enumerate(words) if not {at, at - 1} & set(named)]
                found.append(shlex.join([*rest, *stream_options(there)]))
        return replace(self, runs=tuple(found)) if found else None

    def _begin(self) -> list[str]:
        if not self.suite:
            return [PARITY, "--seeds", str(self.seeds)]
        return ["run", "--suite", self.suite, "--budget", self.budget, "--seeds", str(self.seeds)]

    def _end(self) -> list[str]:
        return ["--real-only", "--offline"] if self.suite else []


def stream_options(streams: Iterable[str]) -> list[str]:
    """The options by which a command takes these streams alone."""
    return [word for name in streams for word in (_STREAM, name)]


def _streams_in(words: list[str]) -> dict[int, str]:
    """The streams that options name, by the position of the word before each."""
    return {at: words[at + 1] for at, word in enumerate(words) if word == _STREAM}


def read_boards(*, full: bool = False) -> list[Board]:
    """The boards of the table; with `full` their variants under the budget `paper`."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    entries = [*table["boards"], {"name": PARITY, "suite": "", "budget": "paper", **table[PARITY]}]
    found = []
    for entry in entries:
        variant, seeds = entry.pop("full", None), entry.pop("full_seeds", None)
        if full and variant is None:
            continue
        if full:
            entry |= {"runs": variant, "seeds": seeds, "budget": "paper"}
        found.append(Board(**{**entry, "runs": tuple(entry["runs"])}))
    return found


def fits_of(years: pd.DataFrame) -> pd.DataFrame:
    """One row per fit behind year rows, which many detectors share."""
    return years[years["fit_seconds"].notna()][FIT].drop_duplicates(ignore_index=True)


def recorded(board: Board, boards: Path = BOARDS) -> pd.DataFrame | None:
    """The fits behind a board that was measured, from what lies beside it; None if nothing does."""
    if board.suite:
        path = boards / f"{board.name}.csv"
        years = read_board_years(path) if path.is_file() and fits_table(board, path) else None
        return None if years is None else fits_of(years)
    path = boards / PARITY / "measured.csv"
    if not path.is_file():
        return None
    same = ["stream", "stream_checksum", "split", "backbone", "head", "switch", "seed", "time", "fold", "fit_seconds"]
    return pd.read_csv(path, keep_default_na=False).drop_duplicates(same, ignore_index=True)


def fits_table(board: Board, path: Path) -> bool:
    """Whether a CSV is what the table says of it, or an older board of that name."""
    rows = read_board(path)
    return of_table(board, rows) and (not board.streams() or set(rows["stream"]) == board.streams())


def of_table(board: Board, rows: pd.DataFrame) -> bool:
    """Whether rows are of the suite, the budget and the seeds that the table says, on whatever streams."""
    seeds = rows[metric_column("accuracy", "n_seeds")].max()
    return set(rows["suite"]) == {board.suite} and set(rows["budget"]) == {board.budget} and seeds == board.seeds


def hours(seconds: float) -> str:
    """Seconds as a person says them.

    >>> hours(90), hours(5400)
    ('2 min', '1.5 h')
    """
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


def page() -> str:
    """leaderboard/README.md: what a board holds is read from it, how it is made from the table."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    boards = read_boards()
    lines = [
        *_HEADER.splitlines(),
        "",
        "| file | what | holds | measured | made by |",
        "| --- | --- | --- | --- | --- |",
    ]
    for board in boards:
        file = f"`{board.name}.csv`" if board.suite else f"`{PARITY}/`"
        lines.append(f"| {file} | {board.title} | {' | '.join(_facts(board))} |")
    lines += [f"| `{entry['file']}` | {entry['title']} | | | `{entry['made_by']}` |" for entry in table["others"]]
    lines += ["", "Which budget a board has, and why:", ""]
    lines += [f"- `{board.name}`, budget `{board.budget}`: {board.why}" for board in boards]
    return "\n".join([*lines, "", *_FOOTER.splitlines(), ""])


def _facts(board: Board) -> Iterator[str]:
    """What a board holds, when and by what commit, and its commands; only those that it was made by."""
    path, commands = BOARDS / f"{board.name}.csv", "; ".join(f"`lgl-bench {shlex.join(w)}`" for w in board.commands())
    fits = recorded(board)
    spent = "" if fits is None else f"; {len(fits):,} fits, {hours(fits['fit_seconds'].sum())} of one core"
    if not board.suite and fits is not None:
        yield f"{', '.join(sorted(set(fits['stream'])))}; budget `{board.budget}`"
        yield f"{_commits(fits['commit'])}{spent}"
        yield commands
    elif not path.is_file():
        yield from ("not measured yet", "", commands)
    else:
        rows = read_board(path)
        seeds = sorted(set(rows[metric_column("accuracy", "n_seeds")].astype(int)) - {0})
        streams = ", ".join(sorted(set(rows["stream"])))
        budgets = _listed(f"`{name}`" for name in rows["budget"])
        yield f"{len(rows)} rows on {streams}; {_listed(seeds)} seeds; budget {budgets}"
        yield f"{_commits(rows[Fact.GIT_COMMIT])}, {_listed(day[:10] for day in rows[Fact.CREATED_AT])}{spent}"
        again = f"older commands; `python -m benchmarks.record run {board.name}` makes it again"
        yield commands if fits_table(board, path) else again


def _commits(column: pd.Series) -> str:
    return f"commit {_listed(str(commit)[:7] for commit in column if commit) or 'unknown'}"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, sorted(set(values))))


_HEADER = """\
# Boards

<!-- Written by `python -m benchmarks.boards` from boards.toml and the boards; change these, not this page. -->

Made by the tool, never by hand. `lgl-bench leaderboard show leaderboard/static.csv` prints them ranked;
[docs/leaderboard.md](../docs/leaderboard.md) says what each column holds.

```sh
python -m benchmarks.record plan                                    # what it takes, by estimate and as it was recorded
python -m benchmarks.record run                                     # all boards; goes on if it was stopped
python -m benchmarks.record run static --stream pubmed              # one stream; the rows of the others stay
python -m benchmarks.record run --full --engine ray --address auto  # the budget `paper` for all, on a cluster
```

"Of one core" is training alone, every fit with one thread; boards that share a run folder share fits, which count in
each of them."""
_FOOTER = """\
No board mixes budgets. Beside each CSV is `NAME.years.parquet`, the year rows of its runs, from which `lgl-bench report
leaderboard/NAME.csv --html SITE` draws every curve; a board without it was made before there was one, and has no curves
until it is made again. `NAME.matrix.parquet` and `NAME.delays.parquet` are there if its runs have every model on every
year, and classes that emerge. `NAME.tests.parquet` has the tests between rows, which only answers allow: from it the
commands and [docs/findings.md](../docs/findings.md) tell rows apart. Streams are not part of the repository: `lgl-bench
data list` says how to get each."""


if __name__ == "__main__":
    README.write_text(page(), encoding="utf-8")
