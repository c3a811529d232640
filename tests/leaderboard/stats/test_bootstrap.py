from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.leaderboard.stats.bootstrap import Cut, Resampled, difference, interval, resample, task_weights
from lgl_bench.metrics import SeedAnswers, classification, decisions, kernels, metrics, ranking


def cut(new: np.ndarray, block: int = 0) -> Cut:
    return Cut(new, new.astype(np.int64), block)


def resampled(points: list[float], draws: np.ndarray | None = None, df: float = 1e9) -> Resampled:
    return Resampled(np.array(points), np.array([points]), np.array(draws if draws is not None else [points] * 4), df)


# Few distinct scores, so that ties are the rule.
vertices = st.lists(
    st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 3), st.booleans(), st.booleans()),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({row[0] for row in rows}) == 2)


@given(vertices)
def test_with_a_weight_of_one_every_kernel_is_the_metric_itself(rows):
    new, novelty, _, correct, rejected = (np.array(part) for part in zip(*rows, strict=True))
    ones = np.ones((len(rows), 1))
    truth, predicted = np.where(new, 9, 0), np.where(correct, np.where(new, 9, 0), 5)
    assert kernels.auroc(new, novelty[None])(ones).item() == pytest.approx(ranking.auroc(new, novelty).value)
    known = classification.accuracy(truth, predicted, np.array([0])).value
    assert kernels.accuracy(new, correct[None])(ones).item() == pytest.approx(known)
    for name in ("micro_f1", "macro_f1"):
        expected = getattr(decisions, name)(new, rejected).value
        assert getattr(kernels, name)(new, rejected[None])(ones).item() == pytest.approx(expected)
    counted = kernels.counts(new, rejected[None])(ones)
    pooled = {name: plugin().pool(*counted).item() for name, plugin in metrics.pooled().items()}
    assert pooled["mcc"] == pytest.approx(decisions.mcc(new, rejected).value)
    assert pooled["recall_new"] == pytest.approx(rejected[new].mean())
    assert pooled["false_alarm_rate"] == pytest.approx(rejected[~new].mean())


@given(vertices)
def test_a_weight_says_how_often_a_vertex_is_there(rows):
    new, novelty, weight, correct, rejected = (np.array(part) for part in zip(*rows, strict=True))
    times = np.maximum(weight, 1)
    again = np.repeat(np.arange(len(rows)), times)
    weights = times[:, None].astype(float)
    once = np.ones((len(again), 1))
    pairs = [
        (kernels.auroc(new, novelty[None])(weights), kernels.auroc(new[again], novelty[None, again])(once)),
        (kernels.accuracy(new, correct[None])(weights), kernels.accuracy(new[again], correct[None, again])(once)),
        (kernels.macro_f1(new, rejected[None])(weights), kernels.macro_f1(new[again], rejected[None, again])(once)),
        *zip(
            kernels.counts(new, rejected[None])(weights),
            kernels.counts(new[again], rejected[None, again])(once),
            strict=True,
        ),
    ]
    for weighted, repeated in pairs:
        assert weighted.item() == pytest.approx(repeated.item())


def test_years_weigh_as_the_aggregates_say():
    cuts = [cut(np.array([True] * 6 + [False])), cut(np.array([True] * 2 + [False])), cut(np.array([False] * 3))]
    assert task_weights(cuts, "auroc_weighted").tolist() == [0.75, 0.25, 0.0]
    assert task_weights(cuts, "auroc_mean").tolist() == [1.0, 0.0, 0.0]
    assert task_weights(cuts, "accuracy").tolist() == pytest.approx([1 / 3] * 3)
    assert not task_weights(cuts[2:], "auroc_weighted").any()


def test_the_spread_of_draws_is_that_of_a_mean_of_as_many_vertices():
    # Accuracy of 40 known vertices of which 10 are right: s^2 / n = (40/39 * 0.25 * 0.75) / 40.
    new = np.zeros(40, dtype=bool)
    correct = (np.arange(40) < 10)[None]
    drawn = resample([cut(new)], {"a": [SeedAnswers(np.zeros((1, 40)), correct)]}, ["accuracy"], draws=20_000)
    found = drawn["a"]["accuracy"]
    assert found.points.tolist() == [0.25]
    assert np.var(found.draws) == pytest.approx(0.25 * 0.75 / 39, rel=0.05)
    assert found.draws.mean() == pytest.approx(0.25, abs=0.003)


def test_a_stratum_keeps_its_size_and_one_vertex_alone_is_always_there():
    new = np.array([True, False, False, False])
    sheet = SeedAnswers(np.array([[0.5, 0.1, 0.4, 0.9]]), np.ones((1, 4), dtype=bool))
    drawn = resample([cut(new)], {"a": [sheet]}, ["auroc_weighted"], draws=500)["a"]["auroc_weighted"]
    # Two of the three known vertices are drawn, with replacement: 0, 1 or 2 of them below the new one.
    assert set(np.round(drawn.draws.ravel(), 9)) == {0.0, 0.5, 1.0}


def test_strata_keep_their_share_whatever_their_size():
    # Two vertices of one class, all right, and eight of another, all wrong: every draw gives 2 in 10.
    strata = np.array([0] * 2 + [1] * 8)
    sheet = SeedAnswers(np.zeros((1, 10)), (strata == 0)[None])
    drawn = resample([Cut(np.zeros(10, dtype=bool), strata, 0)], {"a": [sheet]}, ["accuracy"], draws=100)
    assert drawn["a"]["accuracy"].draws == pytest.approx(0.2)


def test_every_method_gets_the_same_draws_and_the_folds_of_a_split_do_too():
    rng = np.random.default_rng(0)
    new = np.arange(30) < 10
    sheet = SeedAnswers(rng.random((2, 30)), rng.random((2, 30)) < 0.5)
    once = resample([cut(new)], {"a": [sheet]}, ["auroc_weighted"], draws=50)
    beside = resample([cut(new)], {"b": [sheet], "a": [sheet]}, ["auroc_weighted", "accuracy"], draws=50)
    assert np.array_equal(once["a"]["auroc_weighted"].draws, beside["a"]["auroc_weighted"].draws)
    assert np.array_equal(beside["b"]["accuracy"].draws, beside["a"]["accuracy"].draws)
    apart = resample([cut(new), cut(new, block=1)], {"a": [sheet, sheet]}, ["accuracy"], draws=50)["a"]["accuracy"]
    together = resample([cut(new), cut(new)], {"a": [sheet, sheet]}, ["accuracy"], draws=50)["a"]["accuracy"]
    assert np.var(together.draws) > 1.5 * np.var(apart.draws)


def test_the_error_adds_what_vertices_and_seeds_contribute_worked_by_hand():
    # Three seeds differ by 0.1, 0.2 and 0.3: X = 0.01 / 3. Draws move all seeds alike, by -0.1 and 0.1: V = V_S = V_1.
    a = resampled([0.0, 0.0, 0.0], np.zeros((2, 3)))
    b = resampled([0.1, 0.2, 0.3], np.array([[-0.1] * 3, [0.1] * 3]))
    found = difference(a, b)
    vertices, spread = 0.02, 0.01 / 3
    share = spread / (vertices + spread)
    assert found.value == pytest.approx(0.2)
    from scipy.stats import t

    half = t.ppf(0.975, 2 / share) * (vertices + spread) ** 0.5
    assert found.hi - found.value == pytest.approx(half)
    assert found.lo == pytest.approx(0.2 - half)


def test_draws_that_move_seeds_one_by_one_are_no_second_time_counted():
    # Each draw moves one seed only, against the others: V_1 = 3 V_S, so nothing is left that seeds share.
    a = resampled([0.0, 0.0, 0.0], np.zeros((6, 3)))
    b = resampled([0.1, 0.2, 0.3], np.vstack([np.eye(3), -np.eye(3)]) * 0.1)
    from scipy.stats import t

    assert difference(a, b).hi - 0.2 == pytest.approx(t.ppf(0.975, 2) * (0.01 / 3) ** 0.5)


def test_two_seeds_are_too_few_unless_nothing_differs_at_all():
    assert np.isnan(difference(resampled([0.1, 0.2]), resampled([0.3, 0.1])).p)
    same = difference(resampled([0.1, 0.2]), resampled([0.1, 0.2]))
    assert (same.value, same.lo, same.hi, same.p) == (0.0, 0.0, 0.0, 1.0)


def simulated(rng: np.random.Generator, gap: float = 0.0, noise: float = 0.3) -> dict[str, Resampled]:
    """Two methods over ten years that see vertices alike; new ones score `gap` higher with the second."""
    cuts, sheets = [], {"a": [], "b": []}
    for year in range(10):
        new = np.arange(300) < 60
        shared = rng.normal(size=300) + new
        cuts.append(cut(new, year))
        for name, extra in (("a", 0.0), ("b", gap)):
            novelty = shared + extra * new + noise * rng.normal(size=(3, 300))
            sheets[name].append(SeedAnswers(novelty, np.ones((3, 300), dtype=bool)))
    graded = resample(cuts, sheets, ["auroc_weighted"], draws=500)
    return {name: values["auroc_weighted"] for name, values in graded.items()}


def test_a_method_that_is_another_plus_noise_is_a_tie():
    for seed in range(5):
        found = simulated(np.random.default_rng(seed))
        assert difference(found["a"], found["b"]).p > 0.05


def test_a_method_that_is_better_by_five_points_every_year_is_better():
    found = simulated(np.random.default_rng(0), gap=0.3)
    each = found["b"].tasks.mean(axis=1) - found["a"].tasks.mean(axis=1)
    assert (10 * each > 0.035).all()
    outcome = difference(found["a"], found["b"])
    assert outcome.value == pytest.approx(0.05, abs=0.01) and outcome.lo > 0 and outcome.p < 0.01


@pytest.mark.parametrize("setting", ["seeds dominate", "vertices dominate", "seed by vertex dominates", "all three"])
def test_true_nulls_are_rejected_about_one_time_in_twenty(setting):
    from benchmarks import null_rates

    rates = null_rates.bootstrap_rates(setting, seeds=3, simulations=300, draws=200)
    # 300 simulations at 5 % give between 2.2 and 8.4 % in 99 of 100 cases; docs/comparing.md has 1,000.
    assert 0.02 <= rates["auroc_weighted"] <= 0.085
    assert 0.02 <= rates["accuracy"] <= 0.085
    if setting == "seeds dominate":
        assert rates["plain bootstrap, auroc_weighted"] > 0.15


def test_ten_years_of_two_thousand_vertices_take_seconds():
    rng = np.random.default_rng(0)
    new = np.arange(2000) < 200
    cuts = [cut(new, year) for year in range(10)]
    sheets = {n: [SeedAnswers(rng.random((3, 2000)), rng.random((3, 2000)) < 0.5) for _ in cuts] for n in "ab"}
    start = time.process_time()
    resample(cuts, sheets, ["auroc_weighted", "accuracy"])
    assert time.process_time() - start < 15


def test_counts_are_pooled_over_tasks_before_they_are_graded_worked_by_hand():
    # Two years; the second has nothing new. TP 1, FN 1, FP 1 + 2, TN 1 + 2.
    years = [np.array([True, True, False, False]), np.zeros(4, dtype=bool)]
    called = [np.array([True, False, True, False]), np.array([True, True, False, False])]
    sheets = [SeedAnswers(np.zeros((1, 4)), np.ones((1, 4), dtype=bool), rejected[None]) for rejected in called]
    cuts = [cut(new, year) for year, new in enumerate(years)]
    found = resample(cuts, {"a": sheets}, ["mcc", "recall_new", "false_alarm_rate", "macro_f1"], draws=100)["a"]
    assert found["mcc"].points.item() == pytest.approx((1 * 3 - 3 * 1) / (4 * 2 * 6 * 4) ** 0.5)
    assert found["recall_new"].points.item() == 0.5 and found["false_alarm_rate"].points.item() == 0.5
    assert found["macro_f1"].points.item() == pytest.approx(0.5)  # of the year that has both kinds
    assert found["mcc"].draws.shape == (100, 1) and not len(found["mcc"].tasks)
    # Known vertices: one of two in the first year is drawn, three of four in the second.
    assert found["false_alarm_rate"].draws.min() >= 0 and np.var(found["false_alarm_rate"].draws) > 0


def test_without_new_vertices_anywhere_decisions_are_not_drawn():
    new = np.zeros(5, dtype=bool)
    sheet = SeedAnswers(np.zeros((1, 5)), np.ones((1, 5), dtype=bool), np.ones((1, 5), dtype=bool))
    assert set(resample([cut(new)], {"a": [sheet]}, ["mcc", "macro_f1", "micro_f1"], draws=100)["a"]) == {"micro_f1"}


def test_rejecting_nobody_is_worth_nothing_under_every_draw():
    new = np.arange(40) < 10
    nobody = SeedAnswers(np.zeros((3, 40)), np.ones((3, 40), dtype=bool), np.zeros((3, 40), dtype=bool))
    found = resample([cut(new)], {"never": [nobody]}, ["mcc"], draws=100)["never"]["mcc"]
    assert not found.points.any() and not found.draws.any() and interval(found) == (0.0, 0.0)


def test_the_interval_of_a_metric_is_that_of_its_difference_from_zero():
    one = resampled([0.1, 0.2, 0.3], np.array([[-0.1] * 3, [0.1] * 3]))
    found = difference(resampled([0.0] * 3, np.zeros((2, 3))), one)
    assert interval(one) == pytest.approx((found.lo, found.hi))
    assert np.isnan(interval(resampled([0.1, 0.2]))).all()
