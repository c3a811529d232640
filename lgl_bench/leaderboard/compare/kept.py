"""What a run folder keeps of the tests between its own rows: `OUT/standing.json`.

Drawing thousands of times from the answers of every method takes seconds; showing a table must not. The tests are made
once, at the end of a run, and kept with the checksum of the year rows they belong to. If these change, or the draws
are others, nothing that is kept counts.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lgl_bench.grading.year_table import years_checksum
from lgl_bench.leaderboard.compare.questions import Pair, PairResult
from lgl_bench.leaderboard.folder import read_kept
from lgl_bench.runs.store import RunStore

NAME = "standing.json"
VERSION = 2
"""Raised whenever the same year rows and answers would be tested in another way."""


class KeptTests:
    """The kept tests of a run folder.

    Args:
        folder: Of the run.
        draws: Of the bootstrap.
        seed: Of the draws.
    """

    def __init__(self, folder: Path, draws: int, seed: int) -> None:
        self.folder = Path(folder)
        self._entries: dict[Pair, Mapping[str, Any]] = {}
        self._fresh = False
        self._valid_for = {"version": VERSION, "years": "", "draws": draws, "seed": seed}
        with contextlib.suppress(OSError):  # without year rows there is nothing to keep anything for
            self._valid_for["years"] = years_checksum(self.folder)
            self._read()

    def get(self, pair: Pair) -> PairResult | None:
        """What is kept of a pair; None if there is nothing."""
        try:
            return PairResult.from_json(self._entries[pair])
        except (KeyError, TypeError, ValueError, OverflowError):  # nothing, or somebody else's file under that name
            return None

    @property
    def tests(self) -> Mapping[Pair, Mapping[str, Any]]:
        """Everything that is kept."""
        return self._entries

    def add(self, pair: Pair, result: PairResult) -> None:
        """Remembers what came of a pair."""
        self._entries[pair] = result.to_json()
        self._fresh = True

    def write(self) -> None:
        """Writes what is new. A folder that cannot be written to keeps nothing, and is computed anew every time."""
        if not self._fresh or not self._valid_for["years"]:
            return
        methods = sorted({method for a, b, _ in self._entries for method in (a, b)})
        number = {method: at for at, method in enumerate(methods)}
        tests = [
            {"a": number[a], "b": number[b], "metric": metric, **entry}
            for (a, b, metric), entry in sorted(self._entries.items(), key=lambda item: item[0])
        ]
        text = json.dumps({**self._valid_for, "methods": methods, "tests": tests}, allow_nan=False)
        with contextlib.suppress(OSError):
            RunStore(self.folder).write_text(NAME, text + "\n")
            self._fresh = False

    def _read(self) -> None:
        try:
            found = read_kept(self.folder, NAME)
            if any(found[name] != value for name, value in self._valid_for.items()):
                return
            methods = [tuple(str(cell) for cell in method) for method in found["methods"]]
            for test in found["tests"]:
                self._entries[methods[test.pop("a")], methods[test.pop("b")], test.pop("metric")] = test
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            # It is made from the answers, and can be made again.
            self._entries = {}
