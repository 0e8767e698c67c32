"""`produce` of plain JSON as Avro: by a folder of schemas, by a file, and by a registry over HTTP."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

CELPY = find_spec("celpy") is not None or "CI" in os.environ
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

    rows = [json.loads(line) for line in kcli.ok("consume", topic, "-e", "--envelope").splitlines()]
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
        ("--value-schema topic", "no registry is set"),
        ("--value-schema FOLDER/ids/7.avsc --register", "needs --schema-registry"),
        ("--value-schema FOLDER/ids/7.avsc --value-format msgpack", "cannot be combined"),
    ],
)
def test_lines_that_make_no_sense(kcli: Shell, folder: str, words: str, says: str) -> None:
    done = kcli("produce", "t", *words.replace("FOLDER", folder).split())
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert says in done.stderr.decode()


@pytest.mark.parametrize("words", ["--without-rules", "--no-schema-cache", "--avro-json"])
def test_options_about_schemas_need_one(kcli: Shell, words: str) -> None:
    done = kcli("produce", "t", words)
    assert (done.returncode, done.stderr) == (2, f"kcli: {words} requires --value-schema or --key-schema\n".encode())


def test_schemas_are_kept_in_the_cache_folder_unless_an_option_says_otherwise(
    kcli: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.registry.lookup.lasting", lambda _: True)  # else none on this machine is kept
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with SandboxThread(registry=True) as sandbox:
        (tmp_path / "n.avsc").write_text(NOTE)
        by = ["--schema-registry", sandbox.registry_url]
        kcli.ok("registry", "register", "notes-value", str(tmp_path / "n.avsc"), *by, "--execute", "-q")
        line = ["produce", kcli.topic(1), *by, "--value-schema", "id:1"]
        kcli.ok(*line, "--no-schema-cache", stdin=HI)
        assert not (tmp_path / "kcli" / "schemas").exists()
        kcli.ok(*line, stdin=HI)
        assert len(list((tmp_path / "kcli" / "schemas").iterdir())) == 1


def test_a_schema_that_stays_registered_is_named(kcli: Shell, tmp_path: Path) -> None:
    (tmp_path / "key.avsc").write_text('"string"')
    (tmp_path / "value.avsc").write_text(NOTE)
    topic = kcli.topic(1)
    with SandboxThread(registry=True) as sandbox:
        by = ["--schema-registry", sandbox.registry_url, "--register"]
        for kind in ("key", "value"):
            by += [f"--{kind}-schema", f"file:{tmp_path}/{kind}.avsc"]
        kcli.ok("registry", "mode", f"{topic}-value", "--set", "readonly", "--execute", "-q", *by[:2])
        done = kcli("produce", topic, *by, "-k", '"k"', stdin=HI)
        assert done.returncode == 1
        assert f"; the schema of {topic}-key was registered and stays registered\n" in done.stderr.decode()
    assert stored(kcli, topic) == []


def test_a_schema_that_is_not_there_sends_nothing(kcli: Shell, folder: str) -> None:
    done = kcli("produce", kcli.topic(1), "--schema-registry", folder, "--value-schema", "id:9", stdin=HI)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


PROTO = (
    'syntax = "proto3"; import "google/protobuf/timestamp.proto";\n message M { int64 id = 1; string text = 2; '
    "google.protobuf.Timestamp at = 3; message In { int32 x = 1; } } message N { M m = 1; }"
)
AT = b'{"id":"7","text":"hi","at":"2026-11-24T10:00:00Z"}'


@pytest.fixture
def protos(tmp_path: Path) -> str:
    subject = tmp_path / "subjects" / "notes-value"
    subject.mkdir(parents=True)
    (subject / "1.proto").write_text(PROTO)
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "7.proto").write_text(PROTO)
    (tmp_path / "ids" / "8.json").write_text('{"type":"object","properties":{"a":{"type":"integer"}}}')
    return f"file:{tmp_path}"


def test_json_is_stored_as_protobuf_with_the_indexes_of_its_message(kcli: Shell, protos: str) -> None:
    name = kcli.topic(1)
    by = ["--schema-registry", protos, "--value-schema"]
    kcli.ok("produce", name, *by, "id:7", stdin=b'{"id": 7, "text": "hi", "at": "2026-11-24T11:00:00+01:00"}')
    kcli.ok("produce", name, *by, "id:7#N", stdin=b'{"m": {"id": "8"}}')
    kcli.ok("produce", name, *by, "id:7#M.In", stdin=b'{"x": 1}')
    first, second, third = (value for _, value in stored(kcli, name))
    assert first is not None
    assert first.startswith(b"\0\0\0\0\7\0\x08\7\x12\2hi\x1a")
    assert (second, third) == (b"\0\0\0\0\7\2\2\x0a\2\x08\x08", b"\0\0\0\0\7\4\0\0\x08\1")
    shown = AT + b'\n{"m":{"id":"8"}}\n{"x":1}\n'
    assert kcli.ok("consume", name, "-e", "--schema-registry", protos) == shown


def test_a_proto_file_alone_writes_bare_payloads_and_finds_its_imports(kcli: Shell, tmp_path: Path) -> None:
    name = kcli.topic(1)
    (tmp_path / "base.proto").write_text('syntax = "proto3"; package b; message Base { int32 x = 1; }')
    file = tmp_path / "use.proto"
    file.write_text('syntax = "proto3";\nimport "base.proto";\nmessage Use { b.Base base = 1; }')
    kcli.ok("produce", name, "--value-schema", f"file:{file}", stdin=b'{"base": {"x": 5}}')
    assert stored(kcli, name) == [(None, b"\x0a\2\x08\5")]
    assert kcli.ok("consume", name, "-e", "--value-schema", f"file:{file}") == b'{"base":{"x":5}}\n'
    (tmp_path / "base.proto").unlink()
    gone = kcli("produce", name, "--value-schema", f"file:{file}", stdin=b"{}")
    assert (gone.returncode, gone.stderr.count(b"\n")) == (1, 1)
    assert b"b.Base, the type of base, is in none of its files" in gone.stderr


@pytest.mark.parametrize(
    ("spec", "line", "says"),
    [
        ("id:7", b'{"id": "x"}', 'input line 1: id: "x" is not an int64'),
        ("id:7", b'{"idd": 1}', "M has no field idd; did you mean id"),
        ("id:7", b"nix", "input line 1: is not JSON"),
        ("id:7#O", b"{}", "it has no message O"),
        ("id:8", b'{"a": "x"}', 'input line 1: a: "x" is not of type "integer"'),
        ("id:8", b"[1]", 'input line 1: [1] is not of type "object"'),
        ("id:8", b"{", "input line 1: is not JSON"),
    ],
)
def test_protobuf_and_json_that_do_not_fit(kcli: Shell, protos: str, spec: str, line: bytes, says: str) -> None:
    name = kcli.topic(1)
    done = kcli("produce", name, "--schema-registry", protos, "--value-schema", spec, stdin=line + b"\n")
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert says in done.stderr.decode()
    assert stored(kcli, name) == []


def test_values_with_a_json_schema_are_held_against_it_and_stored_as_they_are(kcli: Shell, protos: str) -> None:
    name = kcli.topic(1)
    by = ["--schema-registry", protos]
    kcli.ok("produce", name, *by, "--value-schema", "id:8", stdin=b'{"a": 1 }')
    assert stored(kcli, name) == [(None, b'\0\0\0\0\x08{"a": 1 }')]
    kcli.ok("produce", name, "--whole", stdin=b'\0\0\0\0\x08{"a": "x"}')
    assert kcli.ok("consume", name, "-e", *by) == b'{"a": 1 }\n{"a": "x"}\n'
    done = kcli("consume", name, "-e", *by, "--validate", "--fail-on-undecoded")
    assert done.returncode == 1
    assert done.stdout == b'{"a": 1 }\n\0\0\0\0\x08{"a": "x"}\n'
    assert b'its schema forbids it: a: "x" is not of type "integer"' in done.stderr
    strict = kcli("consume", name, "-e", *by, "--fail-on-invalid")
    assert (strict.returncode, strict.stdout) == (1, done.stdout)
    kcli.ok("produce", name, "--whole", stdin=b"\0\0\0\0\x63cut")
    assert kcli("consume", name, "-o", "2", "-e", *by, "--fail-on-invalid").returncode == 0, "not decoded, not invalid"
    Path(protos.removeprefix("file:"), "ids", "11.json").write_text('{"type": "nonsense"}')
    kcli.ok("produce", name, "--whole", stdin=b"\0\0\0\0\x0b{}")
    unusable = kcli("consume", name, "-o", "3", "-e", *by, "--fail-on-invalid")
    assert unusable.returncode == 1, "a schema that is not used leaves open whether the value is valid"
    assert kcli("consume", name, "-o", "3", "-e", *by).returncode == 0
    for option in ("--fail-on-invalid", "--fail-on-undecoded"):  # no filter asks for the values, and they are read
        counted = kcli("count", name, *by, option)
        assert (counted.returncode, counted.stdout) == (1, b"4\n")
    assert kcli("count", name, "-o", "0:1", *by, "--fail-on-invalid").returncode == 0
    away = kcli("consume", name, "-o", "0:1", "-e", "--schema-registry", "http://127.0.0.1:1", "--fail-on-invalid")
    assert away.returncode == 1, "nobody said what its schema is"


def rule(type: str, /, **more: object) -> str:
    return json.dumps({"ruleSet": {"domainRules": [{"name": "r", "type": type, "mode": "WRITE", **more}]}, "id": 7})


@pytest.mark.parametrize(
    ("meta", "words", "says"),
    [
        (
            rule("CEL"),
            [],
            "notes-value version 1 has the rule r (CEL) for writing, which kcli does not run; --without-rules",
        ),
        (rule("CEL"), ["--without-rules"], ""),
        (rule("CEL", mode="READ"), [], ""),
        (rule("CEL", disabled=True), [], ""),
        (rule("ENCRYPT"), [], "r (ENCRYPT) for writing: kcli does not encrypt, and does not store plain text"),
        (rule("ENCRYPT", mode="WRITEREAD"), ["--without-rules"], "does not store plain text"),
        (rule("ENCRYPT_PAYLOAD"), ["--without-rules"], "does not store plain text"),
    ],
)
@pytest.mark.parametrize("spec", ["notes-value", "FOLDER/ids/7.avsc"])
def test_rules_for_writing_are_refused(
    kcli: Shell, folder: str, meta: str, words: list[str], says: str, spec: str
) -> None:
    """Also where a file is named whose text the subject has."""
    (Path(folder.removeprefix("file:")) / "subjects" / "notes-value" / "1.meta.json").write_text(meta)
    kcli("topics", "create", "notes", "-p", "1", "--if-not-exists")
    before = len(stored(kcli, "notes"))
    by = ["--schema-registry", folder, "--value-schema", spec.replace("FOLDER", folder)]
    done = kcli("produce", "notes", *by, *words, stdin=HI)
    assert done.returncode == (2 if says else 0), done.stderr
    assert done.stderr.count(b"\n") == bool(says)
    assert says in done.stderr.decode()
    assert len(stored(kcli, "notes")) == before + (not says)


@pytest.mark.parametrize("type", ["ENCRYPT", "ENCRYPT_PAYLOAD"])
@pytest.mark.parametrize("kind", ["key", "value"])
def test_nothing_is_registered_under_a_subject_whose_rules_encrypt(
    kcli: Shell, tmp_path: Path, type: str, kind: str
) -> None:
    """A new version inherits the rules: its values would be plain text where readers expect ciphertext."""
    file = tmp_path / "next.avsc"
    file.write_text('{"type":"record","name":"N","fields":[{"name":"id","type":"int"}]}')
    given = {"schema": '"string"', **json.loads(rule(type))}
    del given["id"]
    with SandboxThread(registry=True) as registry:
        subjects = f"{registry.registry_url}/subjects"
        body = json.dumps(given).encode()
        ask = Request(f"{subjects}/notes-{kind}/versions", body, {"Content-Type": "application/json"})
        urlopen(ask, timeout=20).close()
        kcli("topics", "create", "notes", "-p", "1", "--if-not-exists")
        before = stored(kcli, "notes")
        by = ["--schema-registry", registry.registry_url, f"--{kind}-schema", f"file:{file}", "--register"]
        for words in ([], ["--without-rules"]):
            done = kcli("produce", "notes", *by, *words, "-K", "\t", stdin=b'{"id":1}\t{"id":1}')
            assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
            says = f"notes-{kind} version 1 has the rule r ({type}) for writing: kcli does not encrypt"
            assert says in done.stderr.decode()
        with urlopen(f"{subjects}/notes-{kind}/versions", timeout=20) as answer:
            assert json.load(answer) == [1]
        assert stored(kcli, "notes") == before


@pytest.mark.skipif(not CELPY, reason="needs the extra `rules`: pip install cel-python")
@pytest.mark.parametrize("spec", ["notes-value", "FOLDER/ids/7.avsc"])
def test_a_condition_in_cel_refuses_records_one_by_one(kcli: Shell, folder: str, spec: str) -> None:
    by = ["--schema-registry", folder, "--value-schema", spec.replace("FOLDER", folder)]
    short = rule("CEL", kind="CONDITION", expr="size(message.text) < 3", doc="a text is short")
    (Path(folder.removeprefix("file:")) / "subjects" / "notes-value" / "1.meta.json").write_text(short)
    kcli("topics", "create", "notes", "-p", "1", "--if-not-exists")
    before = len(stored(kcli, "notes"))
    lines = HI + b'\n{"id":8,"text":"long"}\n{"id":9,"text":"ho"}\n'
    done = kcli("produce", "notes", *by, "--on-error", "skip", stdin=lines)
    assert done.returncode == 1
    assert b"input line 2: refused by the rule r: a text is short" in done.stderr
    assert [value[-3:] for _, value in stored(kcli, "notes")[before:] if value] == [b"\4hi", b"\4ho"]
    done = kcli("produce", "notes", *by, stdin=b'{"id":8,"text":"long"}')
    assert (done.returncode, b"refused by the rule r" in done.stderr) == (1, True)
    assert kcli("produce", "notes", *by, "--without-rules", stdin=b'{"id":8,"text":"long"}').returncode == 0
    assert len(stored(kcli, "notes")) == before + 3


@pytest.mark.skipif(not CELPY, reason="needs the extra `rules`: pip install cel-python")
def test_records_that_are_stored_back_are_held_against_conditions_too(kcli: Shell, folder: str) -> None:
    short = rule("CEL", kind="CONDITION", expr="size(message.text) < 3")
    (Path(folder.removeprefix("file:")) / "ids" / "7.meta.json").write_text(short)
    name = kcli.topic(1)
    by = ["--schema-registry", folder, "--value-schema", "from-record", "--input", "json"]
    line = b'{"value":{"id":7,"text":"%s"},"value_schema":{"id":7}}\n'
    done = kcli("produce", name, *by, "--on-error", "skip", stdin=line % b"hi" + line % b"long")
    assert done.returncode == 1
    assert b'"value": refused by the rule r: size(message.text) < 3' in done.stderr
    assert len(stored(kcli, name)) == 1


@pytest.mark.skipif(not CELPY, reason="needs the extra `rules`: pip install cel-python")
def test_a_value_that_a_rule_for_reading_changed_is_stored_as_it_was_shown(kcli: Shell, folder: str) -> None:
    ids = Path(folder.removeprefix("file:")) / "ids"
    (ids / "7.avsc").write_text(NOTE.replace('"default":"-"', '"default":"-","confluent:tags":["PII"]'))
    change = rule("CEL_FIELD", kind="TRANSFORM", mode="READ", tags=["PII"], expr="value + '!'")
    (ids / "7.meta.json").write_text(change)
    first, second, third = kcli.topic(1), kcli.topic(1), kcli.topic(1)
    by, back = ["--schema-registry", folder], ["--value-schema", "from-record", "--input", "json"]
    kcli.ok("produce", first, *by, "--value-schema", "id:7", stdin=HI)
    shown = kcli("consume", first, "-e", "-J", *by)
    kcli.ok("produce", second, *by, *back, stdin=shown.stdout)
    assert stored(kcli, second) == [(None, b"\0\0\0\0\7\x0e\6hi!")]
    plain = kcli.ok("consume", first, "-e", "-J", "--without-rules", *by)
    kcli.ok("produce", third, *by, *back, stdin=plain)
    assert stored(kcli, third) == stored(kcli, first)


def test_avros_own_json_goes_both_ways(kcli: Shell, folder: str) -> None:
    fields = [{"name": "b", "type": ["null", "bytes"]}, {"name": "n", "type": ["null", "int"]}]
    (Path(folder.removeprefix("file:")) / "ids" / "9.avsc").write_text(
        json.dumps({"type": "record", "name": "U", "fields": fields})
    )
    (Path(folder.removeprefix("file:")) / "ids" / "10.avsc").write_text('"bytes"')
    by = ["--schema-registry", folder]
    own, name = b'{"b":{"bytes":"\xc3\xbf"},"n":{"int":5}}\n', kcli.topic(1)
    kcli.ok("produce", name, *by, "--value-schema", "id:9", "--avro-json", stdin=own)
    assert stored(kcli, name) == [(None, b"\0\0\0\0\x09\2\2\xff\2\n")]
    assert kcli.ok("consume", name, "-e", *by, "--avro-json") == own
    lines, copy = kcli.ok("consume", name, "-e", *by, "--avro-json", "-J"), kcli.topic(1)
    kcli.ok("produce", copy, *by, "--input", "json", "--value-schema", "from-record", "--avro-json", stdin=lines)
    assert stored(kcli, copy) == stored(kcli, name)
    plain = kcli("produce", name, *by, "--value-schema", "id:9", "--avro-json", stdin=b'{"b":null,"n":5}\n')
    assert (plain.returncode, b"n: 5 does not name its branch" in plain.stderr) == (1, True)
    encode = ["registry", "encode", *by, "--output", "hex", "--avro-json", "--value-schema"]
    assert kcli.ok(*encode, "id:9", stdin=own) == b"00000000090202ff020a\n"
    assert kcli.ok(*encode, "id:10", stdin=b'"\xc3\xbf"\n') == b"000000000aff\n"
    decode = ["registry", "decode", *by, "--input", "hex", "--avro-json"]
    assert kcli.ok(*decode, stdin=b"000000000aff") == b'"\xc3\xbf"\n'


def test_register_puts_the_imports_of_a_file_into_the_registry(kcli: Shell, tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "unit.proto").write_text('syntax = "proto3"; message Unit { string code = 1; }')
    (tmp_path / "money.proto").write_text(
        "syntax = 'proto3'; import 'common/unit.proto'; message Money { int64 cents = 1; Unit unit = 2; }"
    )
    file = tmp_path / "order.proto"
    file.write_text(
        'syntax = "proto3"; /* import "none.proto"; */ import "money.proto"; import "google/protobuf/any.proto";\n'
        "message Order { Money total = 1; }"
    )
    value = b'{"total":{"cents":"7","unit":{"code":"EUR"}}}\n'
    with SandboxThread(registry=True) as registry:
        by = ["--schema-registry", registry.registry_url]
        for name in (kcli.topic(1), kcli.topic(1)):
            kcli.ok("produce", name, *by, "--value-schema", f"file:{file}", "--register", stdin=value)
            assert kcli.ok("consume", name, "-e", *by) == value
            with urlopen(f"{registry.registry_url}/subjects/{name}-value/versions/1") as answer:
                references = json.load(answer)["references"]
            assert references == [{"name": "money.proto", "subject": "money.proto", "version": 1}]
