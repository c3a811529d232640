"""lgl-bench: a benchmark harness for open-world lifelong graph learning."""

import os

# DGL asks for its back end, and writes to the home folder, unless this is set before its first import.
os.environ.setdefault("DGLBACKEND", "pytorch")

__version__ = "0.1.0"
