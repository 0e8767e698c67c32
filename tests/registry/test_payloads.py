"""`kcli registry decode` and `encode`, `contexts` and `config`, on each registry."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.registry.commands import Commands
from tests.registry.oracles import Oracle, Srfake

Names = Callable[[str], str]


@pytest.fixture(params=["apicurio", "srfake", "sandbox"])
def commands(request: pytest.FixtureRequest, registry: None, tmp_path: Path) -> Iterator[Commands]:
    """On each of the two, and on the sandbox's own registry."""
    if request.param == "sandbox":
        with SandboxThread(registry=True) as sandbox:
            yield Commands(sandbox.registry_url, tmp_path, "sandbox")
        return
    oracle: Oracle = request.getfixturevalue(request.param)
    yield Commands(oracle.url, tmp_path, oracle.name)


def test_json_becomes_a_payload_and_json_again(commands: Commands, subject: Names) -> None:
    name = subject("notes-value")
    number = commands.registered(name, commands.avro("note.avsc", "id:int", "text:string"))
    lines = commands.file("lines", '{"id": 7, "text": "hi"}\n\n{"id": 8, "text": ""}\n')
    frame = b"\0" + number.to_bytes(4, "big")
    made = [frame + b"\x0e\x04hi", frame + b"\x10\x00"]
    for spec in (name, f"{name}@1", f"id:{number}"):
        done = commands.run("encode", lines, "--value-schema", spec, "--output", "hex")
        assert done.out.decode().split() == [payload.hex() for payload in made]
    shown = b'{"id":7,"text":"hi"}\n{"id":8,"text":""}\n'
    hexes = commands.file("hex", f"0x{made[0].hex()}\n\n\\x{made[1].hex(':')}\n")
    assert commands.run("decode", hexes, "--input", "hex").out == shown
    done = commands.run("encode", lines, "--value-schema", name, "--output", "base64")
    assert [base64.b64decode(line) for line in done.out.split()] == made
    (commands.folder / "b64").write_bytes(done.out)
    assert commands.run("decode", str(commands.folder / "b64"), "--input", "base64").out == shown
    one = commands.file("one", '{\n "id": 7,\n "text": "hi"}')
    raw = commands.run("encode", one, "--value-schema", name).out
    assert raw == made[0]
    (commands.folder / "raw").write_bytes(raw)
    assert commands.run("decode", str(commands.folder / "raw")).out == shown.splitlines(keepends=True)[0]


def test_a_payload_that_cannot_be_decoded_says_why(commands: Commands, subject: Names) -> None:
    number = commands.registered(subject("notes-value"), commands.avro("note.avsc", "id:int", "text:string"))
    frame = b"\0" + number.to_bytes(4, "big")
    payloads = [frame + b"\x0e\x04hi", frame + b"\x0e\x04hi!", b"plain", frame + b"\x0e\x09h", b"\0\x7f\xff\xff\xffabc"]
    hexes = commands.file("hex", "\n".join(payload.hex() for payload in payloads))
    done = commands.run("decode", hexes, "--input", "hex", code=1)
    assert done.out == b'{"id":7,"text":"hi"}\n'
    told = done.err.splitlines()
    assert [line.partition(": not decoded: ")[0] for line in told] == [f"kcli: payload {n}" for n in (2, 3, 4, 5)]
    assert "it has no frame; give" in told[1]
    assert len(set(told)) == 4
    assert "2147483647" in told[3]


def test_a_local_schema_needs_no_registry(tmp_path: Path) -> None:
    commands = Commands("http://127.0.0.1:1", tmp_path)
    path = commands.avro("note.avsc", "id:int", "text:string")
    lines = commands.file("lines", '{"id": 7, "text": "hi"}\n')
    done = commands.run("encode", lines, "--value-schema", f"file:{path}", "--output", "hex")
    assert done.out == b"0e046869\n"
    hexes = commands.file("hex", "0e046869")
    assert commands.run("decode", hexes, "--input", "hex", "--value-schema", f"file:{path}").out == (
        b'{"id":7,"text":"hi"}\n'
    )
    wrong = commands.file("wrong", '{"id": 7, "text": "hi"}\n{"id": "x", "text": "hi"}\n')
    done = commands.run("encode", wrong, "--value-schema", f"file:{path}", "--output", "hex", code=1)
    assert (done.out, done.err) == (b"", 'kcli: value 2: id: "x" is not an int\n')
    assert "input line 1: not hex" in commands.run("decode", lines, "--input", "hex", code=2).err
    assert "unexpected argument" in commands.run("decode", lines, lines, code=2).err
    assert "--value-schema" in commands.run("encode", lines, code=2).err
    none = commands.run("decode", hexes, code=2, env={"KCLI_SCHEMA_REGISTRY_URL": ""})
    assert "schema.registry.url" in none.err


def test_a_folder_decodes(tmp_path: Path) -> None:
    commands = Commands(f"file:{tmp_path}/schemas", tmp_path)
    (tmp_path / "schemas" / "ids").mkdir(parents=True)
    commands.avro("schemas/ids/7.avsc", "id:int", "text:string")
    hexes = commands.file("hex", "00000000070e046869")
    assert commands.run("decode", hexes, "--input", "hex").out == b'{"id":7,"text":"hi"}\n'


def test_the_registry_resolves_a_text(tmp_path: Path, subject: Names) -> None:
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path)
        commands.registered("money", commands.avro("money.avsc", "cents:long", record="Money"))
        commands.registered("o", commands.avro("orders.avsc", "price:Money"), "--reference", "Money=money@1")
        assert json.loads(commands.run("get", "o").out)["fields"][0]["type"] == "Money"
        whole = json.loads(commands.run("get", "o", "--schema-format", "resolved").out)
        assert whole["fields"][0]["type"]["fields"] == [{"name": "cents", "type": "long"}]


def test_a_form_that_a_registry_does_not_make_is_said(commands: Commands, subject: Names) -> None:
    """It answers the text as it is for a form that it does not know, and so does Confluent's."""
    note, money = subject("note-value"), subject("money")
    commands.registered(note, commands.file("note.avsc", '{"type":"record","name":"Note","fields":[]}'))
    commands.registered(money, commands.file("money.proto", 'syntax = "proto3"; message Money { int64 cents = 1; }'))
    says = commands.run("describe", note, "--schema-format", "nonsense", code=2).err
    assert "--schema-format nonsense: expected resolved (Avro), serialized or ignore_extensions (Protobuf)" in says
    says = commands.run("describe", note, "--schema-format", "serialized", code=2).err
    assert f"{note} version 1 has the type AVRO, which does not have this format" in says
    assert (
        "PROTOBUF, which does not have this format"
        in commands.run("get", money, "--schema-format", "resolved", code=2).err
    )
    made = commands.name == "sandbox"
    done = commands.run("get", money, "--schema-format", "serialized", code=0 if made else 1)
    if made:
        assert b"Money" in base64.b64decode(done.out)
    else:
        assert (done.out, f"does not provide this format of {money} version 1" in done.err) == (b"", True)
    assert commands.run("get", note, "--schema-format", "default").out == commands.run("get", note).out


def test_a_subject_that_is_soft_deleted_is_said_to_be(tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path)
        path = commands.avro("note.avsc", "id:int")
        commands.registered("notes-value", path)
        commands.run("delete", "notes-value", "--execute", "-q")
        for words, code in (
            (("get", "notes-value"), 1),
            (("get", "notes-value@1"), 1),
            (("check", "notes-value", path), 0),
        ):
            assert "it is soft-deleted (registry list --deleted)" in commands.run(*words, code=code).err
        assert json.loads(commands.run("get", "notes-value", "--deleted").out)["fields"][0]["name"] == "id"


def test_a_folder_does_not_resolve_a_text(tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path)
        commands.registered("money", commands.avro("money.avsc", "cents:long", record="Money"))
        commands.registered("o", commands.avro("orders.avsc", "price:Money"), "--reference", "Money=money@1")
        commands.run("export", str(tmp_path / "out"), "-q")
    folder = Commands(f"file:{tmp_path}/out", tmp_path)
    done = folder.run("get", "o", "--schema-format", "resolved", code=1)
    assert (done.out, "--resolved includes the types" in done.err) == (b"", True)
    assert json.loads(folder.run("get", "o", "--resolved").out)["fields"][0]["type"]["name"] == "Money"


def test_contexts_are_listed(commands: Commands, subject: Names) -> None:
    rows = {row["context"]: row for row in commands.rows("contexts")}
    assert "." in rows or commands.name == "srfake"
    assert "has no such context" in commands.run("contexts", ".nix", code=1).err


def test_a_context_is_deleted_when_it_is_empty(tmp_path: Path, subject: Names) -> None:
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path)
        commands.registered(":.staging:s", commands.avro("v1.avsc", "id:int"))
        commands.registered("t", commands.avro("v1.avsc", "id:int"))
        assert [(row["context"], row["subjects"]) for row in commands.rows("contexts")] == [(".", 1), (".staging", 1)]
        (row,) = commands.rows("contexts", "staging", "--delete", "--execute", code=1)
        assert row["result"] == "not empty"
        commands.run("delete", ":.staging:s", "--execute")
        commands.run("delete", ":.staging:s", "--permanent", "--execute")
        commands.run("compat", ":.other:", "--set", "full", "--execute")
        assert "the default context cannot be deleted" in commands.run("contexts", ".", "--delete", code=2).err
        assert "missing argument: the contexts" in commands.run("contexts", "--delete", code=2).err


def test_the_settings_of_a_subject(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    usual = "NONE" if commands.name == "apicurio" else "BACKWARD"
    own = (
        "inherited" if commands.name == "sandbox" else "subject"
    )  # the others answer the inherited level as if it were the subject's
    found = {row["name"]: (row["value"], row["source"]) for row in commands.rows("config", name)}
    assert found["compatibility"] == (usual, own)
    plan = commands.rows("config", name, "--set", "compatibility=FULL")
    assert [(row["name"], row["value"], row["new"], row["result"]) for row in plan if row["result"]] == [
        ("compatibility", usual, "FULL", "would change")
    ]
    (row,) = [
        row for row in commands.rows("config", name, "--set", "compatibilityLevel=FULL", "--execute") if row["result"]
    ]
    assert row["result"] == "changed"
    found = {row["name"]: (row["value"], row["source"]) for row in commands.rows("config", name)}
    assert found["compatibility"] == ("FULL", "subject")
    assert [
        row["result"] for row in commands.rows("config", name, "--delete", "--execute") if row["source"] == "subject"
    ] == ["changed"]
    found = {row["name"]: (row["value"], row["source"]) for row in commands.rows("config", name)}
    assert found["compatibility"] == (usual, own)
    assert "--delete needs a subject" in commands.run("config", "--delete", code=2).err
    assert "expected NAME=VALUE" in commands.run("config", name, "--set", "x", code=2).err


def test_a_setting_that_a_registry_ignores_is_an_error(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    known = commands.name == "sandbox"
    done = commands.run("config", name, "--set", "normalize=true", "--execute", code=0 if known else 1)
    if not known:
        assert "normalize" in done.err or "HTTP" in done.err
        return
    found = {row["name"]: row["value"] for row in commands.rows("config", name)}
    assert found["normalize"] == "true"
    commands.run("config", name, "--unset", "normalize", "--execute")
    assert "normalize" not in {row["name"] for row in commands.rows("config", name)}
    assert "the registry ignored alias" in (
        commands.run("config", name, "--set", "alias=t", "--set", "normalize=true", "--execute", code=1).err
    )


def test_srfake_lists_the_subjects_of_a_context(srfake: Srfake, registry: None, tmp_path: Path, subject: Names) -> None:
    commands = Commands(srfake.url, tmp_path)
    context = subject("c")
    commands.registered(f":.{context}:s", commands.avro("v1.avsc", "id:int"))
    (row,) = commands.rows("contexts", context)
    assert row["subjects"] == 1
