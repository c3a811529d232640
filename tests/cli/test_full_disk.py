"""A disk that is full, and places that cannot be written to: one sentence, exit code 3, and nothing half-made."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lgl_bench.cli import main
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream
from tests.support.runs import in_this_process

RUN = ("run", "--suite", "smoke", "--budget", "smoke", "--stream", "small", "--backbone", "gcn", "--detector", "msp")


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes, as on a disk with no more room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def give(*arguments: object, room: int | None = None) -> Result:
    with files_of_at_most(room) if room is not None else contextlib.nullcontext():
        return CliRunner().invoke(main, [str(argument) for argument in arguments])


def assert_explained(result: Result, *phrases: str) -> None:
    assert result.exit_code == 3, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("lgl-bench: ") and result.stderr.count("\n") == 1, result.stderr
    for phrase in phrases:
        assert phrase in result.stderr


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[Path]:
    """A folder with data, a finished run and a bundle of it; runs work in this process."""
    folder = tmp_path_factory.mktemp("world")
    write_stream(small_stream(), folder / "data" / "small")
    (folder / "file").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LGL_BENCH_DATA", str(folder / "data"))
        in_this_process(patch)
        patch.chdir(folder)
        assert give(*RUN, "--out", "done").exit_code == 0
        assert give("submit", "done", "--to", "bundle.zip").exit_code == 0
        yield folder


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ((*RUN, "--out", "elsewhere"), ()),
        (("submit", "done", "--to", "other.zip"), ("other.zip", ".other.zip.*")),
        (("submit", "done", "--to", "other"), ("other", ".other.*")),
        (("report", "done", "--html", "site"), ("site", ".site.*")),
        (("leaderboard", "build", "done", "--out", "board.csv"), ("board.csv", ".board.csv.*")),
        (("verify", "bundle.zip", "--out", "rows.csv"), ("rows.csv", ".rows.csv.*")),
        (("new", "detector", "mine-of-mine"), ()),
    ],
    ids=lambda value: value[0] if value and value[0] in main.commands else "",
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_made(world, command, made):
    assert_explained(give(*command, room=1), "File too large")
    assert not [path for pattern in made for path in world.glob(pattern)]


@pytest.mark.parametrize(
    "command",
    [
        (*RUN, "--out", "file/x"),
        ("submit", "done", "--to", "file/x"),
        ("verify", "bundle.zip", "--out", "file/x.csv"),
        ("report", "done", "--html", "file/site"),
        ("leaderboard", "build", "done", "--out", "file/board.csv"),
        ("new", "detector", "mine-of-mine", "--to", "file/x"),
        (*RUN, "--out", "logged", "--json-log", "file/log"),
    ],
    ids=lambda command: command[0],
)
def test_a_place_that_cannot_be_written_to_is_named(world, command):
    assert_explained(give(*command), "file/")


def test_a_log_that_cannot_be_written_ends_the_run_with_a_sentence(world):
    assert_explained(give(*RUN, "--out", "logged", "--json-log", "/dev/full"), "No space left on device")


def test_a_run_on_a_disk_that_has_room_again_goes_on_as_if_nothing_had_happened(world):
    assert give(*RUN, "--out", "interrupted", room=4096).exit_code == 3
    assert give(*RUN, "--out", "interrupted").exit_code == 0
    assert not list((world / "interrupted").rglob(".*.partial"))
    assert {path.name for path in (world / "interrupted" / "fits").iterdir()} == {
        path.name for path in (world / "done" / "fits").iterdir()
    }
