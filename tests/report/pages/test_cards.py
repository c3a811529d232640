"""The cards of the first page: who leads, where there is anybody to lead."""

from __future__ import annotations

import pandas as pd

from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.pages.findings import findings
from tests.support.report_boards import board_of, year_frame

SWEPT = [f"good(odin,alpha={alpha})" for alpha in (0.0, 0.5, 1.0)]


def shown(tmp_path, *frames):
    paths = []
    for number, frame in enumerate(frames):
        paths.append(tmp_path / f"{number}.csv")
        board_of(frame).to_csv(paths[-1], index=False)
    return [(one.place.stream, one.place.values[0]) for one in findings(report_rows(read_sources(paths)))]


def test_a_sweep_of_one_detector_has_no_leader_where_detectors_meet(tmp_path):
    sweep = year_frame(streams=["mine"], detectors=["random", *SWEPT], suite="alpha")
    assert shown(tmp_path, year_frame(streams=["mine"], suite="temporal"), sweep) == [("mine", "temporal")]


def test_a_sweep_of_another_detector_on_each_backbone_has_none_either(tmp_path):
    first = year_frame(streams=["mine"], detectors=["random", *SWEPT], backbones=["gcn"], suite="alpha")
    other = [text.replace("odin", "isomax+") for text in SWEPT]
    second = year_frame(streams=["mine"], detectors=other, backbones=["graph-mlp"], suite="alpha")
    sweep = pd.concat([first, second], ignore_index=True)
    assert shown(tmp_path, year_frame(streams=["mine"], suite="temporal"), sweep) == [("mine", "temporal")]


def test_methods_with_a_backbone_each_of_their_own_meet(tmp_path):
    parts = [
        year_frame(streams=["mine"], detectors=[name], backbones=[name], suite="rivals") for name in ("gpn", "oodgat")
    ]
    rivals = pd.concat(parts, ignore_index=True)
    found = shown(tmp_path, year_frame(streams=["mine"], suite="temporal"), rivals)
    assert found == [("mine", "rivals"), ("mine", "temporal")]


def test_alone_on_its_stream_a_sweep_is_shown(tmp_path):
    sweep = year_frame(streams=["mine"], detectors=["random", *SWEPT], suite="alpha")
    assert shown(tmp_path, year_frame(streams=["other"], suite="temporal"), sweep) == [
        ("mine", "alpha"),
        ("other", "temporal"),
    ]
