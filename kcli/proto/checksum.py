"""CRC-32C for the plain-Python core: the cheapest library that is here.

`import crc32c` costs 45 ms because its `__init__` looks its own version up, so its extension module is loaded alone
where that works (it takes any buffer, without a copy), and the package as it wants where it does not."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from kcli.proto.buffer import Buffer


def _extension() -> ModuleType | None:
    package = PathFinder.find_spec("crc32c")
    if "crc32c" in sys.modules or package is None or package.submodule_search_locations is None:
        return None
    spec = PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    module = spec.loader.create_module(spec)
    if module is not None:
        spec.loader.exec_module(module)
    return module


def _choose() -> Callable[[Buffer, int], int]:
    try:
        module = _extension()
    except ImportError:
        module = None
    if module is None or not hasattr(module, "crc32c"):
        import crc32c

        return crc32c.crc32c
    return module.crc32c  # type: ignore[no-any-return]


crc32c = _choose()
