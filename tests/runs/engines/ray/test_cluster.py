"""Addresses that lead to no Ray cluster."""

from __future__ import annotations

import socket
import sys
import time

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.runs.engines.ray import cluster as ray_cluster
from lgl_bench.runs.engines.ray.engine import RayEngine
from tests.support.ray_machines import free_port, needs_ray

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:ray")


@needs_ray
def test_addresses_that_lead_to_no_cluster_are_refused_at_once():
    for address, message in (
        (f"127.0.0.1:{free_port()}", "no Ray cluster answers at 127.0.0.1:"),
        ("ray://127.0.0.1:10001", "start the run on a machine of the cluster"),
        ("somewhere", "an address is HOST:PORT"),
    ):
        start = time.monotonic()
        with pytest.raises(UsageError, match=message):
            RayEngine({}, address)
        assert time.monotonic() - start < 20


@needs_ray
def test_what_accepts_connections_but_is_no_ray_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(ray_cluster, "JOIN_TIMEOUT", 0.2)
    monkeypatch.setattr("ray.init", lambda **options: time.sleep(30))
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(UsageError, match="no Ray cluster spoke"):
        RayEngine({}, f"127.0.0.1:{other.getsockname()[1]}")


@needs_ray
def test_a_cluster_that_asks_for_a_token_is_told_apart(monkeypatch):
    def init(**options):
        raise ConnectionError("no luck") from RuntimeError("last error: ray.exceptions.AuthenticationError: RPC error")

    monkeypatch.setattr("ray.init", init)
    with pytest.raises(UsageError, match="asks for a token; set RAY_AUTH_MODE=token"):
        RayEngine({}, "auto")


def test_without_ray_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'lgl-bench\[ray\]'"):
        RayEngine({})
