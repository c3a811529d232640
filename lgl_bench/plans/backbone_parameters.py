"""Parameters of backbones: which an expression may give, and whether the network can be made with them."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, TypeVar

import torch
from torch.overrides import TorchFunctionMode

from lgl_bench.backbones import Shape, backbones
from lgl_bench.core.errors import LglBenchError, PluginError, UsageError, reason_of
from lgl_bench.core.expressions import Constant, Expression, complete
from lgl_bench.core.registry import Registry

Pairs: TypeAlias = tuple[tuple[str, Constant], ...]
_SIMPLE = (bool, int, float, str, type(None), Any)
_Made = TypeVar("_Made")


def typed_parameters(asked: Expression) -> Pairs:
    """What an expression gives of a backbone, sorted, in the types that the backbone declares.

    Raises:
        UsageError: The backbone does not take it.
    """
    given = {name for name, _ in asked.parameters}
    whole = complete(asked, _Given(given))
    return tuple(pair for pair in whole.parameters if pair[0] in given)


def check_buildable(name: str, parameters: Mapping[str, Any]) -> None:
    """Raises if a backbone does not take the values of its parameters: when it is planned, not in a worker."""
    kind = backbones.get(name)
    try:
        without_weights(lambda: kind(Shape(1, 2), **parameters))
    except UsageError as error:
        raise UsageError(f"backbone '{name}', {error}") from error
    except LglBenchError:
        raise
    except Exception as error:
        raise PluginError(f"the backbone {name} cannot be made with {dict(parameters)}: {reason_of(error)}") from error


class _Undrawn(TorchFunctionMode):
    """Nothing is drawn: torch would import its compiler, seconds and a folder, to draw numbers for no weights."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return args[0] if func in (torch.Tensor.normal_, torch.Tensor.uniform_) else func(*args, **(kwargs or {}))


def without_weights(build: Callable[[], _Made]) -> _Made:
    """A network with shapes and no numbers: weights that would not fit are not allocated."""
    try:
        with torch.device("meta"), _Undrawn():
            return build()
    except Exception:  # a plugin that computes with its weights needs the numbers, and may raise anything without
        return build()


class _Given(Registry[type[Any]]):
    """Backbones as `complete` is to see them: without a shape, and what is not given is left to presets."""

    def __init__(self, given: Collection[str]) -> None:
        super().__init__(backbones.kind, backbones.group)
        self._given = given

    def get(self, name: str) -> type[Any]:
        """A class with the parameters of a backbone: it is looked at, and never made."""
        accepted = _accepted(backbones.get(name))
        for one in self._given:
            if one in accepted and not _can_be_written(accepted[one]):
                raise UsageError(f"backbone '{name}', {one}: an expression cannot write a {accepted[one]}")
        declared = {one: kind if one in self._given else Any for one, kind in accepted.items()}

        def init() -> None: ...

        init.__annotations__ = {one: Any if _is_union(kind) else kind for one, kind in declared.items()}
        left = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=0) for one in accepted]
        return type(name, (), {"__init__": init, "__signature__": inspect.Signature(left)})


def _accepted(kind: type[Any]) -> dict[str, Any]:
    """Parameters with their types, without the shape; with those of its base class if it hands the rest on."""
    found: dict[str, Any] = {}
    for part in (part for part in kind.__mro__ if "__init__" in vars(part)):
        init = vars(part)["__init__"]
        parameters = [*inspect.signature(init).parameters.values()][2:]  # after self and the shape
        try:
            hints = typing.get_type_hints(init)
        except (NameError, TypeError) as error:
            raise PluginError(f"the types that {part.__qualname__} declares cannot be resolved: {error}") from error
        named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        found = {one.name: hints.get(one.name, Any) for one in named} | found
        if all(one.kind != one.VAR_KEYWORD for one in parameters):
            break
    return found


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


def _can_be_written(kind: Any) -> bool:
    if _is_union(kind):
        return any(map(_can_be_written, typing.get_args(kind)))
    return kind in _SIMPLE or typing.get_origin(kind) is typing.Literal
