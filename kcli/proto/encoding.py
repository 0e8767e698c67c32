"""Generates the encoder of a message at a version: the source of `w_X(o, out)` for it and its parts."""

from __future__ import annotations

import struct

from kcli.errors import EncodeError
from kcli.proto.compile import FIXED, Compiler, fields_of, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.buffer import Buffer
    from kcli.proto.compile import Wire
    from kcli.values import Field, Value


class Writer(Compiler):
    """Generates the source of the encoder: `w_X(o, out)` appends the buffers of an X."""

    def function(self) -> Callable[[Any], list[Buffer]]:
        write, label = self.compiled("w"), self.label
        whole = not self._carries_records()

        def encode(value: Any) -> list[Buffer]:
            out: list[Buffer] = []
            try:
                write(value, out.append)
                return [b"".join(out)] if whole else out  # only for records is avoiding a copy worthwhile
            except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as broken:
                raise EncodeError(f"{label} cannot carry this value: {broken}") from broken

        return encode

    def _carries_records(self) -> bool:
        return any(wire.kind == "Records" for struct in self.done for _, wire in fields_of(struct))

    def _emit(
        self,
        struct: type[Value],
        present: list[tuple[Field, Wire]],
        tagged: list[tuple[Field, Wire]],
        absent: list[Field],
    ) -> None:
        emit = self.lines.append
        emit(f"def w_{struct.__name__}(o, out):")
        for f in absent:
            if not f.extra.ignorable:
                key = f"d_{struct.__name__}_{f.name}"
                self.names[key] = f.make_default()
                emit(f" if o.{f.name} != {key}: absent({struct.__name__!r}, {f.name!r}, o.{f.name}, {self.version})")
        for run in runs(present):
            f, wire = run[0]
            if wire.kind in FIXED:
                layout = ">" + "".join(FIXED[wire.kind] for _, wire in run)
                emit(f" out({self._packer(layout)}({', '.join('o.' + f.name for f, _ in run)}))")
            else:
                self._write(wire, f"o.{f.name}", self._nullable(f), " ")
        if self.flexible:
            self._write_tags(struct, tagged)
        elif not present:
            emit(" return")

    def _write(self, wire: Wire, value: str, nullable: bool, indent: str, null: int = 255) -> None:
        """Generate the code that appends one variable-size value; `null` is the byte for a null struct."""
        emit = self.lines.append
        kind = wire.kind
        if kind in FIXED:
            emit(f"{indent}out({self._packer('>' + FIXED[kind])}({value}))")
        elif kind == "struct":
            assert wire.struct is not None
            if nullable:
                emit(f"{indent}if {value} is None: out({bytes((null,))!r})")
                emit(f"{indent}else: out(b'\\x01'); w_{wire.struct.__name__}({value}, out)")
            else:
                emit(f"{indent}w_{wire.struct.__name__}({value}, out)")
        else:
            emit(f"{indent}x = {value}")
            nothing = "b'\\x00'" if self.flexible else ("b'\\xff\\xff'" if kind == "str" else "b'\\xff\\xff\\xff\\xff'")
            if nullable:
                emit(f"{indent}if x is None: out({nothing})")
                emit(f"{indent}else:")
                indent += " "
            size = "str16" if kind == "str" else "len32"
            if kind == "str":
                emit(f"{indent}x = x.encode()")
            emit(f"{indent}out({'compact' if self.flexible else size}(len(x)))")
            if kind != "list":
                emit(f"{indent}out(x)")
                return
            assert wire.element is not None
            if wire.element.kind in FIXED:
                emit(
                    f"{indent}out(pack(f'>{{len(x)}}{FIXED[wire.element.kind]}', *x))"
                    if wire.element.kind != "Uuid"
                    else f"{indent}out(uuids(x))"
                )
            else:
                name = f"e{len(indent)}"
                emit(f"{indent}for {name} in x:")
                self._write(wire.element, name, False, indent + " ")

    def _write_tags(self, struct: type[Value], tagged: list[tuple[Field, Wire]]) -> None:
        emit = self.lines.append
        if not tagged:
            emit(" out(b'\\x00')")
            return
        emit(" tags = []")
        for f, wire in tagged:
            key = f"d_{struct.__name__}_{f.name}"
            self.names[key] = f.make_default()
            emit(f" if o.{f.name} != {key}:")
            emit("  part = []; outer = out; out = part.append")
            self._write(wire, f"o.{f.name}", self._nullable(f), "  ", null=0)
            emit(f"  out = outer; tags.append(({f.extra.tag}, b''.join(part)))")
        emit(" write_tags(tags, out)")

    def _packer(self, layout: str) -> str:
        name = "p" + layout[1:].replace("?", "B_")
        self.names.setdefault(name, struct.Struct(layout).pack)
        return name
