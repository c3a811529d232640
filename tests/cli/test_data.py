from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lgl_bench.streams import catalogue
from lgl_bench.streams.manifest import Manifest
from tests.support.command_line import as_json, assert_error, run
from tests.support.stream_files import ANTHOLOGY_OPTIONS, anthology

pytestmark = pytest.mark.usefixtures("empty_data")  # the user's own stays out of it


# list
def test_list_shows_what_can_be_fetched_imported_or_is_embedded(source: Path, empty_data: Path) -> None:
    run("data", "import", "mine", "--from", source)
    listed = as_json("data", "list")
    states = {row["name"]: row["state"] for row in listed["streams"]}
    assert listed["data_dir"] == str(empty_data)
    assert states["mine"] == "imported"
    assert states["cora"] == "fetch"
    assert states["acl-venues"] == "import"
    assert states["cora-twin"] == "embedded"
    sizes = {
        row["name"]: [row[name] for name in ("vertices", "edges", "classes", "years")] for row in listed["streams"]
    }
    assert sizes["mine"] == [3, 2, 2, 2] and sizes["acl-venues"] == [17548, 213830, 28, 53]
    assert sizes["cora-twin"][0] == catalogue.twin("cora-twin").num_vertices
    on_disk = {row["name"]: row["megabytes"] for row in listed["streams"]}
    used = sum(path.stat().st_size for path in (empty_data / "mine").rglob("*") if path.is_file())
    assert on_disk["mine"] == pytest.approx(used / 2**20) and on_disk["cora"] is None
    text = run("data", "list").stdout
    assert str(empty_data) in text
    assert all(name in text for name in states)


# describe
def test_describe_prints_the_counts_and_every_year_of_a_twin() -> None:
    result = run("data", "describe", "ogb-arxiv-twin")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "ogb-arxiv-twin"
    assert "40: 15 known at t0 = 1997, 25 new after it" in result.stdout
    assert "class-insensitive 0.413" in result.stdout
    years = [line.split()[0] for line in lines if line[:4].isdigit()]
    assert years == [str(time) for time in catalogue.twin("ogb-arxiv-twin").times]


def test_describe_as_json_is_one_document(source: Path) -> None:
    run("data", "import", "mine", "--from", source, "--t0", 2000)
    figures = as_json("data", "describe", "mine")
    assert (figures["name"], figures["vertices"], figures["edges"], figures["t0"]) == ("mine", 3, 2, 2000)
    assert [row["time"] for row in figures["years"]] == [2000, 2001]


def test_describe_draws_into_the_file_named(tmp_path: Path) -> None:
    result = run("data", "describe", "cora-twin", "--plot", tmp_path / "plot.png")
    assert result.exit_code == 0
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_stream_is_answered_with_the_nearest_one_and_wrong_usage() -> None:
    result = run("data", "describe", "dblp-esy")
    assert_error(result, 2, "unknown stream 'dblp-esy'", "did you mean 'dblp-easy'?", "'lgl-bench data list' shows")


def test_a_stream_that_is_not_there_says_how_to_get_it(empty_data: Path) -> None:
    fetchable = run("data", "describe", "cora")
    assert_error(fetchable, 3, f"cora is not in {empty_data}", "'lgl-bench data fetch cora'", "import cora --from")
    by_hand = run("data", "describe", "acl-venues")
    assert_error(by_hand, 3, "no public download", "'lgl-bench data import acl-venues --from PATH'")


# import
def test_import_tells_what_it_wrote_and_where(source: Path, empty_data: Path) -> None:
    result = run("data", "import", "mine", "--from", source)
    assert result.exit_code == 0
    assert f"Imported mine into {empty_data / 'mine'}: 3 vertices, 2 edges from 2 lines" in result.stdout
    summary = as_json("data", "import", "mine", "--from", source, "--force")
    assert summary["stream_checksum"] == as_json("data", "describe", "mine")["stream_checksum"]
    assert Path(summary["folder"]) == empty_data / "mine"


def test_import_counts_what_an_importer_leaves_out(tmp_path: Path) -> None:
    options = [part for key, value in ANTHOLOGY_OPTIONS.items() for part in ("--option", f"{key}={value}")]
    source = anthology(tmp_path / "clone")
    result = run("data", "import", "mine", "--from", source, "--format", "acl-anthology", *options)
    assert "Left out: 9 front and back matter, 1 papers without year, 1 papers without author" in result.stdout


def test_import_takes_options_of_the_format(source: Path) -> None:
    (source / "vertices.csv").write_text("work,epoch,kind,x\n3,2001,a,1\n1,2000,b,2\n2,2000,a,3\n")
    named = ("id=work", "time=epoch", "label=kind")
    result = run("data", "import", "mine", "--from", source, *(part for one in named for part in ("--option", one)))
    assert result.exit_code == 0
    assert [row["time"] for row in as_json("data", "describe", "mine")["years"]] == [2000, 2001]


def test_an_option_without_a_value_is_wrong_usage(source: Path) -> None:
    result = run("data", "import", "mine", "--from", source, "--option", "id")
    assert_error(result, 2, "--option id: it must look like KEY=VALUE")


def test_an_existing_stream_is_replaced_only_when_told_to(source: Path, empty_data: Path) -> None:
    run("data", "import", "mine", "--from", source)
    assert_error(run("data", "import", "mine", "--from", source), 2, "exists already", "--force")
    (source / "edges.csv").write_text("source,target\n3,1\n")
    assert run("data", "import", "mine", "--from", source, "--force").exit_code == 0
    assert as_json("data", "describe", "mine")["edges"] == 1
    assert [path.name for path in empty_data.iterdir()] == ["mine"]


@pytest.mark.parametrize("t0", [1999, 2001, 2005])
def test_a_t0_that_leaves_nothing_to_train_on_or_to_score_is_wrong_usage(
    source: Path, empty_data: Path, t0: int
) -> None:
    result = run("data", "import", "mine", "--from", source, "--t0", t0)
    assert_error(result, 2, f"t0 = {t0} leaves nothing", "the years 2000 to 2001")
    assert not empty_data.exists()


@pytest.mark.parametrize("name", ["../mine", "a/b", ".hidden", ""])
def test_a_name_that_leads_elsewhere_is_wrong_usage(source: Path, tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert_error(run("data", "import", name, "--from", source), 2, "cannot be a stream's name")
    assert sorted(tmp_path.rglob("*")) == before


def test_real_data_cannot_take_the_name_of_a_twin(source: Path) -> None:
    result = run("data", "import", "cora-twin", "--from", source)
    assert_error(result, 2, "'cora-twin' is the name of an embedded twin", "choose another")


def test_a_source_that_does_not_exist_is_named(tmp_path: Path) -> None:
    result = run("data", "import", "mine", "--from", tmp_path / "none")
    assert_error(result, 3, f"{tmp_path / 'none'} does not exist", "--from names the folder or archive")


def test_an_unknown_format_is_answered_with_the_nearest_one(source: Path) -> None:
    result = run("data", "import", "mine", "--from", source, "--format", "tabel")
    assert_error(result, 2, "unknown format 'tabel'", "did you mean 'table'?")


# fetch
class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def toy(source: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manifest]:
    """A set whose files lie on a server on the loopback interface."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(source)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    manifest = Manifest(
        name="toy",
        title="Toy",
        description="a toy",
        format="table",
        licence="CC0",
        citation="none",
        t0=2000,
        files=tuple(
            {
                "name": name,
                "urls": (f"http://127.0.0.1:{server.server_port}/{name}",),
                "sha256": hashlib.sha256((source / name).read_bytes()).hexdigest(),
            }
            for name in ("vertices.csv", "edges.csv")
        ),
    )
    monkeypatch.setattr(catalogue, "manifests", lambda: {"toy": manifest})
    yield manifest
    server.shutdown()
    server.server_close()


def test_fetch_downloads_and_imports_in_one_command(toy: Manifest, empty_data: Path) -> None:
    summary = as_json("data", "fetch", "toy")
    assert (summary["name"], summary["vertices"], summary["edges"]) == ("toy", 3, 2)
    figures = as_json("data", "describe", "toy")
    assert (figures["licence"], figures["t0"]) == ("CC0", 2000)
    lines = [line.split(maxsplit=1) for line in run("data", "describe", "toy").stdout.splitlines()]
    assert ["licence", "CC0"] in lines and ["citation", "none"] in lines
    assert run("data", "verify", "toy").exit_code == 0
    assert sorted(path.name for path in (empty_data / "downloads" / "toy").iterdir()) == [
        "edges.csv",
        "vertices.csv",
    ]


def test_fetch_offline_needs_the_files_and_is_content_with_them(toy: Manifest, empty_data: Path) -> None:
    result = run("data", "fetch", "toy", "--offline")
    assert_error(result, 3, str(empty_data / "downloads" / "toy" / "vertices.csv"), "offline", "data import")
    assert not (empty_data / "toy").exists()
    assert run("data", "fetch", "toy").exit_code == 0
    assert run("data", "fetch", "toy", "--offline", "--force").exit_code == 0


def test_fetch_of_changed_files_is_bad_data_and_leaves_no_stream(toy: Manifest, source: Path, empty_data: Path) -> None:
    (source / "edges.csv").write_text("source,target\n3,2\n")
    assert_error(run("data", "fetch", "toy"), 3, "edges.csv could not be downloaded", "hash")
    assert not (empty_data / "toy").exists()


def test_fetch_of_a_stream_that_is_there_replaces_it_only_when_told_to(toy: Manifest) -> None:
    run("data", "fetch", "toy")
    assert_error(run("data", "fetch", "toy"), 2, "exists already", "--force")


@pytest.mark.parametrize(
    ("name", "code", "phrase"),
    [
        ("acl-venues", 3, "no public download"),
        ("cora-twin", 2, "cora-twin is embedded, nothing to fetch"),
        ("crora", 2, "did you mean 'cora'?"),
    ],
)
def test_fetch_of_what_cannot_be_fetched_says_why(name: str, code: int, phrase: str) -> None:
    assert_error(run("data", "fetch", name), code, phrase)


# verify
def test_verify_of_a_whole_stream_or_a_twin_is_content(source: Path) -> None:
    run("data", "import", "mine", "--from", source)
    assert run("data", "verify", "mine").exit_code == 0
    assert as_json("data", "verify", "mine") == {"name": "mine", "ok": True, "damage": []}
    assert as_json("data", "verify", "cora-twin")["ok"]


def test_verify_of_a_stream_that_is_not_there_says_so() -> None:
    assert_error(run("data", "verify", "cora"), 3, "cora is not in")
    assert_error(run("data", "verify", "crora"), 2, "did you mean 'cora'?")


# where data is kept
def test_the_data_folder_is_the_one_given_else_the_variable_else_the_cache(
    tmp_path: Path, empty_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    assert as_json("data", "list", "--data-dir", given)["data_dir"] == str(given)
    assert as_json("data", "list")["data_dir"] == str(empty_data)
    monkeypatch.delenv("LGL_BENCH_DATA")
    monkeypatch.setattr(catalogue.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    assert as_json("data", "list")["data_dir"] == str(tmp_path / "cache")
    monkeypatch.setenv("LGL_BENCH_DATA", "")
    assert as_json("data", "list")["data_dir"] == str(tmp_path / "cache")


@pytest.mark.parametrize("command", ["describe", "verify"])
def test_every_command_looks_in_the_folder_given(source: Path, tmp_path: Path, command: str) -> None:
    given = tmp_path / "given"
    run("data", "import", "mine", "--from", source, "--data-dir", given)
    assert run("data", command, "mine", "--data-dir", given).exit_code == 0
    assert run("data", command, "mine").exit_code == 2
