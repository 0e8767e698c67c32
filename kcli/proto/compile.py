"""From a declaration to straight-line code: what both directions share.

`encoding.py` and `decoding.py` write one function per message and version; runs of fixed-width fields become one
`struct` call. A declaration is a class of values; the `extra` of a field is its place on the wire (`schema.Place`).
Every function knows its source, so a traceback shows its line.
"""

from __future__ import annotations

import marshal
import os
import sys

from kcli.proto.runtime import RUNTIME
from kcli.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from kcli.values import Field, Value

FIXED = {
    "bool": "?",
    "Int8": "b",
    "Int16": "h",
    "Int32": "i",
    "Int64": "q",
    "UInt16": "H",
    "UInt32": "I",
    "Float64": "d",
    "Uuid": "16s",
}
FOLDER = os.path.join(os.path.dirname(__file__), "__pycache__")
# bytecode belongs to one release of one implementation, which is what this tells apart
TAG = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"


class Source:
    """Where a traceback finds the lines of a function that is in no file (PEP 302, `get_source`)."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, _: str) -> str:
        return self._text


class Wire:
    """One field's wire type, parsed from its annotation."""

    __slots__ = ("element", "kind", "struct")

    def __init__(self, annotation: str, scope: dict[str, Any]) -> None:
        text = annotation.removesuffix(" | None")
        self.element: Wire | None = None
        self.struct: type[Value] | None = None
        if text.startswith("list["):
            self.kind = "list"
            self.element = Wire(text[5:-1], scope)
        elif text in FIXED or text in ("str", "bytes", "Records"):
            self.kind = text
        else:
            self.kind = "struct"
            self.struct = scope[text]


def fields_of(struct: type[Value]) -> list[tuple[Field, Wire]]:
    """The declared fields with their wire types, in the order of the declaration."""
    scope = vars(sys.modules[struct.__module__])
    return [(f, Wire(f.annotation, scope)) for f in struct.__fields__]


class Compiler:
    """What both directions share: walking a declaration, and turning lines of source into a function."""

    def __init__(self, message: type[Value], version: int, *, flexible: bool) -> None:
        self.message = message
        self.version = version
        self.label = f"{message.__name__} v{version}"
        self.flexible = flexible
        self.lines: list[str] = []
        self.names: dict[str, Any] = dict(RUNTIME)
        self.done: set[type[Value]] = set()

    def compiled(self, prefix: str) -> Any:
        """Generate the source for the message and everything in it; the function `prefix` + its name."""
        self._struct(self.message)
        file = f"{self.label} {prefix}"
        source = "\n".join(self.lines) + "\n"
        self.names["__name__"] = file
        self.names["__loader__"] = Source(source)
        name = f"{self.message.__name__}-{self.version}-{prefix}"
        code = load_code(name, source)
        if code is None:
            code = compile(source, file, "exec")
            store_code(name, source, code)
        exec(code, self.names)
        return self.names[f"{prefix}_{self.message.__name__}"]

    def _struct(self, struct: type[Value]) -> None:
        if struct in self.done:
            return
        self.done.add(struct)
        present: list[tuple[Field, Wire]] = []
        tagged: list[tuple[Field, Wire]] = []
        absent: list[Field] = []
        for f, wire in fields_of(struct):
            inner = wire.element.struct if wire.element else wire.struct
            if self.version not in f.extra.versions:
                absent.append(f)
                continue
            if inner is not None:
                self._struct(inner)
            (tagged if f.extra.tag is not None and self.flexible else present).append((f, wire))
        tagged.sort(key=lambda pair: pair[0].extra.tag)
        self.names[struct.__name__] = struct
        self._emit(struct, present, tagged, absent)

    def _emit(
        self,
        struct: type[Value],
        present: list[tuple[Field, Wire]],
        tagged: list[tuple[Field, Wire]],
        absent: list[Field],
    ) -> None:
        """Write the function of one struct."""
        raise NotImplementedError

    def _nullable(self, f: Field) -> bool:
        return self.version in f.extra.null


def runs(present: list[tuple[Field, Wire]]) -> list[list[tuple[Field, Wire]]]:
    """The fields cut into runs: neighbours of fixed width together, every other field alone."""
    out: list[list[tuple[Field, Wire]]] = []
    for f, wire in present:
        if wire.kind in FIXED and out and out[-1][-1][1].kind in FIXED:
            out[-1].append((f, wire))
        else:
            out.append([(f, wire)])
    return out


# Compiled codecs, kept beside the modules' own bytecode: compiling eight of them is a tenth of a short command.
#
# A file holds the source it was compiled from, and counts only if that is what was generated now: it cannot be stale.
# It is trusted as `__pycache__` is; nothing is written when Python must not write bytecode, and a folder that
# cannot be written to just means no cache.
def load_code(name: str, source: str) -> CodeType | None:
    """The code object compiled from `source`, or None when it is not there."""
    try:
        kept, code = marshal.loads(files.read(_code_path(name), files.TEXT))
    except (OSError, ValueError, EOFError, TypeError):
        return None  # absent, torn or of another marshal format: compiled anew
    return code if kept == source else None


def store_code(name: str, source: str, code: CodeType) -> None:
    """Keep a code object for the next process."""
    if sys.dont_write_bytecode:
        return
    try:
        files.replace(_code_path(name), marshal.dumps((source, code)), 0o666)
    except OSError:
        return  # a read-only installation: it works without


def _code_path(name: str) -> str:
    return os.path.join(FOLDER, f"{name}.{TAG}.codec")
