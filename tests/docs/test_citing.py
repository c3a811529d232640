"""CITATION.cff and the page on citing agree."""

from __future__ import annotations

import pytest

from tests.support.blocks import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extra docs")


def test_the_citation_file_has_what_its_format_asks_for():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert "doi" not in citation


def test_every_paper_of_the_citation_file_is_on_the_page():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    page = (ROOT / "docs/citing.md").read_text(encoding="utf-8")
    assert len(citation["references"]) == 4
    for paper in citation["references"]:
        assert paper["title"] in page
        assert all(author["family-names"] in page for author in paper["authors"])
        assert str(paper["year"]) in page
