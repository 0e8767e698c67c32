"""The code of kcli's modules, and of those of the standard library that they import, in one file.

A command imports two hundred modules. For each of them Python looks into folders, and opens and checks a file of
bytecode: a quarter of what the module costs. Here one file has an index and the code of all; of a compiled module it
has the place. A module counts while its source has the size and the time of change that were written down, as with
bytecode (PEP 3147), so it is never stale. The file is trusted as `__pycache__` is, and nothing is written where Python
must not write bytecode; where the folder cannot be written to, each module is imported from its own file.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery has these too, and costs each command 0.9 ms
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO
    from types import CodeType, ModuleType

    Place = tuple[str, str, int, int, int, int]
    """The folder where Python looks for the module and its source file; the time of change of that in nanoseconds, its
    size; where the code begins after the index, its size: 0 for a compiled module."""

ROOT = os.path.dirname(os.path.dirname(__file__))
FORMAT = 2
"""Of the index: one more at each change of `Place`, so that no file of another kcli is read."""
TAG = f"{sys.implementation.cache_tag}-{sys.hexversion:x}-{sys.flags.optimize}-{FORMAT}"
PATH = os.path.join(ROOT, "__pycache__", f"modules.{TAG}.code")
LIBRARY = os.path.dirname(os.__file__)
FIRST = None if "PYTHONPATH" in os.environ else LIBRARY
"""Where Python looks first for a module of the standard library: PYTHONPATH may have another of that name."""
COMPILED = os.path.join(LIBRARY, "lib-dynload")
BYTECODE = f"{sys.implementation.cache_tag}{f'.opt-{sys.flags.optimize}' if sys.flags.optimize else ''}.pyc"
WORTH = 8
"""New modules that are worth a new file: to write it takes 10 ms, and each saves 45 µs."""
HEAD = 8
"""Bytes in front of the index: its size."""


class KeptLoader(SourceFileLoader):
    """The loader of a module whose code is kept; its source and its data are where Python looks for them."""

    def __init__(self, name: str, source: str, read: Callable[[], bytes]) -> None:
        super().__init__(name, source)
        self._read = read

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            code: CodeType = marshal.loads(self._read())
        except (OSError, ValueError, EOFError, TypeError):
            return super().get_code(fullname)  # torn
        return code


class KeptExtension(ExtensionFileLoader):
    """The loader of a compiled module whose place is kept."""


class ModuleCache:
    """Finds modules whose code is kept: an entry of `sys.meta_path`, a method a question of the import system."""

    def __init__(self, path: str = PATH) -> None:
        self._path = path
        self._places: dict[str, Place] = {}
        self._file: FileIO | None = None
        self._begin = 0
        self._early = frozenset(sys.modules)  # imported without it, each time
        self._open()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a kept module whose source is as it was; None leaves it to Python."""
        place = self._places.get(name)
        if place is None:
            return None
        folder, source, changed, size, begin, length = place
        if folder != (path[0] if path else FIRST) or _state(source) != (changed, size):
            return None
        if not length:
            return _located(ModuleSpec(name, KeptExtension(name, source), origin=source))
        spec = ModuleSpec(name, KeptLoader(name, source, lambda: self._read(begin, length)), origin=source)
        within, _, file = source.rpartition(os.sep)
        spec.cached = f"{within}{os.sep}__pycache__{os.sep}{file[:-2]}{BYTECODE}"  # else it is found out, in 8 µs
        if file == "__init__.py":
            spec.submodule_search_locations = [within]
        return _located(spec)

    def extend(self) -> None:
        """Keep the code of the modules that this process imported from their own files, for the next process."""
        if sys.dont_write_bytecode or sys.pycache_prefix is not None:
            return
        new = {name: file for name, file in _imported().items() if name not in self._early}
        if len(new) < WORTH:
            return
        self._open()  # another process may have kept others
        codes = {
            name: (place[:4], self._read(*place[4:]))
            for name, place in self._places.items()
            if name not in new and _state(place[1]) == place[2:4]
        }
        for name, (folder, source) in new.items():
            state, code = _state(source), b""
            if source.endswith(".py"):
                code = marshal.dumps(SourceFileLoader(name, source).get_code(name))
            if state is not None:
                codes[name] = ((folder, source, *state), code)
        self._write(codes)

    def _open(self) -> None:
        try:
            self._file = file = open(self._path, "rb", buffering=0)  # noqa: SIM115 - as long as modules are imported
            size = int.from_bytes(file.read(HEAD))
            self._places = marshal.loads(file.read(size))
            self._begin = HEAD + size
        except (OSError, ValueError, EOFError, TypeError, OverflowError):
            self._places = {}  # absent, torn or of another marshal format

    def _read(self, begin: int, size: int) -> bytes:
        assert self._file is not None
        self._file.seek(self._begin + begin)
        return self._file.read(size)

    def _write(self, codes: dict[str, tuple[tuple[str, str, int, int], bytes]]) -> None:
        places: dict[str, Place] = {}
        begin = 0
        for name, (place, code) in codes.items():
            places[name] = (*place, begin, len(code))
            begin += len(code)
        index = marshal.dumps(places)
        fresh = f"{self._path}.{os.getpid()}"
        try:
            with open(fresh, "wb") as file:
                file.writelines([len(index).to_bytes(HEAD), index, *(code for _, code in codes.values())])
            os.replace(fresh, self._path)  # another process sees all of it or nothing
        except OSError:
            return  # an installation that cannot be written to: it works without


def _located(spec: ModuleSpec) -> ModuleSpec:
    spec.has_location = True  # the module gets its __file__ and __cached__
    return spec


def _imported() -> dict[str, tuple[str, str]]:
    """The modules of kcli and of the standard library that this process imported from their own files: the folder where
    Python looks for each, and its source."""
    files = {}
    for spec in [getattr(module, "__spec__", None) for module in list(sys.modules.values())]:  # typing.io has none
        if spec is None or spec.origin is None or type(spec.loader) not in (SourceFileLoader, ExtensionFileLoader):
            continue
        inner = spec.origin.removesuffix(f"{os.sep}__init__.py")
        folder = os.path.dirname(inner)
        known = f"{LIBRARY}{os.sep}{spec.name.replace('.', os.sep)}"
        if spec.name.startswith("kcli."):
            files[spec.name] = (folder, spec.origin)
        elif FIRST is None:
            continue  # it could not be found in the file: each process would write the file anew
        elif known in (inner, inner.removesuffix(".py")):
            files[spec.name] = (folder, spec.origin)
        elif folder == COMPILED:
            files[spec.name] = (FIRST, spec.origin)
    return files


def _state(source: str) -> tuple[int, int] | None:
    """When a file was changed, in nanoseconds, and its size; None if it does not exist."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def install() -> ModuleCache | None:
    """Find modules in the file from now on. None, and nothing happens, where a standard file is closed, whose number
    the file would get."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        return None
    cache = ModuleCache()
    sys.meta_path.insert(0, cache)
    return cache
