from __future__ import annotations

import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.boards import open_board
from tests.support.boards import (
    growing_stream,
    made_up_run,
)


def test_a_run_of_which_nothing_has_ended_is_refused(tmp_path):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"x": 0.5}, seeds=0)
    with pytest.raises(DataError, match="has no rows yet"):
        open_board(folder)
