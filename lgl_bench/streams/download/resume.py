"""A download that goes on where it stopped.

Bytes gather in `.NAME.part`; `.NAME.part.json` notes which address and version of the file they came from, so
that bytes of two versions are never joined.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import urllib3.exceptions
from tqdm import tqdm

CHUNK = 1 << 16


class MirrorError(Exception):
    """This mirror does not have the file; the next one may."""


class _DroppedError(Exception):
    """The bytes stopped coming; the same mirror may go on."""


_TRANSIENT = (_DroppedError, requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError)


@dataclass(frozen=True, slots=True)
class Deadline:
    """When all of a download must be there: `seconds` after `start` on the monotonic clock."""

    start: float
    seconds: float

    def check(self) -> None:
        """Raises once it has passed."""
        if time.monotonic() > self.start + self.seconds:
            raise MirrorError(f"it did not come within the {self.seconds:,.0f} seconds that are allowed")


def is_web_page(path: Path) -> bool:
    """Whether a file begins as HTML does, which no data set is."""
    with path.open("rb") as file:
        start = file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html"))


@dataclass(frozen=True, slots=True)
class Resuming:
    """A downloader for pooch that goes on where an earlier attempt, or an earlier call, stopped."""

    target: Path
    checked: bool
    progress: bool
    retries: int
    timeout: float
    pause: float
    max_bytes: int
    deadline: Deadline

    def __call__(self, url: str, output_file: str, pooch_object: Any) -> None:
        """Downloads `url` to `output_file`, retrying a connection that drops."""
        for attempt in range(self.retries + 1):
            time.sleep(attempt * self.pause)
            self.deadline.check()
            try:
                self._attempt(url)
                break
            except _TRANSIENT as error:
                reason = error
        else:
            raise MirrorError(f"{reason} (tried {self.retries + 1} times)")
        if is_web_page(self.part):
            self.discard()
            raise MirrorError("it answers with a web page, not with the file; perhaps it asks for a login")
        self.part.replace(output_file)
        self.discard()

    @property
    def part(self) -> Path:
        """Where the bytes gather."""
        return self.target.with_name(f".{self.target.name}.part")

    @property
    def note(self) -> Path:
        """The record of where they came from."""
        return self.part.with_name(f"{self.part.name}.json")

    def discard(self) -> None:
        """Removes the partial file, then the note: bytes without a note are never resumed."""
        self.note.unlink(missing_ok=True)
        self.part.unlink(missing_ok=True)

    def _attempt(self, url: str) -> None:
        start, version = self._resumable(url)
        headers = {"Accept-Encoding": "identity"}  # ranges count the bytes of the file itself
        if start:
            headers["Range"] = f"bytes={start}-"
            if version:
                headers["If-Range"] = version
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
            same = _version(response) in (None, version)
            first, total = _content_range(response)
            if start and response.status_code == 416:
                if same and total == start:
                    return  # all bytes were there already
                self.discard()
                raise _DroppedError("the partial file does not fit the file on the server")
            if response.status_code >= 500:
                raise _DroppedError(f"HTTP {response.status_code} {response.reason}")
            if start and response.status_code == 206:
                if first != start or not same:
                    self.discard()
                    raise _DroppedError("the file on the server changed during the download")
            elif response.status_code == 200:
                start, total = 0, _content_length(response)
                self.discard()
                self.note.write_text(json.dumps({"url": url, "version": _version(response)}))
            else:
                raise MirrorError(f"HTTP {response.status_code} {response.reason}")
            if total is not None and total > self.max_bytes:
                self.discard()
                raise MirrorError(f"the file has {total:,} bytes, and {self.max_bytes:,} are allowed")
            self._receive(response, start, total)

    def _receive(self, response: requests.Response, start: int, total: int | None) -> None:
        bar = tqdm(
            desc=self.target.name,
            initial=start,
            total=total,
            unit="B",
            unit_scale=True,
            leave=False,
            disable=None if self.progress else True,
        )
        with self.part.open("ab") as sink, bar:
            # What has come, however little: a server that sends a byte now and then would hold up a larger read.
            while chunk := response.raw.read1(CHUNK, decode_content=False):
                self.deadline.check()
                if sink.tell() + len(chunk) > self.max_bytes:
                    self.discard()
                    raise MirrorError(f"it sends more than the {self.max_bytes:,} bytes that are allowed")
                sink.write(chunk)
                bar.update(len(chunk))
        received = self.part.stat().st_size
        if total is not None and received != total:
            raise _DroppedError(f"{received:,} of {total:,} bytes came")

    def _resumable(self, url: str) -> tuple[int, str | None]:
        """Bytes that can be built on and the version they belong to."""
        try:
            size, note = self.part.stat().st_size, json.loads(self.note.read_text())
            noted_url, version = note["url"], note["version"]
        except (FileNotFoundError, ValueError, LookupError, TypeError):
            return 0, None
        # with neither a version nor a checksum nothing would show that two files were joined
        usable = noted_url == url and (version or self.checked)
        return (size, version) if usable else (0, None)


def _version(response: requests.Response) -> str | None:
    """What distinguishes one version of the file from the next; a weak ETag does not."""
    tag = response.headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")


def _content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """First byte and full length in a Content-Range.

    >>> response = requests.Response()
    >>> response.headers["Content-Range"] = "bytes 100-199/200"
    >>> _content_range(response)
    (100, 200)
    """
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", response.headers.get("Content-Range", "").strip())
    first, total = match.groups() if match else (None, None)
    return (int(first) if first else None), (int(total) if total else None)


def _content_length(response: requests.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None
