"""Bundles with ensembles: all members are in them, answer again, and are held to what the row says."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch

from lgl_bench.strategies import Memory
from lgl_bench.strategies.members import pooled
from lgl_bench.strategies.memory import dump_memory
from lgl_bench.streams.catalogue import load
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.verify.verify import verify
from lgl_bench.submissions.verify.weights import read_memory
from tests.support.bundles import Forged

THREE = "ensemble(msp,members=3)"


@pytest.fixture(scope="module")
def honest(base) -> Path:
    axes = {"detectors": ["msp", THREE, "good(ensemble(knn,members=3),alpha=0.5)"], "strategies": ["replay(size=10)"]}
    out = base.carry_out("ensembles", seeds=1, thresholds=["quantile"], thresholds_on="all", **axes)
    submit(out, base.folder / "ensembles-bundle")
    return base.folder / "ensembles-bundle"


@pytest.fixture
def cheat(honest, tmp_path) -> Forged:
    return Forged(Path(shutil.copytree(honest, tmp_path / "cheat")))


def test_ensembles_answer_again_to_the_last_bit(honest, base):
    result = verify(honest, base.data, rescore=True, tolerance=0.0)
    assert result.differences == []
    assert THREE in set(result.frame["detector"]) and set(result.frame["trust"]) == {"rescored"}


def member_weights(cheat, position=-1) -> Path:
    """The weights of the last fit, which is one of an ensemble."""
    return cheat.folder / "fits" / f"{cheat.plan()['fits'][position]}.safetensors"


def test_a_member_that_is_another_one_again_does_not_give_the_answers(cheat, base):
    path = member_weights(cheat)
    found = safetensors.torch.load(path.read_bytes())
    for name in found:
        if name.startswith("members.1."):
            found[name] = found[name.replace("members.1.", "members.0.")].clone()
    path.write_bytes(safetensors.torch.save(found))
    cheat.seal()
    differences = verify(cheat.folder, base.data, rescore=True).differences
    assert any(THREE in text for text in differences)


def test_a_bundle_without_one_of_the_members_is_refused(cheat, base):
    path = member_weights(cheat)
    found = safetensors.torch.load(path.read_bytes())
    path.write_bytes(safetensors.torch.save({name: one for name, one in found.items() if "members.2." not in name}))
    cheat.seal()
    with pytest.raises(BundleError, match=r"the weights of its model take|members\.2\..* is missing"):
        verify(cheat.folder, base.data, rescore=True)


@pytest.mark.parametrize("members", [1, 2, 101])
def test_fits_of_fewer_or_more_members_than_the_row_names_are_refused(cheat, base, members):
    def change(fields):
        for chain in fields["chains"]:
            chain["members"] = members if chain["members"] == 3 else 1

    cheat.change_json("plan.json", change)
    cheat.seal()
    with pytest.raises(BundleError, match=r"plan.json: .*(needs one chain per seed|is there twice|members)"):
        verify(cheat.folder, base.data)


def test_what_each_member_remembers_is_held_against_the_stream(base, tmp_path):
    stream = load("small", base.data)
    right, wrong = (Memory([1, 2], stream.labels[1:3] + added) for added in (0, 1))
    path = tmp_path / "memory.safetensors"
    path.write_bytes(dump_memory(pooled([right, right])))
    assert read_memory(path, "memory", 5, stream, 2) == path.read_bytes()
    path.write_bytes(dump_memory(pooled([right, wrong])))
    with pytest.raises(BundleError, match="labels that are not those of the stream"):
        read_memory(path, "memory", 5, stream, 2)
    path.write_bytes(dump_memory(pooled([right, Memory(np.array([10**6]), [0])])))
    with pytest.raises(BundleError, match="vertices that are not there"):
        read_memory(path, "memory", 5, stream, 2)
    with pytest.raises(BundleError, match="members of an ensemble remember cannot be read"):
        read_memory(path, "memory", 5, stream, 3)
