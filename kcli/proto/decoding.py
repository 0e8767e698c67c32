"""Generates the decoder of a message at a version: the source of `r_X(b, i, end)` for it and its parts."""

from __future__ import annotations

import struct

from kcli.errors import DecodeError
from kcli.proto.compile import FIXED, Compiler, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.buffer import Buffer
    from kcli.proto.compile import Wire
    from kcli.values import Field, Value

MAX_ELEMENTS = 1_000_000
MAX_TAGS = 10_000


class Reader(Compiler):
    """Generates the source of the decoder: `r_X(b, i, end)` reads an X at `i` and returns it and its end. Requests are
    read `lenient`ly like by Kafka's brokers: any negative length is null, and text need not be UTF-8."""

    @property
    def lenient(self) -> bool:
        return hasattr(self.message, "response")

    def function(self) -> Callable[[Buffer], Any]:
        read, label = self.compiled("r"), self.label

        def decode(data: Buffer) -> Any:
            view = data if type(data) is memoryview else memoryview(data)
            try:
                return read(view, 0, len(view))[0]
            except (struct.error, IndexError) as broken:
                raise DecodeError(f"{label} ends too early ({len(view)} bytes)") from broken
            except UnicodeDecodeError as broken:
                raise DecodeError(f"{label} has text that is not UTF-8 at byte {broken.start} of a string") from broken
            except DecodeError as broken:
                raise DecodeError(f"{label}: {broken}") from broken

        return decode

    def _emit(
        self,
        struct: type[Value],
        present: list[tuple[Field, Wire]],
        tagged: list[tuple[Field, Wire]],
        absent: list[Field],
    ) -> None:
        emit = self.lines.append
        emit(f"def r_{struct.__name__}(b, i, end):")
        for run in runs(present):
            f, wire = run[0]
            if wire.kind in FIXED:
                layout = ">" + "".join(FIXED[wire.kind] for _, wire in run)
                targets = ", ".join("v_" + f.name for f, _ in run)
                emit(f" {targets}, = {self._unpacker(layout)}(b, i); i += {self._size(layout)}")
            else:
                self._read(wire, f"v_{f.name}", self._nullable(f), " ", f.name)
        for f in absent + [f for f, _ in tagged]:
            emit(f" v_{f.name} = {self._default(struct, f)}")
        if self.flexible:
            self._read_tags(tagged)
        given = ", ".join(f"{f.name}=v_{f.name}" for f in struct.__fields__)
        emit(f" return {struct.__name__}({given}), i")

    def _default(self, struct: type[Value], f: Field) -> str:
        key = f"m_{struct.__name__}_{f.name}"
        self.names[key] = f.make_default if f.factory is not None else f.default
        return f"{key}()" if f.factory is not None else key

    def _read(self, wire: Wire, target: str, nullable: bool, indent: str, name: str, null: int = 255) -> None:
        """Generate the code that reads one value at `i` into `target`; `null` is the byte before a null struct."""
        emit = self.lines.append
        kind = wire.kind
        if kind in FIXED:
            layout = ">" + FIXED[kind]
            emit(f"{indent}{target}, = {self._unpacker(layout)}(b, i); i += {self._size(layout)}")
            return
        if kind == "struct":
            assert wire.struct is not None
            if nullable:
                emit(f"{indent}i += 1")
                emit(f"{indent}if b[i - 1] == {null}: {target} = None")
                emit(f"{indent}else: {target}, i = r_{wire.struct.__name__}(b, i, end)")
            else:
                emit(f"{indent}{target}, i = r_{wire.struct.__name__}(b, i, end)")
            return
        if self.flexible:
            emit(f"{indent}n = b[i]; i += 1")
            emit(f"{indent}if n > 127: n, i = more(b, i, n)")
            emit(f"{indent}n -= 1")
        else:
            layout = ">h" if kind == "str" else ">i"
            emit(f"{indent}n, = {self._unpacker(layout)}(b, i); i += {self._size(layout)}")
        emit(f"{indent}if n < 0:")
        if not (self.lenient and nullable):
            emit(f"{indent} if n < -1: bad_length({name!r}, n)")
        emit(f"{indent} {target} = None" if nullable else f"{indent} null({name!r})")
        emit(f"{indent}else:")
        indent += " "
        if kind == "list":
            self._read_list(wire, target, indent, name)
            return
        emit(f"{indent}j = i + n")
        emit(f"{indent}if j > end: short({name!r}, n, end - i)")
        encoding = "'utf-8', 'replace'" if self.lenient else "'utf-8'"
        value = {"str": f"str(b[i:j], {encoding})", "bytes": "bytes(b[i:j])", "Records": "b[i:j]"}[kind]
        emit(f"{indent}{target} = {value}; i = j")

    def _read_list(self, wire: Wire, target: str, indent: str, name: str) -> None:
        emit = self.lines.append
        element = wire.element
        assert element is not None
        if element.kind in FIXED:
            width = self._size(">" + FIXED[element.kind])
            emit(f"{indent}j = i + n * {width}")
            emit(f"{indent}if j > end: short({name!r}, n * {width}, end - i)")
            if element.kind == "Uuid":
                emit(f"{indent}{target} = [bytes(b[k:k + 16]) for k in range(i, j, 16)]; i = j")
            else:
                emit(f"{indent}{target} = list(unpack_from(f'>{{n}}{FIXED[element.kind]}', b, i)); i = j")
            return
        depth = len(indent)
        emit(f"{indent}if n > end - i or n > {MAX_ELEMENTS}: too_many({name!r}, n, end - i)")
        emit(f"{indent}l{depth} = []")
        emit(f"{indent}for _ in range(n):")
        self._read(element, f"e{depth}", False, indent + " ", name)
        emit(f"{indent} l{depth}.append(e{depth})")
        emit(f"{indent}{target} = l{depth}")

    def _read_tags(self, tagged: list[tuple[Field, Wire]]) -> None:
        emit = self.lines.append
        emit(" t = b[i]; i += 1")
        emit(" if t:")
        emit("  if t > 127: t, i = more(b, i, t)")
        emit(f"  if t > {MAX_TAGS} or t > end - i: too_many('tagged fields', t, end - i)")
        emit("  for _ in range(t):")
        emit("   tag, i = uvarint(b, i)")
        emit("   size, i = uvarint(b, i)")
        emit("   stop = i + size")
        emit("   if stop > end: short('tagged field', size, end - i)")
        for at, (f, wire) in enumerate(tagged):
            emit(f"   {'if' if at == 0 else 'elif'} tag == {f.extra.tag}:")
            self._read(wire, f"v_{f.name}", self._nullable(f), "    ", f.name, null=0)
            emit(f"    if i != stop: tag_size({f.name!r}, size)")
        emit("   i = stop")

    def _unpacker(self, layout: str) -> str:
        name = "u" + layout[1:].replace("?", "B_")
        self.names.setdefault(name, struct.Struct(layout).unpack_from)
        return name

    @staticmethod
    def _size(layout: str) -> int:
        return struct.calcsize(layout)
