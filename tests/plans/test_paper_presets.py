from __future__ import annotations

import pytest

from lgl_bench.backbones import Shape, backbones
from lgl_bench.core.expressions import parse
from lgl_bench.plans.paper_presets import detector_preset, good_preset, grid, preset, resolve_good, table

ROWS = {(row["dataset"], row["split"], row["backbone"], row["head"]): row for row in table("hyperparameters")}


def test_the_tables_have_every_row_of_the_paper():
    assert len(table("hyperparameters")) == len(ROWS) == 4 * (3 * 3 + 3 * 3 + 3 * 3 - 1)
    assert len(table("odin_hyperparameters")) == 4 * 9
    assert len(table("good_alpha")) == 4 * 9 - 1


@pytest.mark.parametrize("key", list(ROWS), ids="/".join)
def test_every_row_of_hyperparameters_is_a_preset_with_its_values(key):
    row = ROWS[key]
    found = preset(*key)
    assert found.name == "paper"
    assert (found.training.epochs, found.training.lr) == (int(row["epochs"]), float(row["lr"]))
    expected = {"layers": int(row["layers"]), "hidden": int(row["hidden"]), "dropout": float(row["dropout"])}
    if row["backbone"] == "gat":
        expected |= {"heads": int(row["heads"]), "attn_dropout": float(row["attn_dropout"])}
    if row["backbone"] == "graph-mlp":
        expected["r"] = int(row["r"])
    if row["backbone"] == "graphsage":
        temporal = row["split"] == "temporal"
        expected |= {"batch": 0.2 if temporal else 512, "fanout": (50, 20) if temporal else (25, 5)}
    assert found.backbone == expected


@pytest.mark.parametrize("row", table("odin_hyperparameters"), ids=lambda row: "/".join(list(row.values())[:3]))
def test_every_row_of_odin_is_a_preset_with_its_values(row):
    found = detector_preset(row["dataset"], row["split"], row["backbone"], "odin")
    assert found == {"eps": float(row["eps"]), "temperature": float(row["temperature"])}


@pytest.mark.parametrize("row", table("good_alpha"), ids=lambda row: "/".join(list(row.values())[:3]))
def test_every_row_of_good_is_a_preset_with_its_values(row):
    found = good_preset(row["dataset"], row["split"], row["backbone"])
    assert found == (row["detector"], float(row["alpha"]))


def test_a_detector_without_parameters_in_the_paper_has_no_preset():
    assert detector_preset("cora", "60-20-20", "gcn", "msp") == {}


@pytest.mark.parametrize(
    ("wanted", "stands_in"),
    [
        (("dblp-hard", "temporal", "gcn", "isomax+"), ("dblp-easy", "temporal", "gcn", "isomax+")),
        (("acl-venues", "temporal", "gat", "gdoc"), ("dblp-easy", "temporal", "gat", "gdoc")),
        (("acl-anthology", "temporal", "gat", "gdoc"), ("dblp-easy", "temporal", "gat", "gdoc")),
        (("arxiv-structure", "temporal", "graph-mlp", "softmax"), ("ogb-arxiv", "temporal", "graph-mlp", "softmax")),
        (("cora", "60-20-20", "gcn", "genodin"), ("cora", "60-20-20", "gcn", "softmax")),
        (("cora", "planetoid", "gat", "doc"), ("cora", "planetoid", "gat", "gdoc")),
        (("citeseer", "60-20-20", "mlp", "gdoc"), ("citeseer", "60-20-20", "gcn", "gdoc")),
        (("pubmed", "planetoid", "appnp", "isomax+"), ("pubmed", "planetoid", "gcn", "isomax+")),
        (("ogb-arxiv", "temporal", "gin", "softmax"), ("ogb-arxiv", "temporal", "gcn", "softmax")),
        (("cora", "planetoid", "mine", "gdoc"), ("cora", "planetoid", "gcn", "gdoc")),
    ],
)
def test_what_the_paper_lacks_is_stood_in_for_and_says_so(wanted, stands_in):
    found, original = preset(*wanted), preset(*stands_in)
    assert found.backbone == original.backbone
    assert found.training == original.training
    assert found.name != "paper"
    assert all(part in found.name for part in (stands_in[0], stands_in[2], stands_in[3]))


@pytest.mark.parametrize("key", [key for key in ROWS if key[2] in ("gcn", "gat")], ids="/".join)
def test_a_twin_is_as_its_original_but_at_most_128_wide(key):
    original, twin = preset(*key), preset(f"{key[0]}-twin", *key[1:])
    assert twin.training == original.training
    assert twin.backbone == original.backbone | {"hidden": min(original.backbone["hidden"], 128)}
    assert twin.name != "paper"


def test_any_other_stream_is_as_cora_or_dblp_easy_and_at_most_128_wide():
    static, temporal = preset("mine", "60-20-20", "gcn", "softmax"), preset("mine", "temporal", "gcn", "softmax")
    assert static.training == preset("cora", "60-20-20", "gcn", "softmax").training
    assert temporal.training == preset("dblp-easy", "temporal", "gcn", "softmax").training
    assert temporal.backbone["hidden"] == 128


def test_a_backbone_or_head_of_ones_own_is_trained_as_gcn():
    found = preset("cora", "60-20-20", "mine", "my-head")
    assert found.backbone == preset("cora", "60-20-20", "gcn", "softmax").backbone
    assert "gcn" in found.name


@pytest.mark.parametrize(
    ("backbone", "own"),
    [
        *((name, set()) for name in ("mlp", "appnp", "gin", "gprgnn")),
        ("sgc", {"layers", "dropout"}),
        ("gcnii", {"layers"}),
        ("h2gcn", {"layers"}),
    ],
)
def test_a_backbone_the_paper_lacks_is_as_gcn_in_every_parameter_that_means_the_same(backbone, own):
    for key in ROWS:
        if key[2] == "gcn":
            found, gcn = preset(key[0], key[1], backbone, key[3]), preset(*key)
            assert found.training == gcn.training
            assert found.backbone == {name: value for name, value in gcn.backbone.items() if name not in own}
            backbones.get(backbone)(Shape(6, 3), **(found.backbone | {"hidden": 4}))


@pytest.mark.parametrize("backbone", ["sgc", "mine"])
def test_a_backbone_the_paper_lacks_takes_odin_and_good_from_gcn_too(backbone):
    place = "cora", "60-20-20"
    assert detector_preset(*place, backbone, "odin") == detector_preset(*place, "gcn", "odin") != {}
    assert good_preset(*place, backbone) == good_preset(*place, "gcn")


def test_a_plugin_takes_every_size_whatever_its_code_says():
    class TakesNone:
        def __init__(self, shape):
            self.shape = shape

    before = preset("cora", "60-20-20", "mine", "softmax")
    with backbones.temporarily():
        backbones.register("mine")(TakesNone)
        assert preset("cora", "60-20-20", "mine", "softmax") == before


def test_twins_and_mlp_take_odin_and_good_from_where_they_take_the_rest():
    assert detector_preset("cora-twin", "60-20-20", "mlp", "odin") == {"eps": 0.05, "temperature": 1000.0}
    assert good_preset("cora-twin", "60-20-20", "mlp") == ("gdoc", 0.6)
    assert good_preset("dblp-hard", "temporal", "graphsage") == good_preset("dblp-easy", "temporal", "graphsage")


def test_the_grids_are_the_papers():
    assert grid("all", "odin") == {
        "temperature": (1, 10, 100, 1000),
        "eps": (0.01, 0.05, 0.08, 0.1, 0.2, 0.5, 0.8, 0.9),
    }
    assert grid("static", "all")["epochs"] == (100, 200, 300, 500)
    assert grid("temporal", "gat") == {"hidden": (8, 16, 32, 64, 128), "heads": (2, 4, 8)}
    assert grid("static", "nobody") == {}
    assert sum(len(grid(kind, who)) for kind, who in {(r["kind"], r["applies_to"]) for r in table("grids")}) == len(
        table("grids")
    )


@pytest.mark.parametrize(
    ("given", "resolved"),
    [
        ("good(preset)", "good(gdoc,alpha=0.6)"),
        ("good(gdoc)", "good(gdoc,alpha=0.6)"),
        ("good(gdoc, alpha=0.1)", "good(gdoc,alpha=0.1)"),
        ("good(energy)", "good(energy)"),
        ("react(good(preset))", "react(good(gdoc,alpha=0.6))"),
        ("odin", "odin"),
    ],
)
def test_good_takes_base_and_alpha_from_the_paper_only_where_it_is_asked_to(given, resolved):
    assert str(resolve_good(parse(given), "cora", "60-20-20", "gcn")) == resolved
