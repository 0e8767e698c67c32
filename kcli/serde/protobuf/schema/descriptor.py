"""Parses a serialized `FileDescriptorProto`, as written by `protoc` and registered in base64 by some serializers."""

from __future__ import annotations

from functools import cache

from kcli.proto import protobuf_code as code
from kcli.proto.faults import Fault
from kcli.proto.plain.protobuf_tree import Payload
from kcli.proto.plain.protobuf_tree import Program as Tables
from kcli.serde.protobuf.program import Program
from kcli.serde.protobuf.schema.features import EDITION, PROTO2, PROTO3
from kcli.serde.protobuf.schema.pool import Pool
from kcli.serde.protobuf.schema.text import LABELS, TextFile
from kcli.serde.protobuf.schema.tokens import refuse
from kcli.serde.protobuf.schema.types import PACKABLE, Enum, Field, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.plain.protobuf_tree import Message as Table
    from kcli.proto.plain.protobuf_tree import Tree
    from kcli.serde.protobuf.schema.features import Features

_FEATURES = (
    (1, "presence", ("", "EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED")),
    (2, "enums", ("", "OPEN", "CLOSED")),
    (3, "repeated", ("", "PACKED", "EXPANDED")),
    (4, "utf8", ("", "", "VERIFY", "NONE")),
    (5, "messages", ("", "LENGTH_PREFIXED", "DELIMITED")),
)
"""Fields of FeatureSet, and the names of their values."""
META, META_TAGS = 1088, 3
"""Confluent's `field_meta` in a field's options, and its tags."""
FILE, MESSAGE, FIELD, ENUM = 50, 12, 21, 7
"""The number of the field `features` in the options of each."""


@cache
def table_of(text: str) -> Table:
    """Return the first message of a `.proto` file, for payloads that are read as a tree."""
    message = TextFile(text, Pool()).messages[0]
    program = Program([message], {}, camel=False)
    return Tables(program.code, program.texts, program.names).messages[program.numbers[id(message)]]


class DescriptorFile:
    """A file, with the interface of `TextFile`. Its `messages` include map entries, as in descriptors."""

    def __init__(self, data: bytes, pool: Pool) -> None:
        """Raises SchemaRefused."""
        from kcli.serde.protobuf.schema.known_types import DESCRIPTOR

        try:
            file = Payload(data).tree(table_of(DESCRIPTOR))
        except Fault as problem:
            raise refuse(f"its descriptor cannot be read: {problem}") from None
        self._pool = pool
        self.messages: list[Message] = []
        syntax = file.get(12, "proto2")
        features = EDITION if syntax == "editions" or 14 in file else PROTO3 if syntax == "proto3" else PROTO2
        features = _changed(features, file.get(8, {}).get(FILE, {}))
        package = file.get(2, "")
        for enum in file.get(5, ()):
            self._enum(enum, package, features)
        for message in file.get(4, ()):
            self.messages.append(self._message(message, package, features))
        self._extensions(file.get(7, ()), package, features)
        pool.link(features)

    def _message(self, tree: Tree, scope: str, features: Features) -> Message:
        options = tree.get(7, {})
        message = Message(f"{scope}.{tree.get(1, '')}".lstrip("."), entry=options.get(7, False))
        features = _changed(features, options.get(MESSAGE, {}))
        self._pool.add(message)
        oneofs = [oneof.get(1, "") for oneof in tree.get(8, ())]
        for enum in tree.get(4, ()):
            self._enum(enum, message.name, features)
        for nested in tree.get(3, ()):
            message.nested.append(self._message(nested, message.name, features))
        for declared in tree.get(2, ()):
            field = self._field(declared, message.name, features)
            if 9 in declared and not declared.get(17) and 0 <= declared[9] < len(oneofs):
                field.oneof, field.presence = oneofs[declared[9]], True
            self._pool.field(message, field)
        self._extensions(tree.get(6, ()), message.name, features)
        return message

    def _extensions(self, trees: list[Tree], scope: str, features: Features) -> None:
        for tree in trees:
            field = self._field(tree, scope, features)
            field.name = field.json_name = f"[{scope}.{field.name}]".replace("[.", "[")
            field.presence = True
            self._pool.extend(field, scope, tree.get(2, ""))

    def _enum(self, tree: Tree, scope: str, features: Features) -> None:
        features = _changed(features, tree.get(3, {}).get(ENUM, {}))
        enum = Enum(f"{scope}.{tree.get(1, '')}".lstrip("."), closed=features["enums"] == "CLOSED")
        for value in tree.get(2, ()):
            enum.add(value.get(1, ""), value.get(2, 0))
        self._pool.add(enum)

    def _field(self, tree: Tree, scope: str, features: Features) -> Field:
        options = tree.get(8, {})
        features = _changed(features, options.get(FIELD, {}))
        label, kind = tree.get(4, 1), tree.get(5, code.MESSAGE)
        if kind not in code.WIRE or not 1 <= label <= len(LABELS):
            raise refuse(f"{scope}.{tree.get(1, '')} is of no kind that Protobuf has")
        if kind == code.MESSAGE and features["messages"] == "DELIMITED":
            kind = code.GROUP
        field = Field(tree.get(1, ""), tree.get(3, 0), kind, LABELS[label - 1], tree.get(10, ""))
        if tree.get(6):
            self._pool.name(field, scope, tree[6])
        field.presence = bool(tree.get(17)) or label == 2 or features["presence"] != "IMPLICIT"
        field.lossy = field.kind == code.STRING and features["utf8"] == "NONE"
        field.tags = frozenset(options.get(META, {}).get(META_TAGS, ()))
        packed = options.get(2, features["repeated"] == "PACKED")
        field.packed = field.repeated and packed and kind in PACKABLE
        return field


def _changed(features: Features, tree: Tree) -> Features:
    """Return the features after applying a FeatureSet."""
    changed = dict(features)
    for number, subject, words in _FEATURES:
        if 0 < tree.get(number, 0) < len(words) and words[tree[number]]:
            changed[subject] = words[tree[number]]
    return changed
