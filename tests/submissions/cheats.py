"""Dishonest bundles, one function each, under the name that its row has in docs/trust.md."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

from lgl_bench.core.registry import load_plugin
from lgl_bench.runs.budget import budget
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.pack import submit
from tests.graphs import small_stream
from tests.submissions.conftest import PLUGIN, Forged, plugins_forgotten

MSP, MINE, DECISION = "msp", "margin-of-mine", "rejected:msp|naive(delta=0.1)"
LABELS = small_stream().labels
LABELLED = '''
import numpy as np

from lgl_bench.detectors import Detector, detectors
{labels}

@detectors.register("margin-of-mine")
class Known(Detector):
    """Whether the true class is one the model knows."""

    def score(self, model, graph):
        return 1.0 - np.isin(np.asarray(labels())[: graph.num_vertices], model.known)
'''
FROM_DISK = """
def labels():
    from lgl_bench.streams.catalogue import load
    return load("small").labels
"""
COPYING = """
from pathlib import Path

import pandas as pd

def answers():
    places = [Path({bundle!r}), *Path({temporary!r}).glob("**/bundle")]
    for path in (path for place in places for path in place.glob("answers/*.parquet")):
        yield pd.read_parquet(path)

{plugin}

def copied(self, model, graph):
    found = honest(self, model, graph)
    for frame in answers():
        if frame["vertex"].max() == graph.num_vertices - 1:
            found[frame["vertex"]] = frame["novelty:margin-of-mine"]
    return found

honest = Margin.score
Margin.score = copied
"""
MOODY = PLUGIN.replace(
    "        top =", "        if graph.num_vertices == 190:\n            raise ValueError('not today')\n        top ="
)
BACKBONE = '''
import torch

from lgl_bench.backbones import backbones
from lgl_bench.backbones.gcn import GCN
from lgl_bench.streams.catalogue import load


@backbones.register("peeking")
class Peeking(GCN):
    """A GCN that is told the class of every vertex it knows the class of."""

    def step(self, layer, inputs, h):
        out = super().step(layer, inputs, h)
        if layer < self.layers - 1:
            return out
        labels = torch.as_tensor(load("small").labels[: len(out)].copy())
        known = labels < out.shape[1]
        hint = torch.zeros_like(out)
        hint[known, labels[known]] = 20.0
        return out + hint
'''


@dataclass
class Case:
    """What a cheat may change, and what it takes to see it.

    Attributes:
        honest: Folder, data, run and bundle of an honest run.
        place: A folder of the cheat's own.
        forged: A copy of the honest bundle, the one that is sent.
        plugin: The reviewer's file of the method.
        data: The reviewer's data folder.
        detector: The row that profits.
        refusal: What the message says where the bundle is refused.
        claimed: Columns that must be listed as the word of whoever ran it.
        shown: Columns of the row that give it away, with their values.
        sandboxed: Whether running it again takes the real sandbox.
    """

    honest: SimpleNamespace
    place: Path
    forged: Forged
    plugin: Path
    data: Path
    detector: str = MSP
    refusal: str = ""
    claimed: tuple[str, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)
    sandboxed: bool = False

    def keys(self, seed: int) -> list[str]:
        fits = self.forged.plan()["fits"]
        return fits[3 * seed : 3 * seed + 3]

    def change_answers(self, change) -> None:
        """Changes the answers of every fit, given who is new to it, and makes all the rest agree."""
        for seed in range(self.forged.plan()["seeds"]):
            for key in self.keys(seed):
                known = json.loads((self.forged.folder / f"fits/{key}.json").read_text())["known"]
                path = self.forged.folder / f"answers/{key}.parquet"
                self.forged.change_table(path, lambda frame, known=known: change(frame, known))
        self.forged.regrade(self.honest.data)

    def call_failed(self, *keys: str) -> None:
        for key in keys:
            self.forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="failed", reason="no luck"))
            (self.forged.folder / f"answers/{key}.parquet").unlink()
        self.forged.regrade(self.honest.data)

    def leave_out(self, *keys: str, partial: bool) -> None:
        for key in keys:
            for path in (*self.forged.folder.glob(f"answers/{key}.*"), *self.forged.folder.glob(f"fits/{key}.*")):
                path.unlink()
        if partial:
            self.forged.change_json("MANIFEST.json", lambda fields: fields.update(partial=True))
            self.forged.regrade(self.honest.data)
        self.forged.seal()
        self.refusal = f"fits/{keys[0]}.json is missing"

    def run(self, plugin: str = "", suite: str = "smoke", **axes) -> None:
        """Sends another run, which is as it says."""
        with plugins_forgotten():
            if plugin:
                self.plugin = self.place / "plugin.py"
                self.plugin.write_text(plugin)
                load_plugin(self.plugin)
            axes = {"detectors": [MSP, MINE] if MINE in plugin else [MSP], "thresholds": ["none"], "seeds": 1, **axes}
            out = self.honest.carry_out(f"cheat-{self.place.name}", suite=suite, **axes)
        shutil.rmtree(self.forged.folder)
        submit(out, self.forged.folder, submitter="A. Nother")

    def columns(self, **values: str) -> None:
        """Writes values into every row of the board."""
        self.forged.change_board(lambda frame: frame.assign(**values))


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
    case.refusal = "the suite calls itself static"


@cheat("a suite of one's own has the name of a shipped one")
def _(case: Case) -> None:
    case.run(suite=own_suite(case, "[sweep]\nhidden = [8]\n"))
    case.forged.change_json("plan.json", lambda plan: plan["suite"].update(name="smoke", version=2))
    case.forged.regrade(case.honest.data)
    case.refusal = "the suite calls itself smoke"


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
    case.run(LABELLED.format(labels=FROM_DISK))
    case.detector, case.sandboxed = MINE, True


@cheat("a plugin backbone trains on the labels of the test year")
def _(case: Case) -> None:
    case.run(BACKBONE, backbones=["peeking"])


@cheat("a plugin carries the true labels in its own file")
def _(case: Case) -> None:
    case.run(LABELLED.format(labels=f"\ndef labels():\n    return {LABELS.tolist()}\n"))
    case.detector = MINE
