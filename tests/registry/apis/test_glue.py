"""`kind = glue` against moto's server, which checks signatures too (glue_server.py adds what it lacks), and by answers
as AWS gives them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen
from uuid import UUID

import pytest
from botocore.session import Session

from kcli.registry.apis import glue
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.ports import free_port
from tests.programs import Result
from tests.registry.commands import Commands
from tests.registry.scripted import Asked, Scripted, Step, raw

KEY, SECRET = "AKIAOFTHETESTS", "sesame-open-sesame"
GLUE = {"KCLI_SCHEMA_REGISTRY_KIND": "glue", "KCLI_SCHEMA_REGISTRY_GLUE_REGION": "eu-west-1"}
LOGIN = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
START_LIMIT = 60.0  # seconds


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """The address of moto's server."""
    pytest.importorskip("moto", reason="pip install --group dev")
    port = free_port()
    words = [sys.executable, "-m", "tests.registry.apis.glue_server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + START_LIMIT
    while True:
        try:
            urlopen(f"{url}/moto-api/data.json", timeout=5).close()
            break
        except URLError:
            assert process.poll() is None, "moto's server ended"
            assert time.monotonic() < until, "moto's server did not come up"
            time.sleep(0.1)
    yield url
    process.kill()
    process.wait(30)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials of the environment, and of nowhere else."""
    for name, value in {**GLUE, **LOGIN, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def commands(moto: str, registry: None, environment: None, tmp_path: Path) -> Commands:
    return Commands(moto, tmp_path, "glue")


Names = Callable[[str], str]


def test_a_schema_is_created_a_version_registered_and_both_found(commands: Commands, subject: Names) -> None:
    name = subject("orders")
    first, second = commands.avro("1.avsc", "id:long"), commands.avro("2.avsc", "id:long", "note:string=")
    (row,) = commands.rows("register", name, first, "--execute")
    assert (row["result"], row["version"], row["id"]) == ("registered", 1, None)
    (row,) = commands.rows("register", name, first, "--execute")
    assert (row["result"], row["version"]) == ("known", 1)
    done = commands.run("register", name, second, "--execute")
    (latest,) = commands.rows("get", name)
    assert f"{name}: registered with UUID {latest['guid']}" in done.err
    assert (latest["subject"], latest["version"], latest["type"]) == (name, 2, "AVRO")
    for word in (latest["guid"], f"{name}@2"):
        assert commands.run("get", word).out == commands.run("get", name).out
    assert json.loads(commands.run("get", f"{name}@1").out) == json.loads(Path(first).read_text())


def test_levels_and_the_check(commands: Commands, subject: Names) -> None:
    """Glue compares only when it registers; moto never does. kcli compares Avro by the level that Glue has."""
    name = subject("orders")
    commands.run("register", name, commands.avro("1.avsc", "id:long"), "--execute")
    bad = commands.avro("bad.avsc", "other:long")
    assert b"BACKWARD" in commands.run("compat", name).out
    refused = commands.run("check", name, bad, code=3)
    assert b"READER_FIELD_MISSING_DEFAULT_VALUE" in refused.out
    commands.run("register", name, bad, "--execute", code=1)
    commands.run("compat", name, "--set", "none", "--execute")
    commands.run("check", name, bad)


def test_what_is_not_there(commands: Commands, subject: Names) -> None:
    name = subject("orders")
    commands.run("register", name, commands.avro("1.avsc", "id:long"), "--execute")
    for word, says in (
        (subject("nix"), "AWS Glue has none: Schema is not found"), (f"{name}@9", "Schema version is not found"),
        ("17", "AWS Glue has UUIDs and no ids"), (str(UUID(int=1)), "AWS Glue has none"),
    ):  # fmt: skip
        assert says in commands.run("get", word, code=1).err


def test_records_are_written_and_read_by_uuid(commands: Commands, subject: Names) -> None:
    name = subject("orders")
    commands.run("register", name, commands.avro("1.avsc", "id:long"), "--execute")
    (row,) = commands.rows("get", name)
    by = ("--schema-registry", commands.url)
    with SandboxThread(topics={"orders": 1, "copy": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "orders", "--value-schema", name, *by, stdin=b'{"id":7}')
        (line,) = shell.ok("consume", "orders", "-e", "--envelope").splitlines()
        stored = b"\3\0" + UUID(row["guid"]).bytes + b"\x0e"
        assert json.loads(line)["value"] == {"base64": b64encode(stored).decode()}
        assert shell.ok("consume", "orders", "-e", *by, "--where", "value.id == 7") == b'{"id":7}\n'
        decoded = shell.ok("consume", "orders", "-e", "-J", *by)
        shell.ok("produce", "copy", "--input", "json", "--value-schema", "from-record", *by, stdin=decoded)
        (copied,) = shell.ok("consume", "copy", "-e", "--envelope").splitlines()
        assert json.loads(copied)["value"] == json.loads(line)["value"]
        for words, says in (
            (["--value-schema", name, "--schema-in", "header"], b"works only with Confluent's registry; omit it"),
        ):
            wrong = shell("produce", "orders", *words, *by, stdin=b'{"id":7}')
            assert (wrong.returncode, says in wrong.stderr) == (2, True)


def three(commands: Commands, name: str) -> list[str]:
    """A subject with three versions; their files."""
    texts = [("id:long",), ("id:long", "note:string="), ("id:long", "note:string=", "more:int=0")]
    files = [commands.avro(f"{number}.avsc", *fields) for number, fields in enumerate(texts, 1)]
    for file in files:
        commands.run("register", name, file, "--execute")
    return files


def test_a_deletion_is_for_good(commands: Commands, subject: Names) -> None:
    """Glue has no soft deletion; a version is gone at once, and the first one only with its subject."""
    name = subject("orders")
    three(commands, name)
    refused = commands.run("delete", name, "--execute", code=2)
    assert "does not support soft deletion; add --permanent to delete for good" in refused.err
    rows = commands.rows("delete", name, "--permanent")
    assert [(row["version"], row["result"]) for row in rows] == [(number, "would delete") for number in (1, 2, 3)]
    assert [row["version"] for row in commands.rows("versions", name)] == [1, 2, 3]
    (row,) = commands.rows("delete", f"{name}@3", "--permanent", "--execute")
    assert (row["version"], row["result"]) == (3, "deleted")
    assert [row["version"] for row in commands.rows("versions", name)] == [1, 2]
    first = commands.run("delete", f"{name}@1", "--permanent", "--execute", code=1)
    assert "the first version is deleted with its schema only" in first.err
    done = commands.run("delete", name, "--permanent", "--execute")
    assert "2 versions deleted" in done.err
    assert "AWS Glue has none" in commands.run("get", name, code=1).err
    assert "AWS Glue has none" in commands.run("delete", name, "--permanent", "--execute", code=1).err


def test_what_was_deleted_is_registered_again_under_other_uuids(commands: Commands, subject: Names) -> None:
    name = subject("orders")
    files = three(commands, name)
    commands.run("compat", name, "--set", "full_transitive", "--execute")
    old = commands.rows("get", f"{name}@2")[0]["guid"]
    done = commands.run("delete", name, "--permanent", "--execute")
    (line,) = (line for line in done.err.splitlines() if "to undo this" in line)
    commands.run(*line.partition("this: kcli ")[2].split())
    assert [row["version"] for row in commands.rows("versions", name)] == [1, 2, 3]
    for number, file in enumerate(files, 1):
        assert json.loads(commands.run("get", f"{name}@{number}").out) == json.loads(Path(file).read_text())
    assert commands.rows("get", f"{name}@2")[0]["guid"] != old
    assert b"FULL_TRANSITIVE" in commands.run("compat", name).out


VISITS = (
    'syntax = "proto3"; package shop; message Visit {int32 id = 1; message Page {string name = 1;}} message Left {}'
)


def test_protobuf_is_written_with_its_number_and_read_back(commands: Commands, subject: Names) -> None:
    """Of all messages, sorted by their full names: shop.Left, shop.Visit, shop.Visit.Page."""
    name = subject("visits")
    commands.run("register", name, commands.file("visits.proto", VISITS), "--execute")
    (row,) = commands.rows("get", name)
    by, front = ("--schema-registry", commands.url), b"\3\0" + UUID(row["guid"]).bytes
    with SandboxThread(topics={"visits": 1, "copy": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        for message, text in (("Visit", b'{"id":7}'), ("shop.Visit.Page", b'{"name":"in"}'), ("shop.Left", b"{}")):
            shell.ok("produce", "visits", "--value-schema", f"{name}#{message}", *by, stdin=text)
        raw = [json.loads(line)["value"] for line in shell.ok("consume", "visits", "-e", "--envelope").splitlines()]
        stored = [front + b"\1\x08\7", front + b"\2\x0a\2in", front + b"\0"]
        assert raw == [{"base64": b64encode(one).decode()} for one in stored]
        decoded = shell.ok("consume", "visits", "-e", "-J", *by)
        assert [json.loads(line)["value"] for line in decoded.splitlines()] == [{"id": 7}, {"name": "in"}, {}]
        shell.ok("produce", "copy", "--input", "json", "--value-schema", "from-record", *by, stdin=decoded)
        assert [
            json.loads(line)["value"] for line in shell.ok("consume", "copy", "-e", "--envelope").splitlines()
        ] == raw


def test_a_file_is_stored_under_the_uuid_of_its_latest_version(commands: Commands, subject: Names) -> None:
    topic = subject("orders")
    first, second = commands.avro("1.avsc", "id:long"), commands.avro("2.avsc", "id:long", "note:string=")
    by = ("--schema-registry", commands.url)
    with SandboxThread(topics={topic: 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        for path, more in ((first, ["--register"]), (first, []), (second, ["--register"])):
            shell.ok("produce", topic, "--value-schema", f"file:{path}", *more, *by, stdin=b'{"id":7}')
        wrong = shell("produce", topic, "--value-schema", f"file:{first}", *by, stdin=b'{"id":7}')
        assert (wrong.returncode, b"differs from the file" in wrong.stderr) == (2, True)
        ids = [UUID(commands.rows("get", f"{topic}-value@{version}")[0]["guid"]).bytes for version in (1, 1, 2)]
        raw = [json.loads(line)["value"] for line in shell.ok("consume", topic, "-e", "--envelope").splitlines()]
        payloads = [b"\x0e", b"\x0e", b"\x0e\0"]
        stored = [b"\3\0" + id + payload for id, payload in zip(ids, payloads, strict=True)]
        assert raw == [{"base64": b64encode(one).decode()} for one in stored]


# -- credentials -------------------------------------------------------------------------------------------------------


def refused(name: str, message: str = "no", status: int = 400) -> bytes:
    return raw(json.dumps({"__type": name, "Message": message}).encode(), status)


def ask(server: Scripted, tmp_path: Path, *words: str, code: int = 0, env: dict[str, str] | None = None) -> Result:
    done = Commands(server.url, tmp_path).run(*words, code=code, env=env)
    assert SECRET not in done.err
    return done


def test_each_request_is_signed_and_the_secret_is_not_in_it(environment: None, tmp_path: Path) -> None:
    with Scripted(answer_of(version())) as server:
        ask(server, tmp_path, "get", "orders", env={"AWS_SESSION_TOKEN": "a-session-token"})
        (asked,) = server.asked
    signature = asked.headers["authorization"]
    assert signature.startswith(f"AWS4-HMAC-SHA256 Credential={KEY}/")
    assert "/eu-west-1/glue/aws4_request, SignedHeaders=content-type;host;" in signature
    assert asked.headers["x-amz-target"] == "AWSGlue.GetSchemaVersion"
    assert asked.headers["x-amz-security-token"] == "a-session-token"
    assert SECRET not in str(asked)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (refused("UnrecognizedClientException"), "refused the AWS access key AKIAOFTHETESTS (env)"),
        (refused("com.amazon#InvalidSignatureException"), "refused the AWS access key AKIAOFTHETESTS (env)"),
        (refused("ExpiredTokenException"), "refused the AWS access key AKIAOFTHETESTS (env)"),
        (refused("AccessDeniedException"), "does not allow it to the AWS access key AKIAOFTHETESTS (env)"),
        (refused("ThrottlingException"), "ThrottlingException: no"),
        (raw(b"<html>", 503), "HTTP 503"),
    ],
)
def test_what_is_refused_ends_with_5(answer: bytes, says: str, environment: None, tmp_path: Path) -> None:
    with Scripted(answer) as server:
        assert says in ask(server, tmp_path, "get", "orders", code=5).err


def check_signatures(url: str, after: str) -> None:
    """Have moto check signatures and rights, after so many requests."""
    ask = Request(f"{url}/moto-api/reset-auth", after.encode(), {"Content-Type": "text/plain"})
    urlopen(ask, timeout=20).close()


def user_of(iam: Any, name: str) -> dict[str, str]:
    """The credentials of a new user, who may read."""
    iam.create_user(UserName=name)
    allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "glue:Get*", "Resource": "*"}]}
    iam.put_user_policy(UserName=name, PolicyName="reads", PolicyDocument=json.dumps(allowed))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


def test_a_signature_of_another_secret_is_refused(commands: Commands, subject: Names) -> None:
    """By moto, which signs the same request with the secret that it knows."""
    name = subject("orders")
    commands.run("register", name, commands.avro("1.avsc", "id:long"), "--execute")
    made = Session()
    made.set_credentials(KEY, SECRET)
    iam = made.create_client("iam", region_name="us-east-1", endpoint_url=commands.url)
    with closing(iam):
        right = user_of(iam, name)
    wrong = {**right, "AWS_SECRET_ACCESS_KEY": "another-secret-of-tests"}
    check_signatures(commands.url, after="0")
    try:
        commands.run("get", name, env=right)
        refused = commands.run("get", name, env=wrong, code=5)
        assert f"does not allow it to the AWS access key {right['AWS_ACCESS_KEY_ID']} (env)" in refused.err
        assert "SignatureDoesNotMatch" in refused.err
        denied = commands.run("compat", name, "--set", "full", "--execute", env=right, code=5)
        assert f"does not allow it to the AWS access key {right['AWS_ACCESS_KEY_ID']} (env)" in denied.err
    finally:
        check_signatures(commands.url, after="inf")


def test_without_credentials(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LOGIN:
        monkeypatch.delenv(name)
    with Scripted(answer_of(version())) as server:
        assert "no AWS credentials: set AWS_ACCESS_KEY_ID" in ask(server, tmp_path, "get", "o", code=5).err
        assert server.asked == []


def test_without_botocore(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with Scripted(answer_of(version())) as server:
        done = ask(server, tmp_path, "get", "orders", code=2)
    assert done.err == "kcli: requests to AWS Glue are signed by botocore: pip install 'kcli-kafka[aws]'\n"


# -- what moto does not have -------------------------------------------------------------------------------------------

GUID = "b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63"
ARN = "arn:aws:glue:eu-west-1:123456789012:schema/default-registry"
NOTE = '{"type":"record","name":"Note","fields":[{"name":"id","type":"int"}]}'


def version(number: int = 1, **changed: object) -> dict[str, object]:
    """As GetSchemaVersion answers."""
    return {
        "SchemaVersionId": GUID, "SchemaDefinition": NOTE, "DataFormat": "AVRO", "SchemaArn": f"{ARN}/orders",
        "VersionNumber": number, "Status": "AVAILABLE", "CreatedTime": "2026-11-25T20:00:00.000Z", **changed,
    }  # fmt: skip


def answer_of(document: object) -> bytes:
    return raw(json.dumps(document).encode(), Content_Type="application/x-amz-json-1.1")


def replying(**answers: Any) -> Callable[[Asked], Step | None]:
    """By the operation; a list is its pages."""

    def reply(asked: Asked) -> Step | None:
        found = answers[asked.headers["x-amz-target"].removeprefix("AWSGlue.")]
        given = json.loads(asked.body)
        if isinstance(found, list):
            page = int(given.get("NextToken", "0"))
            more = {"NextToken": str(page + 1)} if page + 1 < len(found) else {}
            return answer_of({"Schemas": found[page], **more})
        made = found(given) if callable(found) else found
        return made if isinstance(made, bytes) else answer_of(made)

    return reply


GONE = refused("EntityNotFoundException")


def schemas(*names: str) -> list[dict[str, str]]:
    return [{"RegistryName": "default-registry", "SchemaName": name, "SchemaArn": f"{ARN}/{name}"} for name in names]


def versions(*numbers: int, status: str = "AVAILABLE") -> list[dict[str, object]]:
    return [{"SchemaArn": f"{ARN}/orders", "VersionNumber": number, "Status": status} for number in numbers]


def test_lists_are_read_page_by_page(environment: None, tmp_path: Path) -> None:
    with Scripted() as server:
        server.route = replying(
            ListSchemas=[schemas("orders", "visits"), schemas("stock")],
            GetSchemaVersion=lambda given: version(SchemaArn=f"{ARN}/{given['SchemaId']['SchemaName']}"),
        )
        rows = Commands(server.url, tmp_path).rows("list")
        assert [(row["subject"], row["version"], row["type"], row["id"]) for row in rows] == [
            (name, 1, "AVRO", None) for name in ("orders", "stock", "visits")
        ]
        assert "did you mean orders" in ask(server, tmp_path, "list", "order", code=1).err


def test_versions_that_are_not_available_are_none(environment: None, tmp_path: Path) -> None:
    texts = {2: NOTE, 1: NOTE.replace("id", "old")}
    with Scripted() as server:
        server.route = replying(
            ListSchemaVersions=[versions(3, status="FAILURE"), versions(2), versions(1)],
            GetSchema={"Compatibility": "FULL_ALL"},
            GetSchemaVersion=lambda given: version(
                given["SchemaVersionNumber"]["VersionNumber"],
                SchemaDefinition=texts[given["SchemaVersionNumber"]["VersionNumber"]],
            ),
        )
        commands = Commands(server.url, tmp_path)
        assert [row["version"] for row in commands.rows("versions", "orders")] == [1, 2]
        checked = commands.run("check", "orders", commands.file("n.avsc", NOTE), code=3)
        assert "(level FULL_TRANSITIVE)" in checked.err
        assert "kcli does not support this request for AWS Glue" in commands.run("mode", "orders", code=1).err


@pytest.mark.parametrize(("status", "code"), [("AVAILABLE", 0), ("FAILURE", 1)])
def test_a_new_version_is_waited_for(status: str, code: int, environment: None, tmp_path: Path) -> None:
    asked = iter(["PENDING", status, status])
    with Scripted() as server:
        server.route = replying(
            GetSchemaByDefinition=refused("EntityNotFoundException"),
            GetSchema=refused("EntityNotFoundException"),
            RegisterSchemaVersion={"SchemaVersionId": GUID, "VersionNumber": 4, "Status": "PENDING"},
            GetSchemaVersion=lambda _: version(4, Status=next(asked)),
        )
        commands = Commands(server.url, tmp_path)
        done = commands.run("register", "orders", commands.file("n.avsc", NOTE), "--execute", code=code)
    assert (f"registered with UUID {GUID}" in done.err) == (code == 0)
    assert ("(status FAILURE)" in done.err) == (code == 1)


def test_a_version_that_is_not_deleted_has_its_reason(environment: None, tmp_path: Path) -> None:
    details = {"ErrorCode": "InvalidInputException", "ErrorMessage": "FULL_ALL needs it"}
    with Scripted() as server:
        server.route = replying(
            GetSchemaVersion=version(2), DeleteSchemaVersions={"SchemaVersionErrors": [{"ErrorDetails": details}]}
        )
        done = ask(server, tmp_path, "delete", "orders@2", "--permanent", "--no-undo", "--execute", code=1)
    assert "orders version 2: AWS Glue does not delete it: InvalidInputException: FULL_ALL needs it" in done.err


def test_a_deletion_is_waited_for(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS answers at once and deletes later."""
    monkeypatch.setattr(glue, "PAUSE", 0.01)
    left = iter([3, 2, 1, 0])
    with Scripted() as server:
        server.route = replying(
            ListSchemaVersions={"Schemas": versions(1)},
            GetSchemaVersion=version(),
            DeleteSchema={"SchemaArn": f"{ARN}/orders", "SchemaName": "orders", "Status": "DELETING"},
            GetSchema=lambda _: {"SchemaStatus": "DELETING", "Compatibility": "NONE"} if next(left) else GONE,
        )
        words = ("delete", "orders", "--permanent", "--no-undo", "--execute")
        assert "1 version deleted" in ask(server, tmp_path, *words).err
        assert next(left, None) is None
        monkeypatch.setattr(glue, "TRIES", 2)
        server.route = replying(
            ListSchemaVersions={"Schemas": versions(1)}, GetSchemaVersion=version(),
            DeleteSchema={"SchemaName": "orders"}, GetSchema={"SchemaStatus": "DELETING", "Compatibility": "NONE"},
        )  # fmt: skip
        assert "AWS Glue began to delete it" in ask(server, tmp_path, *words, code=1).err


@pytest.mark.parametrize(
    "document",
    [
        [], {}, version(SchemaDefinition=1), version(DataFormat="XML"), version(VersionNumber="1"),
        version(SchemaDefinition="\ud800"), version(SchemaVersionId=None),
    ],
)  # fmt: skip
def test_answers_of_another_form(document: object, environment: None, tmp_path: Path) -> None:
    with Scripted(answer_of(document)) as server:
        done = ask(server, tmp_path, "get", "orders", code=1)
    assert "unexpected response to GetSchemaVersion" in done.err


@pytest.mark.parametrize("guard", ["read_only", "protected"])
def test_a_guarded_profile(guard: str, environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "kcli").mkdir()
    (tmp_path / "kcli" / "config.toml").write_text(f'[profiles.p]\nbootstrap = "b:1"\n{guard} = true\n')
    with Scripted() as server:
        server.route = replying(GetSchema={"Compatibility": "NONE"}, GetSchemaVersion=version())
        ask(server, tmp_path, "get", "orders", "--profile", "p")
        done = ask(server, tmp_path, "compat", "orders", "--set", "full", "--execute", "--profile", "p", code=2)
        assert f"refused by {guard.replace('_', '-')} profile p" in done.err
        server.route = replying(ListSchemaVersions={"Schemas": versions(1)}, GetSchemaVersion=version())
        words = ("delete", "orders", "--permanent", "--no-undo", "--execute")
        done = ask(server, tmp_path, *words, "--profile", "p", code=2)
        assert f"refused by {guard.replace('_', '-')} profile p" in done.err
        changes = ("Update", "Delete")
        assert not any(word in asked.headers["x-amz-target"] for asked in server.asked for word in changes)
