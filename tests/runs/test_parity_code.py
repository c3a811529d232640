from __future__ import annotations

from dataclasses import replace

from lgl_bench.runs import parity_code
from lgl_bench.runs.parity_code import code_digest, normalised
from lgl_bench.runs.parity_jobs import Job

JOB = Job("cora", "60-20-20", "gcn", "softmax", 0)


def reached(job):
    return parity_code._reached(parity_code._roots(job))


def test_words_and_lists_of_names_are_no_code():
    plain = "class A:\n    pass\n"
    documented = 'class A:\n    """What it is."""\n    # why\n'
    assert normalised(plain) == normalised(documented)
    method = "def f():\n        return 1\n"
    assert normalised(f"class A:\n    {method}") == normalised(f'class A:\n    """What it is."""\n\n    {method}')
    listing = "parts: Registry[int] = Registry('part', ({}))\n"
    assert normalised(listing.format("'a',")) == normalised(listing.format("'a', 'b'"))
    assert normalised("a: int = f(1)") != normalised("a: int = f(2)")


def test_the_code_of_a_job_is_what_its_parts_import_and_no_more():
    found = reached(JOB)
    wanted = "backbones.gcn backbones heads.softmax detectors.odin detectors.perturb detectors.good training.batches"
    wanted += " training.trainer protocols.leave_class_out protocols.splits core.seeds metrics.ranking"
    assert {f"lgl_bench.{name}" for name in wanted.split()} <= found
    foreign = "backbones.gat heads.isomax detectors.knn protocols.temporal runs.parity_published core.registry"
    assert not {f"lgl_bench.{name}" for name in foreign.split()} & found


def test_the_published_odin_does_not_depend_on_ours():
    found = reached(replace(JOB, switch="odin-step"))
    assert "lgl_bench.runs.parity_published" in found and "lgl_bench.detectors.odin" not in found


def test_a_change_of_code_changes_the_digest_of_the_jobs_it_reaches(monkeypatch):
    other = Job("cora", "60-20-20", "gcn", "gdoc", 0)
    before = code_digest(JOB), code_digest(other)
    original = parity_code._source

    def edited(name):
        return original(name) + ("\nSTEP = 2\n" if name == "lgl_bench.detectors.odin" else "")

    monkeypatch.setattr(parity_code, "_source", edited)
    assert code_digest(JOB) != before[0] and code_digest(other) == before[1]
    assert code_digest(replace(JOB, seed=1)) == code_digest(JOB)
