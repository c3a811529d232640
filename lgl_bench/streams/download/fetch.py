"""Downloads: mirror after mirror, resumed where they stopped, checked before they are used.

Bytes gather beside the file (see `lgl_bench.streams.download.resume`); only a whole and checked one gets its name.
"""

from __future__ import annotations

import contextlib
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pooch
import requests
from pooch.downloaders import doi_to_repository

from lgl_bench.core.errors import DataError, LglBenchWarning
from lgl_bench.streams.download.resume import Deadline, MirrorError, Resuming, is_web_page


@dataclass(frozen=True, slots=True)
class Download:
    """A file and where to get it.

    Attributes:
        name: The file's name in the folder it is fetched to.
        urls: Its mirrors, the first one preferred; `https://...` or `doi:10.5281/zenodo.NUMBER/FILE`.
        sha256: Its checksum; None if nobody published one.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


def fetch(
    download: Download,
    folder: Path,
    *,
    offline: bool = False,
    progress: bool = True,
    retries: int = 5,
    timeout: float = 30.0,
    pause: float = 1.0,
    max_bytes: int = 20 * 2**30,
    deadline: float = 6 * 3600.0,
) -> Path:
    """Returns the path of a checked file, downloading it if it is missing.

    Args:
        download: What to fetch.
        folder: Where to keep it.
        offline: Whether to do without the network.
        progress: Whether to show a progress bar; there is none if stderr is no terminal.
        retries: How often a mirror is tried again after a dropped connection.
        timeout: Seconds to wait for a connection or for the next bytes.
        pause: Seconds before the first retry; the n-th waits n times as long.
        max_bytes: Most bytes that a file may have.
        deadline: Seconds that all mirrors and retries together may take.

    Raises:
        DataError: The file is not available, is not the one expected, or cannot be written.
    """
    target = Path(folder) / download.name
    by_hand = f"place the file at {target} by hand, or use 'lgl-bench data import NAME --from PATH'"
    try:
        if _is_there(download, target, offline):
            return target
        if offline:
            raise DataError(f"{target} is missing and offline mode forbids to download it; {by_hand}")
        target.parent.mkdir(parents=True, exist_ok=True)
        allowed = Deadline(time.monotonic(), deadline)
        resuming = Resuming(target, bool(download.sha256), progress, retries, timeout, pause, max_bytes, allowed)
        failures = _try_mirrors(download, target, resuming)
    except OSError as error:
        raise DataError(
            f"{download.name} could not be fetched to {error.filename or target}: {error.strerror or error}; "
            "check that the folder is writable and has space, or choose another one"
        ) from error
    if failures is None:
        return target
    reasons = "; ".join(failures) or "no address is known for it"
    raise DataError(f"{download.name} could not be downloaded ({reasons}); {by_hand}")


def _is_there(download: Download, target: Path, offline: bool) -> bool:
    """Whether the file was downloaded before; a web page in its place is removed."""
    if not target.exists():
        return False
    found = pooch.file_hash(str(target)) if download.sha256 else None
    if found == download.sha256.lower() if download.sha256 else not is_web_page(target):
        return True
    if offline:
        raise DataError(
            f"{target} is not the file expected: its sha256 is {found}, not {download.sha256}; "
            "delete it and fetch it again without offline mode"
            if found
            else f"{target} is a web page; delete it and fetch it again without offline mode"
        )
    if found is None:
        target.unlink()
    return False


def _try_mirrors(download: Download, target: Path, resuming: Resuming) -> list[str] | None:
    """Downloads from the first mirror that has the file; why each failed if none does."""
    failures = []
    for url in download.urls:
        try:
            verified = _retrieve(url, download, target, resuming)
        except (MirrorError, requests.RequestException, ValueError, LookupError) as error:
            # ValueError: a wrong checksum; LookupError: a record in a format that pooch does not know
            failures.append(f"{url}: {error}")
            continue
        resuming.discard()
        if not verified:
            warnings.warn(
                f"the bytes of {target} could not be verified, as no checksum is published for it; "
                f"its sha256 is {pooch.file_hash(str(target))}",
                LglBenchWarning,
                stacklevel=3,
            )
        return None
    return failures


def _retrieve(url: str, download: Download, target: Path, resuming: Resuming) -> bool:
    """Downloads from one mirror; whether there was a checksum to hold the bytes against."""
    known_hash = f"sha256:{download.sha256}" if download.sha256 else None
    downloader: Callable[[str, str, Any], None] = resuming
    if url.startswith("doi:"):
        known_hash = known_hash or _published_hash(url)
        downloader = _doi_downloader(resuming)
    with _quiet_pooch():
        pooch.retrieve(url, known_hash, fname=target.name, path=target.parent, downloader=downloader)
    return known_hash is not None


def _doi_downloader(resuming: Resuming) -> Callable[[str, str, Any], None]:
    def downloader(url: str, output_file: str, pooch_object: Any) -> None:
        doi, _, name = url.removeprefix("doi:").rpartition("/")
        resuming(doi_to_repository(doi).download_url(name), output_file, pooch_object)

    return downloader


def _published_hash(url: str) -> str | None:
    """The checksum that the record behind a DOI publishes for the file, as `md5:...`."""
    record, _, name = url.rpartition("/")
    registry = pooch.Pooch(path="", base_url=record)
    try:
        registry.load_registry_from_doi()
    except Exception as error:
        raise MirrorError(f"its record could not be read: {error!r}") from error
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
