"""The types of a Protobuf schema. Messages may be recursive, so they are compared by identity."""

from __future__ import annotations

from kcli.proto import protobuf_code as code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PACKABLE = frozenset(kind for kind, wire in code.WIRE.items() if wire not in (code.LENGTH, code.START))


class Enum:
    """`names` has the first name of each number. A closed enum (proto2) allows no other numbers."""

    __slots__ = ("closed", "name", "names", "numbers")

    def __init__(self, name: str, *, closed: bool) -> None:
        self.name = name
        self.closed = closed
        self.names: dict[int, str] = {}
        self.numbers: dict[str, int] = {}

    def add(self, name: str, number: int) -> None:
        self.numbers[name] = number
        self.names.setdefault(number, name)


class Field:
    """A field of a message. `presence`: a value is shown even if it is 0 or empty. `type` is set once all names are
    known; `label` is "", "optional", "required" or "repeated". `tags` are those of Confluent's `field_meta`."""

    __slots__ = ("json_name", "kind", "label", "lossy", "name", "number", "oneof", "packed", "presence", "tags", "type")

    def __init__(self, name: str, number: int, kind: int, label: str = "", json_name: str = "") -> None:
        self.name = name
        self.number = number
        self.kind = kind
        self.label = label
        self.json_name = json_name or code.camel(name)
        self.presence = False
        self.lossy = False
        self.packed = False
        self.oneof = ""
        self.tags: frozenset[str] = frozenset()
        self.type: Message | Enum | None = None

    @property
    def repeated(self) -> bool:
        return self.label == "repeated"

    @property
    def entry(self) -> Message | None:
        """The message of a map's entry, if the field is a map."""
        return self.type if self.repeated and isinstance(self.type, Message) and self.type.entry else None


class Message:
    """A message by its full name. `nested` are the messages in it; `entry` is true for the entry of a map, which is not
    declared in text."""

    __slots__ = ("entry", "fields", "name", "nested")

    def __init__(self, name: str, *, entry: bool = False) -> None:
        self.name = name
        self.entry = entry
        self.fields: dict[int, Field] = {}
        self.nested: list[Message] = []


def message_at(messages: Sequence[Message], path: Sequence[int]) -> Message | None:
    """Return the message for a list of indexes: the first selects a message of the file, each further one a nested
    message. Java does not count map entries, Python and Go do: if both find a message, Java's is used."""
    message = None
    for number in path:
        declared = [message for message in messages if not message.entry]
        counted = declared if number < len(declared) else messages
        if not 0 <= number < len(counted):
            return None
        message = counted[number]
        messages = message.nested
    return message
