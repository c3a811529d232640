"""Keeping what foreign code changes in a process from whoever comes next.

`preserved_state` puts back what belongs to the process: working folder, environment, random numbers, defaults of
libraries. `unpatched` notices functions of libraries, and of this package, that were replaced, and puts them back. Both
keep honest code apart; code that means harm runs in a process of its own (`lgl_bench.runs.isolation.processes`).
"""

from __future__ import annotations

import contextlib
import locale
import os
import random
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from lgl_bench.core.errors import PluginError

WATCHED = ("builtins", "numpy", "torch", "dgl", "pandas", "scipy", "sklearn", "lgl_bench")
"""Packages whose functions and classes nobody else may replace."""

_Restore: TypeAlias = Callable[[], object]
_MISSING = object()


@contextlib.contextmanager
def preserved_state() -> Iterator[None]:
    """Puts the state of the process back afterwards, whatever was raised inside."""
    restores = [keep() for keep in (_folder, _environment, _streams, _random, _warnings, _locale, _signals)]
    restores += [_numpy(), _torch()]
    try:
        yield
    finally:
        for restore in restores:
            restore()


@contextlib.contextmanager
def unpatched(what: str) -> Iterator[None]:
    """Undoes replaced functions and classes of `WATCHED` packages, and refuses the code that replaced them.

    Args:
        what: Who is refused, as the message begins: "the plugin file mine.py".

    Raises:
        PluginError: Something was replaced. What the code inside raises goes first.
    """
    before = _definitions()
    try:
        yield
    finally:
        changed = _put_back(before)
    if changed:
        raise PluginError(
            f"{what} changes {', '.join(changed[:5])} when it is imported, and with it what other methods compute; "
            "give it functions of its own instead"
        )


_Definitions: TypeAlias = list[tuple[str, Any, dict[str, Any]]]


def _definitions() -> _Definitions:
    """Of every loaded module, and of every class in it, what is defined there."""
    found: _Definitions = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in WATCHED or not isinstance(module, types.ModuleType):
            continue
        inside = dict(vars(module))
        found.append((name, module, inside))
        # Not isinstance: it asks objects for their class, and some of a library warn that they are deprecated.
        classes = [v for v in inside.values() if issubclass(type(v), type) and vars(v).get("__module__") == name]
        found += [(f"{name}.{one.__name__}", one, dict(vars(one))) for one in classes]
    return found


def _put_back(before: _Definitions) -> list[str]:
    """What was replaced, deleted or covered, put back as it was."""
    known = {id(value) for _, _, inside in before for value in inside.values()}
    changed = []
    for name, owner, inside in before:
        now = vars(owner)
        for key in [*inside, *_covering(owner, inside)]:
            old, new = inside.get(key, _MISSING), now.get(key, _MISSING)
            if old is new or not _is_definition(new if old is _MISSING else old) or _own_doing(new, name, known):
                continue
            try:
                delattr(owner, key) if old is _MISSING else setattr(owner, key, old)
            except (AttributeError, TypeError):
                continue  # cannot be set, so a plugin did not set it
            changed.append(f"{name}.{key}")
    return changed


def _covering(owner: Any, inside: dict[str, Any]) -> list[str]:
    """What was added to a class in place of something inherited."""
    if not issubclass(type(owner), type):
        return []
    added = [key for key in vars(owner) if key not in inside]
    return [key for key in added if any(key in vars(base) for base in owner.__mro__[1:])]


def _own_doing(new: Any, name: str, known: set[int]) -> bool:
    """Whether a library changed itself, as torch does when parts of it are imported late, with a function of its own.

    A function that was there before under another name is no such thing: nobody but a plugin gives it this one.
    """
    function = getattr(new, "fget", None) or getattr(new, "__func__", None) or new
    code, package = getattr(function, "__code__", None), sys.modules[name.partition(".")[0]]
    folder = str(Path(getattr(package, "__file__", None) or os.devnull).parent)
    return id(new) not in known and code is not None and code.co_filename.startswith(folder)


_DEFINITIONS = (
    *(type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, types.GetSetDescriptorType, staticmethod, classmethod, property),
)


def _is_definition(value: Any) -> bool:
    """Functions, classes and what wraps them. Counters and caches may change: libraries keep them in modules."""
    return issubclass(type(value), _DEFINITIONS) or type(value).__name__ in ("ufunc", "_ArrayFunctionDispatcher")


def _folder() -> _Restore:
    try:
        folder = Path.cwd()
    except OSError:
        return lambda: None
    return lambda: _quietly(os.chdir, folder)


def _environment() -> _Restore:
    kept = dict(os.environ)

    def restore() -> None:
        if dict(os.environ) != kept:
            os.environ.clear()
            os.environ.update(kept)

    return restore


def _streams() -> _Restore:
    kept = sys.stdin, sys.stdout, sys.stderr
    path, mask = list(sys.path), os.umask(0)
    os.umask(mask)

    def restore() -> None:
        sys.stdin, sys.stdout, sys.stderr = kept
        sys.path[:] = path
        os.umask(mask)

    return restore


def _random() -> _Restore:
    state = random.getstate()
    return lambda: random.setstate(state)


def _warnings() -> _Restore:
    filters, show = list(warnings.filters), warnings.showwarning

    def restore() -> None:
        if list(warnings.filters) != filters:
            warnings.filters[:] = filters  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]
        warnings.showwarning = show

    return restore


def _locale() -> _Restore:
    kept = locale.setlocale(locale.LC_ALL)
    return lambda: _quietly(locale.setlocale, locale.LC_ALL, kept)


def _signals() -> _Restore:
    """Handlers; only the main thread can have changed them, and only it can put them back."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    kept = {number: signal.getsignal(number) for number in signal.valid_signals()}

    def restore() -> None:
        for number, handler in kept.items():
            if handler is not None and signal.getsignal(number) is not handler:
                _quietly(signal.signal, number, handler)

    return restore


def _numpy() -> _Restore:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return lambda: None
    errors, shown, state = numpy.geterr(), numpy.get_printoptions(), numpy.random.get_state()

    def restore() -> None:
        numpy.seterr(**errors)
        if numpy.get_printoptions() != shown:
            numpy.set_printoptions(**shown)
        numpy.random.set_state(state)

    return restore


def _torch() -> _Restore:
    torch = sys.modules.get("torch")
    if torch is None:
        return lambda: None
    state, threads, gradients = torch.get_rng_state(), torch.get_num_threads(), torch.is_grad_enabled()
    dtype, device = torch.get_default_dtype(), torch.empty(0).device
    exact = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()

    def restore() -> None:
        if torch.empty(0).device != device:
            torch.set_default_device(None if device.type == "cpu" else device)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)
        now = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
        if now != exact:
            torch.use_deterministic_algorithms(exact[0], warn_only=exact[1])
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.set_rng_state(state)

    return restore


def _quietly(call: Callable[..., object], *given: object) -> None:
    """What cannot be put back, because it is gone, stays as it is."""
    with contextlib.suppress(OSError, ValueError, TypeError, locale.Error):
        call(*given)
