"""Small data sets in the layouts the importers read, right unless a test changes a part of them."""

from __future__ import annotations

import collections
import csv
import gzip
import io
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse

VERTICES: dict[str, list[Any]] = {
    "id": [30, 10, 20, 5],
    "time": [2001, 2000, 2001, 1999],
    "label": ["fish", "bird", None, "bird"],
    "split": ["train", "test", None, "validation"],
    "features": [3.0, 1.0, 2.0, 0.5],
}
EDGES = {"source": [30, 5, 10, 10, 20], "target": [10, 30, 30, 10, 5]}


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder.parent))
    return path


class Python2Pickler(pickle._Pickler):
    """Writes what Python 2 with old numpy and scipy would have written: byte strings and old module names."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_bytes(self, value: bytes) -> None:
        self.write(b"T" + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def python2_pickle(value: object) -> bytes:
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(value)
    old = file.getvalue().replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
    return old.replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")


def onehot(*labels: int) -> np.ndarray[Any, Any]:
    return np.array([[int(k == label) for k in range(3)] for label in labels], dtype=np.int32)


def planetoid(folder: Path, **changes: bytes) -> Path:
    """Ten vertices: 0-4 in allx, tx belongs to 9, 5, 8 and 6, and 7 is a gap as CiteSeer has them."""
    folder.mkdir(exist_ok=True)
    rows = np.zeros((10, 12), dtype=np.float32)
    rows[np.arange(10), np.arange(10)] = np.arange(1, 11)
    test = [9, 5, 8, 6]
    graph: dict[int, list[int]] = collections.defaultdict(list)
    graph |= {9: [0], 0: [9, 9, 3], 3: [0, 3], 1: [2], 2: [1], 8: [5], 5: [8], 4: [], 6: [], 7: []}
    files = {
        "x": python2_pickle(scipy.sparse.csr_matrix(rows[:2])),
        "y": python2_pickle(onehot(0, 1)),
        "allx": python2_pickle(scipy.sparse.csr_matrix(rows[:5])),
        "ally": python2_pickle(onehot(0, 1, 2, 0, 1)),
        "tx": python2_pickle(scipy.sparse.csr_matrix(rows[test])),
        "ty": python2_pickle(onehot(2, 1, 0, 2)),
        "graph": python2_pickle(graph),
        "test.index": "\n".join(map(str, test)).encode(),
    }
    for name, content in (files | changes).items():
        (folder / f"ind.toy.{name}").write_bytes(content)
    return folder


def csv_gz(path: Path, rows: list[Any]) -> None:
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file).writerows(row if isinstance(row, list) else [row] for row in rows)


def ogb(folder: Path, **changes: list[Any]) -> Path:
    raw = folder / "raw"
    raw.mkdir(parents=True)
    files: dict[str, list[Any]] = {
        "edge": [[0, 1], [1, 0], [4, 2], [3, 3], [0, 4]],
        "node-feat": [[v + 0.5, -v, 1.0] for v in range(5)],
        "node-label": [3, 0, "nan", 1, 0],
        "node_year": [2005, 1999, 2020, 1999, 2004],
        "num-node-list": [5],
        "num-edge-list": [5],
    }
    for name, rows in (files | changes).items():
        csv_gz(raw / f"{name}.csv.gz", rows)
    return folder


def adjlist(folder: Path, lines: str = "4 0 2\n1 3\n\n0\n3 3 1\n", **changes: Any) -> Path:
    """Five vertices; the lines stand in the order the vertices were inserted, not of their ids."""
    folder.mkdir(exist_ok=True)
    arrays = {
        "X": np.arange(20, dtype=np.float64).reshape(5, 4) + 1,
        "y": np.array([2, 0, 1, 0, 2]),
        "t": np.array([2003, 2001, 2002, 2001, 2000]),
    }
    for name, array in (arrays | changes).items():
        np.save(folder / f"{name}.npy", array)
    (folder / "adjlist.txt").write_text(lines)
    return folder


def write_table(path: Path, columns: dict[str, Any]) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def table(folder: Path, kind: str, vertices: dict[str, Any] = VERTICES, edges: dict[str, Any] = EDGES) -> Path:
    folder.mkdir(exist_ok=True)
    write_table(folder / f"vertices.{kind}", vertices)
    write_table(folder / f"edges.{kind}", edges)
    return folder


def volume(papers: str, year: str = "2000", venues: str = "mt", number: int = 1) -> str:
    """A volume of the ACL Anthology around its papers, with front matter."""
    inside = "".join(f"<venue>{venue}</venue>" for venue in venues.split())
    inside += f"<year>{year}</year>" if year else ""
    return f'<volume id="{number}"><meta>{inside}</meta><frontmatter><url>x</url></frontmatter>{papers}</volume>'


def paper(number: int, title: str, *authors: str, abstract: str = "") -> str:
    """A paper; an author is "First Last", or "First Last=id"."""
    found = ""
    for author in authors:
        name, _, own = author.partition("=")
        first, _, last = name.rpartition(" ")
        start = f'<author id="{own}">' if own else "<author>"
        found += f"{start}<first>{first}</first><last>{last}</last></author>"
    text = f"<abstract>{abstract}</abstract>" if abstract else ""
    return f'<paper id="{number}"><title>{title}</title>{found}{text}</paper>'


ANTHOLOGY = {
    "2000.mt": volume(
        paper(1, "The <fixed-case>MT</fixed-case>s of <tex-math>alpha</tex-math> parsing", "Ann \u00c5lund", "Bo Berg")
        + paper(2, "The parsing", "B. Berg=bo-berg")
        + paper(3, "List of participants")
    ),
    "2001.mt": volume(paper(1, "Trees", "Cy Cole", abstract="of<par/>parsing"), "2001"),
    "2001.tag": volume(paper(1, "The trees of t0", "ann alund"), "2001", "ws tag"),
    "2002.tag": volume(paper(1, "The trees", "Ann Alund") + paper(10, "MTS", "Di Dean", "Bo Berg"), "2002", "ws tag"),
    "2002.acl": volume(paper(1, "All of it", "Bo Berg"), "2002", "acl"),
    "2003.zz": volume(paper(1, "Of", "Di Dean") + paper(2, "Of", "Bo Berg", "Di Dean"), "2003", "zz mt"),
    "2003.aa": volume(paper(1, "New", "Ed Eck") + paper(2, "New", "Flo Fox"), "2003", "aa"),
    "2003.odd": volume(paper(1, "No year", "Bo Berg"), "") + volume(paper(1, "None", "Bo Berg"), "2003", "", 2),
    "2004.mt": volume(paper(1, "The year after", "Bo Berg"), "2004"),
}
"""Collections by id: with two papers a venue and t0 = 2001, `mt` is known, `tag` comes in 2002, `aa`, `zz` in 2003."""
ANTHOLOGY_OPTIONS = {
    "least_papers": "2", "last_year": "2003", "t0": "2001", "vocabulary": "3", "common": "0.7", "leave_out": "acl ws",
}  # fmt: skip


def anthology(folder: Path, **changes: str) -> Path:
    """A clone of the ACL Anthology; changes name a collection with "_" for "."."""
    xml = folder / "data" / "xml"
    xml.mkdir(parents=True)
    for name, inside in (ANTHOLOGY | {key.replace("_", "."): text for key, text in changes.items()}).items():
        text = f"<?xml version='1.0' encoding='UTF-8'?>\n<collection id=\"{name}\">\n{inside}</collection>\n"
        (xml / f"{name}.xml").write_text(text, encoding="utf-8")
    return folder
