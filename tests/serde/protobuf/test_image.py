"""Compiled schemas, as Google's compiler writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from kcli.schemas import SchemaRefused
from kcli.serde.protobuf.reader import IndexedReader, ProtobufSchema
from kcli.serde.protobuf.schema.image import files_of
from tests.each import each

MONEY = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
message Money { int64 cents = 1; google.protobuf.Timestamp at = 2; }"""
ORDER = 'syntax = "proto3"; package shop; import "money.proto"; message Order { int32 id = 1; Money total = 2; }'
GOOGLES = Path(protoc.__file__).with_name("_proto")
PAYLOAD = b"\x08\7\x12\6\x08\x05\x12\2\x08\1"


def compiled(folder: Path, *arguments: str) -> bytes:
    (folder / "money.proto").write_text(MONEY)
    (folder / "order.proto").write_text(ORDER)
    out = folder / "shop.binpb"
    assert protoc.main(["protoc", f"-I{folder}", f"-I{GOOGLES}", f"-o{out}", *arguments, "order.proto"]) == 0
    return out.read_bytes()


def schema_of(data: bytes) -> ProtobufSchema:
    text, others = files_of(data)
    return ProtobufSchema(text, [text for _, text in others])


def test_a_set_with_its_imports_is_read_without_other_files(tmp_path: Path) -> None:
    data = compiled(tmp_path, "--include_imports")
    assert [name for name, _ in files_of(data)[1]] == ["money.proto"]
    shown = IndexedReader(schema_of(data)).message("").json(PAYLOAD)
    assert json.loads(shown) == {"id": 7, "total": {"cents": "5", "at": "1970-01-01T00:00:01Z"}}
    assert IndexedReader(schema_of(data)).message("shop.Money").json(b"\x08\x05") == b'{"cents":"5"}'


def test_a_set_without_its_imports_names_the_type_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SchemaRefused, match=r"shop\.Money"):
        schema_of(compiled(tmp_path)).program()


def test_an_import_of_an_image_is_not_the_file_itself(tmp_path: Path) -> None:
    """Buf marks what was only imported: field 8042 with `is_import`, behind which another file may come last."""
    files = descriptor_pb2.FileDescriptorSet.FromString(compiled(tmp_path, "--include_imports"))
    files.file.append(descriptor_pb2.FileDescriptorProto(name="last.proto", syntax="proto3"))
    files.file[-1].message_type.add(name="Last")
    assert [message.name for message in schema_of(files.SerializeToString()).messages] == ["Last"]
    end = descriptor_pb2.FileDescriptorSet(file=[files.file[-1]]).SerializeToString()
    image = b"\xd2\xf6\3\2\x08\1"
    inner = files.file[-1].SerializeToString() + image
    marked = files.SerializeToString()[: -len(end)] + b"\x0a" + bytes([len(inner)]) + inner
    assert [message.name for message in schema_of(marked).messages] == ["shop.Order"]


@each(
    ("data", "reason"),
    [
        (b"", "no file in it declares a message"),
        (b"\x0a\5abc", "the payload ends in the middle of a value"),
        (b"syntax = 3;", "not a descriptor set"),
    ],
)
def test_what_is_no_set_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(SchemaRefused, match=reason):
        files_of(data)
