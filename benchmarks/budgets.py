"""What a cheap budget keeps of the paper's: accuracy, and the order of methods.

    python benchmarks/budgets.py --data-dir DATA [--budget quick] [--stream cora ...] [--backbone gcn ...]

Runs the suite of each stream (`static` or `temporal`, without thresholds) with both budgets, and prints per stream,
backbone and head the share of the paper budget's accuracy, and per stream Spearman's rank correlation of the ranking
AUROC of all (backbone, detector) cells between the two. What is in OUT already is not run again, so the command can be
stopped and given again; the paper's budget takes most of the time, hours for GAT and GraphSAGE on a large stream.

With `--write` the two tables are kept beside this file: `budget_accuracy.csv` and `budget_ranking.csv`. Boards and
pages read the second to say where a budget is not for ranking. Streams that were not measured this time keep their
lines, unless the budget's version has changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

import lgl_bench
from lgl_bench.core.references import FLOOR
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.metrics.ranks import ranks_by
from lgl_bench.plans.budget import budget as budget_of
from lgl_bench.runs.provenance import provenance
from lgl_bench.streams.catalogue import load

HERE = Path(__file__).parent
WANTED_SHARE = 0.85
STREAMS = ("cora", "citeseer", "pubmed", "dblp-easy-twin", "dblp-hard-twin", "ogb-arxiv-twin")
KEY = ["budget", "budget_version", "stream"]


def main() -> None:
    """Runs both budgets and prints what the cheap one keeps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/budgets"))
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--budget", default="quick")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--backbone", nargs="*", default=["gcn", "graphsage", "gat", "graph-mlp"])
    parser.add_argument("--stream", nargs="*", default=list(STREAMS))
    parser.add_argument("--write", action="store_true", help="Keep the tables beside this file.")
    given = parser.parse_args()
    version = budget_of(given.budget).version
    shares, ranks = [], []
    for stream in given.stream:
        cheap, paper = (_board(stream, name, given) for name in (given.budget, "paper"))
        about = {"budget": given.budget, "budget_version": version, "stream": stream}
        shares.append(accuracy_shares(cheap, paper).assign(**about, seeds=given.seeds))
        correlation, cells = rank_correlation(cheap, paper)
        backbones = " ".join(sorted(given.backbone))
        ranks.append({**about, "rank_correlation": correlation, "cells": cells, "backbones": backbones})
    accuracy = pd.concat(shares, ignore_index=True)
    accuracy = accuracy[[*KEY, "backbone", "head", "accuracy", "paper_accuracy", "share", "seeds"]]
    ranking = pd.DataFrame(ranks).assign(seeds=given.seeds, git_commit=provenance()["git_commit"])
    print(accuracy.to_string(index=False, float_format="{:.3f}".format))
    print(f"the smallest share is {accuracy['share'].min():.2f}; at least {WANTED_SHARE} is wanted\n")
    print(ranking.to_string(index=False, float_format="{:.3f}".format))
    if given.write:
        _keep(accuracy, HERE / "budget_accuracy.csv")
        _keep(ranking, HERE / "budget_ranking.csv")


def accuracy_shares(cheap: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Per backbone and head, the accuracy of both budgets and their ratio."""
    fixed = [board[board["head"] != "auto"] for board in (cheap, paper)]
    one, other = (board.groupby(["backbone", "head"])[metric_column("accuracy", "mean")].first() for board in fixed)
    found = pd.DataFrame({"accuracy": one, "paper_accuracy": other}).dropna().reset_index()
    return found.assign(share=found["accuracy"] / found["paper_accuracy"])


def rank_correlation(cheap: pd.DataFrame, paper: pd.DataFrame) -> tuple[float, int]:
    """Spearman's correlation of the ranking metric over the cells that both have, the floor apart, and their number."""
    values = []
    for board in (cheap, paper):
        rows = board[~board["detector"].isin(FLOOR)]
        metric = ranks_by(str(rows["protocol"].iloc[0]), "")
        values.append(rows.set_index(["backbone", "detector"])[metric_column(metric, "mean")])
    both = pd.concat(values, axis=1, keys=["cheap", "paper"]).dropna()
    return float(both["cheap"].corr(both["paper"], method="spearman")), len(both)


def _board(stream: str, budget: str, given: argparse.Namespace) -> pd.DataFrame:
    suite = "static" if load(stream, given.data_dir).static else "temporal"
    result = lgl_bench.run(
        suite,
        streams=[stream],
        backbones=given.backbone,
        thresholds=["none"],
        seeds=given.seeds,
        budget=budget,
        out=given.out / f"{suite}-{budget}",
        jobs=given.jobs,
        data_dir=given.data_dir,
    )
    return result.all


def _keep(fresh: pd.DataFrame, path: Path) -> None:
    """Replaces the lines of the streams that were measured; those of other versions of the budget go."""
    if path.is_file():
        old = pd.read_csv(path)
        measured = set(map(tuple, fresh[["budget", "stream"]].drop_duplicates().to_numpy()))
        version = int(fresh["budget_version"].iloc[0])
        stays = [
            (budget, stream) not in measured and (budget != fresh["budget"].iloc[0] or kept == version)
            for budget, kept, stream in old[KEY].itertuples(index=False, name=None)
        ]
        fresh = pd.concat([old[stays], fresh], ignore_index=True)
    fresh.sort_values([*KEY, *(name for name in ("backbone", "head") if name in fresh)]).to_csv(
        path, index=False, float_format="%.4f"
    )


if __name__ == "__main__":
    main()
