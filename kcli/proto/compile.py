"""Compiles declarations of messages to straight-line code: the common part of encoding and decoding.

`encoding.py` and `decoding.py` generate one function per message and version; consecutive fields of fixed width become
one `struct` call. A declaration is a value class; the `extra` of a field is its place on the wire (`schema.Place`).
Every function has its source, so tracebacks show its lines.
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
# bytecode is specific to a release of an implementation, which this identifies
TAG = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"


class Source:
    """The source for tracebacks of a function that is in no file (PEP 302, `get_source`)."""

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
    """Return the declared fields with their wire types, in order."""
    scope = vars(sys.modules[struct.__module__])
    return [(f, Wire(f.annotation, scope)) for f in struct.__fields__]


class Compiler:
    """Walks a declaration, and turns lines of source into a function."""

    def __init__(self, message: type[Value], version: int, *, flexible: bool) -> None:
        self.message = message
        self.version = version
        self.label = f"{message.__name__} v{version}"
        self.flexible = flexible
        self.lines: list[str] = []
        self.names: dict[str, Any] = dict(RUNTIME)
        self.done: set[type[Value]] = set()

    def compiled(self, prefix: str) -> Any:
        """Generate the source for the message and its parts; return the function `prefix` + its name."""
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
        """Generate the function of one struct."""
        raise NotImplementedError

    def _nullable(self, f: Field) -> bool:
        return self.version in f.extra.null


def runs(present: list[tuple[Field, Wire]]) -> list[list[tuple[Field, Wire]]]:
    """Split the fields into runs: adjacent fields of fixed width together, every other field alone."""
    out: list[list[tuple[Field, Wire]]] = []
    for f, wire in present:
        if wire.kind in FIXED and out and out[-1][-1][1].kind in FIXED:
            out[-1].append((f, wire))
        else:
            out.append([(f, wire)])
    return out


# Compiled codecs are cached beside the modules' bytecode: compiling eight of them is a tenth of a short command.
#
# A file contains the source from which it was compiled, and is only used if that equals the generated source, so it
# cannot be stale. It is trusted like `__pycache__`; nothing is written if Python must not write bytecode, and without a
# writable folder there is no cache.
def load_code(name: str, source: str) -> CodeType | None:
    """Return the code object compiled from `source`, or None if it is not cached."""
    try:
        kept, code = marshal.loads(files.read(_code_path(name), files.TEXT))
    except (OSError, ValueError, EOFError, TypeError):
        return None  # missing, incomplete or in another marshal format: compile again
    return code if kept == source else None


def store_code(name: str, source: str, code: CodeType) -> None:
    """Cache a code object for later processes."""
    if sys.dont_write_bytecode:
        return
    try:
        files.replace(_code_path(name), marshal.dumps((source, code)), 0o666)
    except OSError:
        return  # a read-only installation


def _code_path(name: str) -> str:
    return os.path.join(FOLDER, f"{name}.{TAG}.codec")
