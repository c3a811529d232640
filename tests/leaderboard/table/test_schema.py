from __future__ import annotations

import re

from lgl_bench.leaderboard.table.columns import columns
from lgl_bench.leaderboard.table.schema import (
    COMPARABLE,
    FACTS,
    HEADLINE,
    KEY,
    METHOD,
    PLACE,
    SUFFIXES,
    VARIANT,
)
from lgl_bench.metrics import metrics
from tests.support.blocks import ROOT


def test_the_columns_are_those_people_script_against_and_the_version_is_last():
    key = "suite suite_version stream stream_checksum protocol split strategy history restart label_delay track"
    assert list(KEY) == f"{key} backbone head detector threshold preset budget budget_version select".split()
    ranking = ["accuracy", "auroc_weighted", "auroc_mean", "auroc_paper", "aupr", "fpr95", "oscr"]
    assert list(HEADLINE) == [*ranking, *["mcc", "recall_new", "false_alarm_rate", "micro_f1", "macro_f1", "open_f1"]]
    assert list(SUFFIXES) == ["mean", "std", "lo", "hi", "n_seeds", "n_years", "reason"]
    names = [column.name for column in columns(HEADLINE)]
    assert names[: len(KEY)] == list(KEY) and names[len(KEY)] == "accuracy_mean"
    assert names[-len(FACTS) :] == list(FACTS) and names[-1] == "schema_version"
    # History and restart are the strategy's.
    assert set(METHOD) | set(COMPARABLE) | {"preset", "select", "history", "restart"} == set(KEY)


def test_the_key_is_where_rows_may_be_compared_and_what_tells_them_apart_there():
    assert set(PLACE) == {"stream", *COMPARABLE}
    assert (set(PLACE) | set(VARIANT), set(PLACE) & set(VARIANT)) == (set(KEY), set())


def test_the_page_on_the_schema_describes_every_column_as_the_models_do():
    text = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([a-zM_0-9]+)` \| [^|]+ \| (.+) \|$", text, flags=re.MULTILINE))
    for column in columns([]):
        assert told[column.name] == column.about
    for column in columns(["M"]):
        assert told[column.name] == column.about
    for name in HEADLINE:
        assert f"`{name}`" in text


def test_the_page_lists_every_metric_as_the_registry_has_it():
    text = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    for metric in metrics.in_order():
        low, high = metric.range
        better, needs = "more" if metric.higher_is_better else "less", ", ".join(metric.needs)
        meaning = (metric.__doc__ or "").split("\n")[0].rstrip(".")
        cells = (
            f"`{metric.name}`",
            f"{low:g} to {'any' if high is None else format(high, 'g')}",
            better,
            needs,
            metric.over_years,
            meaning,
        )
        assert f"| {' | '.join(cells)} |\n" in text
