"""Declarations of messages: one per API, for all versions.

A field declares in which versions it exists, in which it may be null, and its tag, with Kafka's own version strings
("0+", "3-5"). `encoding.py` and `decoding.py` compile a declaration to straight-line functions per version. Annotations
are wire types: Int8 … Int64, UInt16, UInt32, Float64, bool, str, bytes, Uuid, Records, list[T], a Struct.
"""

from __future__ import annotations

from kcli.errors import EncodeError
from kcli.values import Field, Value, ValueType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, dataclass_transform

    from kcli.proto.buffer import Buffer

    Int8: TypeAlias = int
    Int16: TypeAlias = int
    Int32: TypeAlias = int
    Int64: TypeAlias = int
    UInt16: TypeAlias = int
    UInt32: TypeAlias = int
    Float64: TypeAlias = float
    Uuid: TypeAlias = bytes
    Records: TypeAlias = Buffer
    R = TypeVar("R", covariant=True)
else:
    Int8 = Int16 = Int32 = Int64 = UInt16 = UInt32 = int
    Float64, Uuid = float, bytes
    Records = bytes

    def dataclass_transform(**_):
        return lambda cls: cls


NO_ID = bytes(16)
"""The topic id for "unknown" (KIP-516)."""

FOREVER = 1 << 15


class Versions:
    """A closed range of versions, as "2-5", "3", "4+" or "none"."""

    __slots__ = ("first", "last")

    def __init__(self, text: str) -> None:
        if text == "none":
            self.first, self.last = 1, 0
        elif text.endswith("+"):
            self.first, self.last = int(text[:-1]), FOREVER
        else:
            first, _, last = text.partition("-")
            self.first, self.last = int(first), int(last or first)

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Versions) and (self.first, self.last) == (other.first, other.last)

    def __repr__(self) -> str:
        if self.first > self.last:
            return "none"
        if self.last == FOREVER:
            return f"{self.first}+"
        return f"{self.first}-{self.last}" if self.first != self.last else f"{self.first}"


class Place:
    """A field's place on the wire."""

    __slots__ = ("ignorable", "null", "tag", "versions")

    def __init__(self, versions: str, null: str, tag: int | None, ignorable: bool) -> None:
        self.versions = Versions(versions)
        self.null = Versions(null)
        self.tag = tag
        self.ignorable = ignorable


def at(
    versions: str = "0+",
    *,
    null: str = "none",
    tag: int | None = None,
    ignorable: bool = False,
    default: Any = None,
    factory: Callable[[], Any] | None = None,
) -> Any:
    """Declare a field: the versions with it, those in which it may be null, its tag if it is a tagged field (KIP-482).
    In a version without it the value must be the default, unless it is ignorable."""
    return Field(default=default, factory=factory, extra=Place(versions, null, tag, ignorable))


@dataclass_transform(kw_only_default=True, field_specifiers=(at,))
class StructType(ValueType):
    """Metaclass that reads the class keywords of a message: `key`, `versions`, `flexible`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> Any:
        cls = super().__new__(mcs, name, bases, body)
        for f in cls.__fields__:
            if f.extra is None:
                f.extra = Place("0+", "none", None, False)
        if "key" in options:
            cls.api_key = options["key"]
        if "versions" in options:
            cls.versions = Versions(options["versions"])
            cls.flexible = Versions(options.get("flexible", "none"))
            cls.encoders = {}
            cls.decoders = {}
        return cls


class Struct(Value, metaclass=StructType):
    """A part of a message."""


class Message(Struct):
    """A complete body with a version range: a request, a response, or data that Kafka versions in the same way."""

    versions: ClassVar[Versions]
    flexible: ClassVar[Versions]
    encoders: ClassVar[dict[int, Callable[[Any], list[Buffer]]]]
    decoders: ClassVar[dict[int, Callable[[Buffer], Any]]]

    def encode(self, version: int) -> list[Buffer]:
        """Return the body as buffers to be written one after the other; record bytes are not copied. Raises EncodeError
        for a version that does not exist, or that cannot express the message."""
        encode = self.encoders.get(version)
        if encode is None:
            encode = self.encoders[version] = self._writer(version)
        return encode(self)

    @classmethod
    def decode(cls, version: int, data: Buffer) -> Self:
        """Return the message in `data`; only `Records` are views into it. Raises DecodeError, and EncodeError for a
        version that does not exist."""
        decode = cls.decoders.get(version)
        if decode is None:
            decode = cls.decoders[version] = cls._reader(version)
        return decode(data)

    @classmethod
    def _writer(cls, version: int) -> Callable[[Self], list[Buffer]]:
        from kcli.proto.encoding import Writer

        return Writer(cls, version, flexible=cls._is_flexible(version)).function()

    @classmethod
    def _reader(cls, version: int) -> Callable[[Buffer], Self]:
        from kcli.proto.decoding import Reader

        return Reader(cls, version, flexible=cls._is_flexible(version)).function()

    @classmethod
    def _is_flexible(cls, version: int) -> bool:
        if version not in cls.versions:
            raise EncodeError(f"{cls.__name__} has versions {cls.versions}, not {version}")
        return version in cls.flexible


if TYPE_CHECKING:

    class Request(Message, Generic[R]):
        """A request whose response is an R."""

        api_key: ClassVar[int]

        @classmethod
        def response(cls) -> type[R]: ...
        def frame(self, version: int, correlation_id: int, header: bytes) -> bytes | None:
            """Return the whole frame in one piece, for a request with a fast path. `header` follows the
            correlation id."""

else:

    class Request(Message):
        """A request; `Request["FetchResponse"]` names its response for readers and type checkers."""

        def __class_getitem__(cls, _response):
            return cls

        def frame(self, version, correlation_id, header):
            return None

        @classmethod
        def response(cls):
            """The response class: the one declared beside the request."""
            import sys

            return getattr(sys.modules[cls.__module__], cls.__name__.removesuffix("Request") + "Response")


class Response(Message):
    """A response."""

    api_key: ClassVar[int]
