"""Backbones as suites and commands write them, and the rows and fits that come of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lgl_bench.backbones import Backbone, backbones
from lgl_bench.core.errors import PluginError, UnknownNameError, UsageError
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.backbone_settings import backbone_settings, resolve_backbone
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, backbone_text, unit_key
from lgl_bench.plans.plan_file import PluginFacts, describe
from lgl_bench.plans.preset_entries import FitEntry
from lgl_bench.plans.preset_file import write_presets
from lgl_bench.plans.rebuild import description_of, rebuild_plan
from lgl_bench.plans.suite import load_suite, read_fields
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.options import Settings
from lgl_bench.tuning.plan import plan_tuning
from tests.plans.test_suite import MINE

CHAIN = ChainSpec("s", None, ProtocolSetting("temporal"), "gat", "softmax", (("heads", 4),), 1, 0.1, 0)


@pytest.fixture
def plan(data, tmp_path):
    """The smoke suite on a small stream, planned with other backbones."""

    def planned(*texts, suite="smoke", budget="smoke", preset=None, **axes):
        settings = Settings(tmp_path / "run", offline=True, preset=preset)
        axes = {"streams": ["small"], "detectors": ["msp"], "thresholds": ["none"], **axes}
        return plan_run(suite, settings, budget=budget, seeds=1, backbones=list(texts), **axes)[0]

    return planned


def own_suite(folder, text):
    fields = ('name = "mine"', "version = 1", 'title = "x"', 'protocol = "temporal"', 'detectors = ["msp"]')
    path = folder / "mine.toml"
    path.write_text("\n".join((*fields, 'streams = ["small"]', text)) + "\n")
    return str(path)


def shown(plan, detector="msp"):
    return [row.shown_backbone for row in plan.rows if row.detector == detector]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("gcn", "gcn"),
        ("GCN()", "gcn"),
        ("gat( heads = 4 )", "gat(heads=4)"),
        ("gat(heads=4.0)", "gat(heads=4)"),
        ("appnp(teleport=.2, steps=10)", "appnp(steps=10,teleport=0.2)"),
        ("appnp(teleport=1)", "appnp(teleport=1)"),
        ("appnp(teleport=1.0)", "appnp(teleport=1)"),
        ("gcnii(identity=1e-7)", "gcnii(identity=1e-07)"),
        ("appnp(teleport=0.123456789)", "appnp(teleport=0.123456789)"),
    ],
)
def test_what_is_given_is_shown_sorted_and_short_and_what_is_not_given_is_not_shown(text, canonical):
    found = resolve_backbone(text)
    assert backbone_text(found.name, found.parameters) == canonical
    assert resolve_backbone(canonical) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "appnp(stepz=3)",
            "backbone 'appnp' has no parameter 'stepz'; did you mean 'steps'? It takes: dropout, hidden",
        ),
        ("gcn(shape=3)", "backbone 'gcn' has no parameter 'shape'. It takes: dropout, hidden, layers"),
        ("gat(heads=2.5)", "backbone 'gat', heads = 2.5: expected int"),
        ("gat(heads=many)", "backbone 'gat', heads = many: expected int"),
        ("graphsage(fanout=3)", "backbone 'graphsage', fanout: an expression cannot write a tuple[int, int]"),
        ("gat(gcn)", "backbone 'gat' wraps none; 1 given in 'gat(gcn)'"),
        ("gat(heads=4", "expected ',' or ')', found nothing more"),
    ],
)
def test_what_a_backbone_does_not_take_is_refused_as_for_detectors(text, told):
    with pytest.raises(UsageError) as caught:
        resolve_backbone(text)
    assert told in str(caught.value)


def test_an_unknown_backbone_is_named_without_its_parameters():
    with pytest.raises(UnknownNameError, match="unknown backbone 'gta'; did you mean 'gat'?"):
        resolve_backbone("gta(heads=4)")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("appnp(steps=0)", "backbone 'appnp', steps = 0: at least one step along the arcs is needed"),
        ("gprgnn(teleport=1.5)", "backbone 'gprgnn', teleport = 1.5: it must lie in [0, 1]"),
        ("gpn(latent=0)", "backbone 'gpn', latent = 0"),
        ("gat(heads=0)", "backbone 'gat', heads = 0: at least one attention head is needed"),
        ("gcn(layers=1)", "backbone 'gcn', layers = 1, hidden = "),
        ("gcn(hidden=0)", "at least two layers and one hidden unit"),
        ("gcn(hidden=17)", "hidden = 17; the budget smoke allows 16: take another value, or give a larger --budget"),
        ("gcn(dropout=0.9)", "dropout = 0.9; the budget smoke allows 0.5"),
    ],
)
def test_a_value_out_of_range_is_refused_when_it_is_planned(plan, text, told):
    with pytest.raises(UsageError) as caught:
        plan(text)
    assert told in str(caught.value)


def test_a_backbone_of_ones_own_that_cannot_be_made_is_refused_when_it_is_planned(plan):
    with backbones.temporarily():

        @backbones.register("brittle")
        class Brittle(Backbone):
            def __init__(self, shape, twist: int = 1, **rest) -> None:
                super().__init__(shape, **rest)
                self.inverse = 1 / twist

            def step(self, layer, inputs, h):
                raise AssertionError

            def grow(self, outputs):
                raise AssertionError

        # What it hands on is what its base takes.
        assert resolve_backbone("brittle(hidden=8,twist=2)").given == (("hidden", 8), ("twist", 2))
        assert shown(plan("brittle(twist=2)")) == ["brittle(twist=2)"]
        with pytest.raises(PluginError, match="the backbone brittle cannot be made with .*ZeroDivisionError"):
            plan("brittle(twist=0)")


def test_a_backbone_that_is_not_available_is_taken_as_it_was_recorded():
    facts = PluginFacts(backbones=("theirs",))
    assert resolve_backbone("theirs(b=2,a=1)", facts).given == (("a", 1), ("b", 2))
    with pytest.raises(UnknownNameError):
        resolve_backbone("others(a=1)", facts)


def test_given_parameters_take_the_place_of_the_presets_and_the_rest_stays(plan):
    (plain,), (given,) = plan("gcn").units, plan("gcn(layers=3)").units
    assert given.parameters == {**plain.parameters, "layers": 3}
    assert given.training == plain.training
    assert (given.backbone, given.given) == ("gcn", (("layers", 3),))
    assert {row.preset for row in plan("gcn(layers=3)").rows} == {row.preset for row in plan("gcn").rows}


def test_given_parameters_take_the_place_of_tuned_ones(plan, tmp_path):
    file = tmp_path / "mine.toml"
    where = {"stream": "small", "split": "temporal", "backbone": "gcn", "head": "softmax"}
    parameters = {"hidden": 12, "layers": 4, "dropout": 0.1}
    write_presets(file, [FitEntry(**where, parameters=parameters, epochs=3, lr=0.05, studies={"tune-1": 3})])
    made = plan("gcn(layers=2)", preset=file)
    (chain,) = made.units
    assert chain.parameters == {**parameters, "layers": 2}
    assert [row.preset for row in made.rows if row.detector == "msp"] == ["mine"]


def test_attention_heads_that_are_given_share_the_width_of_the_budget(plan):
    (chain,) = plan("gat(heads=4)", budget="quick").units
    assert (chain.parameters["heads"], chain.parameters["hidden"]) == (4, 16)
    (plain,) = plan("gat", budget="quick").units
    assert (plain.parameters["heads"], plain.parameters["hidden"]) == (2, 32)


def test_a_plain_name_has_the_key_and_the_plan_it_always_had(plan):
    made = plan("gcn", "gat(heads=2)")
    plain, given = made.units
    assert (plain.given, given.given) == ((), (("heads", 2),))
    fields = json.loads(description_of(made, {}).text())
    assert ["given" in chain for chain in fields["chains"]] == [False, True]
    assert fields["rows"][0]["parameters"] == []
    # What the plan of an older run lacks is what a plain name has.
    assert describe(fields) == description_of(made, {})
    assert [unit.key for unit in made.units[plain]] == [unit.key for unit in plan("gcn").all_units]


def test_the_key_covers_what_is_given():
    def key(chain):
        return unit_key(chain, "prefix", 2000, "", "")

    given = replace(CHAIN, given=(("heads", 4),))
    assert len({key(CHAIN), key(given), key(replace(CHAIN, given=(("hidden", 8),)))}) == 3
    assert key(replace(given, given=())) == key(CHAIN)


def test_one_backbone_with_several_parameters_has_rows_and_fits_of_its_own(plan):
    # On this stream the preset has two layers too: the rows of the plain name must not mix with those of layers=2.
    made = plan("gcn", "gcn(layers=2)", "gcn(layers=3)")
    assert shown(made) == ["gcn", "gcn(layers=2)", "gcn(layers=3)"]
    chains = [made.chains_of(row, row.candidates[0]) for row in made.rows if row.detector == "msp"]
    assert [[chain.given for chain in one] for one in chains] == [[()], [(("layers", 2),)], [(("layers", 3),)]]
    assert len({unit.key for unit in made.all_units}) == len(made.all_units)


def test_the_floor_joins_the_first_backbone_only(plan):
    made = plan("gcn(layers=3)", "gcn", "gat(heads=1)")
    assert shown(made, "random") == shown(made, "degree") == ["gcn(layers=3)"]


def test_a_plan_with_expressions_is_rebuilt_as_it_was(plan, data):
    made = plan("gcn", "gcn(layers=3)", "appnp(teleport=1.0)")
    again = rebuild_plan(description_of(made, {}), made.tasks.streams, TaskCache(made.tasks.streams))
    assert again.rows == made.rows
    assert [replace(chain, data_dir=None) for chain in made.units] == list(again.units)
    assert list(again.scored.values()) == list(made.scored.values())


def test_one_backbone_in_two_spellings_is_refused():
    suite = load_suite("smoke").override(backbones=("gat(heads=4)", "gcn", "GAT(heads=4.0)"))
    with pytest.raises(UsageError, match=r"the backbone gat\(heads=4\) is named twice; leave one out"):
        backbone_settings(suite)


def test_a_sweep_goes_beside_what_is_given(plan, tmp_path):
    suite = own_suite(tmp_path, 'backbones = ["gcn"]\n[sweep]\nhidden = [8, 16]\ndropout = [0]')
    assert shown(plan("gcn", suite=suite)) == ["gcn(hidden=8,dropout=0)", "gcn(hidden=16,dropout=0)"]
    made = plan("gcn(layers=3)", suite=suite)
    assert shown(made) == ["gcn(dropout=0,hidden=8,layers=3)", "gcn(dropout=0,hidden=16,layers=3)"]
    assert [(one.parameters["hidden"], one.parameters["layers"]) for one in made.units] == [(8, 3), (16, 3)]
    assert [len(made.chains_of(row, row.candidates[0])) for row in made.rows if row.detector == "msp"] == [1, 1]
    assert [made.shown_backbone(chain) for chain in made.units] == shown(made)
    assert len(shown(made, "random")) == 1


def test_sweeping_what_an_expression_gives_is_refused(plan, tmp_path):
    suite = own_suite(tmp_path, 'backbones = ["gcn"]\n[sweep]\nhidden = [8, 16]')
    with pytest.raises(UsageError, match=r"sweeps hidden, and the backbone gcn\(hidden=8\) fixes it"):
        plan("gcn(hidden=8)", suite=suite)


def test_sweeping_what_a_backbone_does_not_take_is_refused(plan, tmp_path):
    suite = own_suite(tmp_path, 'backbones = ["gcn"]\n[sweep]\nhiden = [8]')
    with pytest.raises(UsageError, match="backbone 'gcn' has no parameter 'hiden'; did you mean 'hidden'?"):
        plan("gcn", suite=suite)


def test_values_in_braces_stand_for_several_backbones():
    suite = read_fields(MINE | {"backbones": ["gcn", "appnp(steps={k})"], "vary": {"k": [1, 2]}}, "")
    assert suite.backbones == ("gcn", "appnp(steps=1)", "appnp(steps=2)")


def test_detectors_of_a_backbone_and_what_suits_it_go_by_its_name(plan, tmp_path):
    lines = 'backbones = ["gcn"]\n[detectors_for]\ngat = ["energy"]'
    made = plan("gcn", "gat(heads=1)", suite=own_suite(tmp_path, lines), detectors=())
    assert (shown(made), shown(made, "energy(temperature=1.0)")) == (["gcn"], ["gat(heads=1)"])
    made = plan("gcn", "gpn(steps=2)", detectors=["msp", "gpn"])
    assert [row.shown_backbone for row in made.rows if row.detector.startswith("gpn")] == ["gpn(steps=2)"]


def test_tuning_goes_by_name_and_says_so(data, tmp_path):
    with pytest.raises(UsageError, match=r"'gat\(heads=4\)': backbones are tuned by name.*give --backbone gat$"):
        plan_tuning("smoke", tmp_path / "mine.toml", streams=["small"], backbones=["gat(heads=4)"])
