"""From a declaration to straight-line code: one encode and one decode function per message and version.

Runs of fixed-width fields become one `struct` call. Nothing is allocated before its length was checked against the
bytes that are there (B14). The source of every function is kept in `linecache`, so a traceback shows its line.
"""

from __future__ import annotations

import linecache
import struct
import sys

from kcli.errors import DecodeError, EncodeError
from kcli.proto.schema import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.schema import Buffer, Message, Place
    from kcli.values import Field

FIXED = {
    "bool": "?", "Int8": "b", "Int16": "h", "Int32": "i", "Int64": "q",
    "UInt16": "H", "UInt32": "I", "Float64": "d", "Uuid": "16s",
}  # fmt: skip
MAX_ELEMENTS = 1_000_000
MAX_TAGS = 10_000


class Codec:
    """The two functions of one message at one version."""

    __slots__ = ("decode", "encode")

    def __init__(self, encode: Callable[[Any], list[Buffer]], decode: Callable[[Buffer], Any]) -> None:
        self.encode = encode
        self.decode = decode


def codec(message: type[Message], version: int) -> Codec:
    """The codec of `message` at `version`, compiled on first use. Raises EncodeError outside its range."""
    found = message.codecs.get(version)
    if found is None:
        if version not in message.versions:
            raise EncodeError(f"{message.__name__} has versions {message.versions}, not {version}")
        found = message.codecs[version] = _Compiler(message, version).codec()
    return found


class Wire:
    """One field's wire type, parsed from its annotation."""

    __slots__ = ("element", "kind", "struct")

    def __init__(self, annotation: str, scope: dict[str, Any]) -> None:
        text = annotation.removesuffix(" | None")
        self.element: Wire | None = None
        self.struct: type[Struct] | None = None
        if text.startswith("list["):
            self.kind = "list"
            self.element = Wire(text[5:-1], scope)
        elif text in FIXED or text in ("str", "bytes", "Records"):
            self.kind = text
        else:
            self.kind = "struct"
            self.struct = scope[text]


def fields_of(struct: type[Struct]) -> list[tuple[Field, Wire]]:
    """The declared fields with their wire types, in the order of the declaration."""
    scope = vars(sys.modules[struct.__module__])
    return [(f, Wire(f.annotation, scope)) for f in struct.__fields__]


class _Compiler:
    """Writes the source of one (message, version) pair. `w_X(o, out)` appends buffers, `r_X(b, i, end)` reads."""

    def __init__(self, message: type[Message], version: int) -> None:
        self.message = message
        self.version = version
        self.flexible = version in message.flexible
        self.lines: list[str] = []
        self.names: dict[str, Any] = dict(_RUNTIME)
        self.done: set[type[Struct]] = set()

    def codec(self) -> Codec:
        self._struct(self.message)
        file = f"<{self.message.__name__} v{self.version}>"
        source = "\n".join(self.lines) + "\n"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), self.names)
        write, read = self.names[f"w_{self.message.__name__}"], self.names[f"r_{self.message.__name__}"]
        label = f"{self.message.__name__} v{self.version}"

        def encode(value: Any) -> list[Buffer]:
            out: list[Buffer] = []
            try:
                write(value, out.append)
            except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as broken:
                raise EncodeError(f"{label} cannot carry this value: {broken}") from broken
            return out

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

        return Codec(encode, decode)

    def _struct(self, struct: type[Struct]) -> None:
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
        self._writer(struct, present, tagged, absent)
        self._reader(struct, present, tagged, absent)

    # -- encoding ---------------------------------------------------------------------------------------------------

    def _writer(
        self, struct: type[Struct], present: list[tuple[Field, Wire]], tagged: list[tuple[Field, Wire]],
        absent: list[Field],
    ) -> None:  # fmt: skip
        emit = self.lines.append
        emit(f"def w_{struct.__name__}(o, out):")
        for f in absent:
            if not f.extra.ignorable:
                key = f"d_{struct.__name__}_{f.name}"
                self.names[key] = f.make_default()
                emit(f" if o.{f.name} != {key}: absent({struct.__name__!r}, {f.name!r}, o.{f.name}, {self.version})")
        at = 0
        while at < len(present):
            run = at
            while run < len(present) and present[run][1].kind in FIXED:
                run += 1
            if run > at:
                layout = ">" + "".join(FIXED[wire.kind] for _, wire in present[at:run])
                emit(f" out({self._packer(layout)}({', '.join('o.' + f.name for f, _ in present[at:run])}))")
                at = run
            else:
                f, wire = present[at]
                self._write(wire, f"o.{f.name}", self._nullable(f), " ")
                at += 1
        if self.flexible:
            self._write_tags(struct, tagged)
        elif not present and not absent:
            emit(" pass")
        if not self.flexible and not present:
            emit(" return")

    def _write(self, wire: Wire, value: str, nullable: bool, indent: str) -> None:
        """Emit the code that appends one variable-size value."""
        emit = self.lines.append
        kind = wire.kind
        if kind in FIXED:
            emit(f"{indent}out({self._packer('>' + FIXED[kind])}({value}))")
        elif kind == "struct":
            assert wire.struct is not None
            if nullable:
                emit(f"{indent}if {value} is None: out(b'\\xff')")
                emit(f"{indent}else: out(b'\\x01'); w_{wire.struct.__name__}({value}, out)")
            else:
                emit(f"{indent}w_{wire.struct.__name__}({value}, out)")
        else:
            emit(f"{indent}x = {value}")
            null = "b'\\x00'" if self.flexible else ("b'\\xff\\xff'" if kind == "str" else "b'\\xff\\xff\\xff\\xff'")
            if nullable:
                emit(f"{indent}if x is None: out({null})")
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
                emit(f"{indent}out(pack(f'>{{len(x)}}{FIXED[wire.element.kind]}', *x))" if wire.element.kind != "Uuid"
                     else f"{indent}out(uuids(x))")  # fmt: skip
            else:
                name = f"e{len(indent)}"
                emit(f"{indent}for {name} in x:")
                self._write(wire.element, name, False, indent + " ")

    def _write_tags(self, struct: type[Struct], tagged: list[tuple[Field, Wire]]) -> None:
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
            self._write(wire, f"o.{f.name}", self._nullable(f), "  ")
            emit(f"  out = outer; tags.append(({f.extra.tag}, b''.join(part)))")
        emit(" write_tags(tags, out)")

    def _packer(self, layout: str) -> str:
        name = "p" + layout[1:].replace("?", "B_")
        self.names.setdefault(name, struct.Struct(layout).pack)
        return name

    def _nullable(self, f: Field) -> bool:
        place: Place = f.extra
        return self.version in place.null

    # -- decoding ---------------------------------------------------------------------------------------------------

    def _reader(
        self, struct: type[Struct], present: list[tuple[Field, Wire]], tagged: list[tuple[Field, Wire]],
        absent: list[Field],
    ) -> None:  # fmt: skip
        emit = self.lines.append
        emit(f"def r_{struct.__name__}(b, i, end):")
        at = 0
        while at < len(present):
            run = at
            while run < len(present) and present[run][1].kind in FIXED:
                run += 1
            if run > at:
                layout = ">" + "".join(FIXED[wire.kind] for _, wire in present[at:run])
                targets = ", ".join("v_" + f.name for f, _ in present[at:run])
                emit(f" {targets}, = {self._unpacker(layout)}(b, i); i += {self._size(layout)}")
                at = run
            else:
                f, wire = present[at]
                self._read(wire, f"v_{f.name}", self._nullable(f), " ", f.name)
                at += 1
        for f in absent + [f for f, _ in tagged]:
            emit(f" v_{f.name} = {self._default(struct, f)}")
        if self.flexible:
            self._read_tags(tagged)
        given = ", ".join(f"{f.name}=v_{f.name}" for f in struct.__fields__)
        emit(f" return {struct.__name__}({given}), i")

    def _default(self, struct: type[Struct], f: Field) -> str:
        key = f"m_{struct.__name__}_{f.name}"
        self.names[key] = f.make_default if f.factory is not None else f.default
        return f"{key}()" if f.factory is not None else key

    def _read(self, wire: Wire, target: str, nullable: bool, indent: str, name: str) -> None:
        """Emit the code that reads one value at `i` into `target`."""
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
                emit(f"{indent}if b[i - 1] == 255: {target} = None")
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
        emit(f"{indent} if n < -1: bad_length({name!r}, n)")
        emit(f"{indent} {target} = None" if nullable else f"{indent} null({name!r})")
        emit(f"{indent}else:")
        indent += " "
        if kind == "list":
            self._read_list(wire, target, indent, name)
            return
        emit(f"{indent}j = i + n")
        emit(f"{indent}if j > end: short({name!r}, n, end - i)")
        value = {"str": "str(b[i:j], 'utf-8')", "bytes": "bytes(b[i:j])", "Records": "b[i:j]"}[kind]
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
            self._read(wire, f"v_{f.name}", self._nullable(f), "    ", f.name)
            emit(f"    if i != stop: tag_size({f.name!r}, size)")
        emit("   i = stop")

    def _unpacker(self, layout: str) -> str:
        name = "u" + layout[1:].replace("?", "B_")
        self.names.setdefault(name, struct.Struct(layout).unpack_from)
        return name

    @staticmethod
    def _size(layout: str) -> int:
        return struct.calcsize(layout)


# -- what the generated code calls ------------------------------------------------------------------------------------


def uvarint(b: Any, i: int) -> tuple[int, int]:
    """An unsigned varint at `i`, at most five bytes, and where it ends."""
    n = b[i]
    return (n, i + 1) if n < 128 else more(b, i + 1, n)


def more(b: Any, i: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned varint whose first byte was `first`."""
    value = first & 127
    for shift in (7, 14, 21, 28):
        byte = b[i]
        i += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, i
    raise DecodeError("a varint is longer than five bytes")


def put_uvarint(n: int) -> bytes:
    """`n` as an unsigned varint."""
    if n < 128:
        return _ONE_BYTE[n]
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


_ONE_BYTE = [bytes([n]) for n in range(128)]
_pack_h, _pack_i = struct.Struct(">h").pack, struct.Struct(">i").pack


def _compact(n: int) -> bytes:
    return put_uvarint(n + 1)


def _write_tags(tags: list[tuple[int, bytes]], out: Callable[[bytes], None]) -> None:
    out(put_uvarint(len(tags)))
    for tag, data in tags:
        out(put_uvarint(tag))
        out(put_uvarint(len(data)))
        out(data)


def _uuids(ids: list[bytes]) -> bytes:
    if any(len(one) != 16 for one in ids):
        raise EncodeError("a uuid has 16 bytes")
    return b"".join(ids)


def _absent(struct: str, name: str, value: object, version: int) -> None:
    raise EncodeError(f"{struct}.{name} = {value!r} cannot be said in version {version}")


def _null(name: str) -> None:
    raise DecodeError(f"{name} is null where it may not be")


def _bad_length(name: str, n: int) -> None:
    raise DecodeError(f"{name} has the length {n}")


def _short(name: str, want: int, have: int) -> None:
    raise DecodeError(f"{name} wants {want} bytes, {have} are left")


def _too_many(name: str, n: int, left: int) -> None:
    raise DecodeError(f"{name} claims {n} elements with {left} bytes left")


def _tag_size(name: str, size: int) -> None:
    raise DecodeError(f"tagged field {name} does not fill its {size} bytes")


_RUNTIME: dict[str, Any] = {
    "pack": struct.pack, "unpack_from": struct.unpack_from, "str16": _pack_h, "len32": _pack_i, "compact": _compact,
    "more": more, "uvarint": uvarint, "write_tags": _write_tags, "uuids": _uuids, "absent": _absent, "null": _null,
    "bad_length": _bad_length, "short": _short, "too_many": _too_many, "tag_size": _tag_size,
}  # fmt: skip
