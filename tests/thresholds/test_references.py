import numpy as np

from lgl_bench.core.expressions import build, parse
from lgl_bench.core.references import ORACLE, REFERENCE_THRESHOLDS
from lgl_bench.core.types import Scores
from lgl_bench.thresholds import thresholds
from tests.support.graphs import graph


def test_never_rejects_nobody_and_always_everybody():
    whole = graph([], np.eye(3, dtype=np.float32))
    scores = Scores(np.array([0.1, 0.9, 0.5]), np.full((3, 2), 0.5), whole, np.array([0, 2]))
    assert build(parse("never"), thresholds).reject(scores).tolist() == [False, False]
    assert build(parse("always"), thresholds).reject(scores).tolist() == [True, True]


def test_the_names_every_board_shows_are_registered():
    assert {*REFERENCE_THRESHOLDS, ORACLE} <= set(thresholds.names())
