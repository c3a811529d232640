"""Expressions, wherever the command line takes one: detectors, thresholds, and twins with values of their recipe."""

from __future__ import annotations

import random
import string
from functools import cache
from pathlib import Path

from lgl_bench.core.expressions import build, complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.variants import variants
from lgl_bench.plans.budget import BUDGETS
from lgl_bench.plans.plan import make_plan
from lgl_bench.plans.preset_entries import skeleton
from lgl_bench.plans.suite import load_suite
from lgl_bench.runs.answer_digests import answer_digest
from lgl_bench.streams import catalogue
from lgl_bench.streams.stream import Stream
from lgl_bench.thresholds import thresholds
from lgl_bench.tuning.space import candidates
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import TOKENS, damaged_bytes, damaged_text

_VALID = {
    "detector": ("msp", "GOOD( odin(eps=.05), alpha=0.6)", "good(react(energy))", "knn(k=3)", "good(auto)"),
    "threshold": ("naive", "open-wrf(q=0.2, fit=test, balance=false)", "quantile(q=1e-1)", "gdoc(scale=2)"),
    "stream": ("dblp-easy-twin(homophily=0.3)", "cora-twin", "cora-twin(seed=7,birth_size=9)", "ogb-arxiv-twin"),
}  # fmt: skip
_WORDS = (
    "good",
    "odin",
    "react",
    "alpha",
    "eps",
    "k",
    "q",
    "true",
    "inf",
    "nan",
    "auto",
    "preset",
    "isomax+",
    "oracle",
)


def _make(folder: Path, rng: random.Random) -> None:
    what = rng.choice(sorted(_VALID))
    (folder / what).write_text(rng.choice(_VALID[what]))


def _mutate(folder: Path, rng: random.Random) -> None:
    path = next(folder.iterdir())
    path.write_bytes(_damaged(path.read_bytes(), rng))


def _damaged(text: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(9)
    if kind == 0:
        deep = rng.choice([1, 2, 3, 7, 9, 100, 1000, 20_000])
        return b"good(" * deep + text + b")" * deep
    if kind == 1:
        return text.replace(b"=", b"=" + rng.choice(TOKENS), 1)
    if kind == 2:
        digits = bytes(rng.choice(b"0123456789") for _ in range(rng.choice([1, 20, 41, 310, 4301])))
        return text.replace(b")", b"," + rng.choice(_WORDS).encode() + b"=" + digits + b")", 1)
    if kind == 3:
        return text + rng.choice([b" ", b"\xc2\xa0", b"\t", b"x", b"(", b","]) * rng.choice([1, 10, 300, 5000])
    if kind == 4:
        return b"(,)=".join(rng.choice(_WORDS).encode() for _ in range(rng.choice([1, 3, 30])))
    if kind == 5:
        return b"".join(rng.choice([*(w.encode() for w in _WORDS), b"(", b")", b",", b"=", b"1"]) for _ in range(12))
    if kind == 6:
        return "".join(rng.choice(string.printable) for _ in range(rng.choice([1, 5, 40]))).encode()
    return damaged_text(text, rng) if kind == 7 else damaged_bytes(text, rng)


def _run(source: Path, out: Path) -> None:
    path = next(source.iterdir())
    # As Python gets it from the command line.
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    {"detector": _detector, "threshold": _threshold, "stream": _stream}[path.name](text, out)


def _detector(text: str, out: Path) -> None:
    suite = load_suite("smoke").override(detectors=(text,), backbones=("gcn",), thresholds=("none",))
    make_plan(suite, BUDGETS["smoke"], _small(), seeds=1)
    expression = parse(text)
    assert parse(str(expression)) == expression
    assert str(skeleton(expression)) and candidates("msp", "dblp-easy-twin", "temporal", "gcn")
    if "auto" in text.lower() or "preset" in text.lower():
        return
    whole = complete(expression, detectors)
    assert complete(parse(str(whole)), detectors) == whole
    build(whole, detectors)
    answer_digest(whole)
    variants(expression)
    candidates(text, "dblp-easy-twin", "temporal", "gcn")


def _threshold(text: str, out: Path) -> None:
    suite = load_suite("smoke").override(thresholds=(text,), detectors=("msp",), backbones=("gcn",))
    make_plan(suite, BUDGETS["smoke"], _small(), seeds=1)
    if suite.thresholds:
        build(parse(text), thresholds)


def _stream(text: str, out: Path) -> None:
    load_suite("smoke").override(streams=(text,))
    catalogue.load(text, out)


@cache
def _small() -> dict[str, Stream]:
    return {"dblp-easy-twin": catalogue.twin("dblp-easy-twin(birth_size=1, features=8)")}


KINDS = [Kind("expressions", _make, _mutate, _run)]
