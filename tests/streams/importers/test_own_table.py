"""Tables as people have them: names for ids, usual names of columns, dates, and what is missing or ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.streams import catalogue
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.store import open_stream, verify_stream
from lgl_bench.streams.stream import Stream, same
from lgl_bench.streams.structure import structure_features
from tests.support.command_line import as_json, run
from tests.support.importing import change, import_, read
from tests.support.stream_files import table, write_table

PAPERS: dict[str, list[Any]] = {
    "DOI": ["10.1/b", "10.1/a", "10.1/c", "10.1/d"],
    "Title": ["B", "A", "C", "D"],
    "Year": [2001, 2001, 2000, 2002],
    "topic": ["logic", "graphs", "graphs", None],
    "f_0": [1.0, 2.0, 3.0, 4.0],
}
CITATIONS = {"citing": ["10.1/b", "10.1/d", "10.1/a", "10.1/a"], "cited": ["10.1/c", "10.9/x", "10.1/c", "10.1/a"]}
CHECKSUM = "31c050369707a11e3a0d2c7b24bd11c209f7b35c5d80e16568ef3739f76774f8"
"""Of the small table, made before vertices could have names."""
KINDS = pytest.mark.parametrize("kind", ["parquet", "csv"])


def papers(folder: Path, kind: str = "csv", rows: dict[str, Any] = PAPERS, edges: dict[str, Any] = CITATIONS) -> Path:
    folder.mkdir(exist_ok=True)
    write_table(folder / f"papers.{kind}", rows)
    write_table(folder / f"citations.{kind}", edges)
    return folder


def edges_by_name(stream: Stream) -> set[frozenset[str]]:
    return {frozenset(stream.names[pair]) for pair in stream.arcs[:, ::2].T}


# names
@KINDS
def test_names_are_numbered_by_time_then_name_and_kept(tmp_path: Path, kind: str) -> None:
    stream = read("table", papers(tmp_path, kind))
    assert stream.ids.tolist() == [0, 1, 2, 3]
    assert stream.names.tolist() == ["10.1/c", "10.1/a", "10.1/b", "10.1/d"]
    assert stream.features[:, 0].tolist() == [3.0, 2.0, 1.0, 4.0]
    assert [stream.info.class_names[k] for k in stream.labels[:3]] == ["graphs", "graphs", "logic"]
    assert stream.labels[3] == -1
    assert edges_by_name(stream) == {frozenset({"10.1/b", "10.1/c"}), frozenset({"10.1/a", "10.1/c"})}


def test_neither_the_order_of_rows_nor_a_later_year_changes_a_number(tmp_path: Path) -> None:
    whole = prefix_checksums(read("table", papers(tmp_path / "a")))
    turned = {name: values[::-1] for name, values in PAPERS.items()}
    assert prefix_checksums(read("table", papers(tmp_path / "b", rows=turned))) == whole
    first = {name: values[:3] for name, values in PAPERS.items()}
    assert prefix_checksums(read("table", papers(tmp_path / "c", rows=first))) == {
        time: whole[time] for time in (2000, 2001)
    }


def test_names_survive_the_disk_and_are_sealed(tmp_path: Path) -> None:
    stream = catalogue.import_stream("mine", papers(tmp_path / "source"), tmp_path)
    again = open_stream(tmp_path / "mine")
    assert same(again, stream) and again.names.tolist() == stream.names.tolist()
    assert again.info.notes == stream.info.notes
    change(tmp_path / "mine", "vertices", lambda found: found.set_column(2, "name", pa.array(["10.1/z", None])))
    with pytest.raises(DataError, match="an empty place in the column 'name'"):
        open_stream(tmp_path / "mine")
    change(tmp_path / "mine", "vertices", lambda found: found.set_column(2, "name", pa.array([1, 2])))
    assert "a column 'name' of type int64, where text must be" in verify_stream(tmp_path / "mine")[0]


def test_arxiv_ids_that_are_equal_as_numbers_stay_apart(tmp_path: Path) -> None:
    rows = PAPERS | {"DOI": ["1501.0001", "1501.00010", "0704.1000", "0704.1"]}
    edges = {"citing": ["1501.0001", "0704.1"], "cited": ["0704.1000", "1501.00010"]}
    stream = read("table", papers(tmp_path, rows=rows, edges=edges))
    assert sorted(stream.names) == ["0704.1", "0704.1000", "1501.0001", "1501.00010"]
    assert edges_by_name(stream) == {frozenset({"1501.0001", "0704.1000"}), frozenset({"0704.1", "1501.00010"})}


@pytest.mark.parametrize("ids", [[7, 3, 5, 2], ["7", "3", "5", "2"], ["7.0", "3.0", "5.0", "2.0"]])
def test_ids_that_are_whole_numbers_stay_numbers(tmp_path: Path, ids: list[Any]) -> None:
    edges = {"citing": ["7", "2", "7"], "cited": [5, 3, None]}
    stream = read("table", papers(tmp_path, rows=PAPERS | {"DOI": ids}, edges={k: v[:2] for k, v in edges.items()}))
    assert stream.names is None and stream.ids.tolist() == [5, 3, 7, 2]
    assert stream.num_edges == 2


def test_zeros_in_front_and_numbers_beyond_64_bits_make_names(tmp_path: Path) -> None:
    edges = {"citing": ["007"], "cited": ["7"]}
    stream = read("table", papers(tmp_path, rows=PAPERS | {"DOI": ["007", "7", "8", "9" * 30]}, edges=edges))
    assert sorted(stream.names) == ["007", "7", "8", "9" * 30] and stream.num_edges == 1
    edges = {"citing": ["9" * 30], "cited": ["7"]}
    stream = read("table", papers(tmp_path, rows=PAPERS | {"DOI": ["6", "7", "8", "9" * 30]}, edges=edges))
    assert sorted(stream.names) == ["6", "7", "8", "9" * 30] and stream.num_edges == 1


def test_an_id_of_an_edge_that_is_a_word_is_unknown_among_numbers(tmp_path: Path) -> None:
    edges = {"citing": ["7.0", "x", "3"], "cited": ["5", "5", "2.0"]}
    stream = read("table", papers(tmp_path, rows=PAPERS | {"DOI": [7, 3, 5, 2]}, edges=edges))
    assert (stream.num_edges, stream.info.imported["unknown_edges"]) == (2, 1)


# what is recognised and what is ignored is said
def test_usual_names_are_recognised_and_said_and_so_is_what_is_ignored(tmp_path: Path) -> None:
    stream = read("table", papers(tmp_path))
    columns, ignored, unknown = stream.info.notes
    assert columns == (
        "read id from 'DOI', time from 'Year', label from 'topic', features from 'f_0'; source from 'citing', "
        "target from 'cited'"
    )
    assert ignored == "ignored the column Title of papers.csv"
    assert unknown == (
        "ignored 1 of 4 edges, to vertices that are not in papers.csv; the first is line 3 of citations.csv, which "
        "names '10.9/x'"
    )
    assert stream.info.imported == {"edge_lines": 4, "self_loops": 1, "repeated_edges": 0, "unknown_edges": 1}


def test_of_two_usual_names_the_first_is_taken_and_the_other_is_ignored(tmp_path: Path) -> None:
    stream = read("table", papers(tmp_path, rows=PAPERS | {"class": ["x", "y", "x", "y"], "venue": ["v"] * 4}))
    assert stream.info.class_names == ("x", "y")
    assert "ignored the columns Title, topic, venue of papers.csv" in stream.info.notes


def test_a_text_column_that_merely_looks_like_a_feature_is_ignored(tmp_path: Path) -> None:
    stream = read("table", papers(tmp_path, rows=PAPERS | {"f_name": ["a", "b", "c", "d"]}))
    assert stream.features.shape == (4, 1)
    assert "ignored the columns Title, f_name of papers.csv" in stream.info.notes


@pytest.mark.parametrize(
    ("column", "remedy"),
    [
        ("DOI", "no column with ids.*--option id=COLUMN"),
        ("Year", "no column with years or dates.*--option time=COLUMN, or give --option time=none"),
        ("topic", "no column with labels.*--option label=COLUMN, or give --option label=none"),
        ("f_0", "no column with features.*--option features=structure.*or --option features=none"),
    ],
)
def test_what_is_missing_is_an_error_with_the_way_to_go_on(tmp_path: Path, column: str, remedy: str) -> None:
    rows = {name: values for name, values in PAPERS.items() if name != column}
    with pytest.raises(DataError, match=f"papers.csv has {remedy}"):
        read("table", papers(tmp_path, rows=rows))


@pytest.mark.parametrize("part", ["citing", "cited"])
def test_an_edge_list_without_one_of_its_ends_says_which(tmp_path: Path, part: str) -> None:
    edges = {name: values for name, values in CITATIONS.items() if name != part}
    with pytest.raises(DataError, match=f"citations.csv has no column with the {part} ids.*--option (source|target)="):
        read("table", papers(tmp_path, edges=edges))


def test_structural_features_are_those_of_the_stream_order_whatever_the_order_of_rows(tmp_path: Path) -> None:
    stream = read("table", papers(tmp_path / "a"), features="structure", dimensions="8")
    # In the order c, a, b, d: a and b cite c; a citing itself does not count.
    expected = structure_features(np.array([[2, 1], [0, 0]]), np.array([2000, 2001, 2001, 2002]), 8, "")
    assert np.array_equal(stream.features, expected) and expected[1].any() and not expected[0].any()
    turned = {name: values[::-1] for name, values in PAPERS.items()}
    again = read("table", papers(tmp_path / "b", rows=turned), features="structure", dimensions="8")
    assert np.array_equal(again.features, expected)
    assert "features from what each vertex cites" in stream.info.notes[0]


# dates
@KINDS
@pytest.mark.parametrize(
    "dates",
    [
        ["2001-12-31", "2001-01-01", "2000-05-06", "2002-02-03"],
        ["2001-12", "2001-01", "2000-05", "2002-02"],
        ["2001-12-31T23:00:00Z", "2001-01", "2000-05-06 10:00", "2002-02-03"],
    ],
    ids=["days", "months", "mixed"],
)
def test_dates_become_years_or_months(tmp_path: Path, kind: str, dates: list[str]) -> None:
    rows = {name: values for name, values in PAPERS.items() if name != "Year"} | {"date": dates}
    source = papers(tmp_path, kind, rows)
    assert read("table", source).born.tolist() == [2000, 2001, 2001, 2002]
    monthly = read("table", source, unit="month")
    assert monthly.born.tolist() == [12 * 2000 + 4, 12 * 2001, 12 * 2001 + 11, 12 * 2002 + 1]
    assert monthly.info.unit == "month"


def test_dates_of_parquet_become_years_or_months(tmp_path: Path) -> None:
    dates = pa.array(pd.to_datetime(["2001-12-31", "2001-01-01", "2000-05-06", "2002-02-03"]).date)
    source = papers(tmp_path, "parquet", PAPERS | {"date": dates})
    assert read("table", source, time="date").times == (2000, 2001, 2002)
    # A year cannot tell months, so the date is taken.
    assert read("table", source, unit="month").times == (24004, 24012, 24023, 24025)


def test_plain_years_cannot_be_months(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"papers.csv, row 0: 'Year' is 2001, which has no month; leave --unit month out"
    ):
        read("table", papers(tmp_path), unit="month")
    rows = PAPERS | {"Year": ["2001-05", "2001", "2000-01", "2002-01"]}
    with pytest.raises(DataError, match="row 1: 'Year' is 2001, which has no month"):
        read("table", papers(tmp_path, rows=rows), unit="month")
    assert read("table", papers(tmp_path, rows=rows)).times == (2000, 2001, 2002)


# the command
def test_the_command_says_what_it_read_ignored_and_proposes(tmp_path: Path) -> None:
    rows = PAPERS | {"topic": ["logic", "graphs", "graphs", "music"]}
    result = import_(tmp_path, papers(tmp_path / "source", rows=rows))
    assert result.exit_code == 0
    printed = [line.strip() for line in result.stdout.splitlines()]
    assert printed[1] == "ids are names, such as '10.1/c', kept beside the numbers of the vertices"
    assert printed[2].startswith("read id from 'DOI'")
    assert printed[-1].startswith(
        "t0 is not set, and runs over time need it: --t0 2001 is proposed (75% of the vertices"
    )
    assert "--t0 2001 --force" in printed[-1]
    summary = as_json(
        "data", "import", "mine", "--from", tmp_path / "source", "--data-dir", tmp_path / "data", "--force"
    )
    assert (summary["named"], summary["unknown_edges"], summary["proposed_t0"], summary["t0"]) == (True, 1, 2001, None)
    summary = as_json(
        *("data", "import", "mine", "--from", tmp_path / "source", "--data-dir", tmp_path / "data", "--force"),
        *("--t0", "auto"),
    )
    assert (summary["t0"], summary["proposed_t0"]) == (2001, None)
    shown = run("data", "describe", "mine", "--data-dir", tmp_path / "data").stdout
    assert "4 (1 isolated), with names" in shown and "ignored the column Title of papers.csv" in shown
    assert "t0 is 2001, as proposed" in shown


def test_months_are_given_and_shown_as_people_write_them(tmp_path: Path) -> None:
    rows = PAPERS | {"Year": ["2001-12", "2001-01", "2000-05", "2002-02"]}
    source = papers(tmp_path / "source", rows=rows)
    assert import_(tmp_path, source, "--unit", "month", "--t0", "2001-01").exit_code == 0
    shown = run("data", "describe", "mine", "--data-dir", tmp_path / "data").stdout
    assert "known at t0 = 2001-01" in shown
    assert [line.split()[0] for line in shown.splitlines()[-4:]] == ["2000-05", "2001-01", "2001-12", "2002-02"]
    refused = import_(tmp_path, source, "--unit", "month", "--t0", "soon", "--force")
    assert (refused.exit_code, "--t0 soon: it must be a month such as 2014-05, or 'auto'" in refused.stderr) == (
        2,
        True,
    )
    late = import_(tmp_path, source, "--unit", "month", "--t0", "2002-02", "--force")
    assert late.exit_code == 2 and "has the months 2000-05 to 2002-02" in late.stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_the_vertices_joins_answers_with_names(tmp_path: Path, suffix: str) -> None:
    import_(tmp_path, papers(tmp_path / "source"))
    path = tmp_path / f"vertices.{suffix}"
    assert run("data", "describe", "mine", "--data-dir", tmp_path / "data", "--vertices", path).exit_code == 0
    frame = pd.read_csv(path, keep_default_na=False) if suffix == "csv" else pd.read_parquet(path)
    assert frame.to_dict("list") == {
        "vertex": [0, 1, 2, 3],
        "name": ["10.1/c", "10.1/a", "10.1/b", "10.1/d"],
        "time": [2000, 2001, 2001, 2002],
        "class": ["graphs", "graphs", "logic", ""],
    }
    refused = run("data", "describe", "mine", "--data-dir", tmp_path / "data", "--vertices", tmp_path / "v.txt")
    assert refused.exit_code == 2 and "must end in .csv or .parquet" in refused.stderr


def test_the_checksum_of_numbered_vertices_is_what_it_was(tmp_path: Path) -> None:
    stream = read("table", table(tmp_path, "csv"))
    assert prefix_checksums(stream)[2001] == CHECKSUM
