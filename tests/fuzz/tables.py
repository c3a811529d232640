"""Damage to Parquet files: columns of other types, twice, renamed, missing; and to JSON: values of other types."""

from __future__ import annotations

import datetime
import decimal
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.mutations import files_in

JSON_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 2**70, 10**30, 1e300, -0.5, float("nan"), float("inf"), "", "x", "a\0b", "\ud800",
    "../../etc", "/", "x" * 3000, [], {}, [None], [[]], {"a": 1}, [1, 2, 3], ["a", 1], [2**40] * 3, "2001", "0" * 64,
)  # fmt: skip

_COLUMNS: tuple[Callable[[int, random.Random], Any], ...] = (
    lambda n, rng: pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
    lambda n, rng: pa.array([2_000_000_000] * n, pa.int64()),
    lambda n, rng: pa.array([2**63 - 1] * n, pa.int64()),
    lambda n, rng: pa.array([-(2**63)] * n, pa.int64()),
    lambda n, rng: pa.array(range(n), rng.choice([pa.int8(), pa.uint8(), pa.int32(), pa.float32(), pa.float64()])),
    lambda n, rng: pa.array([float("nan")] * n),
    lambda n, rng: pa.array([1e300] * n),
    lambda n, rng: pa.array([datetime.date(2001, 1, 1)] * n),
    lambda n, rng: pa.array([datetime.datetime(2001, 1, 1)] * n, pa.timestamp("ns", tz="UTC")),
    lambda n, rng: pa.array([datetime.time(1, 2)] * n),
    lambda n, rng: pa.array([datetime.timedelta(days=i) for i in range(n)]),
    lambda n, rng: pa.array([decimal.Decimal(f"{i}.5") for i in range(n)], pa.decimal128(38, 10)),
    lambda n, rng: pa.array([decimal.Decimal(10) ** 30] * n, pa.decimal128(38, 2)),
    lambda n, rng: pa.array([f"word {i}" for i in range(n)]),
    lambda n, rng: pa.array([str(i) for i in range(n)]).dictionary_encode(),
    lambda n, rng: pa.array(range(n)).dictionary_encode(),
    lambda n, rng: pa.array([b"\xff\0"] * n, rng.choice([pa.binary(), pa.large_binary(), pa.binary(2)])),
    lambda n, rng: pa.array([None] * n),
    lambda n, rng: pa.array([None if i == 1 else i for i in range(n)], pa.int64()),
    lambda n, rng: pa.array([[i] for i in range(n)]),
    lambda n, rng: pa.array([None if i == 1 else [0, None] for i in range(n)], pa.list_(pa.int64())),
    lambda n, rng: pa.array([list(range(i)) for i in range(n)], pa.large_list(pa.float64())),
    lambda n, rng: pa.array([[3_000_000_000] for _ in range(n)], pa.list_(pa.int64())),
    lambda n, rng: pa.array([[-1, 0] for _ in range(n)], pa.list_(pa.int32())),
    lambda n, rng: pa.array([[2**64 - 1] for _ in range(n)], pa.list_(pa.uint64())),
    lambda n, rng: pa.array([["a"] for _ in range(n)]),
    lambda n, rng: pa.array([[[1.0]] for _ in range(n)]),
    lambda n, rng: pa.array([[1.0, 2.0, 3.0]] * n, pa.list_(pa.float64(), 3)),
    lambda n, rng: pa.array([None if i == 0 else [1.0] for i in range(n)], pa.list_(pa.float32(), 1)),
    lambda n, rng: pa.array([{"a": i} for i in range(n)]),
    lambda n, rng: pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())),
    lambda n, rng: pa.array([i % 2 == 0 for i in range(n)]),
    lambda n, rng: pa.array(np.arange(n, dtype=np.float16)),
)  # fmt: skip


def damage_parquet(folder: Path, rng: random.Random) -> None:
    """Writes one Parquet file of the folder again with something wrong."""
    path = rng.choice(files_in(folder, ".parquet"))
    table = pq.read_table(path, partitioning=None)
    damage = rng.choice([_retyped, _retyped, _retyped, _twice, _dropped, _renamed, _rows, _rows])
    changed = damage(table, rng)
    options: dict[str, Any] = {"compression": rng.choice(["none", "zstd", "snappy", "gzip"])}
    if rng.random() < 0.1 and 0 < changed.num_rows < 10_000:
        options["row_group_size"] = 1
    # What is coded by a dictionary is written so: spelled out, the largest would not fit into a file.
    coded = any(pa.types.is_dictionary(field.type) for field in changed.schema) or rng.random() < 0.5
    pq.write_table(changed, path, use_dictionary=coded, **options)


def _retyped(table: pa.Table, rng: random.Random) -> pa.Table:
    at = rng.randrange(table.num_columns)
    return table.set_column(at, table.column_names[at], rng.choice(_COLUMNS)(table.num_rows, rng))


def _twice(table: pa.Table, rng: random.Random) -> pa.Table:
    at = rng.randrange(table.num_columns)
    other = table.column(at) if rng.random() < 0.5 else rng.choice(_COLUMNS)(table.num_rows, rng)
    return table.append_column(table.column_names[at], other)


def _dropped(table: pa.Table, rng: random.Random) -> pa.Table:
    return table.drop_columns([rng.choice(table.column_names)]) if rng.random() < 0.9 else pa.table({})


def _renamed(table: pa.Table, rng: random.Random) -> pa.Table:
    names = list(table.column_names)
    names[rng.randrange(len(names))] = rng.choice(
        ["", "ID", "x", "feature_index", "features", "a\nb", "split", names[0]]
    )
    return table.rename_columns(names)


def _rows(table: pa.Table, rng: random.Random) -> pa.Table:
    which = rng.randrange(5)
    if which == 0:
        return table.slice(0, 0)
    if which == 1:
        return table.slice(rng.randrange(table.num_rows + 1))
    if which == 2:
        return pa.concat_tables([table, table])
    if which == 3:
        order = rng.sample(range(table.num_rows), table.num_rows)
        return table.take(order)
    # A few bytes of dictionary that become gigabytes: one long value, told a million times.
    at = rng.randrange(table.num_columns)
    rows = rng.choice([10**6, 3 * 10**6])
    return pa.table({table.column_names[at]: pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * 4000])
    )})  # fmt: skip


def damage_json(folder: Path, rng: random.Random, *endings: str) -> None:
    """Changes, removes or adds one value somewhere in a JSON file."""
    path = rng.choice(files_in(folder, *(endings or (".json",))))
    path.write_text(json.dumps(damaged_json(json.loads(path.read_text()), rng)))


def damaged_json(value: Any, rng: random.Random) -> Any:
    """The same value with one thing in it changed; deeper ones more often than those at the top."""
    if isinstance(value, dict | list) and value and rng.random() < 0.9:
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        key = rng.choice(list(keys))
        which = rng.randrange(6)
        if which == 0:
            del value[key]
        elif which == 1 and isinstance(value, dict):
            value[rng.choice(["", "extra", "a\0b", str(key) + " "])] = rng.choice(JSON_VALUES)
        elif which == 1:
            value.append(value[key])
        else:
            value[key] = damaged_json(value[key], rng)
        return value
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.4:
        return rng.choice([value + 1, value - 1, -value, value * 1000, float(value), str(value)])
    return rng.choice(JSON_VALUES)
