from __future__ import annotations

import errno
import hashlib
import stat
import warnings
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pooch
import pytest
import requests

from lgl_bench.core.errors import DataError, LglBenchWarning
from lgl_bench.streams.catalogue import manifests
from lgl_bench.streams.download import resume
from tests.support.download_server import (
    BODY,
    DROPPED,
    ETAG,
    OTHER,
    SHA,
    STOP,
    WHOLE,
    Reply,
    Server,
    assert_whole,
    get,
    leave_part,
)


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


def test_mirrors_are_tried_in_order_and_a_404_is_not_retried(server: Server, tmp_path: Path) -> None:
    gone, good, spare = server.url("a", Reply(status=404)), server.url("b", WHOLE), server.url("c", WHOLE)
    get(tmp_path, gone, good, spare)
    assert_whole(tmp_path)
    assert [seen.path for seen in server.seen] == ["/a", "/b"]


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
    monkeypatch.setattr("lgl_bench.streams.download.fetch.doi_to_repository", resolve)
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
