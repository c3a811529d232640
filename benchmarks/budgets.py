"""How much of the paper's accuracy the quick budget reaches, on every twin and backbone.

    python benchmarks/budgets.py --out runs/budgets [--backbone gcn] [--stream dblp-easy-twin]

Trains the softmax head with both budgets, one seed; what is there already is not trained again. The paper's budget
takes most of the time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import lgl_bench

LEAST = 0.85


def main() -> None:
    """Runs both budgets and prints the ratio of their accuracies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/budgets"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--backbone", nargs="*", default=["gcn", "graphsage", "gat", "graph-mlp"])
    parser.add_argument("--stream", nargs="*", default=["dblp-easy-twin", "dblp-hard-twin", "ogb-arxiv-twin"])
    given = parser.parse_args()
    accuracy = {}
    for budget in ("quick", "paper"):
        result = lgl_bench.run(
            "temporal",
            streams=given.stream,
            backbones=given.backbone,
            detectors=["msp"],
            thresholds=["none"],
            seeds=given.seeds,
            budget=budget,
            out=given.out / budget,
            jobs=given.jobs,
        )
        accuracy[budget] = result.frame.set_index(["stream", "backbone"])["accuracy_mean"]
    worst = 2.0
    print("stream          backbone    quick  paper  share")
    for stream, backbone in accuracy["paper"].index:
        quick, paper = (float(accuracy[budget][stream, backbone]) for budget in ("quick", "paper"))
        worst = min(worst, quick / paper)
        print(f"{stream:<15} {backbone:<10} {quick:6.3f} {paper:6.3f} {quick / paper:6.2f}")
    print(f"the smallest share is {worst:.2f}; at least {LEAST} is wanted")


if __name__ == "__main__":
    main()
