"""Parses the text of a `.proto` file: proto2, proto3 and editions.

Services, reserved numbers and options that do not affect payloads or JSON are skipped. Imports are not resolved by
path: the types of all files that a schema references are known by name.
"""

from __future__ import annotations

from kcli.proto import protobuf_code as code
from kcli.serde.protobuf.schema.features import EDITION, PROTO2, PROTO3, changed
from kcli.serde.protobuf.schema.tokens import Tokens
from kcli.serde.protobuf.schema.types import PACKABLE, Enum, Field, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.serde.protobuf.schema.features import Features
    from kcli.serde.protobuf.schema.pool import Pool

DEEPEST = 32  # nesting depth of messages, as in protoc
LABELS = ("optional", "required", "repeated")


def imports_of(text: str) -> list[str]:
    """Return the paths that a file imports, whatever it declares. Raises SchemaRefused."""
    tokens, found, depth = Tokens(text), list[str](), 0
    while tokens.next:
        word = tokens.take()
        depth += (word == "{") - (word == "}")
        if word == "import" and not depth:
            tokens.skip("public", "weak", "option")
            found.append(tokens.string())
    return found


class TextFile:
    """A file. `messages` are those declared at its top level, in order; `syntax` is proto2, proto3 or editions;
    `features` apply to the whole file."""

    def __init__(self, text: str, pool: Pool) -> None:
        """Raises SchemaRefused."""
        self._tokens = Tokens(text)
        self._pool = pool
        self.package, self.syntax = "", "proto2"
        self.imports: list[str] = []
        self.features = PROTO2
        self.messages: list[Message] = []
        while self._tokens.next:
            self._statement()
        pool.link(self.features)

    def _statement(self) -> None:
        tokens = self._tokens
        word = tokens.take()
        if word in ("syntax", "edition"):
            self._syntax(word)
        elif word == "package":
            self.package = tokens.name()
            tokens.expect(";")
        elif word == "import":
            tokens.skip("public", "weak", "option")
            self.imports.append(tokens.string())
            tokens.expect(";")
        elif word == "option":
            self.features = changed(self.features, tokens.until(";"))
        elif word == "message":
            _Body(tokens, self._pool, self.features).message(self.package, self.messages, 0)
        elif word == "enum":
            _Body(tokens, self._pool, self.features).enum(self.package)
        elif word == "extend":
            _Body(tokens, self._pool, self.features).extend(self.package, self.messages, 0)
        elif word == "service":
            tokens.word()
            tokens.expect("{")
            tokens.until("}")
        elif word in ("export", "local"):  # edition 2024: visibility
            return
        elif word != ";":
            tokens.at -= 1
            raise tokens.wrong(f"unexpected {word}")

    def _syntax(self, word: str) -> None:
        self._tokens.expect("=")
        version = self._tokens.string()
        self._tokens.expect(";")
        if word == "edition":
            self.features, self.syntax = EDITION, "editions"
        elif version not in ("proto2", "proto3"):
            raise self._tokens.wrong(f"the syntax {version} is unknown")
        else:
            self.features, self.syntax = PROTO3 if version == "proto3" else PROTO2, version


class _Body:
    """The declarations of a file or of a message, with the `features` in force."""

    def __init__(self, tokens: Tokens, pool: Pool, features: Features) -> None:
        self._tokens, self._pool, self._features = tokens, pool, features

    def message(self, scope: str, among: list[Message], depth: int) -> Message:
        """Parse a message, starting at its name, and add it to `among`."""
        message = Message(f"{scope}.{self._tokens.word()}".lstrip("."))
        among.append(message)
        self._pool.add(message)
        self.fill(message, depth)
        return message

    def fill(self, message: Message, depth: int) -> None:
        if depth >= DEEPEST:
            raise self._tokens.wrong(f"messages are nested more than {DEEPEST} deep")
        inner = _Body(self._tokens, self._pool, self._features)
        self._tokens.block(lambda: inner._member(message, depth + 1))

    def _member(self, message: Message, depth: int) -> None:
        tokens = self._tokens
        word = tokens.next
        if word in ("export", "local") and tokens.take():
            word = tokens.next
        if word == "message" and tokens.take():
            self.message(message.name, message.nested, depth)
        elif word == "enum" and tokens.take():
            self.enum(message.name)
        elif word == "extend" and tokens.take():
            self.extend(message.name, message.nested, depth)
        elif word == "oneof" and tokens.take():
            self._oneof(message, depth)
        elif word == "option" and tokens.take():
            self._features = changed(self._features, tokens.until(";"))
        elif word in ("reserved", "extensions"):
            tokens.until(";")
        else:
            self._pool.field(message, self.field(message.name, message.nested, depth))

    def _oneof(self, message: Message, depth: int) -> None:
        name = self._tokens.word()

        def statement() -> None:
            if self._tokens.skip("option"):
                self._tokens.until(";")
                return
            field = self.field(message.name, message.nested, depth)
            field.oneof, field.presence = name, True
            self._pool.field(message, field)

        self._tokens.block(statement)

    def extend(self, scope: str, among: list[Message], depth: int) -> None:
        """Parse fields that extend another message. Their JSON names are full names in brackets."""
        extended = self._tokens.name()

        def statement() -> None:
            field = self.field(scope, among, depth)
            field.name = field.json_name = f"[{scope}.{field.name}]".replace("[.", "[")
            field.presence = True
            self._pool.extend(field, scope, extended)

        self._tokens.block(statement)

    def enum(self, scope: str) -> None:
        tokens = self._tokens
        name = f"{scope}.{tokens.word()}".lstrip(".")
        features, values = self._features, list[tuple[str, int]]()

        def statement() -> None:
            nonlocal features
            if tokens.next == "option" or tokens.next == "reserved":
                option = tokens.until(";")
                features = changed(features, option[1:])
                return
            value = tokens.word()
            tokens.expect("=")
            values.append((value, tokens.integer()))
            tokens.until(";")

        tokens.block(statement)
        enum = Enum(name, closed=features["enums"] == "CLOSED")
        for value, number in values:
            enum.add(value, number)
        self._pool.add(enum)

    def field(self, scope: str, among: list[Message], depth: int) -> Field:
        """Parse a field, with the message of a group or the entry of a map that it declares."""
        tokens = self._tokens
        label = tokens.take() if tokens.next in LABELS else ""
        type = tokens.name()
        if type == "map" and tokens.next == "<":
            return self._map(scope, among)
        name = tokens.word()
        tokens.expect("=")
        number = tokens.integer()
        options = self._options()
        kind = code.KINDS.get(type, code.MESSAGE)
        field = Field(name, number, kind, label)
        if type == "group":
            field.name, field.kind, field.json_name = name.lower(), code.GROUP, name.lower()
        self._apply(field, options)
        if type == "group":
            group = Message(f"{scope}.{name}".lstrip("."))
            among.append(group)
            self._pool.add(group)
            self.fill(group, depth)
            field.type, field.presence = group, True
        else:
            tokens.expect(";")
            if kind == code.MESSAGE:
                self._pool.name(field, scope, type)
        return field

    def _map(self, scope: str, among: list[Message]) -> Field:
        tokens = self._tokens
        tokens.expect("<")
        key = tokens.word()
        tokens.expect(",")
        value = tokens.name()
        tokens.expect(">")
        name = tokens.word()
        tokens.expect("=")
        field = Field(name, tokens.integer(), code.MESSAGE, "repeated")
        self._apply(field, self._options())
        tokens.expect(";")
        entry = Message(f"{scope}.{entry_name(name)}", entry=True)
        among.append(entry)
        self._pool.add(entry)
        if code.KINDS.get(key, code.DOUBLE) in (code.DOUBLE, code.FLOAT, code.BYTES):
            raise tokens.wrong(f"{key} is not a valid type for map keys")
        entry.fields[1] = Field("key", 1, code.KINDS[key])
        entry.fields[2] = value_field = Field("value", 2, code.KINDS.get(value, code.MESSAGE))
        if value_field.kind == code.MESSAGE:
            self._pool.name(value_field, scope, value)
        for part in entry.fields.values():
            part.lossy = part.kind == code.STRING and self._features["utf8"] == "NONE"
        field.kind, field.type, field.presence, field.packed = code.MESSAGE, entry, True, False
        return field

    def _options(self) -> list[list[str]]:
        """Return the options of a field as tokens."""
        if not self._tokens.skip("["):
            return []
        options: list[list[str]] = []
        while True:
            options.append(self._tokens.until(",", "]"))
            if self._tokens.before == "]":
                return options

    def _apply(self, field: Field, options: list[list[str]]) -> None:
        """Apply the label, the options and the features to a field."""
        features = self._features
        for option in options:
            features = changed(features, option)
            if option[:2] == ["json_name", "="] and len(option) > 2:
                field.json_name = option[2][1:-1]
            field.tags |= tags_of(option)
            if option[:2] == ["packed", "="]:
                features = features | {"repeated": "PACKED" if option[2:] == ["true"] else "EXPANDED"}
        if features["presence"] == "LEGACY_REQUIRED" and not field.label:
            field.label = "required"
        if features["messages"] == "DELIMITED" and field.kind == code.MESSAGE:
            field.kind = code.GROUP
        field.presence = field.label in ("optional", "required") or features["presence"] != "IMPLICIT"
        field.lossy = field.kind == code.STRING and features["utf8"] == "NONE"
        packable = field.kind in PACKABLE or field.kind == code.MESSAGE  # it may be an enum
        field.packed = field.repeated and features["repeated"] == "PACKED" and packable


def tags_of(option: Sequence[str]) -> frozenset[str]:
    """Return the tags in an option of a field: `(confluent.field_meta).tags = "PII"`, or `… = {tags: ["PII", "X"]}`."""
    written = "".join(option).lstrip("(.")
    if not written.startswith("confluent.field_meta)"):
        return frozenset()
    tags: set[str] = set()
    of_tags = written.startswith("confluent.field_meta).tags")
    for before, token in zip(("", *option), option, strict=False):
        if token[0] in "\"'" and of_tags:
            tags.add(token[1:-1])
        elif token[0] not in "\"'" and token.isidentifier() and before not in (".", "("):
            of_tags = token == "tags"
    return frozenset(tags)


def entry_name(field: str) -> str:
    """Return the name of a map's entry, as in protoc."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"
