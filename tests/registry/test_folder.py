"""A folder of schemas in place of a registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.errors import KcliError, UsageError
from kcli.registry.folder import FolderSchemas, files_of
from kcli.registry.lookup import open_schemas
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Reference, Schema, SchemaNotFound, SchemaRefused
from tests.each import each


def write(folder: Path, files: dict[str, str]) -> FolderSchemas:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = open_schemas(RegistrySettings(folder=str(folder), kind="file"))
    assert isinstance(found, FolderSchemas)
    return found


async def test_files_that_somebody_wrote_by_hand(tmp_path: Path) -> None:
    schemas = write(tmp_path, {
        "ids/7.avsc": '"int"', "ids/8.proto": "syntax", "ids/9.json": "{}", "contexts/.c/ids/7.avsc": '"long"',
        "subjects/orders-value/2.avsc": '"old"', "subjects/orders-value/10.avsc": '"int"',
        "subjects/orders-value/README.md": "x", "subjects/%3A.c%3Aa%2Fb/1.proto": "syntax",
    })  # fmt: skip
    assert [((await schemas.by_id(number)).kind, (await schemas.by_id(number)).text) for number in (7, 8, 9)] == [
        ("AVRO", '"int"'), ("PROTOBUF", "syntax"), ("JSON", "{}"),
    ]  # fmt: skip
    assert (await schemas.by_id(7, context=".c")).text == '"long"'
    assert (await schemas.by_id(7, subject=":.c:x")).context == ".c"
    latest = await schemas.latest("orders-value")
    assert (latest.version, latest.id, latest.subject) == (10, 7, "orders-value")
    assert (await schemas.version("orders-value", 2)).id == -1
    assert (await schemas.version(":.c:a/b", 1)).kind == "PROTOBUF"


@each(
    "ask",
    [
        lambda schemas: schemas.by_id(1), lambda schemas: schemas.by_id(7, context=".d"),
        lambda schemas: schemas.latest("nix"), lambda schemas: schemas.version("orders-value", 3),
        lambda schemas: schemas.by_guid("g"), lambda schemas: schemas.latest("../ids"),
        lambda schemas: schemas.latest(".."),
    ],
)  # fmt: skip
async def test_what_is_not_there(tmp_path: Path, ask: object) -> None:
    schemas = write(tmp_path, {"ids/7.avsc": '"int"', "subjects/orders-value/1.avsc": '"int"'})
    with pytest.raises(SchemaNotFound):
        await ask(schemas)  # type: ignore[operator]


async def test_what_is_saved_comes_back_with_all_that_was_said_of_it(tmp_path: Path) -> None:
    inner = Schema(text='"int"', id=1, guid="G-1", subject=":.c:inner", version=1, context=".c")
    outer = Schema(
        kind="PROTOBUF", text='syntax = "proto3";\r\nü', references=(Reference("i", "inner", 1),), id=2, guid="g-2",
        subject=":.c:outer", version=3, context=".c", metadata='{"a": 1}', rule_set='{"b": []}', extra='{"c": 1}',
    )  # fmt: skip
    files = dict(files_of("", inner)) | dict(files_of("", outer))
    assert len(files) == 8
    assert "contexts/.c/ids/2.proto" in files
    schemas = write(tmp_path, files)
    assert await schemas.by_id(2, context=".c") == outer
    assert await schemas.version(":.c:outer", 3) == outer
    assert await schemas.by_guid("g-1") == inner
    assert await schemas.references(outer) == [("i", inner)]
    assert await schemas.register(":.c:outer", outer.replace(id=-1)) == 2


async def test_a_folder_associates_nothing(tmp_path: Path) -> None:
    schemas = write(tmp_path, {"ids/7.avsc": '"int"'})
    assert await schemas.subject("associated", "orders", "key") == "orders-key"


async def test_a_folder_registers_nothing(tmp_path: Path) -> None:
    schemas = write(tmp_path, {"ids/7.avsc": '"int"', "subjects/a/1.avsc": '"int"'})
    assert await schemas.register("a", Schema(text='"int"\n')) == 7
    with pytest.raises(UsageError, match=r"set schema.registry.url to a registry"):
        await schemas.register("a", Schema(text='"long"'))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder not found"):
        FolderSchemas(str(tmp_path / "nix"))


@each(
    "meta",
    [
        "",
        "[]",
        '{"references": 1}',
        '{"id": "x"}',
        '{"references": [{"name": "a"}]}',
        "[" * 100_000,
        '{"guid": "\\ud800"}',
    ],
)
async def test_what_stands_beside_a_schema_is_read_by_type(tmp_path: Path, meta: str) -> None:
    schemas = write(tmp_path, {"ids/7.avsc": '"int"', "ids/7.meta.json": meta})
    with pytest.raises(SchemaRefused, match=r"ids/7.avsc: its metadata file 7.meta.json: "):
        await schemas.by_id(7)


async def test_files_that_are_no_schemas(tmp_path: Path) -> None:
    schemas = write(tmp_path, {"ids/7.avsc": "x" * (4 * 1024 * 1024 + 1)})
    (tmp_path / "ids/8.avsc").write_bytes(b"\xff\xfe")
    (tmp_path / "ids/9.avsc").mkdir()
    for number, says in ((7, "it is larger than 4 MiB"), (8, "is not UTF-8 text"), (9, "Is a directory")):
        with pytest.raises(KcliError, match=says):
            await schemas.by_id(number)
