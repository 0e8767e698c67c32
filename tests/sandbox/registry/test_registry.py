"""What the sandbox's registry does with schemas, where registries of others differ or have it not; what they share is
in tests/registry/test_oracles.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.sandbox.registry.asking import INT, WITH_DEFAULT, WITHOUT, ask, register

DEEP = '{"type":"array","items":' * 300 + '"int"' + "}" * 300


@pytest.fixture
def url() -> Iterator[str]:
    with SandboxThread(registry=True) as sandbox:
        yield sandbox.registry_url


def code(answer: tuple[int, dict[str, object]]) -> tuple[int, object]:
    return answer[0], answer[1]["error_code"]


def test_one_schema_has_one_id_and_one_guid_however_it_is_written(url: str) -> None:
    first = register(url, "a", INT)[1]
    other = '{ "name": "R", "fields": [ {"type": {"type": "int"}, "name": "a"} ], "type": "record" }'
    second = register(url, "b", other)[1]
    assert (first["id"], second["id"], second["version"]) == (1, 1, 1)
    assert first["guid"] == second["guid"]
    assert first["schema"] == second["schema"] == INT
    assert ask(url, "GET", "/schemas/ids/1/subjects")[1] == ["a", "b"]
    assert ask(url, "GET", f"/schemas/guids/{first['guid']}")[1]["schema"] == INT
    assert ask(url, "GET", "/schemas/ids/1/schema") == (200, json.loads(INT))
    assert register(url, "b", WITH_DEFAULT)[1]["id"] == 2


def test_what_java_says_of_an_avro_schema_stays(url: str) -> None:
    given = (
        '{"namespace": "n", "name": "R", "doc": "d", "type": "record", "x": 1, "fields": [{"name": "a", "default":'
        ' null, "type": ["null", {"type": "enum", "name": "n.E", "symbols": ["A"]}], "doc": "f"}, {"name": "b", "type":'
        ' "n.E"}, {"name": "c", "type": {"type": "long", "logicalType": "timestamp-millis"}, "order": "ascending"}],'
        ' "aliases": ["Q"]}'
    )
    kept = (
        '{"type":"record","name":"R","namespace":"n","doc":"d","fields":[{"name":"a","type":["null",{"type":"enum",'
        '"name":"E","symbols":["A"]}],"doc":"f","default":null},{"name":"b","type":"E"},{"name":"c","type":{"type":'
        '"long","logicalType":"timestamp-millis"}}],"x":1,"aliases":["Q"]}'
    )
    assert register(url, "s", given)[1]["schema"] == kept
    normal = ask(url, "POST", "/subjects/t/versions?normalize=true", {"schema": given})[1]["schema"]
    assert '"name":"n.R"' in normal and '"type":"n.E"' in normal  # noqa: PT018
    assert ask(url, "POST", "/subjects/t?normalize=true", {"schema": kept})[1]["version"] == 1
    assert code(ask(url, "POST", "/subjects/t", {"schema": kept})) == (404, 40403)
    ask(url, "PUT", "/config", {"normalize": True})
    assert ask(url, "POST", "/subjects/t", {"schema": kept})[1]["version"] == 1


def test_levels_are_those_of_avro(url: str) -> None:
    """A field without a default, put in: old readers can leave it out, new ones cannot do without."""
    for level, goes in (
        ("NONE", True), ("BACKWARD", False), ("FORWARD", True), ("FULL", False), ("BACKWARD_TRANSITIVE", False),
        ("FORWARD_TRANSITIVE", True), ("FULL_TRANSITIVE", False),
    ):  # fmt: skip
        name = level.lower()
        register(url, name, INT)
        assert ask(url, "PUT", f"/config/{name}", {"compatibility": level})[1] == {"compatibility": level}
        verdict = ask(url, "POST", f"/compatibility/subjects/{name}/versions/latest?verbose=true", {"schema": WITHOUT})[
            1
        ]
        assert verdict["is_compatible"] is goes, level
        assert bool(verdict["messages"]) is not goes
        status, answer = register(url, name, WITHOUT)
        assert status == (200 if goes else 409), level
        if not goes:
            assert "READER_FIELD_MISSING_DEFAULT_VALUE" in answer["message"]
            assert "{oldSchemaVersion: 1}" in answer["message"]
    assert code(ask(url, "PUT", "/config/x", {"compatibility": "NIX"})) == (422, 42203)


def test_a_transitive_level_looks_at_every_version(url: str) -> None:
    one, two = INT, INT.replace('"a"', '"b"')
    ask(url, "PUT", "/config/s", {"compatibility": "NONE"})
    register(url, "s", one)
    register(url, "s", two)
    for level, status in (("BACKWARD_TRANSITIVE", 409), ("BACKWARD", 200)):
        ask(url, "PUT", "/config/s", {"compatibility": level})
        assert register(url, "s", two.replace("int", "long"))[0] == status, level


def test_a_group_of_compatibility_is_compared_with_itself_only(url: str) -> None:
    ask(url, "PUT", "/config/s", {"compatibility": "BACKWARD", "compatibilityGroup": "major"})
    assert register(url, "s", INT, metadata={"properties": {"major": "1"}})[0] == 200
    assert register(url, "s", WITHOUT, metadata={"properties": {"major": "1"}})[0] == 409
    assert register(url, "s", WITHOUT, metadata={"properties": {"major": "2"}})[0] == 200


def test_references_are_there_and_stay(url: str) -> None:
    outer = '{"type":"record","name":"O","fields":[{"name":"r","type":"R"},{"name":"s","type":"R"}]}'
    reference = [{"name": "R", "subject": "inner", "version": 1}]
    assert code(register(url, "outer", outer, references=reference)) == (422, 42201)
    register(url, "inner", INT)
    assert code(register(url, "outer", outer)) == (422, 42201)  # no type R
    kept = register(url, "outer", outer, references=[{**reference[0], "version": -1}])[1]
    assert kept["references"] == reference
    assert ask(url, "GET", "/subjects/inner/versions/1/referencedby")[1] == [kept["id"]]
    whole = ask(url, "GET", "/subjects/outer/versions/1?format=resolved")[1]["schema"]
    assert json.loads(whole)["fields"][0]["type"] == json.loads(INT)
    assert json.loads(whole)["fields"][1]["type"] == "R"
    for path in ("/subjects/inner", "/subjects/inner/versions/1"):
        assert code(ask(url, "DELETE", path)) == (422, 42206)
    assert ask(url, "DELETE", "/subjects/outer")[0] == 200
    assert ask(url, "DELETE", "/subjects/inner")[0] == 200


def test_softly_then_for_good(url: str) -> None:
    register(url, "s", INT)
    register(url, "s", WITH_DEFAULT)
    assert code(ask(url, "DELETE", "/subjects/s/versions/2?permanent=true")) == (404, 40407)
    assert code(ask(url, "DELETE", "/subjects/s?permanent=true")) == (404, 40405)
    assert ask(url, "DELETE", "/subjects/s/versions/latest") == (200, 2)
    assert code(ask(url, "DELETE", "/subjects/s/versions/2")) == (404, 40406)
    assert code(ask(url, "GET", "/subjects/s/versions/2")) == (404, 40402)
    assert ask(url, "GET", "/subjects/s/versions/2?deleted=true")[1]["deleted"] is True
    assert ask(url, "DELETE", "/subjects/s") == (200, [1])
    assert code(ask(url, "DELETE", "/subjects/s")) == (404, 40404)
    assert ask(url, "GET", "/subjects") == (200, [])
    assert ask(url, "GET", "/subjects?deletedOnly=true") == (200, ["s"])
    assert ask(url, "GET", "/schemas/ids/2")[0] == 200  # records of it are there still
    assert register(url, "s", WITH_DEFAULT)[1]["version"] == 3
    assert ask(url, "DELETE", "/subjects/s/versions/1?permanent=true") == (200, 1)
    assert code(ask(url, "GET", "/schemas/ids/1")) == (404, 40403)
    assert register(url, "t", INT)[1]["id"] == 3  # the id of another schema for ever


def test_modes(url: str) -> None:
    register(url, "s", INT)
    assert code(ask(url, "PUT", "/mode/s", {"mode": "NIX"})) == (422, 42204)
    assert code(ask(url, "PUT", "/mode/s", {"mode": "IMPORT"})) == (422, 42205)
    assert code(register(url, "t", INT, id=7)) == (422, 42205)
    assert ask(url, "PUT", "/mode/t", {"mode": "import"}) == (200, {"mode": "IMPORT"})
    assert code(register(url, "t", WITH_DEFAULT, id=1)) == (422, 42207)
    kept = register(url, "t", WITH_DEFAULT, id=70, version=5)[1]
    assert (kept["id"], kept["version"]) == (70, 5)
    assert code(ask(url, "GET", "/mode/s")) == (404, 40409)
    assert ask(url, "PUT", "/mode", {"mode": "READONLY"})[0] == 200
    for refused in (register(url, "s", WITH_DEFAULT), ask(url, "DELETE", "/subjects/s")):
        assert code(refused) == (422, 42205)
    assert ask(url, "GET", "/mode/s?defaultToGlobal=true") == (200, {"mode": "READONLY"})
    assert ask(url, "DELETE", "/mode") == (200, {"mode": "READONLY"})
    assert register(url, "s", WITHOUT.replace("b", "c").replace('"int"}]', '"int","default":2}]'))[1]["id"] == 71


def test_a_context_has_ids_levels_and_subjects_of_its_own(url: str) -> None:
    register(url, "other", WITH_DEFAULT)
    assert register(url, "s", INT)[1]["id"] == 2
    assert ask(url, "POST", "/contexts/.c/subjects/s/versions", {"schema": INT})[1]["id"] == 1
    assert ask(url, "GET", "/contexts")[1] == [".", ".c"]
    assert ask(url, "GET", "/subjects")[1] == [":.c:s", "other", "s"]
    assert ask(url, "GET", "/subjects?subjectPrefix=:.c:")[1] == [":.c:s"]
    assert ask(url, "GET", "/subjects?subjectPrefix=s")[1] == ["s"]
    assert ask(url, "GET", "/contexts/.c/subjects")[1] == [":.c:s"]
    assert ask(url, "GET", "/schemas/ids/1?subject=:.c:")[1]["schema"] == INT
    assert ask(url, "GET", "/contexts/.c/schemas/ids/1")[1]["schema"] == INT
    guid = ask(url, "GET", "/subjects/s/versions/1")[1]["guid"]
    assert ask(url, "GET", f"/schemas/guids/{guid}/ids")[1] == [{"context": ".", "id": 2}, {"context": ".c", "id": 1}]
    ask(url, "PUT", "/config/:.c:", {"compatibility": "NONE"})
    level = ask(url, "GET", "/config/:.c:s?defaultToGlobal=true")[1]
    assert level == {"compatibilityLevel": "NONE"}
    ask(url, "PUT", "/config/:.__GLOBAL:", {"compatibility": "FULL"})
    assert ask(url, "GET", "/config/s?defaultToGlobal=true")[1] == {"compatibilityLevel": "FULL"}
    assert code(ask(url, "DELETE", "/contexts/.c")) == (422, 42211)


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/nothing", None, (404, 404)),
        ("PUT", "/subjects", None, (405, 405)),
        ("GET", "/subjects/s/versions/0", None, (422, 42202)),
        ("GET", "/subjects/s/versions/x", None, (422, 42202)),
        ("GET", "/schemas/ids/x", None, (404, 40403)),
        ("GET", "/schemas/ids/99999999999", None, (404, 40403)),
        ("GET", "/subjects?offset=x", None, (400, 400)),
        ("GET", "/subjects/%ff/versions", None, (400, 400)),
        ("POST", "/subjects/s/versions", b"{", (400, 400)),
        ("POST", "/subjects/s/versions", b"[" * 100_000, (400, 400)),
        ("POST", "/subjects/s/versions", {"schema": 1}, (400, 400)),
        ("POST", "/subjects/s/versions", {"schema": ""}, (422, 42201)),
        ("POST", "/subjects/s/versions", {"schema": '"nix"'}, (422, 42201)),
        ("POST", "/subjects/s/versions", {"schema": "{}", "schemaType": "NIX"}, (422, 42201)),
        ("POST", "/subjects/s/versions", {"schema": "[1]", "schemaType": "JSON"}, (422, 42201)),
        ("POST", "/subjects/s/versions", {"schema": "message M {", "schemaType": "PROTOBUF"}, (422, 42201)),
        ("POST", "/subjects/s/versions", {"schema": "what is this?", "schemaType": "PROTOBUF"}, (422, 42201)),
        ("POST", "/subjects/s/versions", b'{"schema": "\\ud800"}', (400, 400)),
        ("POST", "/subjects/a%0Ab/versions", {"schema": INT}, (422, 42208)),
        ("POST", "/subjects/:.__GLOBAL:s/versions", {"schema": INT}, (422, 42208)),
        ("POST", "/subjects/s/versions", {"schema": DEEP}, (422, 42201)),
    ],
)  # fmt: skip
def test_what_is_refused(url: str, method: str, path: str, body: object, expected: tuple[int, int]) -> None:
    assert code(ask(url, method, path, body)) == expected


@pytest.mark.process
def test_all_of_it_outlives_the_process(tmp_path: Path) -> None:
    def start() -> tuple[subprocess.Popen[str], str]:
        words = [sys.executable, "-m", "kcli.sandbox", "--registry", "--data", str(tmp_path / "data")]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())["registry"]

    def everything(url: str) -> list[object]:
        paths = (
            "/schemas?deleted=true",
            "/config/s",
            "/mode/:.c:",
            "/schemas/ids/1?subject=:.c:",
            "/subjects?deleted=true",
        )
        return [ask(url, "GET", path) for path in paths]

    process, url = start()
    try:
        register(url, "s", INT, metadata={"properties": {"a": "b"}})
        register(url, ":.c:o", '{"type":"array","items":"R"}', references=[{"name": "R", "subject": "s", "version": 1}])
        register(url, ":.c:r", INT)
        register(url, "s", WITH_DEFAULT)
        ask(url, "PUT", "/config/s", {"compatibility": "FULL"})
        ask(url, "PUT", "/config/t", {"compatibility": "FULL"})
        ask(url, "DELETE", "/config/t")
        ask(url, "PUT", "/mode/:.c:", {"mode": "READONLY"})
        ask(url, "DELETE", "/subjects/s/versions/1")
        ask(url, "DELETE", "/subjects/s/versions/1?permanent=true")
        before = everything(url)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=20)
        process, url = start()
        assert everything(url) == before
        assert code(ask(url, "GET", "/config/t")) == (404, 40408)
        assert register(url, "u", '"long"')[1]["id"] == 3
    finally:
        process.kill()
        process.communicate(timeout=20)


def test_the_highest_id_is_not_given_again_after_a_restart(tmp_path: Path) -> None:
    """Records may have it still."""
    with SandboxThread(registry=True, data=tmp_path / "data") as sandbox:
        url = sandbox.registry_url
        register(url, "s", INT)
        register(url, "t", '"long"')
        ask(url, "DELETE", "/subjects/t")
        assert ask(url, "DELETE", "/subjects/t?permanent=true") == (200, [1])
    with SandboxThread(registry=True, data=tmp_path / "data") as sandbox:
        url = sandbox.registry_url
        assert code(ask(url, "GET", "/schemas/ids/2")) == (404, 40403)
        assert register(url, "u", '"string"')[1]["id"] == 3


def test_S6_a_schema_that_java_refuses_is_refused(url: str) -> None:
    fields = '[{"name":"a","type":"string","default":null}]'
    status, answer = register(url, "bad", f'{{"type":"record","name":"R","fields":{fields}}}')
    assert (status, answer["error_code"]) == (422, 42201)
    assert "the default of the field a of R, null, is not of the type string" in answer["message"]
    twice = '{"type":"enum","name":"E","symbols":["A","A"]}'
    assert code(register(url, "bad", twice)) == (422, 42201)
    assert ask(url, "GET", "/subjects")[1] == []
