"""What a submitter learns before a bundle is handed over: whether it verifies, and what a reviewer will miss."""

from __future__ import annotations

from pathlib import Path

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.references import is_external
from lgl_bench.grading.history import beyond_last
from lgl_bench.plans.plan_file import Description
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.opening import opened
from lgl_bench.submissions.verify.verify import verify


def run_streams(description: Description, data_dir: Path | None) -> dict[str, Stream] | str:
    """The streams of a run, if they are available as it had them; otherwise why not."""
    found: dict[str, Stream] = {}
    for name, checksum in description.streams.items():
        try:
            found[name] = load(name, data_dir)
        except (DataError, UsageError) as error:
            return str(error)
        if stream_checksum(found[name]) != checksum:
            return f"the stream {name} here is not the one that was run on: its checksum differs"
    return found


def check_bundle(place: Path, streams: dict[str, Stream] | str, data_dir: Path | None) -> list[str]:
    """Raises if a reviewer would refuse the bundle; returns a note if that is not known."""
    if isinstance(streams, str):
        with opened(place):  # what we could not open ourselves must not be sent
            return [f"the bundle was not verified here: {streams}"]
    try:
        found = verify(place, data_dir).differences
    except BundleError as error:
        found = [str(error)]
    if found:
        raise DataError(f"the bundle would not verify, so it was not made: {found[0]}")
    return []


def missed(description: Description, with_source: bool, weights: bool, without: int) -> list[str]:
    """What a reviewer will miss."""
    claims = description.plugins
    if any(map(is_external, claims.backbones)):
        named = ", ".join(filter(is_external, claims.backbones))
        return [
            f"{named}: made outside lgl-bench, so a reviewer can recompute the numbers, but not make the answers again"
        ]
    kinds = (claims.backbones, claims.heads, claims.strategies, claims.detectors, claims.thresholds, claims.protocols)
    foreign = sorted({name for kind in kinds for name in kind})
    found = []
    if foreign and not with_source:
        found.append(f"{', '.join(foreign)}: not part of lgl-bench; give --plugin FILE so that reviewers can read it")
    if weights and without:
        found.append(
            f"{without} of {len(description.fits)} fits have no weights, so their rows cannot be rescored; "
            "run with --checkpoints all to keep them"
        )
    return found


def left_out(folder: Path) -> list[str]:
    """What else the folder holds: a bundle is of the last run."""
    others = beyond_last(folder)
    if not others:
        return []
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return [
        f"only the rows of the last run are packed; the folder also holds {'; '.join(others[:3])}{more}: to submit "
        "them too, give one run command that asks for all of them, which trains nothing again"
    ]
