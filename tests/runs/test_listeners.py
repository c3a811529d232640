from __future__ import annotations

import json
import sys

import pytest

import lgl_bench
from lgl_bench.core.errors import UsageError
from lgl_bench.runs.listeners import JsonLog, TensorBoardLog, all_of

SMALL = {"budget": "smoke", "seeds": 1, "backbones": ["gcn"], "detectors": ["msp"], "thresholds": ["none"]}


def test_a_run_tells_all_its_listeners_and_tensorboard_shows_every_fit(tmp_path):
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = []
    with JsonLog(tmp_path / "log.jsonl") as log, TensorBoardLog(tmp_path / "board") as board:
        listener = all_of(events.append, log.listen, board.listen)
        lgl_bench.run("smoke", out=tmp_path / "run", listener=listener, **SMALL)
    done = [event for event in events if event.kind == "done"]
    assert done and [event.done for event in done] == list(range(1, done[-1].total + 1))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [{key: line[key] for key in line if key != "at"} for line in lines] == [event.record() for event in events]
    found = EventAccumulator(str(tmp_path / "board"))
    found.Reload()
    assert [point.value for point in found.Scalars("run/done")] == [event.done for event in done]
    seconds = found.Scalars("seconds/dblp-easy-twin/gcn/softmax/seed 0")
    assert [point.step for point in seconds] == [event.unit.time for event in done]
    assert [point.value for point in seconds] == pytest.approx([event.seconds for event in done])
    assert any(tag.startswith("best/dblp-easy-twin") for tag in found.Tags()["tensors"])


def test_without_tensorboard_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(UsageError, match=r"pip install 'lgl-bench\[tensorboard\]'"), TensorBoardLog(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match="file/board for TensorBoard cannot be written"),
        TensorBoardLog(tmp_path / "file" / "board"),
    ):
        pass
