"""How a check says that it did not hold, or does not apply."""

from __future__ import annotations


class CheckFailure(Exception):  # noqa: N818  it is no error of the program
    """The plugin does not keep its contract; the message says what is wrong."""


class Exempt(Exception):  # noqa: N818
    """The check does not apply to the plugin; the message says why."""


def require(holds: object, otherwise: str) -> None:
    """Raises unless it holds."""
    if not holds:
        raise CheckFailure(otherwise)
