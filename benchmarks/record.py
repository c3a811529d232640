"""The boards of record, from nothing: runs them, verifies them, and writes leaderboard/ and the pages made from it.

    python -m benchmarks.record plan [BOARD...]     # what would be run, what it will take and what it took
    python -m benchmarks.record run [BOARD...]      # all of it; may be stopped, and goes on if it is given again
    python -m benchmarks.record build [BOARD...]    # only from run folders that are there: verify, boards, pages

`leaderboard/boards.toml` says which boards there are, with which options and which budget. Streams must be in the data
folder already. With `--stream NAME`, only those are run and built, and a board keeps the rows it has on others. On a
Ray cluster: `run --engine ray --address HEAD:6379`; with `--full` all have the budget `paper`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.boards import BOARDS, PARITY, ROOT, Board, hours, of_table, read_boards, recorded, stream_options
from lgl_bench.grading.beside import files_beside
from lgl_bench.grading.history import kept_plans
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import YEARS_FILE, read_years
from lgl_bench.grading.years import NOT_RUN
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.runs.costs import costs
from lgl_bench.runs.devices import cores
from lgl_bench.runs.store import RunStore

PARITY_TABLES = ("measured.csv", "parity.csv", "parity.md")
ONCE = ["folder", "seed", "time", "fold", "fit_seconds"]
"""What tells the fits of boards that share a run folder apart."""


def show_plan(boards: Sequence[Board], given: argparse.Namespace) -> None:
    """Prints what would be run, what is left to do and what it took; ends at the first stream that is missing."""
    jobs, minutes, before = given.jobs or cores(), 0.0, []
    for board in boards:
        print(f"{board.name}: budget {board.budget}, {board.seeds} seeds{'' if given.full else f'. {board.why}'}")
        for command in board.commands():
            print(f"  lgl-bench {shlex.join(command)}")
            if board.suite:
                cost = json.loads(_lgl_bench([*command, *_place(board, given), "--dry-run", "--json"], capture=True))
                minutes += cost["estimated_minutes"]
                print(
                    f"    to do: {cost['fits_to_do']:,} of {cost['fits']:,} fits, by estimate "
                    f"{hours(60 * cost['estimated_minutes'])} on {cost['jobs']} cores"
                )
        fits = None if given.full else recorded(board)
        if fits is not None and len(fits):
            before.append(fits.assign(folder=board.folder))
            print(f"    when it was recorded: {hours(fits['fit_seconds'].sum())} of training on one core")
    print(f"to do, by estimate: {hours(60 * minutes)} on {jobs} cores (without {PARITY}, which has no estimate)")
    if before:
        total = pd.concat(before).drop_duplicates(ONCE)["fit_seconds"].sum()
        times = f"{hours(total)} on one core, {hours(total / jobs)} on {jobs}"
        print(f"training when it was recorded, shared fits once: {times}; scoring comes on top")


def run(boards: Sequence[Board], given: argparse.Namespace) -> None:
    """Runs boards one after the other, and says what each took."""
    show_plan(boards, given)
    for board in boards:
        started = time.monotonic()
        if not board.suite:
            _keep_measured(given.runs / board.folder)
        for command in board.commands():
            _lgl_bench([*command, *_place(board, given), *_engine(board, given)])
        print(f"{board.name}: {hours(time.monotonic() - started)} on {given.jobs or cores()} cores", flush=True)


def build(boards: Sequence[Board], given: argparse.Namespace) -> None:
    """Verifies the run folders, and writes the boards; those of the repository with the pages made from them."""
    given.boards.mkdir(parents=True, exist_ok=True)
    folders = list(dict.fromkeys(board.folder for board in boards if board.suite))
    for name in folders:
        _python("benchmarks/findings.py", "pairs", str(given.runs / name), *_data(given))
        verified = verify(name, [board for board in boards if board.folder == name], given)
        for board in boards:
            if board.folder == name:
                build_board(board, verified, given)
    if any(not board.suite for board in boards):
        (given.boards / PARITY).mkdir(exist_ok=True)
        for name in PARITY_TABLES:
            shutil.copyfile(given.runs / PARITY / name, given.boards / PARITY / name)
    if given.boards != BOARDS:
        print("the pages of the repository are made from leaderboard/ alone, and stay as they are")
        return
    write_pages()


def verify(folder: str, boards: Sequence[Board], given: argparse.Namespace) -> set[tuple[str, ...]]:
    """Verifies every finished run of a folder that boards are made from, a bundle each; returns the rows, by their key.

    A bundle is of one run, and a folder holds several.
    """
    store, bundles, found = RunStore(given.runs / folder), given.runs / "bundles", set()
    bundles.mkdir(parents=True, exist_ok=True)
    asked = {(board.suite, board.budget) for board in boards}
    plans = [plan for plan in kept_plans(store) if (plan.suite.get("name"), plan.budget) in asked]
    records = {key: store.fit(key) for plan in plans for key in plan.fits}
    spent = costs(record for record in records.values() if record is not None).all
    scoring = f"{hours(spent.training)} of training, {hours(spent.scoring)} of scoring"
    print(f"{folder}: {spent.fits:,} fits with their scores, {scoring}, each on one core", flush=True)
    lacking = unanswered(store.folder)
    for plan in plans:
        suite = str(plan.suite.get("name"))
        if any(records[key] is None or (suite, key) in lacking for key in plan.fits):
            print(f"{suite} on {', '.join(plan.streams)} is not finished, and not verified")
            continue
        bundle = bundles / f"{folder}-{plan.digest()}.zip"
        rows = bundle.with_suffix(".csv")
        packed = ["--to", str(bundle), "--plan", plan.digest(), "--no-weights", "--force"]
        _lgl_bench(["submit", str(store.folder), *packed, *_data(given)])
        _lgl_bench(["verify", str(bundle), "--out", str(rows), "--force", *_data(given)])
        found |= keys(rows)
    return found


def unanswered(folder: Path) -> set[tuple[str, str]]:
    """Suites and fits of which a run folder has graded that some answer was never asked for: the run was stopped."""
    if not (folder / YEARS_FILE).is_file():
        return set()
    years = read_years(folder)
    left = years[years["reason"] == NOT_RUN]
    return set(zip(left["suite"].astype(str), left["key"].astype(str), strict=True))


def build_board(board: Board, verified: set[tuple[str, ...]], given: argparse.Namespace) -> None:
    """Writes a board, unless it has a row that was not verified."""
    out = given.boards / f"{board.name}.csv"
    made = given.runs / "bundles" / out.name
    asked = ["--suite", board.suite, "--budget", board.budget, *stream_options(given.streams)]
    _build([given.runs / board.folder], made, asked)
    if unknown := keys(made) - verified:
        raise SystemExit(
            f"{board.name}: {len(unknown)} rows are of no run that was finished and verified; run it again"
        )
    if kept := streams_kept(board, given):
        others = made.with_name(f"{board.name}-kept.csv")
        _build([out], others, stream_options(kept))
        _build([made, others], made, [])
    shutil.copyfile(made, out)
    for path, place in zip(files_beside(made), files_beside(out), strict=True):
        place.unlink(missing_ok=True)  # one that belongs to an older board
        if path.is_file():
            shutil.copyfile(path, place)


def streams_kept(board: Board, given: argparse.Namespace) -> list[str]:
    """The streams whose rows a board keeps, because others were asked for."""
    out = given.boards / f"{board.name}.csv"
    if not given.streams or not out.is_file():
        return []
    rows = read_board(out)
    kept = sorted(set(rows["stream"]) - set(given.streams))
    if kept and not of_table(board, rows):
        raise SystemExit(f"{out} is of another suite, budget or number of seeds than boards.toml says; run all of it")
    return kept


def keys(board: Path) -> set[tuple[str, ...]]:
    """What identifies the rows of a CSV."""
    return set(read_board(board)[list(KEY)].astype(str).itertuples(index=False, name=None))


def _keep_measured(folder: Path) -> None:
    """Cells that no command measures stay as they are: a run adds to the measurements in its folder."""
    shipped = BOARDS / PARITY / PARITY_TABLES[0]
    if shipped.is_file() and not (folder / shipped.name).exists():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shipped, folder / shipped.name)


def write_pages() -> None:
    """Writes what is made from the boards of the repository."""
    _python("-m", "benchmarks.boards")
    _python("benchmarks/findings.py", "page")
    _python("docs/make_board.py")


def _build(sources: list[Path], out: Path, kept: list[str]) -> None:
    _lgl_bench(["leaderboard", "build", *map(str, sources), *kept, "--out", str(out), "--force"])


def _place(board: Board, given: argparse.Namespace) -> list[str]:
    jobs = given.jobs or (None if board.suite else cores())  # `lgl-bench parity` takes one process otherwise
    return ["--out", str(given.runs / board.folder), *_data(given), *(["--jobs", str(jobs)] if jobs else [])]


def _data(given: argparse.Namespace) -> list[str]:
    return ["--data-dir", str(given.data_dir)] if given.data_dir else []


def _engine(board: Board, given: argparse.Namespace) -> list[str]:
    """`lgl-bench parity` always runs on this machine."""
    address = ["--address", given.address] if given.address else []
    return ["--engine", given.engine, *address] if board.suite else []


def _lgl_bench(words: list[str], *, capture: bool = False) -> str:
    return _python("-m", "lgl_bench.cli", *words, shown=f"lgl-bench {shlex.join(words)}", capture=capture)


def _python(*words: str, shown: str = "", capture: bool = False) -> str:
    """Runs a script of the repository, and stops with what to do if it fails."""
    shown = shown or f"python {shlex.join(words)}"
    if not capture:
        print(f"$ {shown}", flush=True)
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE if capture else None, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"'{shown}' ended with {done.returncode}, see above; what is done stays, and is not done again"
        )
    return done.stdout or ""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("plan", "say what it takes"), ("run", "run, verify, build"), ("build", "verify and build")):
        command = commands.add_parser(name, help=text)
        command.add_argument("names", nargs="*", metavar="BOARD", help="only these; all otherwise")
        command.add_argument(
            "--stream", dest="streams", action="append", default=[], help="only these; rows of others stay"
        )
        command.add_argument("--runs", type=Path, help="where run folders are; runs/record otherwise")
        command.add_argument("--boards", type=Path, help="where boards are written; leaderboard/ otherwise")
        command.add_argument("--data-dir", type=Path, help="folder of the streams")
        command.add_argument("--jobs", type=int, help="local processes; one per core otherwise")
        command.add_argument("--engine", default="local", help="local or ray")
        command.add_argument("--address", help="of the Ray cluster")
        command.add_argument("--nice", type=int, default=10, help="how much the runs give way to others; 10")
        command.add_argument("--full", action="store_true", help="all under the budget paper, in folders of its own")
        command.add_argument("--budget", help=argparse.SUPPRESS)
    return parser


def settled(given: argparse.Namespace) -> list[Board]:
    """The boards that were asked for; fills in where runs and boards are."""
    if given.budget:
        raise SystemExit(
            "--budget: no board mixes budgets, and boards.toml says which each has; --full takes paper for all"
        )
    boards = {board.name: board for board in read_boards(full=given.full)}
    for name in given.names:
        if name not in boards:
            raise SystemExit(f"unknown board '{name}'; there are: {', '.join(boards)}")
    given.runs = (given.runs or ROOT / "runs" / ("record-full" if given.full else "record")).resolve()
    given.boards = (given.boards or (given.runs / "leaderboard" if given.full else BOARDS)).resolve()
    given.data_dir = given.data_dir and given.data_dir.resolve()
    if given.full and given.boards == BOARDS:
        raise SystemExit(
            "--full does not write into leaderboard/, whose boards have other budgets; give another --boards"
        )
    chosen = [board for name, board in boards.items() if not given.names or name in given.names]
    if not given.streams:
        return chosen
    found = [part for board in chosen if (part := board.on(given.streams)) is not None]
    if not found:
        raise SystemExit(f"no board that was asked for is on {', '.join(given.streams)}")
    return found


def main() -> None:
    """Plans, runs or builds."""
    given = arguments().parse_args()
    boards = settled(given)
    if given.command == "plan":
        show_plan(boards, given)
        return
    os.nice(given.nice)
    if given.command == "run":
        run(boards, given)
    build(boards, given)


if __name__ == "__main__":
    main()
