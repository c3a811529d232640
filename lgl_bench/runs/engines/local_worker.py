"""A worker process of the pool: orders in, results out, until the process that started it is gone.

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

from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.engines.base import attempt
from lgl_bench.runs.engines.local import POLL
from lgl_bench.runs.isolation.processes import Conditions, Isolation
from lgl_bench.runs.isolation.requests import warm_up
from lgl_bench.runs.orders import Order


def main(channel: int) -> None:
    """Serves the other end of a connection until it is closed; the first thing sent are the conditions of plugins."""
    connection = Connection(channel)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the driver decides what it means
    conditions: Conditions = connection.recv()
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    # The driver may be killed in the middle of an order: a thread sees the end of the connection at once.
    threading.Thread(target=_receive, args=(connection, orders), daemon=True).start()
    isolation = Isolation(conditions, lambda waiting: _send(connection, "away", waiting))
    tasks = TaskCache()  # of the one run that this process works for
    warm_up()
    _send(connection, "ready", None)
    while True:
        order = orders.get()
        _send(connection, "done", attempt(order, tasks, _epoch_sender(connection), isolation))


def _receive(connection: Connection, orders: queue.SimpleQueue[Order]) -> None:
    try:
        while True:
            orders.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def _send(connection: Connection, kind: str, content: object) -> None:
    try:
        connection.send((kind, content))
    except OSError:
        os._exit(0)


def _epoch_sender(connection: Connection) -> Callable[[int, float], None]:
    """Sends the number of the epoch, no more often than anybody could read it."""
    last = time.monotonic()

    def send(epoch: int, loss: float) -> None:
        nonlocal last
        if time.monotonic() - last > POLL:
            last = time.monotonic()
            _send(connection, "epoch", epoch)

    return send
