"""Skip the imports that a short-lived process does not need, before they cost anything.

asyncio imports ten modules for what few programs do: TLS, subprocesses, executors, log messages, stacks in debug mode.
While it is being imported, those are stand-ins that become the real module when something is looked up in them; then
they are removed again, so that only asyncio ever meets one. Measured with 10 records consumed: see
docs/benchmarks.md, "Start-up".
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

PARTS = ("taskgroups", "threads", "queues", "streams", "subprocess")
"""Parts of asyncio that only some commands use, the cheap ones first: imported when a name is looked up in asyncio."""
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
    """What asyncio's modules look up while they are imported is known, by the values the documentation gives."""
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
    for part in PARTS:  # `from .queues import *` then binds the part itself, which asyncio looks up next
        absent[f"asyncio.{part}"] = later = Later(f"asyncio.{part}", __all__=(part,))
        vars(later)[part] = later
    return absent


def start_lean() -> None:
    """Collect garbage seldom, and import asyncio without what it does not use. In debug mode asyncio uses all of it."""
    gc.set_threshold(YOUNG, 50, 50)
    if "asyncio" in sys.modules or sys.flags.dev_mode or "PYTHONASYNCIODEBUG" in os.environ:
        return
    import concurrent

    from kcli.cli.runtime.startup.plain_constants import PlainConstants

    absent = _stand_ins()
    sys.modules.update(absent)
    if "concurrent.futures" in absent:
        concurrent.futures = absent["concurrent.futures"]
    try:
        with PlainConstants():
            import asyncio

        for part in PARTS:
            if isinstance(vars(asyncio).get(part), Later):
                delattr(asyncio, part)
        vars(asyncio)["__getattr__"] = _look_up(vars(asyncio).get("__getattr__"))  # PEP 562
    finally:
        for name, module in absent.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _look_up(otherwise: Callable[[str], Any] | None) -> Callable[[str], Any]:
    """A function that finds what asyncio has by a name in the parts that were not imported with it; `otherwise` is the
    one that asyncio has itself."""

    def find(name: str) -> Any:
        import asyncio
        from importlib import import_module

        for part in () if name.startswith("__") else PARTS:
            module = import_module(f"asyncio.{part}")
            for each in module.__all__:
                vars(asyncio).setdefault(each, getattr(module, each))
            if name in vars(asyncio):
                return vars(asyncio)[name]
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module 'asyncio' has no attribute {name!r}")

    return find
