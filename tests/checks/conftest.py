from __future__ import annotations

import pytest

from lgl_bench.checks import check_plugin


@pytest.fixture
def check():
    """Registers a plugin, checks it, and takes it away again: what failed, by check."""

    def run(registry, kind, plugin):
        with registry.temporarily():
            registry.register("broken")(plugin)
            results = check_plugin(kind, "broken")
        return {result.check: result.reason for result in results if result.status == "failed"}

    return run
