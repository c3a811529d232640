"""What the boards show: docs/findings.md, every number of it filled in from tables in the repository.

    python benchmarks/findings.py pairs RUN... [--data-dir DATA]   # tests pairs of methods from stored answers
    python benchmarks/findings.py page                             # writes docs/findings.md

The first command needs run folders, because only answers can be drawn from; it keeps what came out in
`leaderboard/findings/SUITE.csv`. The second needs nothing but the repository.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.core.expressions import Expression, parse
from lgl_bench.leaderboard.boards import merge, open_board, pool
from lgl_bench.leaderboard.compare.standing import Pairs, pairs_tested, word_of
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.floor import NO, YES
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.short_names import short_names
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.schema import COMPARABLE
from lgl_bench.leaderboard.values import ranking_metrics
from lgl_bench.streams.catalogue import is_twin

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "leaderboard" / "findings"
PAGE = ROOT / "docs" / "findings.md"
SAME = ["stream", *COMPARABLE, "strategy", "backbone", "head"]
"""What two rows of a pair have in common: all but the detector."""
KEPT = ["suite", "stream", "stream_checksum", "budget", "backbone", Fact.GIT_COMMIT]
WRAPPERS = ("good", "propagate")
RIVALS = ("rivals-static",)
PAPER = ("odin", "isomax+", "gdoc", "good")
"""Detectors of the paper whose suites these are."""


def main() -> None:
    """Tests pairs, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("pairs", help="test pairs of methods from the answers of run folders")
    pairs.add_argument("runs", nargs="+", type=Path)
    pairs.add_argument("--data-dir", type=Path)
    commands.add_parser("page", help="write docs/findings.md")
    given = parser.parse_args()
    if given.command == "page":
        PAGE.write_text(page(), encoding="utf-8")
        print(PAGE.relative_to(ROOT))
        return
    found = tested_pairs(given.runs, given.data_dir)
    for suite, rows in found.groupby("suite"):
        path = TABLES / f"{suite}.csv"
        rows.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
        print(f"{path.relative_to(ROOT)}: {len(rows)} pairs")


def tested_pairs(runs: list[Path], data_dir: Path | None = None) -> pd.DataFrame:
    """Every wrapped detector against its base, and every propagated one against GOOD over the same base.

    p is adjusted by Holm over all pairs of a stream.
    """
    tester = Tester(data_dir)
    pooled = pool([open_board(path) for path in runs], tester)
    frame = pooled.frame
    a, b = (np.array(side, dtype=np.int64) for side in zip(*wrapped_pairs(frame), strict=True))
    metrics = ranking_metrics(frame)[b]
    found = pairs_tested(frame, Pairs(a, b, metrics), pooled.runs, tester)
    value, lo, hi, _ = found.difference()
    judged = found.judge(frame["stream"].to_numpy(dtype=object)[b])
    names = frame["detector"].to_numpy(dtype=object)
    columns = {name: frame[name].to_numpy()[b] for name in KEPT}
    return pd.DataFrame(
        {
            **columns,
            "a": names[a],
            "b": names[b],
            "metric": metrics,
            "a_mean": found.tables.mean_a,
            "b_mean": found.tables.mean_b,
            "difference": value,
            "lo": lo,
            "hi": hi,
            "p_holm": judged.p_holm,
            "verdict": found.verdicts(judged),
            "test": found.names,
            "seeds": found.seeds.astype(int),
        }
    )


def wrapped_pairs(frame: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Positions of two rows that differ in what is wrapped around one base: base and wrapped, GOOD and propagated."""
    for rows in frame.reset_index(drop=True).groupby(SAME, sort=False).indices.values():
        by_detector = {parse(frame["detector"].iloc[at]): int(at) for at in rows}
        for detector, at in by_detector.items():
            if detector.name not in WRAPPERS:
                continue
            (base,) = detector.arguments
            if base in by_detector:
                yield by_detector[base], at
            if detector.name == "propagate":
                yield from ((other, at) for other in _good_over(base, by_detector))


def _good_over(base: Expression, rows: dict[Expression, int]) -> list[int]:
    return [at for other, at in rows.items() if other.name == "good" and other.arguments == (base,)]


def page() -> str:
    """The whole page."""
    return "\n".join([_HEADER, *rivals(), *propagation(pd.read_csv(TABLES / "propagation.csv"))])


def rivals() -> Iterator[str]:
    """The best of each real stream and track beside the best of the paper's own methods."""
    boards = [open_board(ROOT / "leaderboard" / f"{name}.csv") for name in RIVALS]
    frame = merge(boards)
    rows = ranked(frame[~frame["stream"].map(is_twin)]).reset_index(drop=True)
    rows = rows.join(short_names(rows)[["detector", "backbone"]].add_suffix("_short"))
    rows = rows.assign(metric=ranking_metrics(rows), name=[parse(text).name for text in rows["detector"]])
    seeds = _one(rows[metric_column("accuracy", "n_seeds")])
    yield _RIVALS.format(budget=_one(rows["budget"]), seeds=seeds, commit=_one(rows[Fact.GIT_COMMIT]))
    yield "| stream | track | rows | best | AUROC | best of the paper's | rank | AUROC | how sure | beat the floor |"
    yield "| --- | --- | ---: | --- | --- | --- | ---: | --- | --- | ---: |"
    for (stream, track, _), group in rows.groupby(["stream", "track", "group"]):
        best, own = group.iloc[0], group[group["name"].isin(PAPER)]
        methods = group[group[Fact.ABOVE_FLOOR].isin([YES, NO])]
        beat = f"{(methods[Fact.ABOVE_FLOOR] == YES).sum()} of {len(methods)}" if len(methods) else "untested"
        begin = f"| {stream} | {track} | {len(group)} | {_method(best)} | {_auroc(best)} |"
        if len(own):
            yield f"{begin} {_method(own.iloc[0])} | {own.iloc[0]['rank']} | {_auroc(own.iloc[0])} " + (
                f"| {own.iloc[0]['standing']} | {beat} |"
            )
        else:
            yield f"{begin} none | | | | {beat} |"
    yield ""


def _method(row: pd.Series) -> str:
    return f"{row['detector_short']} on {row['backbone_short']}"


def _auroc(row: pd.Series) -> str:
    mean, lo, hi = (row[metric_column(row["metric"], part)] for part in ("mean", "lo", "hi"))
    return f"{mean:.3f} [{lo:.3f}, {hi:.3f}]"


def propagation(pairs: pd.DataFrame) -> Iterator[str]:
    """How far a score should be carried: GOOD against 1, 2 and 4 steps."""
    yield _PROPAGATION.format(**{name: _one(pairs[name]) for name in ("budget", "seeds", Fact.GIT_COMMIT)})
    shown = pairs.assign(
        base=[_base(text) for text in pairs["b"]],
        from_=[_short(text) for text in pairs["a"]],
        to=[_short(text) for text in pairs["b"]],
    )
    yield "| from | to | better | worse | not told apart | smallest | largest |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for (one, other), rows in shown.groupby(["from_", "to"], sort=False):
        words = [word_of(word) for word in rows["verdict"]]
        better, worse = words.count("better"), words.count("worse")
        rest = len(words) - better - worse
        yield (
            f"| {one} | {other} | {better} | {worse} | {rest} | {rows['difference'].min():+.3f} "
            f"| {rows['difference'].max():+.3f} |"
        )
    yield _EACH.format(metric=_one(pairs["metric"]))
    yield "| stream | backbone | base | from | to | AUROC | difference | 95 % | how sure |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in shown.to_dict("records"):
        yield (
            f"| {row['stream']} | {row['backbone']} | {row['base']} | {row['from_']} | {row['to']} "
            f"| {row['a_mean']:.3f} to {row['b_mean']:.3f} | {row['difference']:+.3f} "
            f"| [{row['lo']:+.3f}, {row['hi']:+.3f}] | {row['verdict']} |"
        )
    yield ""


def _short(text: str) -> str:
    """A row of the ablation as the tables name it."""
    found = parse(text)
    if found.name == "good":
        return "GOOD"
    steps = dict(found.parameters).get("steps")
    return "the base alone" if found.name not in WRAPPERS else f"{steps} step{'' if steps == 1 else 's'}"


def _base(text: str) -> str:
    return parse(text).arguments[0].name


def _one(column: pd.Series) -> object:
    values = list(dict.fromkeys(column))
    if len(values) != 1:
        raise SystemExit(f"{column.name} differs between rows of one table: {values}; make the whole table anew")
    return values[0]


_HEADER = """\
# Findings

<!-- Written by `python benchmarks/findings.py page` from leaderboard/; change the script, not this page. -->

What the boards of this repository show, negative results among it. "How sure" is the verdict of [the paired
test](comparing.md): better, worse, tie, or inconclusive with the seeds it would take.
"""
_RIVALS = """\
## Do rivals beat the paper's methods under one protocol?

Every detector of the suite `rivals-static` on real graphs, one class left out after the other; rows that look at the
scored vertices together (track transductive) are ranked apart. "How sure" is how the best of the paper's methods
(ODIN, IsoMax+, gDOC, and GOOD over any base) stands to the best of its track, by Welch's t over seeds, because a table
has no answers.

```sh
lgl-bench run --suite rivals-static --stream cora --stream citeseer --real-only
lgl-bench leaderboard show leaderboard/rivals-static.csv --all
```

Budget `{budget}`, {seeds} seeds, GCN and the backbones that methods bring along, fits made at commit {commit:.7}:
"""
_PROPAGATION = """\
## How far should a score be carried along the edges?

GOOD mixes the mapped score of a vertex with the mean of its neighbours once; GNNSafe carries the raw score on for
several steps. Here both have the same base, the same weight of 0.5 and the same fits, all inductive. Over MSP, which
is bounded, GOOD and one step are the same by definition; over the energy they differ in the mapping alone.

```sh
lgl-bench run --suite propagation --stream acl-venues --stream arxiv-structure --real-only
python benchmarks/findings.py pairs runs/propagation
```

Budget `{budget}`, {seeds} seeds, fits made at commit {git_commit:.7}. Each line counts pairs of rows over streams,
backbones and bases; "smallest" and "largest" are the extremes of the difference:
"""
_EACH = """
Each pair, by `{metric}`; p is adjusted by Holm over all pairs of a stream:
"""


if __name__ == "__main__":
    main()
