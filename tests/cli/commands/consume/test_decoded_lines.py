"""Decoded lines of -J, `produce --value-schema from-record` and the schema tokens of -f."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from kcli.sandbox.thread import SandboxThread
from kcli.serde.schemas import decoded_batch
from kcli.serde.schemas.payloads import AS_IT_IS
from tests.cli.conftest import Shell

ORDER = '{"type":"record","name":"O","fields":[{"name":"id","type":"long"},{"name":"half","type":"float"},%s]}'
ORDER %= '{"name":"tags","type":{"type":"map","values":"int"}},{"name":"raw","type":["null","bytes"]}'
PROTO = (
    'syntax = "proto3"; package s; message A { int32 x = 1; } message B { string y = 1; message C { int32 z = 1; } }'
)
VALUE = '{"id":9007199254740993,"half":0.1,"tags":{"a":1},"raw":{"base64":"AAE="}}'


@pytest.fixture
def ours() -> Iterator[SandboxThread]:
    with SandboxThread(topics={}, registry=True) as sandbox:
        yield sandbox


@pytest.fixture
def shell(ours: SandboxThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """With the schemas 1 (Avro, of values), 2 (Protobuf) and 3 (Avro, of keys)."""
    monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_URL", ours.registry_url)
    shell = Shell(ours.bootstrap)
    for subject, name, text in (
        ("t-value", "o.avsc", ORDER),
        ("p-value", "p.proto", PROTO),
        ("t-key", "k.avsc", '"string"'),
    ):
        (tmp_path / name).write_text(text)
        shell.ok("registry", "register", subject, str(tmp_path / name), "-q", "--execute")
    return shell


def envelopes(shell: Shell, topic: str, *words: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in shell.ok("consume", topic, "-e", "-q", *(words or ("--envelope",))).splitlines()
    ]


def stored(shell: Shell, topic: str) -> list[tuple[Any, ...]]:
    """Keys, values and headers as they are stored."""
    return [(row["key"], row["value"], row["headers"]) for row in envelopes(shell, topic)]


def test_what_was_decoded_is_stored_again_byte_for_byte(shell: Shell) -> None:
    topic, copy = shell.topic(1), shell.topic(1)
    for where in ("frame", "header"):
        by = ["--schema-in", where]
        shell.ok(
            "produce",
            topic,
            "-K",
            "|",
            "--key-schema",
            "t-key",
            "--value-schema",
            "t-value",
            *by,
            stdin=f"k|{VALUE}".encode(),
        )
        for message, value in (("A", '{"x":5}'), ("B", '{"y":"é\\n"}'), ("B.C", '{"z":-1}')):
            spec = f"id:2#s.{message}"
            shell.ok("produce", topic, "--value-schema", spec, *by, "-H", "h=1", "--value", value)
    shell.ok("produce", topic, "--value", "plain", "-k", "k")
    shell.ok("produce", topic, "--tombstone", "k")
    shell.ok("produce", topic, "--whole", stdin=b"\0\0\0\0\1broken")
    rows = envelopes(shell, topic, "-J")
    avro = {"id": 1, "subject": "t-value", "version": 1, "type": "AVRO"}
    assert (rows[0]["key"], rows[0]["value"], rows[0]["value_schema"]) == ("k", json.loads(VALUE), avro)
    assert rows[0]["key_schema"] == {"id": 3, "subject": "t-key", "version": 1, "type": "AVRO"}
    assert (rows[0]["headers"], [name for name, _ in rows[4]["headers"]]) == (
        [],
        ["__key_schema_id", "__value_schema_id"],
    )
    messages = [row.get("value_schema", {}).get("message") for row in rows]
    assert messages == [None, "s.A", "s.B", "s.B.C", None, "s.A", "s.B", "s.B.C", None, None, None]
    assert [(row["key"], row["value"]) for row in rows[8:]] == [("k", "plain"), ("k", None), (None, "\0\0\0\0\1broken")]
    done = shell("consume", topic, "-e", "-J")
    shell.ok("produce", copy, "--input", "json", "--value-schema", "from-record", stdin=done.stdout)
    assert stored(shell, copy) == stored(shell, topic)


@pytest.mark.parametrize("more", [(), ("--share-group", "g", "--from-beginning")])
def test_a_named_schema_and_a_format_are_decoded_for_j(shell: Shell, tmp_path: Path, more: tuple[str, ...]) -> None:
    """And a value that is JSON already appears as JSON; `--envelope` has what is stored."""
    topic = shell.topic(1)
    shell.ok("produce", topic, "--value-schema", "t-value", "--value", VALUE)
    shell.ok("produce", topic, "--whole", "-k", "k", stdin=b"\x82\xa1a\x01\xa1b\xa1x")
    shell.ok("produce", topic, "--value", '{"a": [1, 2.50]}')
    got = [row["value"] for row in envelopes(shell, topic, "-J", "--value-schema", f"file:{tmp_path}/o.avsc", *more)]
    assert got == [json.loads(VALUE), {"base64": "gqFhAaFioXg="}, {"a": [1, 2.5]}]
    if not more:
        got = [row["value"] for row in envelopes(shell, topic, "-J", "--value-format", "msgpack", "--raw-value", *more)]
        assert got[1:] == [{"base64": "gqFhAaFioXg="}, {"a": [1, 2.5]}]
        got = [row["value"] for row in envelopes(shell, topic, "-J", "--value-format", "msgpack", *more)]
        assert got[1:] == [{"a": 1, "b": "x"}, {"a": [1, 2.5]}]
        assert [row["value"] for row in envelopes(shell, topic)][2] == '{"a": [1, 2.50]}'


def test_labels_in_columns_are_those_of_row_by_row(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two schemas by frames and headers, nulls, text and a broken payload, in one batch and out of it."""
    topic, by = shell.topic(1), ["--value-schema", "t-value"]
    shell.ok("produce", topic, *by, "--key-schema", "t-key", "-K", "|", stdin=f"k|{VALUE}\n".encode() * 3)
    shell.ok("produce", topic, *by, "--schema-in", "header", stdin=f"{VALUE}\n".encode() * 2)
    shell.ok("produce", topic, "--whole", stdin=b"\0\0\0\0\1broken")
    raw = envelopes(shell, topic)
    mixed = [{**row, "partition": 0} for row in [*raw, {"value": None, "key": "k"}, {"value": "text"}, *raw]]
    other = shell.topic(1)  # one batch of all of them
    shell.ok("produce", other, "--input", "envelope", stdin="\n".join(map(json.dumps, mixed)).encode())
    in_columns = [shell("consume", name, "-e", "-J").stdout for name in (topic, other)]
    assert in_columns[1].count(b'"value_schema"') == 10
    monkeypatch.setattr("kcli.serde.schemas.labels.Labels._shares_one_label", lambda self, kind: kind[0] == AS_IT_IS)
    assert [shell("consume", name, "-e", "-J").stdout for name in (topic, other)] == in_columns


def test_a_batch_names_its_schemas_once_also_if_its_records_are_printed_one_by_one(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = shell.topic(1)
    shell.ok("produce", topic, "--value-schema", "t-value", stdin=f"{VALUE}\n".encode() * 500)
    for words in (["-u"], ["--newest-first", "-n", "500"]):
        with monkeypatch.context() as patched:
            shown = Mock(wraps=decoded_batch._shown)
            patched.setattr(decoded_batch, "_shown", shown)
            assert shell.ok("consume", topic, "-e", "-q", "-J", *words).count(b'"value_schema"') == 500
        assert sum(len(call.args[1]) for call in shown.call_args_list) <= 1000


def test_what_another_form_is_stored_in_means_the_same(shell: Shell) -> None:
    topic, copy = shell.topic(1), shell.topic(1)
    blocks = b"\2\xcd\xcc\xcc\x3d" + b"\1\6\2a\2" + b"\1\6\2b\4" + b"\0" + b"\0"  # a map in two blocks, with sizes
    for payload in (b"\0\0\0\0\1" + blocks, b"\0\0\0\0\2\2\0\x08\5"):  # and indexes that are never written so
        shell.ok("produce", topic, "--whole", stdin=payload)
    done = shell("consume", topic, "-e", "-J")
    shell.ok("produce", copy, "--input", "json", "--value-schema", "from-record", stdin=done.stdout)
    lines = shell.ok("consume", topic, "-e")
    assert shell.ok("consume", copy, "-e") == lines == b'{"id":1,"half":0.1,"tags":{"a":1,"b":2},"raw":null}\n{"x":5}\n'
    assert stored(shell, copy) != stored(shell, topic)


def test_a_guid_in_front_is_a_frame_of_its_own(shell: Shell) -> None:
    topic, copy = shell.topic(1), shell.topic(1)
    shell.ok("produce", topic, "--value-schema", "t-value", "--schema-in", "header", "--value", VALUE)
    ((_, value, headers),) = stored(shell, topic)
    guid, payload = headers[0][1]["base64"], value["base64"]
    from base64 import b64decode

    whole = b64encode(b64decode(guid) + b64decode(payload)).decode()
    shell.ok("produce", copy, "--input", "json", stdin=json.dumps({"value": {"base64": whole}}).encode())
    (row,) = envelopes(shell, copy, "-J")
    assert (row["value_schema"]["id"], row["value_schema"]["frame"]) == (1, {"base64": guid})
    shell.ok("produce", copy, "--input", "json", "--value-schema", "from-record", stdin=json.dumps(row).encode())
    first, second = stored(shell, copy)
    assert first == second


@pytest.mark.parametrize("where", ["frame", "header"])
def test_an_id_is_that_of_the_context_of_its_subject(
    shell: Shell, ours: SandboxThread, tmp_path: Path, where: str
) -> None:
    """The id 1 of another context is another schema than that of the default one."""
    subject, topic, copy = ":.staging:s-value", shell.topic(1), shell.topic(1)
    (tmp_path / "s.avsc").write_text('{"type":"record","name":"S","fields":[{"name":"text","type":"string"}]}')
    shell.ok("registry", "register", subject, str(tmp_path / "s.avsc"), "-q", "--execute")
    by = ["--value-schema", subject]
    into = by
    if where == "frame":
        done = shell("produce", topic, *by, stdin=b'{"text":"hi"}')
        assert (done.returncode, stored(shell, topic)) == (2, [])
        says = f"{subject} is in the context .staging, where consume does not look up the ids of {topic}'s values"
        assert says.encode() in done.stderr
        into = ["--value-schema", "topic", "--value-subject", subject]
        assert " ".join([*into[:3], f"'{subject}'"]).encode() in done.stderr
    shell.ok("produce", topic, *into, "--schema-in", where, stdin=b'{"text":"hi"}')
    lines = shell.ok("consume", topic, "-e", "-q", "-J", *by)
    named = json.loads(lines)["value_schema"]
    assert (named["id"], named["subject"], json.loads(lines)["value"]) == (1, subject, {"text": "hi"})
    shell.ok("produce", copy, "--input", "json", "--value-schema", "from-record", stdin=lines)
    assert stored(shell, copy) == stored(shell, topic)
    if where == "frame":  # S7: a subject says in which context ids are looked up
        assert shell.ok("consume", topic, "-e", "-q", "--value-subject", subject) == b'{"text":"hi"}\n'
    # the same by an address that is one of a context
    inside = ["--schema-registry", f"{ours.registry_url}/contexts/.staging"]
    if where == "frame":
        lines = shell.ok("consume", topic, "-e", "-q", "-J", *inside)
        assert json.loads(lines)["value"] == {"text": "hi"}
        shell.ok("produce", copy, "--input", "json", "--value-schema", "from-record", *inside, stdin=lines)
        assert stored(shell, copy) == stored(shell, topic) * 2


def test_tokens_name_the_schemas_of_a_record(shell: Shell, tmp_path: Path) -> None:
    topic = shell.topic(1)
    shell.ok(
        "produce",
        topic,
        "-K",
        "|",
        "--key-schema",
        "t-key",
        "--value-schema",
        "t-value",
        stdin=f"k|{VALUE}\nk|{VALUE}".encode(),
    )
    shell.ok("produce", topic, "--value", "plain")
    line = "%o %k{schema} %k{schema-id} %s{schema} %s{schema-id}|%s\n"
    shown = f"t-key@1 3 t-value@1 1|{VALUE}"
    assert shell.ok("consume", topic, "-e", "-q", "-f", line).decode().splitlines() == [
        f"0 {shown}",
        f"1 {shown}",
        "2    |plain",
    ]
    assert shell.ok("tail", topic, "-n", "2", "-e", "-q", "-f", line).decode().splitlines() == [
        f"1 {shown}",
        "2    |plain",
    ]
    line = "%k{hex} %s{hex} %s{base64}\n"
    raw = shell.ok("consume", topic, "-e", "-q", "-f", line, "--raw-value")
    assert raw.startswith(b"0000000003026b 0000000001")
    assert shell.ok("consume", topic, "-e", "-q", "-f", line) == raw, "the stored bytes, not the JSON"
    where = ["--where", "value.id > 0", "-o", "1:", "-f", "%s{schema}"]
    assert shell.ok("consume", topic, "-e", "-q", *where) == b"t-value@1"
    file = f"file:{tmp_path}/o.avsc"
    assert (
        shell.ok("consume", topic, "-e", "-q", "-c", "1", "--value-schema", file, "-f", "%s{schema}")
        == file.removeprefix("file:").encode()
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("consume t -e -J --envelope", "cannot be combined"),
        ("consume t -e -f %s{schema} --raw-value", "add --schema-registry URL"),
        ("produce t --value-schema from-record", "add --input json"),
        (
            "produce t --input json --value-schema from-record --key-schema t-key",
            "cannot be combined with another schema",
        ),
        (
            "produce t --input json --value-schema from-record --schema-in header",
            "cannot be combined with another schema",
        ),
        ("produce t --schema-in header", "need --value-schema"),
    ],
)
def test_lines_that_make_no_sense(shell: Shell, line: str, says: str) -> None:
    done = shell(*line.split())
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert says in done.stderr.decode()


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"id": 99}, "schema 99"),
        ({"type": "AVRO"}, 'has neither an "id" nor a "guid"'),
        ({"guid": "x"}, "has an invalid"),
        ({"id": 1, "frame": {"base64": "?"}}, "has an invalid"),
        ({"id": 2, "message": "s.Q"}, "no message s.Q"),
        ({"id": 1}, "half"),
        ([], "is not an object"),
    ],
)
def test_a_schema_that_is_not_used_is_an_error_of_its_line(shell: Shell, schema: object, says: str) -> None:
    good = json.dumps({"value": json.loads(VALUE), "value_schema": {"id": 1}})
    bad = json.dumps({"value": {"id": 1}, "value_schema": schema})
    topic = shell.topic(1)
    done = shell(
        "produce", topic, "--input", "json", "--value-schema", "from-record", stdin=f"{good}\n{bad}\n".encode()
    )
    assert done.returncode == 1
    assert "input line 2: " in done.stderr.decode()
    assert says in done.stderr.decode()
    assert len(stored(shell, topic)) == 1
    unread = shell("produce", topic, "--input", "envelope", stdin=good.encode())
    assert (unread.returncode, b"--input json reads such lines" in unread.stderr) == (1, True)
