"""Imports of the layouts that data sets are published in."""

from __future__ import annotations

import random
from pathlib import Path

from lgl_bench.streams import catalogue
from tests.fuzz.arrays import damage_npy
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import damage_bytes, damage_folder, damage_text, one_of
from tests.streams import makers


def _make_adjlist(folder: Path, rng: random.Random) -> None:
    makers.adjlist(folder)


def _damage_lists(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, ".txt")


def _run_adjlist(source: Path, out: Path) -> None:
    catalogue.import_stream("mine", source, out, format_name="adjlist")


KINDS = [
    Kind(
        "adjlist",
        _make_adjlist,
        one_of(damage_npy, damage_npy, damage_npy, _damage_lists, damage_bytes, damage_folder),
        _run_adjlist,
    )
]
