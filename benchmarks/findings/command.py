"""The command: parses, calls and prints."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import facts
from .page import files
from .tables import ROOT, Tables
from .tested import ask


def main(about: str | None = None) -> None:
    """Tests pairs, describes streams, or writes the page."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("pairs", help="test pairs of rows from the answers of run folders, which keep it")
    pairs.add_argument("runs", nargs="+", type=Path)
    pairs.add_argument("--data-dir", type=Path)
    streams = commands.add_parser("facts", help="keep homophily and sizes of imported streams")
    streams.add_argument("streams", nargs="*", help="all imported ones if none is named")
    streams.add_argument("--data-dir", type=Path)
    commands.add_parser("page", help="write docs/findings.md")
    given = parser.parse_args()
    tables = Tables()
    folder = tables.folder / "findings"
    if given.command == "pairs":
        for run in given.runs:
            print(f"{run}: {ask(run, given.data_dir):,} pairs tested")
        return
    if given.command == "facts":
        written = [facts.keep(facts.described(given.streams, given.data_dir), folder)]
    else:
        written = _write(tables)
    for path in written:
        print(path.relative_to(ROOT))


def _write(tables: Tables) -> list[Path]:
    found = files(tables)
    for path, text in found.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return list(found)
