"""The same stream cut at another year is another question: its rows say so, and are not compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lgl_bench.leaderboard.compare.across import over_streams
from lgl_bench.leaderboard.compare.matching import match
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.records import StoreWarning
from lgl_bench.streams.catalogue import load, manifests
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.store import write_stream
from tests.support.boards import board, row
from tests.support.graphs import small_stream


@pytest.fixture
def two_boards(carry_out, engines, data):
    """A board of the small stream at its t0, and one at another."""
    boards = [carry_out(detectors=["msp"], seeds=1).frame]
    stream = small_stream()
    later = replace(stream, info=replace(stream.info, t0=stream.times[2]))
    assert stream_checksum(later) == stream_checksum(stream)
    write_stream(later, data / "small", force=True)
    with pytest.warns(StoreWarning, match="an earlier plan of .* is left out"):
        return [*boards, carry_out(detectors=["msp"], seeds=1).frame]


def test_rows_of_two_t0_are_not_compared(two_boards):
    a, b = two_boards
    assert set(a["protocol"]) == {"temporal(t0=1)"} and set(b["protocol"]) == {"temporal(t0=2)"}
    found = match(a, b)
    assert found.pairs.empty and len(found.refused) == len(b)
    assert set(found.refused["why"]) == {"protocol temporal(t0=1) against temporal(t0=2)"}


def test_the_t0_of_a_manifest_goes_without_saying():
    cut = {name: manifest.t0 for name, manifest in manifests().items() if manifest.t0 is not None}
    twins = {"dblp-easy-twin": load("dblp-easy-twin").info.t0, "dblp-easy-twin(seed=3)": cut["dblp-easy"]}
    plan = Plan(None, None, 1, t0s=cut | twins)
    assert {plan.shown_protocol(stream, "temporal", "temporal") for stream in plan.t0s} == {"temporal"}
    plan.t0s = {"dblp-easy": 2010}
    assert plan.shown_protocol("dblp-easy", "temporal", "temporal") == "temporal(t0=2010)"
    assert plan.shown_protocol("dblp-easy", "leave-class-out", "60-20-20") == "leave-class-out"


def test_streams_are_ranked_over_whatever_their_t0():
    rows = board(row(stream="a", protocol="temporal(t0=3)"), row(stream="b", protocol="temporal(t0=5)"))
    (found,) = over_streams(rows.assign(method="msp", value=rows["auroc_weighted_mean"]))
    assert sorted(found.table.index) == ["a", "b"]
