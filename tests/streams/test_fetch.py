from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import random
import stat
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import pooch
import pytest
import requests

from lgl_bench.core.errors import DataError, LglBenchWarning
from lgl_bench.streams import resume
from lgl_bench.streams.catalogue import manifests
from lgl_bench.streams.fetch import Download, fetch

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


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def get(folder: Path, *urls: str, sha256: str | None = SHA, retries: int = 3, **options: Any) -> Path:
    options = {"pause": 0, "timeout": 5, **options}
    return fetch(Download("data.zip", urls, sha256), folder, retries=retries, **options)


def start_of(seen: Seen) -> int:
    assert seen.range is not None
    return int(seen.range.removeprefix("bytes=").removesuffix("-"))


def assert_whole(folder: Path, body: bytes = BODY) -> None:
    """The file is right and the only one in its folder."""
    assert (folder / "data.zip").read_bytes() == body
    assert [file.name for file in folder.iterdir()] == ["data.zip"]


ETAG = {"ETag": '"one"'}
DROPPED = Reply(headers=ETAG, stop_after=STOP)
WHOLE = Reply(headers=ETAG)


def test_a_file_is_downloaded_checked_and_readable_by_others(server: Server, tmp_path: Path) -> None:
    path = get(tmp_path / "deep", server.url("a", WHOLE))
    assert path == tmp_path / "deep" / "data.zip"
    assert_whole(tmp_path / "deep")
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_file_that_is_there_and_right_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    url = server.url("a", WHOLE)
    get(tmp_path, url)
    assert get(tmp_path, url) == get(tmp_path, url, sha256=SHA.upper(), offline=True)
    assert len(server.seen) == 1


def test_a_file_without_a_known_checksum_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(b"whatever")
    assert get(tmp_path, sha256=None).read_bytes() == b"whatever"


def test_a_file_that_is_there_but_wrong_is_downloaded_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(OTHER)
    get(tmp_path, server.url("a", WHOLE))
    assert_whole(tmp_path)


def test_offline_a_wrong_file_is_an_error_with_both_checksums(tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(OTHER)
    with pytest.raises(DataError, match="delete it") as caught:
        get(tmp_path, offline=True)
    assert SHA in str(caught.value)
    assert hashlib.sha256(OTHER).hexdigest() in str(caught.value)
    assert (tmp_path / "data.zip").read_bytes() == OTHER


def test_offline_a_missing_file_is_an_error_and_no_request_is_made(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing.*offline.*lgl-bench data import NAME --from PATH") as caught:
        get(tmp_path / "none", server.url("a", WHOLE), offline=True)
    assert caught.value.exit_code == 3
    assert not server.seen
    assert not (tmp_path / "none").exists()


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


def leave_part(folder: Path, url: str, content: bytes) -> None:
    (folder / ".data.zip.part").write_bytes(content)
    (folder / ".data.zip.part.json").write_text(json.dumps({"url": url, "version": '"one"'}))


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


def test_mirrors_are_tried_in_order_and_a_404_is_not_retried(server: Server, tmp_path: Path) -> None:
    gone, good, spare = server.url("a", Reply(status=404)), server.url("b", WHOLE), server.url("c", WHOLE)
    get(tmp_path, gone, good, spare)
    assert_whole(tmp_path)
    assert [seen.path for seen in server.seen] == ["/a", "/b"]


def test_a_503_is_retried_on_the_same_mirror(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", Reply(status=503), Reply(status=503), WHOLE), server.url("b", WHOLE))
    assert_whole(tmp_path)
    assert [seen.path for seen in server.seen] == ["/a", "/a", "/a"]


def test_a_503_in_the_midst_keeps_what_was_there(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", DROPPED, Reply(status=503), WHOLE))
    assert_whole(tmp_path)
    assert start_of(server.seen[2]) > 0


def test_wrong_bytes_are_thrown_away_and_the_next_mirror_is_asked(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", Reply(body=OTHER, headers=ETAG)), server.url("b", WHOLE))
    assert_whole(tmp_path)
    assert [(seen.path, seen.range) for seen in server.seen] == [("/a", None), ("/b", None)]


def test_bytes_of_one_mirror_are_not_continued_from_another(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.url("a", replace(DROPPED, body=OTHER)), server.url("b", WHOLE), retries=0)
    assert_whole(tmp_path)
    assert [(seen.path, seen.range) for seen in server.seen] == [("/a", None), ("/b", None)]


def test_when_no_mirror_works_each_is_listed_with_its_reason(server: Server, tmp_path: Path) -> None:
    gone, wrong = server.url("gone", Reply(status=404)), server.url("wrong", Reply(body=OTHER))
    short = server.url("short", DROPPED)
    with pytest.raises(DataError) as caught:
        get(tmp_path, gone, wrong, short, "http://127.0.0.1:1/refused", "nonsense")
    message = str(caught.value)
    assert f"{gone}: HTTP 404" in message
    assert f"{wrong}: SHA256 hash" in message
    assert hashlib.sha256(OTHER).hexdigest() in message
    assert f"{short}: " in message
    assert "http://127.0.0.1:1/refused: " in message
    assert "nonsense: " in message
    assert f"place the file at {tmp_path / 'data.zip'} by hand" in message
    assert "lgl-bench data import NAME --from PATH" in message
    assert caught.value.exit_code == 3
    assert not (tmp_path / "data.zip").exists()


def test_a_download_without_mirrors_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no address is known"):
        get(tmp_path)


def test_the_final_name_never_holds_half_a_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: set[int | None] = set()
    stream = resume.Resuming._receive

    def watching(*arguments: Any) -> None:
        target = tmp_path / "data.zip"
        sizes.add(target.stat().st_size if target.exists() else None)
        try:
            stream(*arguments)
        finally:
            sizes.add(target.stat().st_size if target.exists() else None)

    monkeypatch.setattr(resume.Resuming, "_receive", watching)
    get(tmp_path, server.url("a", DROPPED, WHOLE))
    assert sizes == {None}


def test_a_folder_that_cannot_be_made_is_a_data_error(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=f"{tmp_path / 'file'}.*(Not a directory|File exists)"):
        get(tmp_path / "file", server.url("a", WHOLE))
    assert not server.seen


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_or_a_missing_permission_is_not_retried_on_mirrors(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path_open = Path.open

    def failing(self: Path, mode: str = "r", *arguments: Any, **options: Any) -> IO[Any]:
        if self.name == ".data.zip.part":
            raise OSError(code, "the disk says no", str(self))
        return path_open(self, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", failing)
    with pytest.raises(DataError, match=r"\.data\.zip\.part: the disk says no"):
        get(tmp_path, server.url("a", WHOLE), server.url("b", WHOLE))
    assert [seen.path for seen in server.seen] == ["/a"]
    assert not (tmp_path / "data.zip").exists()


def test_bytes_that_nobody_can_verify_are_warned_about_with_their_checksum(server: Server, tmp_path: Path) -> None:
    with pytest.warns(LglBenchWarning, match=f"could not be verified.*{SHA}"):
        get(tmp_path, server.url("a", WHOLE), sha256=None)
    assert_whole(tmp_path)


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


DOI = "doi:10.5281/zenodo.3764770/data.zip"


@pytest.fixture
def zenodo(monkeypatch: pytest.MonkeyPatch, server: Server) -> dict[str, Any]:
    """A record that can be changed, behind pooch's own names."""
    record: dict[str, Any] = {"body": BODY, "files": {"data.zip": f"md5:{hashlib.md5(BODY).hexdigest()}"}}

    def load(self: Any) -> None:
        assert self.base_url == "doi:10.5281/zenodo.3764770"
        if isinstance(record["files"], Exception):
            raise record["files"]
        self.registry.update(record["files"])

    class Repository:
        def download_url(self, name: str) -> str:
            assert name == "data.zip"
            return server.url("zenodo", Reply(body=record["body"]))

    def resolve(doi: str) -> Repository:
        assert doi == "10.5281/zenodo.3764770"
        if isinstance(record["body"], Exception):
            raise record["body"]
        return Repository()

    monkeypatch.setattr(pooch.Pooch, "load_registry_from_doi", load)
    monkeypatch.setattr("lgl_bench.streams.fetch.doi_to_repository", resolve)
    return record


def test_a_doi_is_resolved_and_held_against_the_published_checksum(zenodo: dict[str, Any], tmp_path: Path) -> None:
    leave_part(tmp_path, "http://127.0.0.1:1/another", OTHER[:STOP])
    path = get(tmp_path, DOI, sha256=None)
    assert_whole(tmp_path)
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_wrong_bytes_behind_a_doi_are_that_mirrors_failure(
    zenodo: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    zenodo["body"] = OTHER
    with pytest.raises(DataError, match=f"{DOI}: MD5 hash"):
        get(tmp_path, DOI, sha256=None)
    assert not list(tmp_path.iterdir())
    get(tmp_path, DOI, server.url("a", WHOLE))
    assert_whole(tmp_path)


@pytest.mark.parametrize("raised", [OSError("no route"), KeyError("no route"), ValueError("no route")])
def test_a_record_that_cannot_be_read_is_that_mirrors_failure(
    zenodo: dict[str, Any], tmp_path: Path, raised: Exception
) -> None:
    zenodo["files"] = raised
    with pytest.raises(DataError, match=f"{DOI}: its record could not be read.*no route"):
        get(tmp_path, DOI, sha256=None)


@pytest.mark.parametrize("raised", [requests.ConnectionError("no route"), KeyError("no route")])
def test_a_doi_that_cannot_be_downloaded_is_that_mirrors_failure(
    zenodo: dict[str, Any], server: Server, tmp_path: Path, raised: Exception
) -> None:
    zenodo["body"] = raised
    with pytest.raises(DataError, match=f"{DOI}: .*no route"):
        get(tmp_path, DOI)
    get(tmp_path, DOI, server.url("a", WHOLE))
    assert_whole(tmp_path)


def test_a_known_checksum_needs_no_published_one(zenodo: dict[str, Any], tmp_path: Path) -> None:
    zenodo["files"] = RuntimeError("must not be asked for")
    get(tmp_path, DOI)
    assert_whole(tmp_path)


def test_a_record_without_a_checksum_for_the_file_is_warned_about(zenodo: dict[str, Any], tmp_path: Path) -> None:
    zenodo["files"] = {}
    with pytest.warns(LglBenchWarning, match=f"could not be verified.*{SHA}"):
        get(tmp_path, DOI, sha256=None)


PAGE = b"\n<!DOCTYPE html>\n<html><body>Please sign in</body></html>"


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


@pytest.mark.parametrize("sha256", [None, SHA], ids=["no checksum", "checksum"])
def test_a_login_page_is_not_taken_for_the_file(server: Server, tmp_path: Path, sha256: str | None) -> None:
    page = server.url("page", Reply(body=PAGE, headers={"Content-Type": "text/html"}))
    with pytest.raises(DataError, match="it answers with a web page, not with the file; perhaps it asks for a login"):
        get(tmp_path, page, sha256=sha256)
    assert not list(tmp_path.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LglBenchWarning)
        get(tmp_path, page, server.url("a", WHOLE), sha256=sha256)
    assert_whole(tmp_path)


def test_a_login_page_that_was_kept_is_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(PAGE)
    with pytest.raises(DataError, match="is a web page; delete it"):
        get(tmp_path, server.url("a", WHOLE), sha256=None, offline=True)
    with pytest.warns(LglBenchWarning, match="could not be verified"):
        get(tmp_path, server.url("a", WHOLE), sha256=None)
    assert_whole(tmp_path)


def test_no_shipped_manifest_prefers_an_address_without_encryption() -> None:
    firsts = [file.urls[0] for manifest in manifests().values() for file in manifest.files]
    assert firsts and [url for url in firsts if url.startswith("http:")] == []
