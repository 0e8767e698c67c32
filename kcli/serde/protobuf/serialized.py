"""Converts a schema's text to the `FileDescriptorProto` that `protoc` creates. Registries return it for
`format=serialized`, which clients in languages without a `.proto` parser request.

It omits what does not affect payloads: comments, services, reserved numbers, default values, most options.
"""

from __future__ import annotations

import json
from base64 import b64encode

from kcli.proto import protobuf_code as code
from kcli.serde.avro.exact import read_json
from kcli.serde.protobuf.reader import ProtobufSchema, is_descriptor, pool_for
from kcli.serde.protobuf.schema.known_types import DESCRIPTOR
from kcli.serde.protobuf.schema.text import LABELS, TextFile
from kcli.serde.protobuf.schema.types import PACKABLE, Enum, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.serde.protobuf.schema.features import Features
    from kcli.serde.protobuf.schema.types import Field

    Json = dict[str, object]

NAME = "schema.proto"
"""Placeholder name: a registry has subjects, not file names."""
EDITION_2023 = 1000
PRESENT, IMPLIED, REQUIRED = 1, 2, 3
"""Numbers of FeatureSet.field_presence."""


def serialized(text: str, references: Iterable[str] = ()) -> str:
    """Return the descriptor as base64; a descriptor is returned unchanged. Raises SchemaRefused."""
    if is_descriptor(text.strip()):
        return text.strip()
    pool = pool_for(text, references)
    before = set(pool.types)
    file = TextFile(text, pool)
    own = [type for name, type in pool.types.items() if name not in before]
    written = _Written(file.syntax, [type for type in own if isinstance(type, Enum)])
    extensions = _extensions(pool.types.values())
    shown: Json = {
        "name": NAME,
        "package": file.package,
        "dependency": file.imports,
        "message_type": [written.message(message, extensions) for message in file.messages],
        "enum_type": written.enums(file.package),
        "extension": [written.extension(*one) for one in extensions.get(file.package, ())],
        "options": written.file_options(file.features),
        "syntax": "" if file.syntax == "proto2" else file.syntax,
        "edition": EDITION_2023 if file.syntax == "editions" else None,
    }
    schema = ProtobufSchema(DESCRIPTOR)
    writer = schema.writer(schema.message("google.protobuf.FileDescriptorProto"))
    return b64encode(writer.write(read_json(json.dumps(_filled(shown))))).decode()


def _filled(shown: Json) -> Json:
    return {name: value for name, value in shown.items() if value not in (None, "", [], {})}


def _extensions(types: Iterable[Message | Enum]) -> dict[str, list[tuple[Message, Field]]]:
    """Return the extension fields by the scope that declares them."""
    found: dict[str, list[tuple[Message, Field]]] = {}
    for message in types:
        if not isinstance(message, Message):
            continue
        for field in message.fields.values():
            if field.name[0] == "[":
                found.setdefault(field.name[1:-1].rpartition(".")[0], []).append((message, field))
    return found


class _Written:
    """The declarations of a file in the JSON of descriptor.proto. `declared` are its enums."""

    def __init__(self, syntax: str, declared: list[Enum]) -> None:
        self._syntax = syntax
        self._enums: dict[str, list[Enum]] = {}  # by the declaring scope
        for enum in declared:
            self._enums.setdefault(enum.name.rpartition(".")[0], []).append(enum)

    def file_options(self, features: Features) -> Json:
        """Return the file's options for repeated fields without their own."""
        implied = self._syntax == "editions" and features["presence"] == "IMPLICIT"
        return {"features": {"field_presence": IMPLIED}} if implied else {}

    def message(self, message: Message, extensions: dict[str, list[tuple[Message, Field]]]) -> Json:
        fields = [field for field in message.fields.values() if field.name[0] != "["]
        oneofs = list(dict.fromkeys(field.oneof for field in fields if field.oneof))
        optional = [field.name for field in fields if field.label == "optional"] if self._syntax == "proto3" else []
        own = {name: len(oneofs) + place for place, name in enumerate(optional)}
        ranges = [field.number for field in message.fields.values() if field.name[0] == "["]
        places = {name: place for place, name in enumerate(oneofs)}
        shown = []
        for field in fields:
            row = self._field(field)
            if field.oneof:
                row["oneof_index"] = places[field.oneof]
            if field.name in own:
                row |= {"oneof_index": own[field.name], "proto3_optional": True}
            shown.append(row)
        return _filled(
            {
                "name": message.name.rpartition(".")[2],
                "field": shown,
                "nested_type": [self.message(nested, extensions) for nested in message.nested],
                "enum_type": self.enums(message.name),
                "extension_range": [{"start": number, "end": number + 1} for number in ranges],
                "extension": [self.extension(*one) for one in extensions.get(message.name, ())],
                "options": {"map_entry": True} if message.entry else None,
                "oneof_decl": [{"name": name} for name in (*oneofs, *(f"_{name}" for name in own))],
            }
        )

    def enums(self, scope: str) -> list[Json]:
        """Return the enums declared there."""
        return [self._enum(enum) for enum in self._enums.get(scope, ())]

    def _enum(self, enum: Enum) -> Json:
        options: Json = {}
        if len(enum.names) < len(enum.numbers):
            options["allow_alias"] = True
        if self._syntax == "editions":
            options["features"] = {"enum_type": 2 if enum.closed else 1}
        values = [{"name": name, "number": number} for name, number in enum.numbers.items()]
        return _filled({"name": enum.name.rpartition(".")[2], "value": values, "options": options})

    def extension(self, extended: Message, field: Field) -> Json:
        name = field.name[1:-1].rpartition(".")[2]
        return self._field(field) | {"name": name, "json_name": code.camel(name), "extendee": f".{extended.name}"}

    def _field(self, field: Field) -> Json:
        editions = self._syntax == "editions"
        label = "optional" if editions and field.label == "required" else field.label or "optional"
        kind = code.MESSAGE if editions and field.kind == code.GROUP else field.kind
        return _filled(
            {
                "name": field.name,
                "number": field.number,
                "label": LABELS.index(label) + 1,
                "type": kind,
                "type_name": "" if field.type is None else f".{field.type.name}",
                "json_name": field.json_name,
                "options": self._features(field) if editions else self._options(field),
            }
        )

    def _options(self, field: Field) -> Json:
        """Return whether numbers are packed, if that differs from the default of the syntax."""
        packable = field.repeated and field.kind in PACKABLE
        usual = packable and self._syntax == "proto3"
        return {"packed": field.packed} if packable and field.packed != usual else {}

    def _features(self, field: Field) -> Json:
        features = {}
        if field.repeated:
            features["repeated_field_encoding"] = 1 if field.packed else 2
        elif field.label == "required":
            features["field_presence"] = REQUIRED
        elif not field.oneof and not isinstance(field.type, Message):
            features["field_presence"] = PRESENT if field.presence else IMPLIED
        if field.lossy:
            features["utf8_validation"] = 3
        if field.kind == code.GROUP:
            features["message_encoding"] = 2
        return {"features": features} if features else {}
