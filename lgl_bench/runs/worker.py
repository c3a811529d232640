"""A worker process of the pool: orders in, results out, until the driver is gone.

It sends `ready`, then per order the `epoch` now and then, `away` while a plugin's own process works, and at last `done`
with a `Done` or the reason why not. It reads no plugin file but those of protocols.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from lgl_bench.runs.execute import Order
from lgl_bench.runs.isolation import Conditions, Isolation
from lgl_bench.runs.pool import POLL, attempt
from lgl_bench.runs.requests import warm_up


def main(channel: int) -> None:
    """Serves the other end of a connection until it is closed; the first thing sent are the conditions of plugins."""
    connection = Connection(channel)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the driver decides what it means
    conditions: Conditions = connection.recv()
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    # The driver may be killed in the middle of an order: a thread sees the end of the connection at once.
    threading.Thread(target=_receive, args=(connection, orders), daemon=True).start()
    isolation = Isolation(conditions, lambda waiting: _send(connection, "away", waiting))
    warm_up()
    _send(connection, "ready", None)
    while True:
        order = orders.get()
        _send(connection, "done", attempt(order, _teller(connection), isolation))


def _receive(connection: Any, orders: queue.SimpleQueue[Order]) -> None:
    try:
        while True:
            orders.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def _send(connection: Any, kind: str, content: object) -> None:
    try:
        connection.send((kind, content))
    except OSError:
        os._exit(0)


def _teller(connection: Any) -> Callable[[int, float], None]:
    """Sends the number of the epoch, not more often than anybody could read it."""
    last = time.monotonic()

    def tell(epoch: int, loss: float) -> None:
        nonlocal last
        if time.monotonic() - last > POLL:
            last = time.monotonic()
            _send(connection, "epoch", epoch)

    return tell
