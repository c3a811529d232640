"""Where the first training task of a stream should end: t0, proposed from the years in which classes are born."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lgl_bench.core.errors import UsageError
from lgl_bench.streams.stream import Stream, Unit, time_text

AUTO = "auto"
ENOUGH = 0.25
"""Share of the vertices that the first training task has at least (Galke et al. 2021 begin with a quarter)."""
_HOPELESS = "at no time before the last are there two classes"
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class Start:
    """A proposed t0.

    Attributes:
        t0: The last time of the first training task.
        reason: What speaks for it.
    """

    t0: int
    reason: str


def propose_start(stream: Stream) -> Start | None:
    """The first time by which a quarter of the vertices and two classes are there, and after which a class is born.

    If there is none, the last one that leaves a class to be born; if no class is ever born later, the first with a
    quarter of the vertices. None if nothing can be learned or nothing is left to score.
    """
    births = stream.class_births().values()
    known = {time: sum(birth <= time for birth in births) for time in stream.times}
    able = [time for time in stream.times[:-1] if known[time] >= 2]
    if not able:
        return None
    open_world = [time for time in able if known[time] < len(births)] or able
    enough = [time for time in open_world if _share(stream, time) >= ENOUGH]
    t0 = enough[0] if enough else open_world[-1]
    reason = (
        f"{_share(stream, t0):.0%} of the vertices and {known[t0]} of {len(births)} classes are there by then, and "
        f"{len(births) - known[t0] or 'no'} class{'' if len(births) - known[t0] == 1 else 'es'} born later"
    )
    return Start(t0, reason)


def with_t0(stream: Stream, t0: int | str | None) -> Stream:
    """The stream with the t0 that is given, the proposed one for "auto", or its own.

    Raises:
        UsageError: It leaves nothing to train on or nothing to score, or none can be proposed.
    """
    info = stream.info
    if t0 == AUTO:
        start = propose_start(stream)
        if start is None:
            raise UsageError(f"no t0 can be proposed for {stream.name}: {_HOPELESS}")
        note = f"t0 is {time_text(start.t0, info.unit)}, as proposed: {start.reason}"
        info = replace(info, t0=start.t0, notes=(*info.notes, note))
    elif t0 is not None:
        info = replace(info, t0=parse_t0(str(t0), info.unit))
    if info.t0 is not None and not stream.times[0] <= info.t0 < stream.times[-1]:
        given, first, last = (time_text(time, info.unit) for time in (info.t0, stream.times[0], stream.times[-1]))
        raise UsageError(
            f"t0 = {given} leaves nothing to train on or nothing to score: {stream.name} has the {info.unit}s "
            f"{first} to {last}, and t0 must be one before the last"
        )
    return replace(stream, info=info)


def parse_t0(text: str, unit: Unit) -> int:
    """A t0 as people give it: a year, or with months 2014-05.

    >>> parse_t0("2014", "year"), parse_t0("2014-05", "month")
    (2014, 24172)
    """
    month = _MONTH.fullmatch(text)
    if month and unit == "month":
        return 12 * int(month[1]) + int(month[2]) - 1
    try:
        return int(text)
    except ValueError:
        wanted = "a month such as 2014-05" if unit == "month" else "a year such as 2014"
        raise UsageError(f"--t0 {text}: it must be {wanted}, or '{AUTO}' for the one that is proposed") from None


def start_note(stream: Stream) -> str:
    """What to say of a stream with times whose t0 is not set; empty if there is nothing to say."""
    if stream.static or stream.info.t0 is not None:
        return ""
    start = propose_start(stream)
    if start is None:
        return f"t0 is not set, and none can be proposed: {_HOPELESS}"
    shown = time_text(start.t0, stream.info.unit)
    return (
        f"t0 is not set, and runs over time need it: --t0 {shown} is proposed ({start.reason}). Give the same command "
        f"again with --t0 {shown} --force, or with --t0 {AUTO} --force"
    )


def _share(stream: Stream, time: int) -> float:
    return stream.vertex_ends[stream.index(time)] / stream.num_vertices
