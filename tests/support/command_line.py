"""The command in this process, and what it says of an error."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from lgl_bench.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def as_json(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def assert_error(result: Result, code: int, *phrases: str) -> None:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("lgl-bench: ")
    assert "Traceback" not in result.stderr
    for phrase in phrases:
        assert phrase in result.stderr
