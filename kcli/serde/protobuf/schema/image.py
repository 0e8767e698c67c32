"""Reads compiled schemas: a `FileDescriptorSet`, as written by `protoc --descriptor_set_out` and `buf build`."""

from __future__ import annotations

from base64 import b64encode

from kcli.proto.faults import Fault
from kcli.proto.plain.protobuf_tree import Payload
from kcli.serde.protobuf.schema.descriptor import table_of
from kcli.serde.protobuf.schema.known_types import FILES
from kcli.serde.protobuf.schema.tokens import refuse

_SET = 'syntax = "proto2"; message FileSet {repeated bytes file = 1;}'
_FILE = """syntax = "proto2"; message File {optional string name = 1; repeated DescriptorProto message_type = 4;
  optional ImageFile image = 8042;}
message DescriptorProto {optional string name = 1;}
message ImageFile {optional bool is_import = 1;}"""
"""The part of each `FileDescriptorProto` that is read here. Buf marks files that the others import."""


def files_of(data: bytes) -> tuple[str, list[tuple[str, str]]]:
    """Return the last file with messages that is not just an import, and all other files by name, each after what it
    needs itself; descriptors as base64. Google's and Confluent's files, which kcli has, are omitted. Raises
    SchemaRefused."""
    try:
        files = [(file, Payload(file).tree(table_of(_FILE))) for file in Payload(data).tree(table_of(_SET)).get(1, ())]
    except Fault as problem:
        raise refuse(f"not a descriptor set: {problem}") from None
    own = [
        number
        for number, (_, file) in enumerate(files)
        if 4 in file and not _known(file) and not file.get(8042, {}).get(1, False)
    ]
    if not own:
        raise refuse("not a descriptor set: no file in it declares a message")
    others = [
        (str(file.get(1, "")), b64encode(content).decode())
        for number, (content, file) in enumerate(files)
        if number != own[-1] and not _known(file)
    ]
    return b64encode(files[own[-1]][0]).decode(), others


def _known(file: dict[int, object]) -> bool:
    return str(file.get(1, "")).startswith(tuple(FILES))
