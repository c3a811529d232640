from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.refusals import refused


def test_a_python_type_in_parquet_is_called_a_pickle(forged, base):
    path = forged.answers()
    table = pq.read_table(path)
    field = table.schema.field("vertex").with_metadata(
        {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": pickle.dumps(1)}
    )
    pq.write_table(table.cast(pa.schema([field, *list(table.schema)[1:]])), path)
    forged.seal()
    refused(forged, base, path.name, "pickle")


def test_a_few_bytes_that_stand_for_gigabytes_are_refused_before_they_are_unpacked(forged, base):
    path = forged.folder / "years.parquet"
    table = pq.read_table(path)
    rows = table.num_rows + 900
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * 5_000_000]))
    for store_schema in (True, False):
        pq.write_table(pa.table({"reason": one}), path, compression="zstd", store_schema=store_schema)
        assert path.stat().st_size < 100_000
        forged.seal()
        refused(forged, base, "years.parquet", "a text has more than")


def test_types_of_answers_are_looked_at_before_any_is_read(forged, base):
    path = forged.answers()
    table = pq.read_table(path)
    text = pa.array(["x" * 1_000_000] * table.num_rows)
    pq.write_table(table.append_column("novelty:long", text), path, compression="zstd")
    forged.seal()
    refused(forged, base, path.name, "novelty:long", "only numbers")
