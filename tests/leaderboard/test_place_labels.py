from __future__ import annotations

from lgl_bench.leaderboard.place_labels import place_labels
from lgl_bench.leaderboard.table.schema import PLACE
from tests.support.boards import ABOUT


def place(**changes: object) -> tuple[str, ...]:
    return tuple(str((ABOUT | changes)[name]) for name in PLACE)


def test_a_place_is_called_by_its_stream_and_what_distinguishes_it_there():
    found = place_labels([place(), place(budget="paper", budget_version=1), place(stream="other")])
    assert list(found.values()) == [
        "dblp-easy · budget quick · budget version 2",
        "dblp-easy · budget paper · budget version 1",
        "other",
    ]


def test_of_a_checksum_the_beginning_is_shown():
    first, _ = place_labels([place(), place(stream_checksum="d" * 64)]).values()
    assert first == "dblp-easy · stream checksum cccccccccccc"
