"""Texts as others may see them: file names that a person would choose, and no path of the machine they were made on."""

from __future__ import annotations

import re

from lgl_bench.report.data.rows import TWIN_MARK

_LONGEST = 80
# A path from the root, the home or a drive. What follows a word, a colon or a slash is part of an address or a name.
_PART = r"""[^\s'"`,;:()<>|\\/]"""
_PATH = re.compile(
    rf"(?<![\w:/.<&)\]])(?:~{_PART}*[\\/](?:{_PART}+[\\/])*|(?:/|[A-Za-z]:[\\/])(?:{_PART}+[\\/])+)({_PART}*)"
)


def without_paths(words: str) -> str:
    """Words in which a path from the root or the home is left with its last part.

    >>> without_paths("/home/ann/runs/one/years.parquet is missing; see https://example.org/a/b")
    'years.parquet is missing; see https://example.org/a/b'
    >>> without_paths("lgl-bench report --html=/srv/www/site runs/one and/or ~/boards/two.csv")
    'lgl-bench report --html=site runs/one and/or two.csv'
    """
    return _PATH.sub(lambda found: found.group(1) or "…", words)


def file_name(*words: str) -> str:
    """A file name without an ending.

    >>> file_name("cost", "dblp-easy-twin · temporal (synthetic twin)")
    'cost-dblp-easy-twin-temporal'
    """
    whole = " ".join(words).replace(f"({TWIN_MARK})", "").lower()
    return re.sub(r"[^a-z0-9+]+", "-", whole)[:_LONGEST].strip("-") or "figure"
