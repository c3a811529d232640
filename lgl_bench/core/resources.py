"""Files that travel with the package: data manifests and suites.

They live at the top level of the repository and, in a wheel, under `lgl_bench/shipped`.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(folder: str) -> Path:
    """The folder of that name, from an installed wheel or from the checkout."""
    installed = _PACKAGE / "shipped" / folder
    return installed if installed.is_dir() else _PACKAGE.parent / folder
