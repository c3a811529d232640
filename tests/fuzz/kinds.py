"""The kinds of input that are fuzzed: every `kind_*.py` in this folder lists its own in `KINDS`."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input and what reads it.

    Attributes:
        name: How the kind is named on the command line.
        make: Writes a valid input into an empty folder, a small one: a case should take milliseconds.
        mutate: Damages one thing in that folder; called once or a few times per case. What the first call is given is
            as `make` left it; a later call may find anything and may raise where it has nothing left to damage.
        run: Reads the input (first folder) as a command would, in this process, and writes nowhere but below the
            second folder, which is empty. Returns, or raises what a user would meet: an `LglBenchError`.
        prepare: Makes what all cases share, before the first of them and outside of its limits.
    """

    name: str
    make: Callable[[Path, random.Random], None]
    mutate: Callable[[Path, random.Random], None]
    run: Callable[[Path, Path], None]
    prepare: Callable[[], None] | None = None


def kinds() -> dict[str, Kind]:
    """All kinds by name, in the order of their modules."""
    found: dict[str, Kind] = {}
    for path in sorted(Path(__file__).parent.glob("kind_*.py")):
        for kind in importlib.import_module(f"tests.fuzz.{path.stem}").KINDS:
            if kind.name in found:
                raise ValueError(f"two kinds are named {kind.name}")
            found[kind.name] = kind
    return found


def find_kind(name: str) -> Kind:
    """A kind by its name, or one that is not in the list as `module:ATTRIBUTE`."""
    module, _, attribute = name.rpartition(":")
    kind: Kind = getattr(importlib.import_module(module), attribute) if module else kinds()[name]
    return kind
