"""`produce` of plain JSON as Avro: by a folder of schemas, by a file, and by a registry over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

NOTE = (
    '{"type":"record","name":"N","fields":[{"name":"id","type":"int"},{"name":"text","type":"string","default":"-"}]}'
)
HI = b'{"id":7,"text":"hi"}'


@pytest.fixture
def folder(tmp_path: Path) -> str:
    subject = tmp_path / "subjects" / "notes-value"
    subject.mkdir(parents=True)
    (subject / "1.avsc").write_text(NOTE)
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "7.avsc").write_text(NOTE)
    (tmp_path / "ids" / "8.avsc").write_text('"string"')
    return f"file:{tmp_path}"


def stored(kcli: Shell, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    from base64 import b64decode

    def bytes_of(found: object) -> bytes | None:
        if isinstance(found, dict):
            return b64decode(found["base64"])
        return None if found is None else str(found).encode()

    rows = [json.loads(line) for line in kcli.ok("consume", topic, "-e", "-J").splitlines()]
    return [(bytes_of(row["key"]), bytes_of(row["value"])) for row in rows]


def test_lines_of_json_are_stored_as_avro_and_read_back(kcli: Shell, folder: str) -> None:
    name = kcli.topic(1)
    by = ["--schema-registry", folder, "--value-schema", "id:7"]
    kcli.ok("produce", name, *by, stdin=HI + b'\n{"id": 8}\n')
    assert stored(kcli, name) == [(None, b"\0\0\0\0\7\x0e\4hi"), (None, b"\0\0\0\0\7\x10\2-")]
    assert kcli.ok("consume", name, "-e", "--schema-registry", folder) == HI + b'\n{"id":8,"text":"-"}\n'


def test_keys_tombstones_and_envelopes(kcli: Shell, folder: str) -> None:
    by = ["--schema-registry", folder, "--value-schema", "id:7", "--key-schema", "id:8"]
    keyed = b"\0\0\0\0\x08\2k"
    for words, given in (
        (["-K", ":"], b"k:" + HI),
        (["-k", "k"], HI),
        (["-k", "k", "--value", HI.decode()], b""),
        (["--input", "json"], json.dumps({"key": '"k"', "value": HI.decode()}).encode()),
        (["--input", "json-values", "-k", "k"], b"[" + HI + b"]"),
        (["-f", "%k %s"], b"k " + HI),
    ):
        name = kcli.topic(1)
        kcli.ok("produce", name, *by, *words, stdin=given + b"\n")
        assert stored(kcli, name) == [(keyed, b"\0\0\0\0\7\x0e\4hi")], words
    name = kcli.topic(1)
    kcli.ok("produce", name, *by, "--tombstone", "k")
    kcli.ok("produce", name, *by, "-k", "k", "-Z", stdin=b"\n")
    assert stored(kcli, name) == [(keyed, None)] * 2


def test_a_file_alone_writes_bare_payloads(kcli: Shell, folder: str) -> None:
    name = kcli.topic(1)
    spec = ["--value-schema", f"{folder}/ids/7.avsc"]
    kcli.ok("produce", name, *spec, stdin=HI)
    assert stored(kcli, name) == [(None, b"\x0e\4hi")]
    assert kcli.ok("consume", name, "-e", *spec) == HI + b"\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"id":"x"}', 'input line 2: id: "x" is not an int'),
        (b'{"idd":1}', "input line 2: N has the field id, which is missing"),
        (b"{", "input line 2: is not JSON"),
        (b'{"id":1,"txet":"x"}', "input line 2: N has no field txet; did you mean text?"),
    ],
)
def test_a_value_that_does_not_fit_says_the_line_and_the_field(
    kcli: Shell, folder: str, line: bytes, says: str
) -> None:
    name = kcli.topic(1)
    by = ["--schema-registry", folder, "--value-schema", "id:7"]
    done = kcli("produce", name, *by, stdin=HI + b"\n" + line + b"\n")
    assert done.returncode == 1
    assert says in done.stderr.decode()
    skipped = kcli("produce", name, *by, "--on-error", "skip", stdin=line + b"\n" + HI + b"\n")
    assert skipped.returncode == 1
    assert len(stored(kcli, name)) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--schema-registry FOLDER", "need --value-schema or --key-schema"),
        ("--value-schema topic", "no registry is named"),
        ("--value-schema FOLDER/ids/7.avsc --register", "needs --schema-registry"),
        ("--value-schema FOLDER/ids/7.avsc --value-format msgpack", "take one"),
    ],
)
def test_lines_that_make_no_sense(kcli: Shell, folder: str, words: str, says: str) -> None:
    done = kcli("produce", "t", *words.replace("FOLDER", folder).split())
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert says in done.stderr.decode()


def test_a_schema_that_is_not_there_sends_nothing(kcli: Shell, folder: str) -> None:
    done = kcli("produce", kcli.topic(1), "--schema-registry", folder, "--value-schema", "id:9", stdin=HI)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
