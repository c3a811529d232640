from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.changed import ChangedModel
from tests.support.stubs import fitted
from tests.support.trained import gcn_logits, parts, small_case, softmax


def test_whatever_a_changed_model_says_follows_from_its_changed_embeddings():
    model, g, _ = small_case()
    changed = ChangedModel(model, lambda z: -2 * z)
    z, _ = parts(model, g)
    logits = gcn_logits(model, g, -2 * z)
    assert changed.outputs(g).embeddings.numpy() == pytest.approx(-2 * z)
    assert changed.outputs(g).logits.numpy() == pytest.approx(logits, abs=1e-5)
    assert changed.probabilities(g) == pytest.approx(softmax(logits), abs=1e-5)
    assert changed.predicted_columns(g).tolist() == logits.argmax(axis=1).tolist() == changed.predict(g).tolist()
    assert changed.predicted_columns(g).tolist() != model.predicted_columns(g).tolist()


def test_a_changed_model_leaves_the_model_as_it_was():
    model, g, _ = small_case()
    before = [tensor.clone() for tensor in (model.outputs(g).logits, model.outputs(g).embeddings)]
    ChangedModel(model, lambda z: z * 0).outputs(g)
    assert torch.equal(model.outputs(g).logits, before[0]) and torch.equal(model.outputs(g).embeddings, before[1])


def test_a_prototype_head_reads_changed_embeddings_without_a_last_layer():
    model, g, _ = small_case(head="isomax+")
    changed = ChangedModel(model, lambda z: z.clamp(max=0.1))
    z = model.outputs(g).embeddings.clamp(max=0.1)
    with torch.no_grad():
        assert torch.equal(changed.outputs(g).logits, model.head.logits(z))


@pytest.mark.parametrize("outer", ["react", "ash", "scale"])
@pytest.mark.parametrize("inner", ["odin", "good(odin)", "mc-dropout", "propagate(mc-dropout)", "react(genodin)"])
def test_what_does_not_read_outputs_alone_cannot_be_wrapped(outer, inner):
    with pytest.raises(UsageError, match="cannot wrap .*: it computes gradients of the input, passes of its own, or"):
        build(parse(f"{outer}({inner})"), detectors)


def test_changes_nest_from_the_outside_in():
    model, g, labels = small_case()
    both = build(parse("react(ash(energy, percentile=60), percentile=70)"), detectors)
    fitted(both, model, g, labels)
    z, _ = parts(model, g)
    clipped = np.minimum(z, both.limit_)
    order = np.argsort(-clipped, axis=1, kind="stable")
    shaped = np.zeros_like(clipped)
    np.put_along_axis(shaped, order[:, :2], clipped.sum(axis=1, keepdims=True) / 2, axis=1)
    expected = -np.log(np.exp(gcn_logits(model, g, shaped)).sum(axis=1))
    assert both.score(model, g) == pytest.approx(expected, abs=1e-4)
