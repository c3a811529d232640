"""Registries: where plugins of one kind are found by name.

A plugin is registered once, in view, with a decorator; a package may announce its own through an entry
point in the group of the registry; a single file is loaded with `load_plugin`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib.metadata import entry_points
from pathlib import Path
from typing import Generic, TypeVar

from lgl_bench.core.errors import DuplicateNameError, PluginError, UnknownNameError, quoted
from lgl_bench.core.grammar import is_name

T = TypeVar("T")
_ONLY_BUILT_IN: ContextVar[bool] = ContextVar("only_built_in", default=False)


@contextlib.contextmanager
def only_built_in() -> Iterator[None]:
    """Hides every plugin that does not come with lgl-bench, and loads none.

    Who reads the files of a stranger then sees the same whatever is installed or was loaded before.
    """
    token = _ONLY_BUILT_IN.set(True)
    try:
        yield
    finally:
        _ONLY_BUILT_IN.reset(token)


class Registry(Generic[T]):
    """Plugins of one kind, by name.

    Args:
        kind: The singular, for messages: "detector".
        group: The entry-point group: "lgl_bench.detectors".
        modules: Modules whose import registers the built-in plugins. They are imported on the first
            look-up, so that listing commands need not import torch.
    """

    def __init__(self, kind: str, group: str, modules: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.group = group
        self._modules = modules
        self._plugins: dict[str, T] = {}
        self._broken: dict[str, str] = {}
        self._imported = False
        self._announced = False

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that registers a plugin under `name`.

        A second one under the same name raises, and so does a name that no expression can ask for.
        """

        def decorate(plugin: T) -> T:
            self._add(name, plugin)
            return plugin

        return decorate

    def get(self, name: str) -> T:
        """The plugin registered under `name`."""
        self._load()
        if name in self._broken and not _ONLY_BUILT_IN.get():
            raise PluginError(
                f"the {self.kind} '{name}' could not be loaded from its entry point: {self._broken[name]}. "
                "Mend or uninstall the package that announces it."
            )
        if name not in self:
            raise UnknownNameError(self.kind, name, self.names(), f"'lgl-bench list {self.kind}s' shows them all")
        return self._plugins[name]

    def names(self) -> list[str]:
        """Every name that can be asked for, sorted."""
        self._load()
        return sorted(name for name in self._plugins if name in self)

    def is_built_in(self, name: str) -> bool:
        """Whether a plugin of that name comes with lgl-bench."""
        self._load()
        module = getattr(self._plugins.get(name), "__module__", "")
        return str(module).startswith("lgl_bench.")

    def broken(self) -> dict[str, str]:
        """Entry points that could not be loaded, with the reason."""
        self._load()
        return dict(self._broken)

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._plugins and (not _ONLY_BUILT_IN.get() or self.is_built_in(str(name)))

    def _add(self, name: str, plugin: T) -> None:
        if not is_name(name):
            raise PluginError(
                f"{quoted(name)} cannot be the name of a {self.kind} ({_where(plugin)}): use lower-case letters, "
                "digits, - and _, a letter first and perhaps a + at the end, such as my-method"
            )
        taken = self._plugins.get(name)
        if taken is not None and taken is not plugin:
            raise DuplicateNameError(
                f"a {self.kind} named '{name}' is registered already ({_where(taken)}); "
                f"{_where(plugin)} must choose another name"
            )
        self._plugins[name] = plugin

    def _load(self) -> None:
        if not self._imported:
            self._imported = True
            for module in self._modules:
                importlib.import_module(module)
        if self._announced or _ONLY_BUILT_IN.get():
            return
        self._announced = True
        for point in entry_points(group=self.group):
            if not is_name(point.name):
                self._broken[point.name] = f"{quoted(point.name)} cannot be the name of a {self.kind}"
                continue
            try:
                plugin = point.load()
            except Exception as error:  # a broken package must not take the others down
                self._broken[point.name] = f"{type(error).__name__}: {error}"
                continue
            self._add(point.name, plugin)


def load_plugin(path: Path) -> None:
    """Runs a Python file whose decorators register plugins."""
    path = Path(path)
    if not path.is_file():
        raise PluginError(f"the plugin file {path} does not exist")
    name = f"lgl_bench_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"the plugin file {path} is no Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    # Registered in sys.modules first, so that classes defined in the file can be pickled.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, PluginError):
            raise
        if isinstance(error, DuplicateNameError):
            raise PluginError(f"the plugin file {path} cannot be used: {error}") from error
        raise PluginError(f"the plugin file {path} failed on import: {type(error).__name__}: {error}") from error


def _where(plugin: object) -> str:
    module = getattr(plugin, "__module__", type(plugin).__module__)
    return f"{module}.{getattr(plugin, '__qualname__', type(plugin).__qualname__)}"
