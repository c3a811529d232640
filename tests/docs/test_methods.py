"""The tables of methods are those that the registries give."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from lgl_bench.backbones import backbones
from lgl_bench.core.references import FLOOR
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.thresholds import thresholds
from tests.support.scripts import load_script

OWN = {"detectors": {"entropy", *FLOOR}, "backbones": {"mlp"}, "heads": {"softmax"}}
"""What nobody has to be cited for."""


@pytest.fixture(scope="module")
def made() -> ModuleType:
    return load_script("docs/make_methods.py")


def built_in(registry):
    return [name for name in registry.names() if registry.is_built_in(name)]


def test_the_page_of_methods_is_up_to_date(made):
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run: python docs/make_methods.py"


@pytest.mark.parametrize("registry", [detectors, backbones, heads, thresholds], ids=lambda one: one.kind)
def test_every_method_has_a_row_and_a_formula(made, registry):
    for name in built_in(registry):
        assert re.search(rf"^\| `{re.escape(name)}(\(D\))?` \|", made.page(), re.MULTILINE)
        assert len(made.formula(registry, name)) > 5, name


@pytest.mark.parametrize("registry", [detectors, backbones, heads], ids=lambda one: one.kind)
def test_every_method_of_somebody_elses_is_cited(made, registry):
    without = {name for name in built_in(registry) if not re.search(r" \d{4}$", made.reference(registry, name))}
    assert without == OWN[f"{registry.kind}s"]


def test_formula_and_reference_are_those_of_the_method_itself(made):
    assert made.formula(detectors, "energy") == "-logsumexp(f)"
    assert made.formula(detectors, "gnnsafe") == "s <- alpha s + (1 - alpha) P s, some times over"
    assert made.reference(detectors, "gnnsafe") == "Wu et al. 2023"
    assert made.reference(detectors, "doc") == "Shu et al. 2017"
    assert made.reference(detectors, "gdoc") == "Galke et al. 2021"
    assert made.formula(detectors, "degree").startswith("1 / (1 + degree)")


def test_the_row_of_a_detector_says_what_it_is_trained_with_its_track_and_its_cost(made):
    rows = {line.split("|")[1].strip(): line for line in made.page().splitlines() if line.startswith("| `")}
    gkde, ash = rows["`gkde`"], rows["`ash(D)`"]
    assert "| training |" in made.page() and "| head gkde | transductive |" in made.page() and gkde
    assert "| `percentile=90` | as D, last layer |" in ash
    assert "| gradient |" in rows["`odin`"] and "| none |" in rows["`random`"]
