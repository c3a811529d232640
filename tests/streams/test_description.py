from __future__ import annotations

import json
from pathlib import Path

import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.streams.description import seal
from lgl_bench.streams.store import open_stream, verify_stream
from tests.support.command_line import run
from tests.support.importing import assert_damaged, stored


@pytest.mark.parametrize(
    "change",
    [
        {"t0": 2000},
        {"name": "cora"},
        {"vertices": 3},
        {"class_names": ["fish", "bird"]},
        {"times": [1999, 2000]},
        {"files": {}},
        {"stream_checksum": "0" * 64},
        {"feature_kind": "dense"},
        {"sha256": None},
        {"format_version": 99},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_edited_description_is_caught_by_verify_and_by_open(imported: Path, change: dict[str, object]) -> None:
    path = imported / "stream.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert_damaged(imported, "stream.json")
    with pytest.raises(DataError, match=r"stream\.json .*import"):
        open_stream(imported)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"format_version": 1}', "\0"])
def test_a_damaged_description_is_caught_by_verify_and_by_open(imported: Path, content: str) -> None:
    (imported / "stream.json").write_text(content)
    assert_damaged(imported, "stream.json")
    with pytest.raises(DataError, match=r"stream\.json"):
        open_stream(imported)


def test_a_description_laid_out_differently_is_the_same(imported: Path) -> None:
    path = imported / "stream.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=4))
    assert run("data", "verify", "mine", "--data-dir", imported.parent).exit_code == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("vertices", 2**60), ("vertices", "sixteen"), ("vertices", -1), ("edges", 1.5), ("features", 2**40),
        ("feature_kind", "odd"), ("times", [2001, 2000]), ("times", ["2000", "2001"]), ("times", []), ("t0", "2000"),
        ("class_names", [1, 2, 3]), ("class_names", None), ("has_split", "yes"), ("files", {}), ("name", None),
    ],
)  # fmt: skip
def test_a_description_with_another_value_is_refused_with_its_field(tmp_path: Path, field: str, value: object) -> None:
    folder = stored(tmp_path)
    described = json.loads((folder / "stream.json").read_text()) | {field: value}
    (folder / "stream.json").write_text(json.dumps(described | {"sha256": seal(described)}))
    with pytest.raises(DataError, match=r"stream\.json: .*; import the stream again"):
        open_stream(folder)
    assert len(verify_stream(folder)) == 1


def test_a_description_that_nests_without_end_is_refused(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    (folder / "stream.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"stream\.json cannot be read"):
        open_stream(folder)
