"""What a run was made with, as far as others need to know: versions and platform, nothing about the machine's owner."""

from __future__ import annotations

import json
import platform
import re
import sys
import tempfile
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from lgl_bench.core.versions import versions
from lgl_bench.runs.records import FitRecord

_FOLDERS = re.compile(r"""(?<![^\s'"(=<\[,])(?:\.\.\.)?/(?:[^\s/'":,;)\]>]+/)+""")
"""Folders of any other absolute path: a slash that begins a word, and all up to the last one."""


def environment() -> dict[str, Any]:
    """Versions of Python and of every installed package, the system and the kind of processor."""
    packages = _packages()
    return {
        **versions("python"),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "packages": {name: packages[name] for name in sorted(packages, key=str.lower)},
    }


@cache
def _packages() -> dict[str, str]:
    """Versions by the name of a package; reading the metadata of all of them takes about a second."""
    described = ((dist.metadata, dist) for dist in distributions())
    return {metadata["Name"]: dist.version for metadata, dist in described if metadata and metadata["Name"]}


class Scrubber:
    """Takes absolute folders out of the reason of a failure: they name the machine and its owner, and help nobody.

    Only whole parts of a path are taken: if the home folder is /home/ab, /home/abel/x stays for the next rule, and
    the word `ab` stands wherever it stood.

    Args:
        folders: Further folders, besides home, the working folder, the temporary folder and Python's own; those with a
            space in their name are known only so.
    """

    def __init__(self, *folders: Path) -> None:
        own = [*folders, Path.cwd(), Path.home(), Path(tempfile.gettempdir()), Path(sys.prefix)]
        found = {str(path) for folder in own for path in (folder.absolute(), folder.resolve()) if len(path.parts) > 1}
        known = "|".join(re.escape(path) for path in sorted(found, key=len, reverse=True))
        self._known = re.compile(rf"(?<![\w./-])(?:{known})(?![\w.-])")

    def __call__(self, text: str) -> str:
        """The text without them."""
        return _FOLDERS.sub(".../", self._known.sub("...", text))

    def record(self, fit_record: FitRecord) -> FitRecord:
        """The record of a fit with its reasons scrubbed, and nothing else changed."""
        failed = {name: self(reason) for name, reason in fit_record.failed.items()}
        return fit_record.but(reason=self(fit_record.reason), failed=failed)


def dump(value: Any) -> bytes:
    """Plain values as JSON text."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
