"""What every built-in backbone is held to: a test file subclasses `BackboneTests` and names its backbone."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs, inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.core.types import Graph
from lgl_bench.kernels.choice import VARIABLE
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.isolation.requests import dump_weights
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import TrainingParameters, seeded, train
from tests.support.graphs import dense_adjacency, random_graph, small_stream

KERNELS = ["native", "torch", *(["dgl"] if importlib.util.find_spec("dgl") is not None else [])]
KNOWN = np.array([4, 1, 7])


def a_hat(g: Graph) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2."""
    looped = dense_adjacency(g) + np.eye(g.num_vertices)
    scale = looped.sum(1) ** -0.5
    return scale[:, None] * looped * scale


def numbers(parameter: torch.Tensor) -> np.ndarray:
    """A parameter as an array, in double precision."""
    return parameter.detach().double().numpy()


def linear(projection: Any, x: np.ndarray) -> np.ndarray:
    """x W + b."""
    bias = 0.0 if projection.bias is None else numbers(projection.bias)
    return x @ numbers(projection.weight) + bias


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def disturbed(model: Backbone) -> Backbone:
    """The model, every parameter moved a little: biases are no longer 0."""
    with torch.no_grad(), seeded(0, "disturbed"):
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.1)
    return model


def hold_to_formula(test: BackboneTests, outputs: int | None, **parameters: Any) -> None:
    """Holds embeddings and outputs to the formula in dense matrices."""
    for seed in range(3):
        g = random_graph(seed=seed)
        model = disturbed(test.make(outputs, **parameters)).eval()
        z, output = (numbers(part) for part in model(inputs_of(g)))
        expected_z, expected = test.formula(model, g)
        if outputs is None:
            expected_z = expected
        assert z == pytest.approx(expected_z, abs=1e-4) and output == pytest.approx(expected, abs=1e-4)
        assert z.shape[1] == model.width and dense_adjacency(g)[-1].sum() == 0  # the last vertex is isolated


class BackboneTests:
    """Tests of one backbone; subclasses set `name` and write `formula`."""

    name: ClassVar[str]
    sizes: ClassVar[dict[str, Any]] = {"hidden": 5}

    def formula(self, model: Any, g: Graph) -> tuple[np.ndarray, np.ndarray]:
        """Embedding of a linear head, and output, in dense matrices."""
        raise NotImplementedError

    def make(self, outputs: int | None = 3, columns: int = 6, **parameters: Any) -> Any:
        with seeded(0, "backbone"):
            return backbones.get(self.name)(Shape(columns, outputs), **(self.sizes | parameters))

    def model(self, head: str = "softmax", features: int = 6, known: np.ndarray = KNOWN) -> Any:
        with seeded(0, "model"):
            return build_model(self.name, head, features, known, dict(self.sizes))

    @pytest.mark.parametrize("outputs", [3, None])
    def test_embeddings_and_outputs_equal_the_formula_in_dense_matrices(self, outputs):
        hold_to_formula(self, outputs)

    @pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+", "genodin"])
    def test_growing_appends_logits_and_keeps_those_of_known_classes(self, head):
        g = random_graph()
        model = self.model(head)
        before = model.outputs(g).logits
        model.grow(np.append(KNOWN, [0, 9]))
        after = model.outputs(g).logits
        assert after.shape == (12, 5) and torch.allclose(after[:, :3], before, atol=1e-6)

    @pytest.mark.parametrize("head", ["softmax", "isomax+"])
    def test_weights_that_are_written_and_read_again_answer_the_same_after_growth_and_training_too(self, head):
        import safetensors.torch

        task = next(Temporal().tasks(small_stream(), 0))[0]
        model = self.model(head, 16, task.known[:2])
        model.grow(task.known)
        train(model, task, TrainingParameters(epochs=2, lr=0.02), seed=0)
        again = self.model(head, 16, task.known)
        again.load_state_dict(safetensors.torch.load(dump_weights(model)))
        assert torch.equal(again.outputs(task.test).logits, model.outputs(task.test).logits)

    @pytest.mark.parametrize("head", ["softmax", "isomax+"])
    def test_logits_from_the_embeddings_are_the_logits_to_the_bit(self, head):
        g = random_graph(n=30, edges=60)
        model = self.model(head)
        outputs = model.outputs(g)
        assert torch.equal(model.logits_from(g, outputs.embeddings), outputs.logits)

    def test_one_seed_gives_the_same_weights_in_every_fit(self):
        task = next(Temporal().tasks(small_stream(), 0))[0]
        found = []
        for _ in range(2):
            model = self.model("softmax", 16, task.known)
            train(model, task, TrainingParameters(epochs=3, lr=0.02), seed=1)
            found.append(torch.cat([value.detach().double().flatten() for value in model.state_dict().values()]))
        assert torch.equal(found[0], found[1])

    @pytest.mark.parametrize("outputs", [3, None])
    def test_every_parameter_gets_a_gradient(self, outputs):
        model = disturbed(self.make(outputs)).train()
        model(inputs_of(random_graph()))[1].square().sum().backward()
        for name, parameter in model.named_parameters():
            assert torch.isfinite(parameter.grad).all() and parameter.grad.abs().sum() > 0, name

    @pytest.mark.parametrize("sparse", [False, True])
    def test_every_kernel_gives_the_same_outputs_and_gradients(self, sparse, monkeypatch):
        g = random_graph(n=30, columns=64, edges=60, sparse=True)
        features = SparseMatrix.of(g.features)

        def computed(kernels: str) -> list[torch.Tensor]:
            monkeypatch.setenv(VARIABLE, kernels)
            given = features.values.clone() if sparse else features.dense()
            given.requires_grad_(True)
            inputs = Inputs(features.with_values(given) if sparse else given, inputs_of(g).arcs)
            model = disturbed(self.make(columns=64)).eval()
            z, output = model(inputs)
            (output.sin().sum() + z.sin().sum()).backward()
            taking_part = [parameter for parameter in model.parameters() if parameter.grad is not None]
            return [z, output, given.grad, *(parameter.grad for parameter in taking_part)]

        own = computed("native")
        for other in KERNELS[1:]:
            for one, two in zip(own, computed(other), strict=True):
                assert torch.allclose(one, two, atol=1e-4), other

    @pytest.mark.parametrize("head", ["softmax", "isomax+"])
    def test_a_short_fit_lowers_the_loss_and_the_fits_of_later_years_go_on_from_it(self, head):
        tasks = [task for task, _ in Temporal().tasks(small_stream(), 0)]
        model = self.model(head, 16, tasks[0].known)
        losses: list[float] = []
        train(model, tasks[0], TrainingParameters(60, 0.02), 0, on_epoch=lambda _, loss: losses.append(loss))
        assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:5])
        for task in tasks[1:]:
            model.grow(task.known)
            assert train(model, task, TrainingParameters(5, 0.02), 0).status == "ok"
            logits = model.outputs(task.test).logits
            assert torch.isfinite(logits).all() and logits.shape[1] == len(task.known)
        assert len(tasks[-1].known) > len(tasks[0].known)

    def test_arc_weights_take_part_if_the_backbone_says_so_and_only_then(self):
        g = random_graph()
        inputs, model = inputs_of(g), disturbed(self.make()).eval()
        weights = torch.ones(inputs.looped.num_arcs, requires_grad=True)
        output = model(inputs.moved(inputs.features, weights))[1]
        assert torch.allclose(output, model(inputs)[1], atol=1e-5)
        gradient = torch.autograd.grad(output.sin().sum(), weights, allow_unused=True)[0]
        if model.edge_weights:
            assert (gradient != 0).float().mean() > 0.5
        else:
            assert gradient is None
