from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lgl_bench.runs import provenance


def git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(folder), *own, *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository that holds the package, as far as its provenance looks at it."""
    for name in ("lgl_bench/__init__.py", "lgl_bench/runs/provenance.py", "benchmarks/parity/plugin.py", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "lgl_bench" / "runs" / "provenance.py"))
    provenance.commit.cache_clear()
    yield tmp_path
    provenance.commit.cache_clear()


@pytest.mark.parametrize(
    ("changed", "dirty"),
    [
        ("", False),
        ("README.md", False),
        ("lgl_bench/runs/provenance.py", True),
        ("lgl_bench/new.py", True),
        ("benchmarks/parity/plugin.py", True),
    ],
)
def test_a_commit_is_dirty_if_what_computes_differs_from_it(checkout, changed, dirty):
    if changed:
        (checkout / changed).write_text("pass")
    assert provenance.commit() == git(checkout, "rev-parse", "HEAD").strip() + "-dirty" * dirty


def test_a_package_that_the_repository_around_it_does_not_track_has_no_commit(checkout):
    git(checkout, "rm", "-q", "--cached", "lgl_bench/__init__.py")
    assert provenance.commit() == ""
