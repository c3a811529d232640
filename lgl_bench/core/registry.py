"""Registries: where plugins of one kind are found by name.

A plugin is registered once, in view, with a decorator; a package may announce its own through an entry
point in the group of the registry; a single file is loaded with `load_plugin`.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Generic, TypeVar

from lgl_bench.core.errors import DuplicateNameError, PluginError, UnknownNameError, quoted, reason_of
from lgl_bench.core.grammar import is_name
from lgl_bench.core.guard import preserved_state, unpatched
from lgl_bench.core.references import is_external

T = TypeVar("T")
_MODULE = "lgl_bench_plugin_"  # how the modules of plugin files are called
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


@dataclass(frozen=True, slots=True)
class PluginFile:
    """A Python file with plugins, as it was read: what other processes and machines load."""

    path: str
    source: bytes

    @classmethod
    def read(cls, path: Path) -> PluginFile:
        """The file at a path."""
        if not path.is_file():
            raise PluginError(f"the plugin file {path} does not exist")
        if path.suffix != ".py":
            raise PluginError(f"the plugin file {path} is no Python file; its name must end in .py")
        try:
            return cls(str(path), path.read_bytes())
        except OSError as error:
            raise PluginError(f"the plugin file {path} cannot be read: {error.strerror}") from error


class Registry(Generic[T]):
    """Plugins of one kind, by name.

    Args:
        kind: The singular, for messages: "detector".
        group: The entry-point group: "lgl_bench.detectors".
        modules: Modules whose import registers the built-in plugins. They are imported on the first
            look-up, so that listing commands need not import torch.
        plural: As commands name the kind, if it is not the singular with an s.
    """

    def __init__(self, kind: str, group: str, modules: tuple[str, ...] = (), plural: str = "") -> None:
        self.kind = kind
        self.plural = plural or f"{kind}s"
        self.group = group
        self._modules = modules
        self._plugins: dict[str, T] = {}
        self._files: dict[str, PluginFile | None] = {}
        self._broken: dict[str, str] = {}
        self._imported = False
        self._announced = False

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that registers a plugin under `name`.

        A second one under the same name raises, and so does a name that no expression can ask for.
        """

        def decorate(plugin: T) -> T:
            if not is_name(name):
                raise PluginError(
                    f"{quoted(name)} cannot be the name of a {self.kind} ({_where(plugin)}): use lower-case letters, "
                    "digits, - and _, a letter first and perhaps a + at the end, such as my-method"
                )
            if is_external(name):
                raise PluginError(
                    f"{quoted(name)} cannot be the name of a {self.kind} ({_where(plugin)}): it stands for answers "
                    "made outside lgl-bench; choose another"
                )
            taken, file = self._plugins.get(name), self._files.get(name)
            # A file that is loaded again, perhaps after it was edited, stands for what it registered before.
            again = file is not None and bool(_loading) and _loading[-1] is not None and _loading[-1].path == file.path
            if taken is not None and taken is not plugin and not again:
                raise DuplicateNameError(
                    f"a {self.kind} named '{name}' is registered already ({_where(taken)}); "
                    f"{_where(plugin)} must choose another name"
                )
            self._plugins[name] = plugin
            if _loading:
                self._files[name] = _loading[-1]
            else:
                self._files.pop(name, None)
            return plugin

        return decorate

    @contextlib.contextmanager
    def temporarily(self) -> Iterator[None]:
        """Everything is as before afterwards: what is registered inside, also from plugin files, is forgotten."""
        self._load()
        kept = dict(self._plugins), dict(self._files), dict(self._broken), self._announced
        modules = _plugin_modules()
        try:
            yield
        finally:
            self._plugins, self._files, self._broken, self._announced = kept
            for name in _plugin_modules():
                del sys.modules[name]
            sys.modules.update(modules)

    def get(self, name: str) -> T:
        """The plugin registered under `name`."""
        self._load()
        if name in self._broken and not _ONLY_BUILT_IN.get():
            raise PluginError(
                f"the {self.kind} '{name}' could not be loaded from its entry point: {self._broken[name]}. "
                "Repair or uninstall the package that announces it."
            )
        if name not in self:
            raise UnknownNameError(self.kind, name, self.names(), f"'lgl-bench list {self.plural}' shows them all")
        return self._plugins[name]

    def names(self) -> list[str]:
        """Every name that can be asked for, sorted."""
        self._load()
        return sorted(name for name in self._plugins if name in self)

    def is_built_in(self, name: str) -> bool:
        """Whether the plugin of that name comes with lgl-bench; loads no other to find out."""
        self.import_built_in()
        plugin = self._plugins.get(name)
        module = str(getattr(plugin, "__module__", ""))
        # A class may claim any module as its own; what is defined there cannot be claimed.
        own = getattr(sys.modules.get(module), str(getattr(plugin, "__qualname__", "")), None)
        return plugin is not None and module.startswith("lgl_bench.") and own is plugin

    def loadable(self, name: str) -> bool:
        """Whether another process can load the plugin: from its file, from an entry point, or it is built in.

        What the running script registered itself is known to this process only.
        """
        return name not in self._plugins or name in self._files or self.is_built_in(name)

    def files(self) -> dict[str, PluginFile]:
        """The plugins that were loaded from files."""
        found = {name: file for name, file in self._files.items() if file is not None and name in self._plugins}
        return {name: file for name, file in found.items() if not self.is_built_in(name)}

    def broken(self) -> dict[str, str]:
        """Entry points that could not be loaded, with the reason."""
        self._load()
        return dict(self._broken)

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._plugins and (not _ONLY_BUILT_IN.get() or self.is_built_in(str(name)))

    def import_built_in(self) -> None:
        """Imports the modules that come with lgl-bench, and nobody else's."""
        if not self._imported:
            self._imported = True
            for module in self._modules:
                importlib.import_module(module)

    def _load(self) -> None:
        self.import_built_in()
        if self._announced or _ONLY_BUILT_IN.get():
            return
        self._announced = True
        for point in entry_points(group=self.group):
            if not is_name(point.name):
                self._broken[point.name] = f"{quoted(point.name)} cannot be the name of a {self.kind}"
                continue
            with _from(None):
                try:
                    with unpatched(f"the package of the {self.kind} '{point.name}'"), preserved_state():
                        plugin = point.load()
                except BaseException as error:  # a broken package must not take the others down
                    self._broken[point.name] = reason_of(error)
                    continue
                self.register(point.name)(plugin)


_loading: list[PluginFile | None] = []
"""Where what is being registered comes from: a file, or None for an entry point. Empty for the running script."""


@contextlib.contextmanager
def _from(file: PluginFile | None) -> Iterator[None]:
    _loading.append(file)
    try:
        yield
    finally:
        _loading.pop()


def load_plugin(path: Path | PluginFile) -> None:
    """Runs a Python file whose decorators register plugins.

    Whatever it changes in the process meanwhile is put back, and a file that replaces functions of others is refused.
    """
    file = path if isinstance(path, PluginFile) else PluginFile.read(Path(path))
    # What it prints must not end up in the middle of a command's JSON.
    with unpatched(f"the plugin file {file.path}"), preserved_state(), contextlib.redirect_stdout(sys.stderr):
        load_plugin_file(file)


def load_plugin_file(file: PluginFile) -> None:
    """Runs a file that was read, and leaves what it changes: for a process that is the plugin's own."""
    name = f"{_MODULE}{Path(file.path).stem}"
    module = types.ModuleType(name)
    module.__file__ = str(Path(file.path).absolute())
    # Registered in sys.modules first, so that classes defined in the file can be pickled.
    sys.modules[name] = module
    try:
        with _from(file):
            exec(compile(file.source, module.__file__, "exec"), vars(module))
    except BaseException as error:  # a plugin may raise anything, sys.exit included
        del sys.modules[name]
        if isinstance(error, PluginError):
            raise
        if isinstance(error, DuplicateNameError):
            raise PluginError(f"the plugin file {file.path} cannot be used: {error}") from error
        raise PluginError(f"the plugin file {file.path} failed on import: {reason_of(error)}") from error


def _plugin_modules() -> dict[str, types.ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith(_MODULE)}


def _where(plugin: object) -> str:
    module = getattr(plugin, "__module__", type(plugin).__module__)
    return f"{module}.{getattr(plugin, '__qualname__', type(plugin).__qualname__)}"
