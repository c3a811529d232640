"""Downloads: mirror after mirror, resumed where they stopped, checked before they are used.

Bytes gather in `.NAME.part`; `.NAME.part.json` notes which address and version of the file they came from, so
that bytes of two versions are never joined. Only a whole and checked file is moved to `NAME`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pooch
import requests
import urllib3.exceptions
from tqdm import tqdm

from lgl_bench.core.errors import DataError, LglBenchWarning

_CHUNK = 1 << 16  # what a dropped connection can cost: an unfinished chunk is lost


@dataclass(frozen=True, slots=True)
class Download:
    """A file and where to get it.

    Attributes:
        name: The file's name in the folder it is fetched to.
        urls: Its mirrors, the first one preferred; `https://...` or `doi:10.5281/zenodo.NUMBER/FILE`.
        sha256: Its checksum; None where nobody published one.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


class _MirrorError(Exception):
    """This mirror does not give the file; the next one may."""


class _DroppedError(Exception):
    """The bytes stopped coming; the same mirror may go on."""


_TRANSIENT = (_DroppedError, requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError)


def fetch(
    download: Download,
    folder: Path,
    *,
    offline: bool = False,
    progress: bool = True,
    retries: int = 5,
    timeout: float = 30.0,
    pause: float = 1.0,
) -> Path:
    """Returns the path of a checked file, downloading it where it is missing.

    Args:
        download: What to fetch.
        folder: Where to keep it.
        offline: Whether to do without the network.
        progress: Whether to show a progress bar; there is none where stderr is no terminal.
        retries: How often a mirror is tried again after a dropped connection.
        timeout: Seconds to wait for a connection or for the next bytes.
        pause: Seconds before the first retry; the n-th waits n times as long.

    Raises:
        DataError: The file is not to be had, is not the one expected, or cannot be written.
    """
    target = Path(folder) / download.name
    by_hand = f"place the file at {target} by hand, or use 'lgl-bench data import NAME --from PATH'"
    try:
        if target.exists():
            found = pooch.file_hash(str(target)) if download.sha256 else None
            if download.sha256 is None or found == download.sha256.lower():
                return target
            if offline:
                raise DataError(
                    f"{target} is not the file expected: its sha256 is {found}, not {download.sha256}; "
                    "delete it and fetch it again without offline mode"
                )
        elif offline:
            raise DataError(f"{target} is missing and offline mode forbids to download it; {by_hand}")
        target.parent.mkdir(parents=True, exist_ok=True)
        resuming = _Resuming(target, download.sha256 is not None, progress, retries, timeout, pause)
        failures = []
        for url in download.urls:
            try:
                verified = _retrieve(url, download, target, resuming)
            except (_MirrorError, requests.RequestException, ValueError, LookupError) as error:
                # ValueError: a wrong checksum; LookupError: a record in a format that pooch does not know
                failures.append(f"{url}: {error}")
                continue
            resuming.discard()
            if not verified:
                warnings.warn(
                    f"the bytes of {target} could not be verified, as no checksum is published for it; "
                    f"its sha256 is {pooch.file_hash(str(target))}",
                    LglBenchWarning,
                    stacklevel=2,
                )
            return target
    except OSError as error:
        raise DataError(
            f"{download.name} could not be fetched to {error.filename or target}: {error.strerror or error}; "
            "check that the folder is writable and has space, or choose another one"
        ) from error
    reasons = "; ".join(failures) or "no address is known for it"
    raise DataError(f"{download.name} could not be downloaded ({reasons}); {by_hand}")


def _retrieve(url: str, download: Download, target: Path, resuming: _Resuming) -> bool:
    """Downloads from one mirror; whether there was a checksum to hold the bytes against."""
    known_hash = f"sha256:{download.sha256}" if download.sha256 else None
    downloader: Callable[[str, str, Any], None] = resuming
    if url.startswith("doi:"):
        known_hash = known_hash or _published_hash(url)
        downloader = _doi_downloader(resuming)
    with _quiet_pooch():
        pooch.retrieve(url, known_hash, fname=target.name, path=target.parent, downloader=downloader)
    return known_hash is not None


def _doi_downloader(resuming: _Resuming) -> Callable[[str, str, Any], None]:
    bar = resuming.progress and sys.stderr.isatty()
    by_doi = pooch.DOIDownloader(progressbar=bar, timeout=resuming.timeout, chunk_size=_CHUNK)

    def downloader(url: str, output_file: str, pooch_object: Any) -> None:
        # pooch made it readable by its owner alone; made anew it follows the umask
        Path(output_file).unlink()
        by_doi(url, output_file, pooch_object)

    return downloader


def _published_hash(url: str) -> str | None:
    """The checksum that the record behind a DOI publishes for the file, as `md5:...`."""
    record, _, name = url.rpartition("/")
    registry = pooch.Pooch(path="", base_url=record)
    try:
        registry.load_registry_from_doi()
    except Exception as error:
        raise _MirrorError(f"its record could not be read: {error!r}") from error
    published: str | None = registry.registry.get(name)
    return published


@contextlib.contextmanager
def _quiet_pooch() -> Iterator[None]:
    """Keeps pooch from logging to stderr."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@dataclass(frozen=True, slots=True)
class _Resuming:
    """A downloader for pooch that goes on where an earlier attempt, or an earlier call, stopped."""

    target: Path
    checked: bool
    progress: bool
    retries: int
    timeout: float
    pause: float

    def __call__(self, url: str, output_file: str, pooch_object: Any) -> None:
        """Downloads `url` to `output_file`, retrying a connection that drops."""
        for attempt in range(self.retries + 1):
            time.sleep(attempt * self.pause)
            try:
                self._attempt(url)
                break
            except _TRANSIENT as error:
                reason = error
        else:
            raise _MirrorError(f"{reason} (tried {self.retries + 1} times)")
        self.part.replace(output_file)
        self.discard()

    @property
    def part(self) -> Path:
        return self.target.with_name(f".{self.target.name}.part")

    @property
    def note(self) -> Path:
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
                raise _MirrorError(f"HTTP {response.status_code} {response.reason}")
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
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
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
        # with neither a version nor a checksum nothing would tell that two files were joined
        usable = noted_url == url and (version or self.checked)
        return (size, version) if usable else (0, None)


def _version(response: requests.Response) -> str | None:
    """What tells one version of the file from the next; a weak ETag does not."""
    tag = response.headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")


def _content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """First byte and full length that a Content-Range tells.

    >>> response = requests.Response()
    >>> response.headers["Content-Range"] = "bytes 100-199/200"
    >>> _content_range(response)
    (100, 200)
    """
    match = re.fullmatch(
        r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", response.headers.get("Content-Range", "").strip()
    )
    first, total = match.groups() if match else (None, None)
    return (int(first) if first else None), (int(total) if total else None)


def _content_length(response: requests.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None
