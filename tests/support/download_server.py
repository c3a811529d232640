"""A server that answers by script, and what is asked of it."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from lgl_bench.streams.download.fetch import Download, fetch

CHUNK = 1 << 16


BODY = random.Random(1).randbytes(5 * CHUNK + 17)


OTHER = random.Random(2).randbytes(len(BODY))


SHA = hashlib.sha256(BODY).hexdigest()


STOP = 2 * CHUNK + 100


@dataclass(frozen=True)
class Reply:
    """How the server answers one request."""

    body: bytes = BODY
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    obeys_if_range: bool = True
    stop_after: int | None = None
    stall: float = 0.0
    hangs_up: bool = False
    at_most: int | None = None


@dataclass(frozen=True)
class Seen:
    """What a request asked for and how many bytes of body it was sent."""

    path: str
    range: str | None
    if_range: str | None
    sent: int


class Server:
    """Answers by script: each path has a list of replies, the last of which stays."""

    def __init__(self) -> None:
        self.script: dict[str, list[Reply]] = {}
        self.seen: list[Seen] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                outer.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def url(self, path: str, *replies: Reply) -> str:
        self.script[f"/{path}"] = list(replies)
        return f"http://127.0.0.1:{self.http.server_port}/{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        replies = self.script[request.path]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        wanted, if_range = request.headers["Range"], request.headers["If-Range"]
        if reply.hangs_up:
            self.seen.append(Seen(request.path, wanted, if_range, 0))
            request.close_connection = True
            return
        status, headers, start = reply.status, dict(reply.headers), 0
        version = headers.get("ETag", headers.get("Last-Modified"))
        fresh = if_range is None or if_range == version or not reply.obeys_if_range
        if wanted and reply.ranges and status == 200 and fresh:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            end = len(reply.body) if reply.at_most is None else start + reply.at_most
            status, span = 206, f"bytes {start}-{end - 1}/{len(reply.body)}"
            if start >= len(reply.body):
                status, span = 416, f"bytes */{len(reply.body)}"
            headers.setdefault("Content-Range", span)
            headers["Content-Length"] = str(end - start if status == 206 else len(b"sorry"))
        body = reply.body[start:] if status in (200, 206) else b"sorry"
        body = body[: int(headers.get("Content-Length", len(body)))]
        sent = body if reply.stop_after is None else body[: max(reply.stop_after - start, 0)]
        self.seen.append(Seen(request.path, wanted, if_range, len(sent)))
        request.send_response(status)
        if "Transfer-Encoding" not in headers:
            headers.setdefault("Content-Length", str(len(body)))
        for key, value in headers.items():
            request.send_header(key, value)
        request.end_headers()
        request.wfile.write(sent)
        request.wfile.flush()
        time.sleep(reply.stall)
        request.close_connection = True


def get(folder: Path, *urls: str, sha256: str | None = SHA, retries: int = 3, **options: Any) -> Path:
    options = {"pause": 0, "timeout": 5, **options}
    return fetch(Download("data.zip", urls, sha256), folder, retries=retries, **options)


def assert_whole(folder: Path, body: bytes = BODY) -> None:
    """The file is right and the only one in its folder."""
    assert (folder / "data.zip").read_bytes() == body
    assert [file.name for file in folder.iterdir()] == ["data.zip"]


ETAG = {"ETag": '"one"'}


DROPPED = Reply(headers=ETAG, stop_after=STOP)


WHOLE = Reply(headers=ETAG)


def leave_part(folder: Path, url: str, content: bytes) -> None:
    (folder / ".data.zip.part").write_bytes(content)
    (folder / ".data.zip.part.json").write_text(json.dumps({"url": url, "version": '"one"'}))
