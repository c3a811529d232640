"""The docs build strictly, offline, and the pages load nothing from another host."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.blocks import ROOT

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("material") is None, reason="mkdocs-material is not installed; the extra docs has it"
)
_LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?([^\"'\s>]+)|<link\b[^>]*\bhref=[\"']?([^\"'\s>]+)"
)


def checkout(folder: Path) -> Path:
    """A copy of what the build reads."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "leaderboard", folder / "leaderboard")
    shutil.copytree(ROOT / "lgl_bench", folder / "lgl_bench", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder / "site")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = checkout(tmp_path_factory.mktemp("docs"))
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_page_is_built(site: Path):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), page


def test_the_command_that_builds_the_site_is_documented():
    assert "`mkdocs build --strict`" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_no_page_loads_anything_from_another_host(site: Path):
    loaded = {
        found
        for page in site.rglob("*.html")
        for pair in _LOADED.findall(page.read_text(encoding="utf-8"))
        for found in pair
        if found
    }
    assert any(found.endswith(".js") for found in loaded)
    assert not [found for found in loaded if found.startswith(("http:", "https:", "//"))]


def test_what_a_page_links_to_outside_the_docs_is_taken_along(site: Path):
    assert (site / "repository/CITATION.cff").is_file()
    assert "repository/leaderboard/parity/parity.csv" in (site / "parity.html").read_text(encoding="utf-8")
    assert (site / "repository/leaderboard/parity/parity.csv").is_file()


@pytest.mark.parametrize("broken", ["[a](absent.md)", "[a](running.md#absent)", "[a](../ABSENT.md)"])
def test_a_link_or_anchor_that_leads_nowhere_fails_the_build(tmp_path, broken):
    folder = checkout(tmp_path)
    with (folder / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{broken}\n")
    done = build(folder)
    assert done.returncode != 0
    assert re.search("absent", done.stderr, flags=re.IGNORECASE)
