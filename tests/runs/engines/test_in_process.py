"""The engine of one job keeps the contract."""

from __future__ import annotations

from lgl_bench.runs.options import IN_PROCESS
from tests.support.engine_contract import EngineContract


class TestEngine(EngineContract):
    settings = {"engine": IN_PROCESS}
