"""What a bundle is made of: the names a file may have, how large it may be, and the manifest.

    BUNDLE/plan.json                what was run: suite, budget, seeds, streams with checksums, rows, fits
    BUNDLE/leaderboard.csv          the rows
    BUNDLE/years.parquet            the grades of every year, method and seed
    BUNDLE/answers/KEY.parquet      the answers of a fit
    BUNDLE/fits/KEY.json            the record of a fit
    BUNDLE/fits/KEY.safetensors     its weights, unless they were left out or not kept
    BUNDLE/fits/KEY.memory          what its strategy kept for the next year, if it did
    BUNDLE/fits/KEY.matrix          the classes its model gives to the vertices of every year, if it was asked
    BUNDLE/environment.json         versions and platform
    BUNDLE/plugins/NAME.py          source of a plugin, as text: nothing here ever runs it
    BUNDLE/MANIFEST.json            format, sha256 and size of every other file

A bundle is a folder or a `.zip` of one.
"""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from lgl_bench.core.errors import LglBenchError
from lgl_bench.grading.year_table import YEARS_FILE
from lgl_bench.leaderboard.table.names import BOARD_FILE

FORMAT = 1
MANIFEST = "MANIFEST.json"
KEY = "[0-9a-f]{24}"
MIB = 1 << 20

# Every name a file may have, and the most bytes it may hold. Nothing else is read, whatever the manifest says.
_ALLOWED: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern, re.ASCII), limit)
    for pattern, limit in (
        (r"MANIFEST\.json", 64 * MIB),
        (r"plan\.json", 64 * MIB),
        (r"environment\.json", MIB),
        (re.escape(BOARD_FILE), 256 * MIB),
        (re.escape(YEARS_FILE), 512 * MIB),
        (rf"answers/{KEY}\.parquet", 512 * MIB),
        (rf"fits/{KEY}\.json", MIB),
        (rf"fits/{KEY}\.safetensors", 1024 * MIB),
        (rf"fits/{KEY}\.memory", 1024 * MIB),
        (rf"fits/{KEY}\.matrix", 512 * MIB),
        (r"plugins/[A-Za-z0-9_]{1,64}\.py", MIB),
    )
)
NEEDED = ("plan.json", BOARD_FILE, YEARS_FILE, "environment.json")
_LONGEST_MESSAGE = 1500
MAX_BYTES = 8 * 1024 * MIB
MAX_FILES = 200_000
MAX_RATIO = 200
"""Unpacked against packed bytes of a zip member above one MiB: our own tables stay below 50, a bomb is near 1,000."""


class BundleError(LglBenchError):
    """A bundle that is refused; the message names the file.

    What a stranger wrote may stand in it: it is shown on one line, printable and cut.
    """

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line[:_LONGEST_MESSAGE])
        super().__init__(shown + "..." * (len(line) > _LONGEST_MESSAGE))


class FileEntry(BaseModel):
    """A file of a bundle."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class BundleManifest(BaseModel):
    """What a bundle says it holds.

    Attributes:
        format: Version of this layout.
        partial: Whether fits may be missing.
        submitter: Who sends it.
        files: By name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: int
    partial: bool = False
    submitter: str = Field(default="", max_length=100)
    files: dict[str, FileEntry]


def fit_file(key: str) -> str:
    """Where the record of a fit is."""
    return f"fits/{key}.json"


def weights_file(key: str) -> str:
    """Where the weights of a fit are."""
    return f"fits/{key}.safetensors"


def memory_file(key: str) -> str:
    """Where what the strategy of a fit kept is."""
    return f"fits/{key}.memory"


def matrix_file(key: str) -> str:
    """Where the row of the matrix of years of a fit is."""
    return f"fits/{key}.matrix"


def answers_file(key: str) -> str:
    """Where the answers of a fit are."""
    return f"answers/{key}.parquet"


def limit_of(name: str) -> int | None:
    """The most bytes a file of that name may hold; None if no such file has a place in a bundle.

    >>> limit_of("plan.json") is None, limit_of("answers/../plan.json") is None, limit_of("/etc/passwd") is None
    (False, True, True)
    """
    return next((limit for pattern, limit in _ALLOWED if pattern.fullmatch(name)), None)


def refuse_name(name: str) -> str:
    """Why a name has no place in a bundle; empty if it has one."""
    if limit_of(name) is not None:
        return ""
    shown = ascii(name[:200])
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return f"{shown} is an absolute path"
    if ".." in re.split(r"[/\\]", name):
        return f"{shown} climbs out of the bundle"
    if name.endswith((".pkl", ".pickle", ".pt", ".pth", ".joblib", ".npy", ".npz")):
        return f"{shown} may hold a pickle, which is never opened"
    return f"{shown} has no place in a bundle"


def refuse_submitter(name: str) -> str:
    """Why a submitter's name cannot stand in a table; empty if it can."""
    if not name:
        return ""
    if len(name) > 100 or not name.isprintable():
        return "it must be printable and have at most 100 characters"
    if name[0] in "=+-@" or name != name.strip():
        return "a spreadsheet would take it for a formula, or it begins or ends with a space"
    return ""
