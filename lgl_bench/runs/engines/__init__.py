"""Engines: where orders are carried out. Each passes the same tests (`tests/support/engine_contract.py`)."""

from lgl_bench.runs.engines.base import Engine, Outcome, attempt, engines, start_engine

__all__ = ["Engine", "Outcome", "attempt", "engines", "start_engine"]
