"""How often the tests of `lgl-bench compare` reject true nulls, measured by simulation.

    python benchmarks/null_rates.py [--simulations 1000] [--draws 2000]

Two methods of the same quality are simulated again and again and compared; what is printed is the share of comparisons
called different at 5 %. docs/comparing.md shows what this printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np

from lgl_bench.leaderboard.stats.bootstrap import Cut, Resampled, difference, resample
from lgl_bench.leaderboard.stats.evidence import of_seeds
from lgl_bench.leaderboard.stats.signflip import sign_flip
from lgl_bench.leaderboard.stats.student import two_sided
from lgl_bench.metrics import SeedAnswers

# Deviations of a method's scores: its seeds' quality, its own view of a vertex, and what a seed adds to a vertex.
SETTINGS = {
    "seeds dominate": (0.4, 0.0, 0.3),
    "vertices dominate": (0.0, 1.0, 0.1),
    "seed by vertex dominates": (0.0, 0.1, 1.5),
    "all three": (0.15, 0.6, 0.6),
}
YEARS, VERTICES, NEW = 4, 120, 20


def two_methods(setting: str, seeds: int, rng: np.random.Generator) -> tuple[list[Cut], dict[str, list[SeedAnswers]]]:
    """Answers of two methods of the same quality: a new vertex scores 1 higher on average, a class is right 2 in 3."""
    of_seed, of_vertex, of_both = SETTINGS[setting]
    quality = {name: rng.normal(0, of_seed, seeds) for name in "ab"}
    cuts, sheets = [], {"a": [], "b": []}
    for year in range(YEARS):
        new = np.arange(VERTICES) < NEW
        cuts.append(Cut(new, new.astype(np.int64), year))
        shared = rng.normal(size=VERTICES)
        for name in "ab":
            own = shared + rng.normal(0, of_vertex, VERTICES)
            noise = rng.normal(0, 1, (seeds, VERTICES)) * of_both
            novelty = np.outer(1 + quality[name], new) + own + noise
            right = own + noise + quality[name][:, None] < 0.5
            sheets[name].append(SeedAnswers(novelty, right))
    return cuts, sheets


def plain_bootstrap(a: Resampled, b: Resampled, rng: np.random.Generator) -> bool:
    """What is not used: seeds drawn with replacement beside the vertices, and the percentiles of the draws."""
    drawn = b.draws - a.draws
    seeds = rng.integers(0, drawn.shape[1], drawn.shape)
    lo, hi = np.quantile(np.take_along_axis(drawn, seeds, axis=1).mean(axis=1), [0.025, 0.975])
    return not lo <= 0 <= hi


def bootstrap_rates(setting: str, seeds: int, simulations: int, draws: int) -> dict[str, float]:
    """Rejected nulls by metric, and by the plain bootstrap."""
    rng = np.random.default_rng([seeds, *setting.encode()])
    found = {"auroc_weighted": 0, "accuracy": 0, "plain bootstrap, auroc_weighted": 0}
    for number in range(simulations):
        cuts, sheets = two_methods(setting, seeds, rng)
        graded = resample(cuts, sheets, ["auroc_weighted", "accuracy"], draws, seed=number)
        for metric in ("auroc_weighted", "accuracy"):
            found[metric] += difference(graded["a"][metric], graded["b"][metric]).p < 0.05
        found["plain bootstrap, auroc_weighted"] += plain_bootstrap(
            graded["a"]["auroc_weighted"], graded["b"]["auroc_weighted"], rng
        )
    return {name: count / simulations for name, count in found.items()}


def formula_rates(simulations: int, seeds: int = 3) -> Iterator[tuple[float, float, float]]:
    """Rejected nulls of the formula alone, with normal differences: ours, and Satterthwaite's with the square of w."""
    rng = np.random.default_rng(seeds)
    for share in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0):
        seen = np.abs(rng.normal(size=simulations))
        spread = share * rng.chisquare(seeds - 1, simulations) / (seeds - 1)
        total = 1 - share + spread
        w = np.maximum(spread / total, 1e-9)
        ours, squared = (two_sided(seen / np.sqrt(total), (seeds - 1) / w**power) < 0.05 for power in (1, 2))
        yield share, float(ours.mean()), float(squared.mean())


def sign_flip_rates(simulations: int, years: int = 10) -> Iterator[tuple[float, float]]:
    """Rejected nulls of the sign-flip test if differences of successive years are correlated (AR(1))."""
    for correlation in (0.0, 0.3, 0.6, 0.9):
        rng = np.random.default_rng(years)
        rejected = 0
        for _ in range(simulations):
            steps = rng.normal(size=years)
            for year in range(1, years):
                steps[year] = correlation * steps[year - 1] + np.sqrt(1 - correlation**2) * steps[year]
            rejected += sign_flip(steps) < 0.05
        yield correlation, rejected / simulations


def split_rates(seeds: int, simulations: int) -> dict[str, float]:
    """Rejected nulls if every seed splits one data set anew: the corrected t-test and the plain one.

    Two nearest-centroid classifiers see different features that are worth the same; a data set has 300 points.
    """
    rng = np.random.default_rng(seeds)
    tests: dict[str, Callable[[np.ndarray], float]] = {
        "corrected": lambda d: float(of_seeds(d, 1 / 3).difference().p),
        "plain": lambda d: float(of_seeds(d).difference().p),
    }
    found = dict.fromkeys(tests, 0)
    for _ in range(simulations):
        label = np.arange(300) % 2
        points = rng.normal(size=(300, 8)) + 0.35 * label[:, None]
        differences = np.empty(seeds)
        for seed in range(seeds):
            order = rng.permutation(300)
            train, test = order[:180], order[240:]
            accuracy = []
            for view in (points[:, :4], points[:, 4:]):
                centres = [view[train][label[train] == k].mean(axis=0) for k in (0, 1)]
                nearer = np.linalg.norm(view[test] - centres[1], axis=1) < np.linalg.norm(
                    view[test] - centres[0], axis=1
                )
                accuracy.append(np.mean(nearer == label[test]))
            differences[seed] = accuracy[1] - accuracy[0]
        for name, test_ in tests.items():
            found[name] += test_(differences) < 0.05
    return {name: count / simulations for name, count in found.items()}


def main() -> None:
    """Prints every rate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=2000)
    given = parser.parse_args()
    print(f"true nulls rejected at 5 %, {given.simulations} simulations, {given.draws} draws each\n")
    print("bootstrap over seeds and vertices")
    for setting in SETTINGS:
        for seeds in (3, 5, 10):
            rates = bootstrap_rates(setting, seeds, given.simulations, given.draws)
            listed = ", ".join(f"{name} {rate:.1%}" for name, rate in rates.items())
            print(f"  {setting}, {seeds} seeds: {listed}", flush=True)
    print("\nits formula alone, three seeds, by the seeds' share of the variance: ours, Satterthwaite's")
    for share, ours, squared in formula_rates(100 * given.simulations):
        print(f"  {share}: {ours:.1%}, {squared:.1%}", flush=True)
    print("\nsign-flip test over 10 years, by the correlation of one year's difference with the next")
    for correlation, rate in sign_flip_rates(10 * given.simulations):
        print(f"  {correlation}: {rate:.1%}", flush=True)
    print("\nt-test over seeds that split one data set anew (60-20-20)")
    for seeds in (3, 5, 10):
        rates = split_rates(seeds, 5 * given.simulations)
        print(f"  {seeds} seeds: corrected {rates['corrected']:.1%}, plain {rates['plain']:.1%}", flush=True)


if __name__ == "__main__":
    main()
