"""What a run was made with, as far as others need to know: versions and platform, nothing about the machine's owner."""

from __future__ import annotations

import getpass
import json
import platform
import re
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any


def environment() -> dict[str, Any]:
    """Versions of Python and of every installed package, the system and the kind of processor."""
    packages = {
        dist.metadata["Name"]: dist.version for dist in distributions() if dist.metadata and dist.metadata["Name"]
    }
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "packages": {name: packages[name] for name in sorted(packages, key=str.lower)},
    }


class Scrubber:
    """Takes folders of this machine and names of its owner out of texts, such as the reason of a failure.

    Args:
        folders: Further folders, besides home, the working folder, the temporary folder and Python's own.
    """

    def __init__(self, *folders: Path) -> None:
        own = [*folders, Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix), Path(__file__).parents[2]]
        found = {str(path) for folder in (*own, Path.home()) for path in (folder, folder.resolve())}
        self._hidden = sorted((path for path in found if len(path) > 1 and path != "."), key=len, reverse=True)
        names = [re.escape(name) for name in (platform.node(), _user()) if len(name) > 1]
        self._names = re.compile(rf"\b({'|'.join(names)})\b") if names else None

    def __call__(self, text: str) -> str:
        """The text without them."""
        for path in self._hidden:
            text = text.replace(path, "...")
        return self._names.sub("...", text) if self._names else text

    def json(self, value: Any) -> Any:
        """The same for every text inside plain values."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {key: self.json(inner) for key, inner in value.items()}
        return [self.json(inner) for inner in value] if isinstance(value, list | tuple) else value


def dump(value: Any) -> bytes:
    """Plain values as JSON text."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
