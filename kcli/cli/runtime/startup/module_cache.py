"""The code of kcli's modules in one file, beside their own bytecode.

A command imports a hundred modules. For each of them Python looks into its folder, and opens and checks a file of
bytecode: a quarter of what the module costs. Here one file has an index and the code of all. A module counts while its
source has the size and the time of change that were written down, as with bytecode (PEP 3147), so it is never stale.
The file is trusted as `__pycache__` is, and nothing is written where Python must not write bytecode; where the folder
cannot be written to, each module is imported from its own file.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO
    from types import CodeType, ModuleType

    Place = tuple[str, int, int, int, int]
    """The source file, its time of change in nanoseconds, its size; where the code begins after the index, its size."""

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
TAG = f"{sys.implementation.cache_tag}-{sys.hexversion:x}-{sys.flags.optimize}"
PATH = os.path.join(ROOT, "__pycache__", f"modules.{TAG}.code")
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
        if place is None or not path:
            return None
        source, changed, size, begin, length = place
        module = f"{path[0]}{os.sep}{name.rpartition('.')[2]}"
        package = source == f"{module}{os.sep}__init__.py"
        if not (package or source == f"{module}.py") or _state(source) != (changed, size):
            return None
        spec = ModuleSpec(name, KeptLoader(name, source, lambda: self._read(begin, length)), origin=source)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [module]
        return spec

    def extend(self) -> None:
        """Keep the code of the modules that this process imported from their own files, for the next process."""
        if sys.dont_write_bytecode or sys.pycache_prefix is not None:
            return
        new = {name: source for name, source in _imported().items() if name not in self._early}
        if len(new) < WORTH:
            return
        self._open()  # another process may have kept others
        codes = {
            name: (place[:3], self._read(*place[3:]))
            for name, place in self._places.items()
            if name not in new and _state(place[0]) == place[1:3]
        }
        for name, source in new.items():
            state, code = _state(source), SourceFileLoader(name, source).get_code(name)
            if state is not None and code is not None:
                codes[name] = ((source, *state), marshal.dumps(code))
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

    def _write(self, codes: dict[str, tuple[tuple[str, int, int], bytes]]) -> None:
        places: dict[str, Place] = {}
        begin = 0
        for name, (source, code) in codes.items():
            places[name] = (*source, begin, len(code))
            begin += len(code)
        index = marshal.dumps(places)
        fresh = f"{self._path}.{os.getpid()}"
        try:
            with open(fresh, "wb") as file:
                file.writelines([len(index).to_bytes(HEAD), index, *(code for _, code in codes.values())])
            os.replace(fresh, self._path)  # another process sees all of it or nothing
        except OSError:
            return  # an installation that cannot be written to: it works without


def _imported() -> dict[str, str]:
    """The modules of kcli that this process imported from their own files, and their sources."""
    specs = [module.__spec__ for name, module in sys.modules.items() if name.startswith("kcli.")]
    return {
        spec.name: spec.origin
        for spec in specs
        if spec is not None and spec.origin is not None and type(spec.loader) is SourceFileLoader
    }


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
