from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.protocols import protocols
from lgl_bench.streams import catalogue
from lgl_bench.streams.start import propose_start, start_note, with_t0
from lgl_bench.streams.stream import Stream, StreamInfo, assemble


def stream(years: dict[int, str], unit: str = "year") -> Stream:
    """Years, and the classes of their vertices, a letter each."""
    born = np.array([year for year, classes in years.items() for _ in classes])
    labels = np.array(["abcdef".find(letter) for classes in years.values() for letter in classes])
    info = StreamInfo("mine", class_names=tuple("abcdef"), unit=unit)
    n = len(born)
    return assemble(info, np.arange(n), born, labels, np.ones((n, 1), np.float32), np.zeros((2, 0), np.int64))


@pytest.mark.parametrize(
    ("years", "t0"),
    [
        # 2 of 12 vertices, then 3 of 12: a quarter.
        ({2000: "ab", 2001: "a", 2002: "bbbb", 2003: "abc", 2004: "ab"}, 2001),
        # A quarter is there at once, but only one class.
        ({2000: "aaaa", 2001: "ab", 2002: "ac"}, 2001),
        # A quarter is there only after the last class is born: the last year that leaves one.
        ({2000: "ab", 2001: "c", 2002: "aaaaaaaaaaaa", 2003: "a"}, 2000),
        # No class is ever born later: a quarter of the vertices.
        ({2000: "ab", 2001: "ab", 2002: "abababab"}, 2001),
        # The last year can be no t0, and vertices without a class make none.
        ({2000: "a-", 2001: "ab"}, None),
        ({2000: "ab"}, None),
    ],
)
def test_the_proposed_start_has_a_quarter_of_the_vertices_and_leaves_a_class_to_be_born(years, t0):
    found = propose_start(stream(years))
    assert (found.t0 if found else None) == t0


def test_the_reason_counts_what_is_there():
    start = propose_start(stream({2000: "ab", 2001: "a", 2002: "bbbb", 2003: "abc", 2004: "ab"}))
    assert start.reason == ("25% of the vertices and 2 of 3 classes are there by then, and 1 class born later")


def test_auto_sets_what_is_proposed_and_says_so():
    own = with_t0(stream({2000: "ab", 2001: "abc", 2002: "ab"}), "auto")
    assert own.info.t0 == 2000 and own.info.notes[0].startswith("t0 is 2000, as proposed: ")
    assert start_note(own) == ""
    with pytest.raises(UsageError, match="no t0 can be proposed for mine: at no time before the last are there two"):
        with_t0(stream({2000: "a", 2001: "b"}), "auto")


def test_without_a_t0_the_note_and_the_protocol_name_the_proposed_one():
    months = stream({24000: "ab", 24001: "abc", 24002: "ab"}, unit="month")
    assert "--t0 2000-01 is proposed" in start_note(months) and "--t0 auto" in start_note(months)
    with pytest.raises(UsageError, match="import it with --t0 2000-01, or"):
        next(protocols.get("temporal")().tasks(months, 0))
    assert start_note(stream({2000: "ab"})) == ""


def test_what_is_proposed_for_the_twins_leaves_new_classes_as_their_own_t0_does():
    for name in ("dblp-easy-twin", "dblp-hard-twin", "ogb-arxiv-twin"):
        twin = catalogue.twin(name)
        start = propose_start(twin)
        births = twin.class_births().values()
        assert sum(year <= start.t0 for year in births) >= 2
        assert any(year > start.t0 for year in births)
