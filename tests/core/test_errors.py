from __future__ import annotations

import pytest

from lgl_bench.core import errors


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.LglBenchError, 1),
        (errors.UsageError, 2),
        (errors.DuplicateNameError, 2),
        (errors.PluginError, 2),
        (errors.DataError, 3),
    ],
)
def test_each_error_carries_the_exit_code_of_its_kind(kind: type[errors.LglBenchError], code: int) -> None:
    assert kind("what").exit_code == code


def test_an_unknown_name_is_wrong_usage_and_tells_the_remedy() -> None:
    error = errors.UnknownNameError("stream", "crora", ["cora", "pubmed"], "look in the list")
    assert error.exit_code == 2
    assert str(error) == "unknown stream 'crora'; did you mean 'cora'? look in the list"


def test_a_statistics_warning_can_be_silenced_with_all_others_of_the_package() -> None:
    assert issubclass(errors.StatisticsWarning, errors.LglBenchWarning)
    assert issubclass(errors.LglBenchWarning, UserWarning)


class Mute(Exception):  # noqa: N818
    def __str__(self):
        raise RuntimeError("no")


class Weird(str):
    def __str__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no luck"), "ValueError: no luck"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "SystemExit: 3"),
        (errors.DataError("the file\nis empty"), "the file is empty"),
        (MemoryError("1 GiB"), "it ran out of memory"),
        (ValueError("lone \udc80 surrogate \x1b[31m \x00"), "ValueError: lone \\udc80 surrogate \\x1b[31m \\x00"),
        (ValueError(b"\xff".decode("utf-8", "surrogateescape")), "ValueError: \\udcff"),
        (Mute(), "Mute"),
        (ValueError(Weird("no")), "ValueError"),
    ],
    ids=range(9),
)
def test_whatever_is_raised_has_a_reason_that_can_be_printed_and_stored(error, expected):
    reason = errors.reason_of(error)
    assert reason == expected
    assert reason.encode("utf-8") and reason.isprintable()


def test_a_reason_of_any_length_is_cut():
    assert len(errors.reason_of(ValueError("x" * 10_000_000))) < 600
