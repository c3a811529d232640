"""Imports of the layouts that data sets are published in."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lgl_bench.streams import catalogue
from tests.fuzz.arrays import damage_npy
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import damage_bytes, damage_folder, damage_text, damaged_text, files_in, one_of
from tests.fuzz.pickles import damage_pickle
from tests.fuzz.tables import damage_parquet
from tests.support import stream_files as makers


def _import(format_name: str, **options: str) -> Callable[[Path, Path], None]:
    def run(source: Path, out: Path) -> None:
        archive = source / "set.zip"
        found = archive if archive.is_file() else source
        catalogue.import_stream("mine", found, out, format_name=format_name, options=options)

    return run


def _make_adjlist(folder: Path, rng: random.Random) -> None:
    makers.adjlist(folder)
    (folder / "classes.txt").write_text("fish\nbird\nworm\n")
    _sometimes_zip(folder, rng)


def _make_planetoid(folder: Path, rng: random.Random) -> None:
    makers.planetoid(folder)


def _make_ogb(folder: Path, rng: random.Random) -> None:
    makers.ogb(folder)
    _sometimes_zip(folder, rng)


def _make_anthology(folder: Path, rng: random.Random) -> None:
    makers.anthology(folder)
    if rng.random() < 0.1:
        makers.zipped(folder / "data", folder / "set.zip")


def _sometimes_zip(folder: Path, rng: random.Random) -> None:
    if rng.random() < 0.1:
        makers.zipped(folder, folder / "set.zip")


def _make_table(folder: Path, rng: random.Random) -> None:
    columns: dict[str, Any] = dict(makers.VERTICES)
    kind = rng.choice(["csv", "parquet", "parquet"])
    features = rng.randrange(3)
    if kind == "parquet" and features == 1:
        columns["features"] = [[1.0, 2.0], [0.0, 1.0], [0.5, 3.0], [1.0, 1.0]]
    elif kind == "parquet" and features == 2:
        columns |= {"feature_index": [[0], [4], [1, 2], []], "feature_value": [[1.0], [1.0], [1.0, 2.0], []]}
    makers.table(folder, kind, columns)


def _damage_text_file(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, ".txt", ".csv", ".index")


_ODD_XML = (
    b'<!DOCTYPE c [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>', b"&b;", b"&#0;", b"<![CDATA[", b"<!--", b"<?pi", b"</",
    b"/>", b"<par>" * 5000, b'id=""', b'encoding="UTF-16"', b"<year>", b"</volume>", b"\xff",
)  # fmt: skip


def _damage_xml(folder: Path, rng: random.Random) -> None:
    path = rng.choice(files_in(folder, ".xml"))
    text = path.read_bytes()
    place = rng.randrange(len(text) + 1)
    path.write_bytes(text[:place] + rng.choice(_ODD_XML) + text[place + rng.choice([0, 0, 1, 8]) :])


def _damage_packed_text(folder: Path, rng: random.Random) -> None:
    """Text that is damaged before it is compressed; once in a while far more of it than there should be."""
    path = rng.choice(files_in(folder, ".gz"))
    text = gzip.decompress(path.read_bytes())
    changed = (
        rng.choice([text * 10**5, b"0" * 10**8, b"1," * 10**7]) if rng.random() < 0.03 else damaged_text(text, rng)
    )
    path.write_bytes(gzip.compress(changed, 1))


def _damage_table(folder: Path, rng: random.Random) -> None:
    (damage_parquet if files_in(folder, ".parquet") else _damage_text_file)(folder, rng)


KINDS = [
    Kind(
        "acl-anthology",
        _make_anthology,
        one_of(
            _damage_xml, _damage_xml, lambda folder, rng: damage_text(folder, rng, ".xml"), damage_bytes, damage_folder
        ),
        _import("acl-anthology", **makers.ANTHOLOGY_OPTIONS),
    ),
    Kind(
        "adjlist",
        _make_adjlist,
        one_of(damage_npy, damage_npy, damage_npy, _damage_text_file, damage_bytes, damage_folder),
        _import("adjlist"),
    ),
    Kind(
        "planetoid",
        _make_planetoid,
        one_of(damage_pickle, damage_pickle, damage_pickle, _damage_text_file, damage_bytes, damage_folder),
        _import("planetoid", prefix="toy"),
    ),
    Kind(
        "ogb",
        _make_ogb,
        one_of(_damage_packed_text, _damage_packed_text, _damage_packed_text, damage_bytes, damage_folder),
        _import("ogb"),
    ),
    Kind(
        "ogb-structure",
        _make_ogb,
        one_of(_damage_packed_text, _damage_packed_text, _damage_packed_text, damage_bytes, damage_folder),
        _import("ogb", features="structure", dimensions="4"),
    ),
    Kind(
        "table",
        _make_table,
        one_of(_damage_table, _damage_table, _damage_table, damage_bytes, damage_folder),
        _import("table"),
    ),
]
