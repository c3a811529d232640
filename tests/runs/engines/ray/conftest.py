from __future__ import annotations

import secrets

import pytest


@pytest.fixture(scope="module", autouse=True)
def surroundings():
    """A token for the clusters of these tests alone: nobody else can join them, and no one's own token is touched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
        patch.delenv("RAY_ADDRESS", raising=False)
        # Ray gives its workers the lowest priority but four; beside other tests they would starve.
        patch.setenv("RAY_worker_niceness", "0")
        yield
