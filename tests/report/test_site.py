from __future__ import annotations

import csv
import re
import webbrowser
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.report import site as site_module
from lgl_bench.report.site import build_site
from lgl_bench.report.site_folder import MARKER
from tests.support.plans import plan_text
from tests.support.report_boards import write_run, year_frame

EVIL = "<script>alert(1)</script>"
RTL = "\u202eעברית\u202c"


class _Links(HTMLParser):
    """Everything a page refers to, its ids, and its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.refs: list[str] = []
        self.ids: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.refs += [given[name] for name in ("href", "src") if given.get(name)]
        if "id" in given:
            self.ids.append(given["id"])
        self.scripts += tag == "script"


def _site(tmp_path: Path, years: pd.DataFrame, **given) -> Path:
    run = write_run(tmp_path / "run", years, **given)
    build_site([run], tmp_path / "site", command="lgl-bench report run --html site")
    return tmp_path / "site"


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_link_of_every_page_leads_somewhere_within_the_site(tmp_path):
    site = _site(tmp_path, year_frame())
    pages = list(site.rglob("*.html"))
    assert len(pages) == 3 + 1 + 6 + 1
    for page in pages:
        links = _Links()
        links.feed(_read(page))
        assert len(links.ids) == len(set(links.ids)), page
        assert links.scripts == (0 if page.parent.name == "datasheets" else 3)
        for ref in links.refs:
            if ref.startswith("data:,"):
                continue
            assert not re.match(r"[a-z]+:|//", ref), (page, ref)
            target, _, anchor = ref.partition("#")
            goal = (page.parent / target).resolve() if target else page
            assert goal.is_file(), (page, ref)
            if anchor:
                there = _Links()
                there.feed(_read(goal))
                assert anchor in there.ids, (page, ref)


def test_rows_stand_in_the_page_without_any_script_with_interval_tie_and_cost(tmp_path):
    text = _read(_site(tmp_path, year_frame()) / "index.html")
    assert text.count('<tr class="row ') == 12
    assert '<i style="--m:' in text and "95 % interval" in text
    assert "Fit, s" in text and "MiB" in text
    assert 'aria-sort="ascending"' in text and "<caption" in text and 'scope="row"' in text


def test_names_of_any_kind_appear_as_text_and_as_nothing_else(tmp_path):
    names = [EVIL, "=cmd()", "x" * 500, RTL, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"]
    site = _site(tmp_path, year_frame(detectors=names, backbones=["gcn"], streams=[EVIL]))
    for page in site.rglob("*.html"):
        text = _read(page)
        assert EVIL not in text and "<img" not in text, page
        assert text.count("<script") == 3, page
    index = _read(site / "index.html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in index and "=cmd()" in index and "x" * 500 in index
    assert f"<bdi>{RTL}</bdi>" in index and "{{ 7 * 7 }}" in index


def test_no_table_for_download_holds_a_formula(tmp_path):
    site = _site(tmp_path, year_frame(detectors=["=cmd()", "@x", "+1", "-1"], backbones=["gcn"]))
    tables = list((site / "data").glob("*.csv"))
    assert len(tables) > 5
    seen = set()
    for path in tables:
        for row in list(csv.reader(path.open(encoding="utf-8", newline="")))[1:]:
            for cell in row:
                assert not cell.startswith(("=", "@", "+")), (path, cell)
                assert not cell.startswith("-") or float(cell) < 0
                seen.add(cell)
    assert {"'=cmd()", "'@x", "'+1", "'-1"} <= seen


def test_an_empty_store_makes_a_page_that_says_so(tmp_path):
    site = _site(tmp_path, pd.DataFrame())
    assert "There are no rows to show" in _read(site / "index.html")
    assert _read(site / "figures.html").count('class="notice"') == 9


def test_a_run_that_has_not_ended_makes_a_page_that_says_so(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "plan.json").write_text(plan_text({"name": "made", "version": 1}), encoding="utf-8")
    build_site([run], tmp_path / "site")
    assert "the run has not ended" in _read(tmp_path / "site" / "index.html")


def test_only_failed_rows_make_a_page_that_says_why(tmp_path):
    none = dict.fromkeys(("auroc", "accuracy", "aupr", "fpr95", "oscr", "micro_f1", "macro_f1", "mcc"))
    site = _site(tmp_path, year_frame(status="failed", reason="out of memory", **none))
    text = _read(site / "index.html")
    assert "No row has a result" in text and "out of memory" in text
    assert text.count('<tr class="row ') == 12


def test_a_single_seed_is_said_to_be_one_and_has_no_interval(tmp_path):
    text = _read(_site(tmp_path, year_frame(seeds=1)) / "index.html")
    assert "A single seed stands behind each row" in text
    assert "95 % interval 0" not in text and "not tested" in text


def test_a_single_year_is_said_to_be_one(tmp_path):
    assert "There is a single year" in _read(_site(tmp_path, year_frame(years=[2006])) / "index.html")


def test_a_metric_that_is_undefined_everywhere_is_said_to_be_and_takes_no_column(tmp_path):
    years = year_frame(oscr=None, oscr_reason="nothing is rejected")
    text = _read(_site(tmp_path, years) / "index.html")
    assert "OSCR is undefined in every row: nothing is rejected" in text
    assert ">OSCR</button>" not in text


def test_the_ranking_metric_may_be_undefined_everywhere(tmp_path):
    years = year_frame(auroc=None, auroc_reason="no new vertices")
    text = _read(_site(tmp_path, years) / "index.html")
    assert "AUROC is undefined in every row: no new vertices" in text
    assert '<span class="undefined" tabindex="0">–<span class="why"> no new vertices</span>' in text


def test_stand_ins_are_announced_and_the_command_is_shown(tmp_path):
    site = _site(tmp_path, year_frame(), stand_ins={"dblp-easy": "offline"})
    assert "Synthetic twins stand in for dblp-easy" in _read(site / "index.html")
    assert "lgl-bench report run --html site" in _read(site / "guide.html")


def test_the_page_of_a_method_gives_its_reference_its_curve_and_where_it_wins(tmp_path):
    site = _site(tmp_path, year_frame())
    (page,) = (site / "methods").glob("gcn-good-msp-*.html")
    text = _read(page)
    assert "Hoffmann et al. 2023" in text and "good(msp,alpha=0.5)" in text
    assert text.count('class="chart"') == 1 and 'class="band c0"' in text
    assert text.count('class="new-year"') == 2
    (best,) = (site / "methods").glob("gcn-msp-*.html")
    assert "leads" in _read(best) and "<bdi>2008</bdi>" in _read(best)


def test_the_page_of_a_stream_shows_growth_classes_and_homophily_where_it_can_be_loaded(tmp_path):
    site = _site(tmp_path, year_frame(streams=["dblp-easy-twin", "nowhere"]))
    text = _read(next((site / "streams").glob("dblp-easy-twin-*.html")))
    assert text.count('class="chart"') == 3 and text.count('class="chart wide"') == 1
    assert text.count('class="chart natural"') == 1
    (sheet,) = (site / "datasheets").iterdir()
    assert f'<a href="../datasheets/{sheet.name}">datasheet' in text and "Known problems" in _read(sheet)
    absent = _read(next((site / "streams").glob("nowhere-*.html")))
    assert "is not available" in absent and "datasheets/" not in absent and absent.count('class="chart wide"') == 1


def test_a_site_is_replaced_only_when_asked_and_then_as_a_whole(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    place = tmp_path / "site"
    build_site([run], place)
    (place / "stale.html").touch()
    with pytest.raises(UsageError, match="--force"):
        build_site([run], place)
    assert (place / "stale.html").exists()
    build_site([run], place, force=True)
    assert not (place / "stale.html").exists() and (place / MARKER).is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "site"]


def test_a_build_that_fails_leaves_the_old_site_as_it_was(tmp_path, monkeypatch):
    run = write_run(tmp_path / "run", year_frame())
    place = tmp_path / "site"
    build_site([run], place)
    before = _files(place)

    def fails(*given, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(site_module, "references", fails)
    with pytest.raises(DataError, match="No space left"):
        build_site([run], place, force=True)
    assert before == _files(place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "site"]


def test_five_hundred_rows_stay_under_three_megabytes(tmp_path):
    names = [f"odin(eps=0.{at},temperature=1000.0)" for at in range(10, 35)]
    backbones = ("gcn", "gat", "mlp", "graphsage", "graph-mlp")
    streams = ("one", "two", "three", "four")
    years = year_frame(streams, names, backbones, [""], range(2000, 2012), seeds=1)
    site = _site(tmp_path, years)
    assert _read(site / "index.html").count('<tr class="row ') == 500
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 3_000_000


def test_the_same_rows_make_the_same_site(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    for name in ("one", "two"):
        build_site([run], tmp_path / name)
    one, two = (_files(tmp_path / name) for name in ("one", "two"))
    assert one == two


def test_the_command_reports_and_refuses(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    done = CliRunner().invoke(main, ["report", str(run), "--html", str(tmp_path / "site"), "--json"])
    assert done.exit_code == 0, done.output
    assert '"rows": 12' in done.output
    assert CliRunner().invoke(main, ["report", str(run)]).exit_code == 2
    assert CliRunner().invoke(main, ["report", str(run), "--html", str(tmp_path / "site")]).exit_code == 2
    assert CliRunner().invoke(main, ["report", str(tmp_path / "none"), "--html", str(tmp_path / "b")]).exit_code == 3


def test_open_shows_the_first_page_in_the_browser(tmp_path, monkeypatch):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{tmp_path}/opened"\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # the environment is read when the first page is opened
    run = write_run(tmp_path / "run", year_frame())
    done = CliRunner().invoke(main, ["report", str(run), "--html", str(tmp_path / "site"), "--open"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "opened").read_text() == (tmp_path / "site" / "index.html").as_uri()


def test_open_needs_a_site_and_says_so_without_a_browser(tmp_path, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    run = write_run(tmp_path / "run", year_frame())
    without = CliRunner().invoke(main, ["report", str(run), "--figures", str(tmp_path / "figures"), "--open"])
    assert without.exit_code == 2 and "give --html SITE as well" in without.output
    done = CliRunner().invoke(main, ["report", str(run), "--html", str(tmp_path / "site"), "--open"])
    assert done.exit_code == 0 and "no browser was found; set BROWSER" in done.stderr


def test_the_floor_is_labelled_and_what_does_not_beat_it_is_marked_and_counted(tmp_path):
    # Better rows come first: msp is above the floor, energy below it.
    site = _site(tmp_path, year_frame(detectors=["msp", "degree", "energy(temperature=1.0)"], backbones=["gcn"]))
    text = _read(site / "index.html")
    assert text.count('<span class="badge">floor</span>') == 2
    # One row without a threshold, one with, and the legend.
    assert text.count('class="badge warn"') == 3
    assert "does not beat random, degree and recency beyond noise" in text
    assert "1 of 2 rows of detectors do not beat the best of random, degree and recency beyond noise" in text
    rows = list(csv.DictReader((site / "data" / "leaderboard.csv").open(encoding="utf-8", newline="")))
    assert [row["above_floor"] for row in rows] == ["yes", "floor", "no"] * 2
    without = _read(_site(tmp_path / "without", year_frame()) / "index.html")
    assert "No row of random, degree or recency" in without


def test_references_the_upper_bound_and_incomplete_rows_say_what_they_are(tmp_path):
    years = year_frame(detectors=["msp", "odin(eps=0.1)"], backbones=["gcn"], thresholds=["", "never", "oracle"])
    failed = (years["detector"] != "msp") & (years["time"] == 2008) & (years["seed"] == 0)
    years.loc[failed, "status"], years.loc[failed, "reason"] = "diverged", "the loss is not finite"
    text = _read(_site(tmp_path, years) / "index.html")
    assert text.count(">reference</span>") == 2 and text.count(">upper bound</span>") == 2
    assert text.count("incomplete: 1 test years or folds failed with 1 seeds") >= 3
    assert "3 of 6 rows are incomplete and have no rank" in text


def test_the_first_screen_says_who_leads_what_good_adds_and_what_is_above_the_floor(tmp_path):
    detectors = ["good(msp,alpha=0.5)", "msp", "degree", "energy(temperature=1.0)"]
    site = _site(tmp_path, year_frame(streams=["one", "dblp-easy-twin"], detectors=detectors, backbones=["gcn"]))
    text = _read(site / "index.html")
    real, twins = text.index("Who leads on real streams"), text.index("Who leads on synthetic twins")
    assert real < text.index('id="detectors"') < text.index('id="good"') < twins < text.index('id="filters"')
    assert text.count('<li class="card">') == 1 and text.count('<li class="card twin">') == 1
    assert "2 of 3 beat it beyond noise" in text
    # 0.90 less 0.82, plus or minus the noise of three seeds.
    (gain,) = re.findall(r"GOOD minus its base</dt><dd><b>(\S+)</b> mean of 1: 1 better</dd>", text[real:twins])
    assert 0.06 < float(gain) < 0.1
    maps = text[real:twins]
    assert maps.count('class="chart natural"') == 2 and "(synthetic twin)" not in maps


def test_a_twin_is_never_drawn_without_its_mark_and_comes_after_the_real_streams(tmp_path):
    site = _site(tmp_path, year_frame(streams=["a-twin", "b"]))
    for page in (site / "figures.html", site / "index.html", *(site / "methods").iterdir()):
        for figure in re.findall(r'<figure class="picture.*?</figure>', _read(page), re.S):
            twin = "a-twin" in figure
            assert ("synthetic twin" in figure) == twin, page
            assert ('picture twin"' in figure or 'broad twin"' in figure) == twin, page
    table = list(csv.DictReader((site / "data" / "leaderboard.csv").open(encoding="utf-8", newline="")))
    assert [row["place"] for row in table] == ["b"] * 12 + ["a-twin"] * 12


def test_only_twins_are_said_to_be_all_there_is(tmp_path):
    text = _read(_site(tmp_path, year_frame()) / "index.html")
    assert "No real stream was run" in text and text.count('<li class="card twin">') == 1


def test_no_page_names_a_folder_of_the_machine_it_was_made_on(tmp_path):
    run = write_run(tmp_path / "run", year_frame(streams=["nowhere", "dblp-easy"], status="ok"))
    command = f"lgl-bench report {run} --html={tmp_path / 'site'}"
    build_site([run], tmp_path / "site", command=command, data_dir=tmp_path / "data")
    assert "is not available" in _read(next((tmp_path / "site" / "streams").glob("nowhere-*.html")))
    for path, content in _files(tmp_path / "site").items():
        assert str(tmp_path).encode() not in content, path
        assert str(Path.home()).encode() + b"/" not in content, path
    assert "lgl-bench report run --html=site" in _read(tmp_path / "site" / "guide.html")


def test_what_is_not_known_is_said_to_be_unknown(tmp_path):
    board = tmp_path / "board.csv"
    board.write_text("stream,backbone,detector,auroc_weighted_mean\ns,b,d,0.5\n", encoding="utf-8")
    build_site([board], tmp_path / "site")
    text = _read(tmp_path / "site" / "index.html")
    assert "<b>unknown</b> seeds" in text and "How many seeds stand behind each row is unknown" in text
    assert text.count(">unknown</td>") == 2


def test_the_first_page_of_the_boards_of_the_project_is_below_a_megabyte(tmp_path):
    boards = sorted((Path(__file__).parents[2] / "leaderboard").glob("*.csv"))
    build_site(boards, tmp_path / "site")
    loaded = [tmp_path / "site" / "index.html", *(tmp_path / "site" / "assets").iterdir()]
    assert len(boards) >= 3 and sum(path.stat().st_size for path in loaded) < 1_000_000
