"""Bars in scripts and notebooks; none where nobody watches."""

from __future__ import annotations

import sys
from typing import Any


def is_watched() -> bool:
    """Whether somebody sees a bar: on a terminal, and in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def progress_bar(total: int, name: str, unit: str) -> Any:
    """A bar of tqdm, drawn by whatever the notebook or terminal can show.

    Args:
        total: Steps.
        name: What it is the progress of.
        unit: A step, in words.
    """
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=name, unit=unit, dynamic_ncols=True)
