"""A bundle that was changed, and what verify says of it."""

from __future__ import annotations

from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.verify.verify import verify

NOVELTY = "novelty:margin-of-mine"


def first(frame, column, value):
    """The table with another value in the first row of a column."""
    frame = frame.copy()
    frame.loc[0, column] = value
    return frame


def refused(forged, base, *words):
    """The bundle is refused, or differs, and the message has these words."""
    try:
        found = verify(forged.folder, base.data).differences
    except BundleError as error:
        found = [str(error)]
    assert found, "it was accepted"
    assert all(word in found[0] for word in words), found[0]
    return found
