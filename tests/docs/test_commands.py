"""The page of commands is the one the commands themselves give."""

from __future__ import annotations

from types import ModuleType

from lgl_bench.cli import main
from tests.support.scripts import load_script


def make_commands() -> ModuleType:
    return load_script("docs/make_commands.py")


def test_the_page_of_commands_is_up_to_date():
    module = make_commands()
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run: python docs/make_commands.py"


def test_the_page_has_every_command_and_every_option():
    page = make_commands().page()
    for name, command in main.commands.items():
        assert f"## lgl-bench {name}" in page
        for parameter in command.params:
            assert all(f"`{option}`" in page for option in parameter.opts if option.startswith("--"))
