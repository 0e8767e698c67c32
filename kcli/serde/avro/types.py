"""The types of a schema. They may be recursive, so they are compared by identity."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


DECIMALS = ("decimal", "big-decimal")


class Logical:
    """A supported logical type that fits its type: its name, and for decimals precision and scale."""

    __slots__ = ("name", "precision", "scale")

    def __init__(self, name: str, precision: int = 0, scale: int = 0) -> None:
        self.name = name
        self.precision = precision
        self.scale = scale


class Type:
    """A type. `kind` is Avro's word for it; `name` the full name of a named type, else the kind."""

    __slots__ = ("kind", "logical", "name")

    def __init__(self, kind: str, name: str = "", logical: Logical | None = None) -> None:
        self.kind = kind
        self.name = name or kind
        self.logical = logical


class Named(Type):
    """A record, an enum or a fixed; `aliases` are full names."""

    __slots__ = ("aliases",)

    def __init__(self, kind: str, name: str, aliases: Sequence[str] = ()) -> None:
        super().__init__(kind, name)
        self.aliases = tuple(aliases)


class Fixed(Named):
    __slots__ = ("size",)

    def __init__(self, name: str, aliases: Sequence[str], size: int) -> None:
        super().__init__("fixed", name, aliases)
        self.size = size


class Enum(Named):
    """`default` is a symbol, or None."""

    __slots__ = ("default", "symbols")

    def __init__(self, name: str, aliases: Sequence[str], symbols: Sequence[str], default: str | None) -> None:
        super().__init__("enum", name, aliases)
        self.symbols = tuple(symbols)
        self.default = default


class Field:
    """A field of a record. `default` is a JSON value, valid only if `has_default`. `tags` are those of data
    contracts."""

    __slots__ = ("aliases", "default", "has_default", "name", "tags", "type")

    def __init__(
        self,
        name: str,
        type: Type,
        aliases: Sequence[str] = (),
        *,
        has_default: bool = False,
        default: object = None,
        tags: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.type = type
        self.aliases = tuple(aliases)
        self.has_default = has_default
        self.default = default
        self.tags = tuple(tags)


class Record(Named):
    """`fields` are set after the record is registered by name, so that they can refer to it."""

    __slots__ = ("fields",)

    def __init__(self, name: str, aliases: Sequence[str]) -> None:
        super().__init__("record", name, aliases)
        self.fields: list[Field] = []


class Array(Type):
    __slots__ = ("items",)

    def __init__(self, items: Type) -> None:
        super().__init__("array")
        self.items = items


class Map(Type):
    __slots__ = ("values",)

    def __init__(self, values: Type) -> None:
        super().__init__("map")
        self.values = values


class Union(Type):
    __slots__ = ("branches",)

    def __init__(self, branches: Sequence[Type]) -> None:
        super().__init__("union")
        self.branches = tuple(branches)
