"""Dishonest bundles, one function each, under the name that its row has in docs/trust.md."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.plans.budget import budget
from lgl_bench.streams.store import write_stream
from tests.support.bundles import PLUGIN
from tests.support.cheating import BACKBONE, COPYING, DECISION, FROM_DISK, LABELLED, LABELS, MINE, MOODY, Case
from tests.support.graphs import small_stream

Cheat = Callable[[Case], None]
CHEATS: dict[str, Cheat] = {}


def cheat(name: str) -> Callable[[Cheat], Cheat]:
    def decorate(function: Cheat) -> Cheat:
        assert name not in CHEATS
        CHEATS[name] = function
        return function

    return decorate


def is_new(frame: pd.DataFrame, known: list[int]) -> np.ndarray:
    return ~np.isin(LABELS[frame["vertex"].to_numpy()], known)


def own_suite(case: Case, more: str = "") -> str:
    suite = case.place / "mine.toml"
    suite.write_text(
        'name = "mine"\nversion = 1\ntitle = "Mine"\nprotocol = "temporal"\nstreams = ["small"]\n'
        'backbones = ["gcn"]\ndetectors = ["msp"]\n' + more
    )
    return str(suite)


@cheat("a number in leaderboard.csv is changed")
def _(case: Case) -> None:
    case.columns(auroc_weighted_mean="0.999")
    case.forged.seal()


@cheat("a grade in years.parquet is changed")
def _(case: Case) -> None:
    case.forged.change_table(case.forged.folder / "years.parquet", lambda frame: frame.assign(accuracy=0.999))
    case.forged.seal()


@cheat("the truth is written into the answers of msp")
def _(case: Case) -> None:
    case.change_answers(lambda frame, known: frame.assign(**{"novelty:msp": is_new(frame, known).astype(float)}))


@cheat("the truth is written into the predicted classes")
def _(case: Case) -> None:
    def better(frame, known):
        right = LABELS[frame["vertex"].to_numpy()]
        return frame.assign(class_pred=np.where(np.isin(right, known), right, frame["class_pred"]))

    case.change_answers(better)


@cheat("the decisions of a threshold are forged")
def _(case: Case) -> None:
    case.run(thresholds=["naive"])
    case.change_answers(lambda frame, known: frame.assign(**{DECISION: is_new(frame, known)}))


@cheat("the neighbour means behind GOOD are forged")
def _(case: Case) -> None:
    case.change_answers(lambda frame, known: frame.assign(**{"neighbour:msp": is_new(frame, known).astype(float)}))


@cheat("the weights are forged: those of a better seed, with their answers")
def _(case: Case) -> None:
    for mine, better in zip(case.keys(1), case.keys(0), strict=True):
        weights, answers = (f"{case.forged.folder}/{name}" for name in ("fits/{}.safetensors", "answers/{}.parquet"))
        shutil.copyfile(weights.format(better), weights.format(mine))
        # What is drawn with the seed stays: the seed is not forged.
        drawn = pd.read_parquet(answers.format(mine)).filter(regex=":random$")
        shutil.copyfile(answers.format(better), answers.format(mine))
        case.forged.change_table(Path(answers.format(mine)), lambda frame, drawn=drawn: frame.assign(**drawn))
    case.forged.regrade(case.honest.data)


@cheat("the worst years are called failed")
def _(case: Case) -> None:
    case.call_failed(case.keys(1)[2])


@cheat("a bad seed is called failed")
def _(case: Case) -> None:
    case.call_failed(*case.keys(1))


@cheat("a seed is left out")
def _(case: Case) -> None:
    case.leave_out(*case.keys(1), partial=False)


@cheat("a seed is left out, and the bundle calls itself partial")
def _(case: Case) -> None:
    case.leave_out(*case.keys(1), partial=True)


@cheat("years are left out")
def _(case: Case) -> None:
    case.leave_out(case.keys(0)[2], case.keys(1)[2], partial=False)


@cheat("years are left out, and the bundle calls itself partial")
def _(case: Case) -> None:
    case.leave_out(case.keys(0)[1], case.keys(1)[1], partial=True)


@cheat("fewer seeds are run from the start")
def _(case: Case) -> None:
    case.run(seeds=1)
    case.shown = {"auroc_weighted_n_seeds": "1"}


@cheat("a suite is renamed to another that asks for other things")
def _(case: Case) -> None:
    case.forged.change_json("plan.json", lambda plan: plan["suite"].update(name="static"))
    case.forged.regrade(case.honest.data)
    case.refusal = "not those of the shipped suite of that name"


@cheat("a suite of one's own has the name of a shipped one")
def _(case: Case) -> None:
    case.run(suite=own_suite(case, "[sweep]\nhidden = [8]\n"))
    case.forged.change_json("plan.json", lambda plan: plan["suite"].update(name="smoke", version=2))
    case.forged.regrade(case.honest.data)
    case.refusal = "not those of the shipped suite of that name"


@cheat("a suite of one's own has its own name")
def _(case: Case) -> None:
    case.run(suite=own_suite(case))
    case.shown = {"suite": "mine"}


@cheat("more epochs than the budget allows, written down")
def _(case: Case) -> None:
    case.forged.change_json("plan.json", lambda plan: [chain.update(epochs=500) for chain in plan["chains"]])
    case.forged.seal()
    case.refusal = "are not those of the budget smoke"


@cheat("a larger budget is named than the one that was run")
def _(case: Case) -> None:
    case.forged.change_json(
        "plan.json", lambda plan: plan.update(budget="paper", budget_version=budget("paper").version)
    )
    case.columns(budget="paper")
    case.forged.seal()
    case.refusal = "are not those of the budget paper"


@cheat("versions and commit are invented")
def _(case: Case) -> None:
    invented = {"torch": "9.9", "python": "4.0", "git_commit": "f" * 40}
    case.forged.change_json("plan.json", lambda plan: plan["provenance"].update(invented))
    case.columns(**invented)
    case.forged.seal()
    case.claimed = tuple(invented)


@cheat("the size of a memory is invented")
def _(case: Case) -> None:
    for seed in (0, 1):
        for key in case.keys(seed):
            less = {"memory_vertices": 1, "memory_mb": 0.001}
            case.forged.change_json(f"fits/{key}.json", lambda fields, less=less: fields.update(less))
    case.forged.regrade(case.honest.data)
    case.claimed = ("memory_vertices", "memory_mb")


@cheat("seconds are invented")
def _(case: Case) -> None:
    for seed in (0, 1):
        for key in case.keys(seed):
            case.forged.change_json(f"fits/{key}.json", lambda fields: fields.update(seconds=0.001))
    case.forged.regrade(case.honest.data)
    case.claimed = ("fit_seconds",)


@cheat("the name of the submitter is forged")
def _(case: Case) -> None:
    case.forged.change_json("MANIFEST.json", lambda fields: fields.update(submitter="Somebody Famous"))
    case.columns(submitter="Somebody Famous")
    case.forged.seal()
    case.claimed = ("submitter",)


@cheat("rows of different versions are mixed")
def _(case: Case) -> None:
    case.forged.change_board(lambda frame: frame.assign(torch=["1.0", *frame["torch"].iloc[1:]]))
    case.forged.seal()


@cheat("another stream has the same name")
def _(case: Case) -> None:
    case.data = case.place / "data"
    write_stream(small_stream(seed=4), case.data / "small")
    case.refusal = "the stream small has the checksum"


@cheat("the plugin that is sent is not the one that was run")
def _(case: Case) -> None:
    case.plugin = case.place / "margin.py"
    case.plugin.write_text(PLUGIN.replace("(1.0 - (", "0.5 * (1.0 - ("))
    case.detector = MINE


@cheat("a plugin copies the submitted answers while it is run again")
def _(case: Case) -> None:
    case.change_answers(lambda frame, known: frame.assign(**{f"novelty:{MINE}": is_new(frame, known).astype(float)}))
    case.plugin = case.place / "copying.py"
    place = {"bundle": str(case.forged.folder), "temporary": str(case.place / "temporary")}
    case.plugin.write_text(COPYING.format(**place, plugin=PLUGIN))
    case.detector, case.sandboxed = MINE, True


@cheat("a detector raises in its bad years")
def _(case: Case) -> None:
    case.run(MOODY)
    case.detector = MINE


@cheat("a plugin reads the true labels from disk")
def _(case: Case) -> None:
    case.run(LABELLED.format(labels=FROM_DISK.format(data=str(case.data))))
    case.detector, case.sandboxed = MINE, True


@cheat("a plugin backbone trains on the labels of the test year")
def _(case: Case) -> None:
    case.run(BACKBONE.format(data=str(case.data)), backbones=["peeking"])


@cheat("a plugin carries the true labels in its own file")
def _(case: Case) -> None:
    case.run(LABELLED.format(labels=f"\ndef labels():\n    return {LABELS.tolist()}\n"))
    case.detector = MINE
