"""Import asyncio without the modules that a short-lived process does not need.

asyncio imports modules for TLS, subprocesses, executors, log messages and stacks in debug mode. During that import they
are stand-ins, each of which becomes the real module when something unknown is looked up in it. Afterwards they are
removed, so only asyncio has them. kcli/cli/README.md has what each of them saves.
"""

from __future__ import annotations

import gc
import os
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GRAPH = (
    *("graph", "FrameCallGraphEntry", "FutureCallGraph"),
    *("capture_call_graph", "format_call_graph", "print_call_graph"),
)
"""asyncio.graph and its names: new in Python 3.14, it imports dataclasses, inspect and re."""
YOUNG = 100_000  # objects created before the collector runs: imports create tens of thousands, none of them garbage


class Later(ModuleType):
    """A module that is imported at the first look at something that is not `known`."""

    def __init__(self, name: str, **known: Any) -> None:
        super().__init__(name)
        self.__dict__.update(known)

    def __getattr__(self, what: str) -> Any:
        if what.startswith("__"):  # the import system asks whether it is a package
            raise AttributeError(what)
        from importlib import import_module

        name = self.__name__
        if sys.modules.get(name) is self:  # asyncio's import wants more than we know: then it gets it
            del sys.modules[name]
        real = import_module(name)
        self.__dict__.update(vars(real))
        return getattr(real, what)


class Logger:
    """A logger that does not exist before it has a message. Levels below a warning cannot be enabled before a
    module imports logging."""

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, *args: Any, **kwargs: Any) -> None:
        if "logging" in sys.modules:
            self.__getattr__("debug")(*args, **kwargs)

    def __getattr__(self, what: str) -> Any:
        import logging

        return getattr(logging.getLogger(self._name), what)


class Annotation:
    """The names in annotations that are never evaluated: `Optional[float]`."""

    def __getitem__(self, _: object) -> Annotation:
        return self


def extract_stack(*args: Any, **kwargs: Any) -> Any:
    """traceback.extract_stack, which the compiled part of asyncio wants to have at hand for its debug mode."""
    import traceback

    return traceback.extract_stack(*args, **kwargs)


def _same(what: Any) -> Any:
    return what


def _stand_ins() -> dict[str, Later]:
    """The modules to replace. asyncio looks up the `known` names while it is imported; their values are documented.

    Up to Python 3.13, subprocess imports re, and asyncio imports typing; 3.14 does neither, but has asyncio.graph."""
    known: dict[str, dict[str, object]] = {
        "asyncio.sslproto": {},
        "asyncio.staggered": {},
        "concurrent.futures": {name: name for name in ("FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED")},
        "inspect": {},
        "linecache": {},
        "logging": {"DEBUG": 10, "getLogger": Logger},
        "ssl": {"SSLSocket": Annotation},  # no socket is one before ssl was imported
        "subprocess": {"PIPE": -1, "STDOUT": -2, "DEVNULL": -3},
        "traceback": {"extract_stack": extract_stack},
        "typing": {"Optional": Annotation(), "Type": Annotation(), "final": _same},
    }
    absent = {name: Later(name, **values) for name, values in known.items() if name not in sys.modules}
    if sys.version_info >= (3, 14):
        absent["asyncio.graph"] = graph = Later("asyncio.graph", **dict.fromkeys(GRAPH), __all__=GRAPH)
        vars(graph)["graph"] = graph  # `from .graph import *` binds the module, which asyncio looks up next
    return absent


def start_lean() -> None:
    """Collect garbage seldom, and import asyncio without what it does not use. In debug mode it uses all of it."""
    gc.set_threshold(YOUNG, 50, 50)
    if "asyncio" in sys.modules or sys.flags.dev_mode or "PYTHONASYNCIODEBUG" in os.environ:
        return
    import concurrent

    absent = _stand_ins()
    sys.modules.update(absent)
    if "concurrent.futures" in absent:
        concurrent.futures = absent["concurrent.futures"]
    try:
        import asyncio

        if "asyncio.graph" in absent:
            for name in GRAPH:
                delattr(asyncio, name)
            vars(asyncio)["__getattr__"] = _look_up(vars(asyncio).get("__getattr__"))  # PEP 562
    finally:
        for name, module in absent.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _look_up(otherwise: Callable[[str], Any] | None) -> Callable[[str], Any]:
    """Return a `__getattr__` of asyncio that imports asyncio.graph for its names; `otherwise` is asyncio's own."""

    def find(name: str) -> Any:
        if name in GRAPH:
            from importlib import import_module

            module = import_module("asyncio.graph")
            return getattr(module, name, module)
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module 'asyncio' has no attribute {name!r}")

    return find
