"""DGL cannot be imported: as if it were not installed."""

from __future__ import annotations

import sys

sys.modules["dgl"] = None  # type: ignore[assignment]
