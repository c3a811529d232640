"""What holds for every strategy that keeps something: all backbones and heads, the same bytes again, bare years."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.core.expressions import build, parse
from lgl_bench.strategies import strategies
from lgl_bench.strategies.memory import dump_memory, parse_memory
from tests.support.strategies import (
    fit,
    fit_task,
    go_on,
    grown,
    no_edges,
    remembering,
    small_model,
    two_years,
    weights_of,
)

KEEPING = [
    "replay(size=4)",
    "replay(size=4, pick=mean)",
    "replay(size=4, pick=coverage)",
    "ewc(strength=100.0)",
    "mas(samples=3)",
    "lwf",
    "twp(loss=10.0, topology=10.0)",
    "agem(size=4)",
    "ssm(size=3, fanout=2)",
]
BACKBONES = ["gcn", "gat", "graphsage", "graph-mlp", "mlp"]


def made(text):
    return build(parse(text), strategies)


@pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+"])
@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("text", KEEPING)
def test_two_years_are_learned_and_again_bit_by_bit(text, backbone, head):
    def run():
        early, late = two_years(sparse=True, columns=40)
        assert isinstance(inputs_of(late.train.graph).features, SparseMatrix)
        first = fit(made(text), early, small_model(early, backbone, head, dropout=0.3), steps=3, seed=7)
        return first, go_on(late, first, made(text), steps=3, seed=8)

    (first, second), (_, again) = run(), run()
    assert all(np.isfinite(second.losses))
    assert dump_memory(second.memory) == dump_memory(again.memory)
    before, after, other = (weights_of(one.model) for one in (first, second, again))
    assert all(torch.equal(after[name], other[name]) for name in after)
    assert any(one.shape != after[name].shape or not torch.equal(one, after[name]) for name, one in before.items())
    assert dump_memory(parse_memory(dump_memory(second.memory))) == dump_memory(second.memory)


@pytest.mark.parametrize("text", KEEPING)
def test_a_year_without_new_labels_keeps_what_there_is(text):
    early, late = two_years()
    first = fit(made(text), early, small_model(early))
    bare = fit_task(late.train.graph, np.full(16, -1), [], recent=range(8, 16), known=[3, 5])
    second = go_on(bare, first, made(text))
    assert np.array_equal(second.memory.vertices, first.memory.vertices)
    assert np.array_equal(second.memory.labels, first.memory.labels)
    if text.startswith(("replay", "ssm")):
        assert second.losses  # the memory alone
    else:
        assert not second.losses


@pytest.mark.parametrize("text", KEEPING)
def test_a_year_without_new_vertices_keeps_what_there_is(text):
    early, _ = two_years()
    first = fit(made(text), early, small_model(early))
    bare = fit_task(early.train.graph, np.full(8, -1), [], known=[3, 5], time=2)
    second = go_on(bare, first, made(text))
    assert np.array_equal(second.memory.vertices, first.memory.vertices)
    if text.startswith(("ewc", "mas")):
        assert dump_memory(second.memory) == dump_memory(first.memory)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("text", KEEPING)
def test_graphs_without_edges_and_a_class_of_one_vertex_are_learned(text, backbone):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(12, 3))
    early = fit_task(no_edges(features[:6]), [0, 0, 0, 0, 0, 1], range(6))
    late = fit_task(no_edges(features), [-1] * 6 + [0, 0, 0, 0, 2, 0], range(6, 12), known=[0, 1, 2], time=2)
    first = fit(made(text), early, small_model(early, backbone))
    second = go_on(late, first, made(text))
    assert all(np.isfinite(second.losses))
    if len(second.memory):
        assert set(second.memory.labels.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("text", KEEPING)
def test_the_first_year_is_that_of_finetune_but_for_the_norm_of_gradients(text):
    early, _ = two_years()
    plain = fit(made("finetune"), early, small_model(early))
    found = fit(made(text.replace("twp(", "twp(gradient=0.0, ")), early, small_model(early))
    assert found.losses == plain.losses


@pytest.mark.parametrize("text", KEEPING)
def test_selecting_changes_no_hook_that_comes_after(text):
    early, late = two_years()
    first = fit(made(text), early, small_model(early))
    task, ends = remembering(late, first.memory), []
    for times in (1, 3):
        strategy = made(text)
        for _ in range(times):
            view = strategy.select(task, first.memory, 5)
        strategy.begin(grown(first.model, late), first.model, first.memory)
        ends.append((view.vertices.tolist(), dump_memory(strategy.end(grown(first.model, late), task, first.memory))))
    assert ends[0] == ends[1]


def test_the_modules_the_registry_names_are_there():
    assert {"replay", "ewc", "mas", "lwf", "twp", "agem", "ssm"} <= set(strategies.names())
