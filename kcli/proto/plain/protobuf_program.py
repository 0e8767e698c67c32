"""A program of `protobuf_code` as messages, fields and enums, for readers in Python."""

from __future__ import annotations

from kcli.proto import protobuf_code as code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping, Sequence


class Field:
    """A field of a message; `text` is its name and the colon after it, as JSON."""

    __slots__ = (
        "closed",
        "entry",
        "kind",
        "lossy",
        "message",
        "names",
        "null",
        "number",
        "oneof",
        "presence",
        "repeated",
        "text",
    )

    def __init__(self, number: int, kind: int, flags: int, text: str, oneof: int) -> None:
        self.number, self.kind, self.text, self.oneof = number, kind, text, oneof
        self.repeated = bool(flags & code.REPEATED)
        self.presence = bool(flags & code.PRESENCE)
        self.closed = bool(flags & code.CLOSED)
        self.null = bool(flags & code.NULL)
        self.lossy = bool(flags & code.LOSSY)
        self.entry = bool(flags & code.MAP)
        self.message: Message | None = None
        self.names: Mapping[int, str] = {}


class Message:
    """A message: its fields by number, and which of those with a JSON of their own it is."""

    __slots__ = ("fields", "known")

    def __init__(self, known: int) -> None:
        self.known = known
        self.fields: dict[int, Field] = {}


class Program:
    """The messages of a program by their numbers; `names` has those by full names that an Any may hold."""

    def __init__(self, program: array[int], texts: Sequence[bytes], names: Mapping[bytes, int]) -> None:
        places = program[code.MESSAGES : code.MESSAGES + program[0]]
        self.messages = [Message(program[place]) for place in places]
        self.names = names
        enums: dict[int, Mapping[int, str]] = {}
        for message, place in zip(self.messages, places, strict=True):
            for at in range(place + 2, place + 2 + code.FIELD * program[place + 1], code.FIELD):
                number, kind, flags, text, type, oneof, _ = program[at : at + code.FIELD]
                field = message.fields[number] = Field(number, kind, flags, texts[text].decode(), oneof)
                if kind in (code.MESSAGE, code.GROUP):
                    field.message = self.messages[type]
                elif type >= 0:
                    if type not in enums:
                        enums[type] = _enum(program, texts, type)
                    field.names = enums[type]


def _enum(program: array[int], texts: Sequence[bytes], place: int) -> Mapping[int, str]:
    pairs = program[place + 1 : place + 1 + 2 * program[place]]
    return {number: texts[text].decode() for number, text in zip(pairs[::2], pairs[1::2], strict=True)}
