"""The ACL Anthology as its own repository keeps it, `data/xml/*.xml`: a stream that every clone can be made into.

A paper is a vertex, born in the year of its volume; its venue is its class; two papers with an author in common have an
edge; features say which words of a vocabulary its title and abstract have. Whatever is decided about a year is decided
from that year and those before it (or from the years up to t0, for these), so that a later year changes none of them:

- Vertices are numbered by (year, id in the anthology).
- A paper's venue is the first of its volume's that is not left out.
- A venue enters in the year in which it has had `least_papers` papers, counted from its first. If that is not after t0
  all its papers are vertices; otherwise those of that year and later ones, and the earlier ones stay left out.
- Classes are numbered by (year of entry, venue).
- The vocabulary is counted on the vertices up to t0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from lgl_bench.core.errors import DataError, quoted
from lgl_bench.core.types import IntArray
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.anthology_xml import Paper, read_collection
from lgl_bench.streams.importers.files import Options, unpacked
from lgl_bench.streams.importers.words import vocabulary, word_features, words
from lgl_bench.streams.raw import RawGraph

_MOST_LINES = 10**8  # pairs of papers over all authors; the anthology up to 2022 has a hundredth of it


class AnthologyOptions(Options):
    """Options of the format.

    Attributes:
        least_papers: Papers that make a venue a class.
        last_year: Later papers are not looked at.
        t0: Last year whose papers decide about the vocabulary, and about venues from their first paper on.
        vocabulary: Words that are features.
        common: Words in a greater share of the papers up to t0 are none.
        leave_out: Venues that are no class, with spaces between them: those for the whole field, and `ws`, the
            workshops without a venue of their own.
    """

    least_papers: int = Field(default=100, ge=1)
    last_year: int = Field(default=2022, ge=1, le=9999)
    t0: int = Field(default=2005, ge=1, le=9999)
    vocabulary: int = Field(default=2000, ge=1, le=1_000_000)
    common: float = Field(default=0.25, gt=0, le=1)
    leave_out: str = "aacl acl anlp cl coling conll eacl emnlp findings hlt ijcnlp lrec naacl tacl ws"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.t0 >= self.last_year:
            raise ValueError(f"t0 = {self.t0} must be before last_year = {self.last_year}")
        return self


class _Candidate(NamedTuple):
    """A paper that may become a vertex; they sort by year, then id."""

    year: int
    id: str
    venue: str
    paper: Paper


@importers.register("acl-anthology")
def read_anthology(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the XML files from a clone, from its `data` or `data/xml` folder, or from a zip of it."""
    chosen = AnthologyOptions.read(options, "acl-anthology")
    with unpacked(source) as folder:
        candidates, left_out = _candidates(_xml_files(folder), chosen)
    entries = _entries(candidates, chosen.least_papers)
    kept = [one for one in candidates if one.venue in entries and one.year >= _first_year(entries[one.venue], chosen)]
    if not kept or kept[0].year > chosen.t0:
        raise DataError(
            f"no venue has {chosen.least_papers} papers up to {chosen.t0}, so there is nothing to begin with; is this "
            "the whole folder data/xml? Or give another least_papers or t0"
        )
    texts = [words(one.paper.text) for one in kept]
    known = vocabulary([text for one, text in zip(kept, texts, strict=True) if one.year <= chosen.t0],
                       chosen.vocabulary, chosen.common)  # fmt: skip
    class_names = tuple(sorted(entries, key=lambda venue: (entries[venue], venue)))
    class_id = {venue: k for k, venue in enumerate(class_names)}
    return RawGraph(
        ids=np.arange(len(kept)),
        born=np.array([one.year for one in kept]),
        labels=np.array([class_id[one.venue] for one in kept]),
        features=word_features(texts, known),
        edges=_shared_authors([one.paper for one in kept]),
        class_names=class_names,
        vertex_file="the papers of the anthology",
        edge_file="the pairs of papers with a common author",
        left_out={**left_out, "papers_of_small_venues": len(candidates) - len(kept)},
    )


def _xml_files(folder: Path) -> list[Path]:
    # A zip of the repository has all in one folder that is named after the commit.
    for pattern in ("data/xml/*.xml", "xml/*.xml", "*.xml", "*/data/xml/*.xml"):
        if found := sorted(path for path in folder.glob(pattern) if path.is_file()):
            return found
    raise DataError(
        f"{folder} holds no data/xml/*.xml; --from names a clone of the repository acl-org/acl-anthology, or its "
        "folder data/xml"
    )


def _candidates(files: Iterable[Path], options: AnthologyOptions) -> tuple[list[_Candidate], dict[str, int]]:
    """Papers with all that a vertex needs, sorted, and how many others there are up to the last year."""
    general = set(options.leave_out.split())
    left_out: Counter[str] = Counter()
    found: list[_Candidate] = []
    for path in files:
        for paper in read_collection(path):
            if paper.year is not None and paper.year > options.last_year:
                continue
            venue = next((venue for venue in paper.venues if venue not in general), None)
            reason = _lack(paper, venue)
            left_out[reason] += 1
            if paper.year is not None and venue is not None and not reason:
                found.append(_Candidate(paper.year, paper.id, venue, paper))
    del left_out[""]
    twice = [name for name, count in Counter(one.id for one in found).items() if count > 1]
    if twice:
        raise DataError(f"the paper {quoted(min(twice))} is there twice; remove the copy of its file from the folder")
    found.sort(key=lambda one: one[:2])
    return found, {reason: left_out[reason] for reason in _LACKS}


_LACKS = (
    "front_and_back_matter",
    "papers_without_year",
    "papers_without_author",
    "papers_without_venue",
    "papers_of_general_venues",
)


def _lack(paper: Paper, venue: str | None) -> str:
    """Why a paper can be no vertex: the first of the reasons that holds; "" if none does."""
    holds = (paper.matter, paper.year is None, not paper.authors, not paper.venues, venue is None)
    return next((reason for reason, is_so in zip(_LACKS, holds, strict=True) if is_so), "")


def _entries(candidates: list[_Candidate], least: int) -> dict[str, int]:
    """The year in which each venue has had so many papers; venues that never have are not there."""
    counts: Counter[str] = Counter()
    found: dict[str, int] = {}
    for one in candidates:
        counts[one.venue] += 1
        if counts[one.venue] == least:
            found[one.venue] = one.year
    return found


def _first_year(entry: int, options: AnthologyOptions) -> int:
    """From when on papers of a venue are vertices, by the year it enters."""
    return 0 if entry <= options.t0 else entry


def _shared_authors(papers: list[Paper]) -> IntArray:
    """(2, m) positions: each pair of papers once for each author they have in common."""
    by_author: defaultdict[str, list[int]] = defaultdict(list)
    for position, paper in enumerate(papers):
        for author in paper.authors:
            by_author[author].append(position)
    lines = sum(len(own) * (len(own) - 1) // 2 for own in by_author.values())
    if lines > _MOST_LINES:
        most = max(by_author, key=lambda author: len(by_author[author]))
        raise DataError(
            f"shared authors make {lines:,} edges, {quoted(most)} alone has {len(by_author[most]):,} papers; at most "
            f"{_MOST_LINES:,} are taken: raise least_papers, or leave venues out"
        )
    parts = [np.zeros((2, 0), dtype=np.int64)]
    for _, own in sorted(by_author.items()):
        ends = np.array(own, dtype=np.int64)
        parts.append(ends[np.stack(np.triu_indices(len(ends), 1))])
    return np.concatenate(parts, axis=1)
