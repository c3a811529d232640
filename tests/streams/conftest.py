"""Property tests share two busy cores with whatever else runs: how long one example takes says nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("streams", deadline=None)
settings.load_profile("streams")
