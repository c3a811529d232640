from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.findings import asked, page, tested
from benchmarks.findings.tables import Tables, detector_name, made, one, per_budget
from benchmarks.findings.text import MAX_LINES, counts, table
from lgl_bench.leaderboard.table.write import write_board
from tests.support.blocks import ROOT
from tests.support.processes import run_command
