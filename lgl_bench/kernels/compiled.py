"""The compiled loops on disk: numba keeps them beside the package, or in the user's folder for caches."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Final

VARIABLE: Final = "NUMBA_CACHE_DIR"
"""Tells a process where else it finds them, and where it keeps what it compiles itself."""


def copy_compiled(folder: Path) -> None:
    """Copies them to where a process finds them whose `VARIABLE` names the folder.

    A process that cannot write where they are kept would compile them anew, which takes seconds; one that nobody trusts
    must not write there, because what is kept there is run.
    """
    from numba.core import caching

    from lgl_bench.kernels import loops

    # Its name began with an underscore once.
    locator = getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator
    place = folder / locator.get_suitable_cache_subpath(loops.__file__)
    place.mkdir(parents=True, exist_ok=True)
    kept = getattr(loops.sums, "stats", None)
    with contextlib.suppress(OSError):  # what is replaced meanwhile is compiled anew
        for path in Path(kept.cache_path).glob("loops.*.nb[ic]") if kept and kept.cache_path else ():
            shutil.copyfile(path, place / path.name)
