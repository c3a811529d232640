"""Damage that fits any input: to the bytes of a file, to its text, to the folder it lies in."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

Mutation = Callable[[Path, random.Random], None]
"""Damages one thing below a folder."""

TOKENS = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", "\u2028".encode(), b"\r", b"\n\n", b",", b'"', b"-", b"+",
    b"--1", b"1e5", b"1e400", b"-1", b"0", b"-0.0", b"0.5", b"nan", b"NaN", b"inf", b"-Infinity", b"null", b"None",
    b"2000000000", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809",
    b"18446744073709551615", b"9" * 40, b"9" * 4400, b"0x10", b"1_000", "\u0663".encode(), b"2001-05-06", b"true",
    b"[" * 2000, b"{" * 300, b"(" * 1500, b"../../x", b"a b", b"\x1b[31m", b"x" * 5000, b"'", b"\\", b"%s", b"#", b"=",
)  # fmt: skip
"""Pieces of text that readers stumble over."""


def one_of(*mutations: Mutation) -> Mutation:
    """A mutation that is one of these by chance."""

    def mutate(folder: Path, rng: random.Random) -> None:
        rng.choice(mutations)(folder, rng)

    return mutate


def files_in(folder: Path, *endings: str) -> list[Path]:
    """The plain files below a folder whose names end so; all of them without endings."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return [path for path in found if not endings or path.name.endswith(endings)]


def damage_bytes(folder: Path, rng: random.Random) -> None:
    """Changes, removes, repeats or adds bytes of one file."""
    path = rng.choice(files_in(folder))
    path.write_bytes(damaged_bytes(path.read_bytes(), rng))


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """The same bytes with one thing wrong."""
    at, length = rng.randrange(len(data) + 1), rng.choice([1, 2, 4, 16, 100])
    kind = rng.randrange(8)
    if kind == 0 and data:
        found = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8, 64])):
            found[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(found)
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at : at + length] * rng.choice([2, 3, 50]) + data[at + length :]
    if kind == 3:
        return data[:at] + data[at + length :]
    if kind == 4:
        return data[:at] + rng.randbytes(length) + data[at:]
    if kind == 5:
        return data[:at] + bytes([rng.choice([0, 255, 10])]) * length + data[at + length :]
    if kind == 6:
        return data + data
    return rng.choice(
        [b"", rng.randbytes(length), b"\n", b"<!DOCTYPE html><html><body>Sign in</body></html>", data[at:]]
    )


def damage_text(folder: Path, rng: random.Random, *endings: str) -> None:
    """Puts an odd piece of text into one file, beside or in the place of a word."""
    path = rng.choice(files_in(folder, *endings))
    path.write_bytes(damaged_text(path.read_bytes(), rng))


def damaged_text(data: bytes, rng: random.Random) -> bytes:
    """The same text with one odd token; whole lines may be repeated, swapped or dropped as well."""
    token = rng.choice(TOKENS)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        place = rng.randrange(len(data) + 1)
        return data[:place] + token + data[place:]
    if kind == 1:
        lines.insert(at, lines[rng.randrange(len(lines))])
    elif kind == 2:
        del lines[at]
    elif kind == 3:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        separator = next((sign for sign in (b",", b" ", b"=") if sign in lines[at]), b" ")
        words = lines[at].split(separator)
        words[rng.randrange(len(words))] = token
        lines[at] = separator.join(words)
    return b"\n".join(lines)


def damage_folder(folder: Path, rng: random.Random) -> None:
    """Takes a file away, or puts something else in its place or beside it."""
    path = rng.choice(files_in(folder))
    others = [other for other in files_in(folder) if other != path]
    kind = rng.choice(
        ["gone", "empty", "folder", "loop", "dangling", "device", "pipe", "other", "moved", "extra", "away"]
    )
    if kind == "other" and others:
        path.write_bytes(rng.choice(others).read_bytes())
    elif kind == "extra":
        extra = path.with_name(rng.choice(["extra", ".hidden", "x.parquet", "a\nb", "b\udcff", "stream.json~"]))
        extra.write_bytes(rng.randbytes(8))
    elif kind == "moved":
        inner = path.parent / "inner"
        inner.mkdir()
        shutil.move(path, inner / path.name)
    elif kind == "away":
        for file in files_in(folder):
            file.unlink()
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind in ("loop", "dangling", "device"):
            path.symlink_to({"loop": path.name, "dangling": "nowhere", "device": "/dev/zero"}[kind])


def pick(rng: random.Random, values: Sequence[object]) -> object:
    """One of several values of any types."""
    return values[rng.randrange(len(values))]
