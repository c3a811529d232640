from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.report.site import build_site
from lgl_bench.report.site_folder import replacing
from tests.support.report_boards import write_run, year_frame


def test_a_folder_that_is_no_site_is_never_touched(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    place = tmp_path / "mine"
    place.mkdir()
    (place / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match="was not made by"):
        build_site([run], place, force=True)
    assert [path.name for path in place.iterdir()] == ["thesis.tex"]


def test_what_is_built_takes_its_place_only_at_the_end(tmp_path):
    with replacing(tmp_path / "site", False, {}) as folder:
        (folder / "index.html").touch()
        assert not (tmp_path / "site").exists()
    assert (tmp_path / "site" / "index.html").is_file()
