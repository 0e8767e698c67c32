"""CRC-32C for the plain-Python core: from the cheapest available library, or in plain Python.

`import crc32c` takes 45 ms because its `__init__` looks up its own version, so its extension module is loaded directly
if possible (it accepts any buffer without copying), and otherwise the package.
"""

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


def _in_python() -> Callable[[Buffer, int], int]:
    """Return a function in plain Python, for machines without the extension module: correct, but 1,000 times slower."""
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)

    def crc32c(data: Buffer, start: int = 0, /) -> int:
        crc = start ^ 0xFFFFFFFF
        for byte in memoryview(data).cast("B"):
            crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
        return crc ^ 0xFFFFFFFF

    return crc32c


def _choose() -> tuple[Callable[[Buffer, int], int], str]:
    try:
        module = _extension()
        if module is None or not hasattr(module, "crc32c"):
            import crc32c

            return crc32c.crc32c, ""
    except ImportError:
        return _in_python(), "checksums in plain Python: slow"
    return module.crc32c, ""


crc32c, NOTE = _choose()
"""The function, and a note for users about it."""
