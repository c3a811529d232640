from __future__ import annotations

import contextlib
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pooch
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.streams.download import resume
from tests.support.download_server import (
    BODY,
    CHUNK,
    DROPPED,
    ETAG,
    OTHER,
    SHA,
    STOP,
    WHOLE,
    Reply,
    Seen,
    Server,
    assert_whole,
    get,
    leave_part,
)


def start_of(seen: Seen) -> int:
    assert seen.range is not None
    return int(seen.range.removeprefix("bytes=").removesuffix("-"))


def test_a_dropped_connection_is_resumed_where_it_stopped(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", DROPPED, WHOLE))
    assert_whole(tmp_path)
    first, second = server.seen
    assert (first.range, first.if_range, second.if_range) == (None, None, '"one"')
    # at most one unfinished chunk is asked for again
    assert STOP - CHUNK < start_of(second) <= STOP
    assert second.sent == len(BODY) - start_of(second)


def test_a_connection_that_drops_again_and_again_goes_on_each_time(server: Server, tmp_path: Path) -> None:
    stops = [CHUNK, 2 * CHUNK, 3 * CHUNK]
    get(tmp_path, server.url("a", *(replace(WHOLE, stop_after=stop) for stop in stops), WHOLE))
    assert_whole(tmp_path)
    assert [start_of(seen) for seen in server.seen[1:]] == stops
    assert sum(seen.sent for seen in server.seen) == len(BODY)


def test_a_connection_that_ends_before_the_answer_is_tried_again(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", DROPPED, replace(WHOLE, hangs_up=True), WHOLE))
    assert_whole(tmp_path)
    assert start_of(server.seen[2]) == start_of(server.seen[1]) > 0


def test_a_server_that_sends_less_than_the_range_asked_for_is_asked_for_the_rest(
    server: Server, tmp_path: Path
) -> None:
    get(tmp_path, server.url("a", replace(WHOLE, stop_after=CHUNK), replace(WHOLE, at_most=1000), WHOLE))
    assert_whole(tmp_path)
    assert [start_of(seen) for seen in server.seen[1:]] == [CHUNK, CHUNK + 1000]


def test_a_file_told_by_its_date_alone_is_resumed_with_the_date(server: Server, tmp_path: Path) -> None:
    date = "Wed, 01 Jan 2020 00:00:00 GMT"
    headers = {"Last-Modified": date}
    get(tmp_path, server.url("a", Reply(headers=headers, stop_after=STOP), Reply(headers=headers)), sha256=SHA)
    assert_whole(tmp_path)
    assert server.seen[1].if_range == date
    assert start_of(server.seen[1]) > 0


def test_a_server_that_stalls_is_resumed_after_the_timeout(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", replace(DROPPED, stall=1.0), WHOLE), timeout=0.2)
    assert_whole(tmp_path)
    assert start_of(server.seen[1]) > 0


def test_a_body_in_chunks_that_breaks_off_is_resumed(server: Server, tmp_path: Path) -> None:
    framed = b"%x\r\n%s\r\n" % (STOP, BODY[:STOP])  # the closing frame is missing
    url = server.url("a", Reply(body=framed, headers=ETAG | {"Transfer-Encoding": "chunked"}), WHOLE)
    server.http.RequestHandlerClass.protocol_version = "HTTP/1.1"  # type: ignore[attr-defined]
    get(tmp_path, url)
    assert_whole(tmp_path)
    assert start_of(server.seen[1]) > 0


def test_a_server_that_ignores_ranges_is_read_from_the_start(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", DROPPED, replace(WHOLE, ranges=False)))
    assert_whole(tmp_path)
    assert start_of(server.seen[1]) > 0
    assert server.seen[1].sent == len(BODY)


@pytest.mark.parametrize("obeys", [True, False])
@pytest.mark.filterwarnings("ignore::lgl_bench.core.errors.LglBenchWarning")
def test_a_file_that_changes_during_the_download_is_started_over(server: Server, tmp_path: Path, obeys: bool) -> None:
    changed = Reply(body=OTHER, headers={"ETag": '"two"'}, obeys_if_range=obeys)
    # without a checksum only the version tells the two files apart
    get(tmp_path, server.url("a", DROPPED, changed), sha256=None)
    assert_whole(tmp_path, OTHER)
    assert start_of(server.seen[1]) > 0
    assert server.seen[-1].sent == len(OTHER)


@pytest.mark.filterwarnings("ignore::lgl_bench.core.errors.LglBenchWarning")
@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"weak"'}])
def test_with_neither_version_nor_checksum_a_dropped_file_is_started_over(
    server: Server, tmp_path: Path, headers: dict[str, str]
) -> None:
    changed = Reply(body=OTHER, headers=headers, obeys_if_range=False)
    get(tmp_path, server.url("a", Reply(headers=headers, stop_after=STOP), changed), sha256=None)
    assert_whole(tmp_path, OTHER)
    assert [seen.range for seen in server.seen] == [None, None]


def test_with_a_checksum_a_file_without_a_version_is_resumed(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", Reply(stop_after=STOP), Reply()))
    assert_whole(tmp_path)
    assert start_of(server.seen[1]) > 0
    assert server.seen[1].if_range is None


def test_a_range_that_starts_elsewhere_is_never_appended(server: Server, tmp_path: Path) -> None:
    elsewhere = Reply(headers=ETAG | {"Content-Range": f"bytes 5-{len(BODY) - 1}/{len(BODY)}"})
    get(tmp_path, server.url("a", DROPPED, elsewhere, WHOLE))
    assert_whole(tmp_path)
    assert [bool(seen.range) for seen in server.seen] == [False, True, False]


def test_a_later_call_resumes_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    url = server.url("a", DROPPED)
    with pytest.raises(DataError):
        get(tmp_path, url, retries=0)
    assert not (tmp_path / "data.zip").exists()
    server.url("a", WHOLE)
    get(tmp_path, url)
    assert_whole(tmp_path)
    assert start_of(server.seen[1]) > 0
    assert server.seen[1].if_range == '"one"'


@pytest.mark.parametrize("note", ["", "{", "[]", "3", '{"url": 1}', None])
def test_a_partial_file_of_unknown_origin_is_not_built_on(server: Server, tmp_path: Path, note: str | None) -> None:
    (tmp_path / ".data.zip.part").write_bytes(OTHER[:STOP])
    if note is not None:
        (tmp_path / ".data.zip.part.json").write_text(note)
    get(tmp_path, server.url("a", WHOLE))
    assert_whole(tmp_path)
    assert server.seen[0].range is None


def test_a_partial_file_that_is_whole_already_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    url = server.url("a", WHOLE)
    leave_part(tmp_path, url, BODY)
    get(tmp_path, url)
    assert_whole(tmp_path)
    assert [seen.range for seen in server.seen] == [f"bytes={len(BODY)}-"]


def test_a_partial_file_longer_than_the_file_is_started_over(server: Server, tmp_path: Path) -> None:
    url = server.url("a", WHOLE)
    leave_part(tmp_path, url, BODY + b"too much")
    get(tmp_path, url)
    assert_whole(tmp_path)
    assert [bool(seen.range) for seen in server.seen] == [True, False]


def test_an_interrupt_leaves_the_partial_file_for_later(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        if seconds:
            raise KeyboardInterrupt

    url = server.url("a", DROPPED, WHOLE)
    with monkeypatch.context() as patch:
        patch.setattr(resume.time, "sleep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            get(tmp_path, url, pause=1)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".data.zip.part", ".data.zip.part.json"]
    get(tmp_path, url)
    assert_whole(tmp_path)
    assert start_of(server.seen[1]) > 0


def test_retries_end_and_wait_longer_each_time(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    url = server.url("a", replace(DROPPED, stop_after=0))
    monkeypatch.setattr(resume.time, "sleep", waits.append)
    with pytest.raises(DataError, match="tried 4 times"):
        get(tmp_path, url, retries=3, pause=0.5)
    # the server's thread sleeps too, for its stall of zero seconds
    assert [wait for wait in waits if wait] == [0.5, 1.0, 1.5]
    assert len(server.seen) == 4


def test_a_503_is_retried_on_the_same_mirror(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", Reply(status=503), Reply(status=503), WHOLE), server.url("b", WHOLE))
    assert_whole(tmp_path)
    assert [seen.path for seen in server.seen] == ["/a", "/a", "/a"]


def test_a_503_in_the_midst_keeps_what_was_there(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", DROPPED, Reply(status=503), WHOLE))
    assert_whole(tmp_path)
    assert start_of(server.seen[2]) > 0


def test_nothing_is_printed_where_there_is_no_terminal(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    handler = pooch.get_logger().handlers[0]
    stream, handler.stream = handler.stream, sys.stderr
    try:
        get(tmp_path, server.url("a", WHOLE), progress=True)
    finally:
        handler.stream = stream
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("progress", [True, False])
def test_a_terminal_shows_a_bar_with_the_name_unless_told_not_to(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    progress: bool,
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    get(tmp_path, server.url("a", WHOLE), progress=progress)
    assert ("data.zip" in capsys.readouterr().err) is progress


def test_the_servers_own_bytes_are_kept_whatever_encoding_it_claims(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", Reply(headers=ETAG | {"Content-Encoding": "gzip"})))
    assert_whole(tmp_path)


def test_a_file_longer_than_allowed_is_refused_before_a_byte_is_kept(server: Server, tmp_path: Path) -> None:
    url = server.url("a", WHOLE)
    with pytest.raises(DataError, match=f"the file has {len(BODY):,} bytes, and 100,000 are allowed"):
        get(tmp_path, url, max_bytes=100_000)
    assert not list(tmp_path.iterdir())


def test_a_file_that_does_not_say_its_length_is_cut_off_at_the_limit(server: Server, tmp_path: Path) -> None:
    chunks = b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (BODY, BODY, b""))
    url = server.url("a", Reply(body=chunks, headers={"Transfer-Encoding": "chunked"}))
    with pytest.raises(DataError, match="it sends more than the 400,000 bytes that are allowed"):
        get(tmp_path, url, max_bytes=400_000)
    assert not list(tmp_path.iterdir())


def test_a_server_that_sends_a_byte_now_and_then_does_not_hold_up_a_download_for_ever(tmp_path: Path) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            self.send_response(200)
            self.send_header("Content-Length", str(len(BODY)))
            self.end_headers()
            with contextlib.suppress(OSError):
                for byte in BODY[:200]:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(0.05)

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    began = time.monotonic()
    with pytest.raises(DataError, match="it did not come within the 1 seconds that are allowed"):
        get(tmp_path, f"http://127.0.0.1:{http.server_port}/a", timeout=30.0, deadline=1.0)
    http.shutdown()
    assert time.monotonic() - began < 8
