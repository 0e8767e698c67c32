"""`kind = azure` against answers of the form that Azure's client, azure-schemaregistry, reads. Azure was not run."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.idp import Idp
from tests.registry.commands import Commands
from tests.registry.scripted import Asked, Scripted, Step, answer, raw

ID = "7b4a7f09c964e4aa687fb5de9ef0c63a"
NOTE = '{"type":"record","name":"Note","fields":[{"name":"id","type":"int"}]}'
AVRO = "application/json; serialization=Avro"
PLACE = "/$schemaGroups/shop/schemas/"
SECRET = "sesame-open-sesame"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_KIND", "azure")
    monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_AZURE_GROUP", "shop")


def version(text: str = NOTE, number: str = "1", id: str = ID, media: str = AVRO, status: int = 200) -> bytes:
    return raw(
        text.encode(), status, Schema_Id=id, Schema_Group_Name="shop", Schema_Name="orders", Schema_Version=number,
        Content_Type=media,
    )  # fmt: skip


def missing(name: str = "ItemNotFound", status: int = 404) -> bytes:
    return answer({"error": {"code": name, "message": "The schema was not found."}}, status)


def azure(asked: Asked) -> Step:
    """A group with the schema `orders`, of versions 1 and 2, on two pages."""
    path, _, query = asked.path.partition("?")
    assert "api-version=2022-10" in query
    known = {
        ("GET", f"/$schemaGroups/$schemas/{ID}"): version(),
        ("GET", f"{PLACE}orders/versions/1"): version(),
        ("GET", f"{PLACE}orders/versions/2"): version(number="2"),
        ("POST", f"{PLACE}orders:get-id"): missing() if b"new" in asked.body else version("", status=204),
        ("PUT", f"{PLACE}orders"): version("", number="3", status=204),
    }
    if path == f"{PLACE}orders/versions":
        more = {} if "page=2" in query else {"NextLink": f"{PLACE}orders/versions?api-version=2022-10&page=2"}
        return answer({"Value": [2 if more else 1], **more})
    return known.get((asked.method, path), missing())


def test_schemas_are_found_and_registered(environment: None, tmp_path: Path) -> None:
    with Scripted() as server:
        server.route = azure
        commands = Commands(server.url, tmp_path)
        (row,) = commands.rows("get", "orders")
        assert (row["subject"], row["version"], row["id"], row["guid"], row["type"]) == ("orders", 2, None, ID, "AVRO")
        assert json.loads(commands.run("get", "orders@1").out) == json.loads(NOTE)
        guid = f"{ID[:8]}-{ID[8:12]}-{ID[12:16]}-{ID[16:20]}-{ID[20:]}"
        assert json.loads(commands.run("get", guid).out) == json.loads(NOTE)
        (row,) = commands.rows("register", "orders", commands.file("1.avsc", NOTE), "--execute")
        assert (row["result"], row["version"]) == ("known", 1)
        new = commands.file("2.avsc", NOTE.replace('"id"', '"new"'))
        done = commands.run("register", "orders", new, "--execute")
        assert f"orders: registered with UUID {ID}" in done.err
        put = next(asked for asked in server.asked if asked.method == "PUT")
        assert (put.headers["content-type"], json.loads(put.body)["fields"][0]["name"]) == (AVRO, "new")
        assert "nix version 1: Azure has none" in commands.run("get", "nix@1", code=1).err
        assert "Azure does not list the schemas of a group" in commands.run("list", code=1).err
        assert "only when one is registered" in commands.run("check", "orders", new, code=1).err
        commands.run("check", "orders", new, "--level", "backward", code=3)
        assert "kcli does not support this request for Azure" in commands.run("mode", "orders", code=1).err


def test_values_that_azure_names_by_its_header_are_read(environment: None) -> None:
    header = ["content-type", f"avro/binary+{ID}"]
    rows = [{"value": "\x0e", "headers": [header]}, {"value": {"base64": b64encode(b"\0" * 9).decode()}, "headers": []}]
    with SandboxThread(topics={"orders": 1}) as sandbox, Scripted() as server:
        server.route = azure
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "orders", "--input", "json", stdin="\n".join(map(json.dumps, rows)).encode())
        read = shell("consume", "orders", "-e", "--schema-registry", server.url)
        assert read.stdout.startswith(b'{"id":7}\n\0')
        assert [asked.path.partition("?")[0] for asked in server.asked] == [f"/$schemaGroups/$schemas/{ID}"]


def test_values_are_written_with_the_header_of_azure(environment: None) -> None:
    with Scripted() as server, SandboxThread(topics={"orders": 1}) as sandbox:
        server.route = azure
        shell, by = Shell(sandbox.bootstrap), ("--schema-registry", server.url)
        shell.ok("produce", "orders", "-H", "a=b", "--value-schema", "orders", *by, stdin=b'{"id":7}')
        (line,) = shell.ok("consume", "orders", "-e", "--envelope").splitlines()
        record = json.loads(line)
        assert record["headers"] == [["a", "b"], ["content-type", f"avro/binary+{ID}"]]
        assert record["value"] == "\x0e"
        assert shell.ok("consume", "orders", "-e", *by) == b'{"id":7}\n'
        for words, says in (
            (["--key-schema", "orders"], b"with Avro schemas of values"),
            (["--value-schema", "orders", "--schema-in", "header"], b"with Azure"),
        ):
            wrong = shell("produce", "orders", "-k", "1", *words, *by, stdin=b'{"id":7}')
            assert (wrong.returncode, says in wrong.stderr) == (2, True), wrong.stderr


@pytest.mark.slow
def test_a_token_of_entra(environment: None, tmp_path: Path) -> None:
    with Idp({"app": SECRET}) as idp, Scripted() as server:
        server.route = azure
        commands = Commands(server.url, tmp_path)
        given = [
            f"bearer.auth.issuer.endpoint.url={idp.token_url}", "bearer.auth.client.id=app",
            f"bearer.auth.client.secret={SECRET}", "bearer.auth.scope=https://eventhubs.azure.net/.default",
        ]  # fmt: skip
        login = [word for pair in given for word in ("-X", pair)]
        commands.run("get", "orders@1", *login)
        assert idp.asked[0]["scope"] == "https://eventhubs.azure.net/.default"
        assert server.asked[0].headers["authorization"].startswith("Bearer ey")
        server.route = lambda _: missing("Unauthorized", 401)
        refused = commands.run("get", "orders@1", *login, code=5)
        assert "refused the token of bearer.auth.issuer.endpoint.url (HTTP 401)" in refused.err
        server.route = lambda _: missing("Forbidden", 403)
        assert "does not allow it to the token of" in commands.run("get", "orders@1", *login, code=5).err


def test_the_group_must_be_named(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCLI_SCHEMA_REGISTRY_AZURE_GROUP")
    with Scripted() as server:
        done = Commands(server.url, tmp_path).run("get", "orders", code=2)
        assert "orders: name the schema group: schema.registry.azure.group" in done.err
        assert server.asked == []


@pytest.mark.parametrize(
    "odd",
    [
        raw(NOTE.encode()), version(id="nix"), version(number="x"), version(number="1" * 12),
        version(media="text/plain; charset=utf-8"), version(media="application/json"),
        raw(b"\xff", Schema_Id=ID, Schema_Version="1", Content_Type=AVRO),
    ],
)  # fmt: skip
def test_answers_of_another_form(odd: bytes, environment: None, tmp_path: Path) -> None:
    with Scripted(odd) as server:
        done = Commands(server.url, tmp_path).run("get", "orders@1", code=1)
        assert "unexpected response" in done.err


@pytest.mark.parametrize("link", ["http://127.0.0.1:1/x", "//evil/x", "x", "https://evil/$schemaGroups"])
def test_the_next_page_is_at_the_same_address(link: str, environment: None, tmp_path: Path) -> None:
    with Scripted(answer({"Value": [1], "NextLink": link})) as server:
        done = Commands(server.url, tmp_path).run("get", "orders", code=1)
        assert "the next page is elsewhere" in done.err
        assert len(server.asked) == 1


def test_a_read_only_profile(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "kcli").mkdir()
    (tmp_path / "kcli" / "config.toml").write_text('[profiles.p]\nbootstrap = "b:1"\nread_only = true\n')
    with Scripted() as server:
        server.route = azure
        commands = Commands(server.url, tmp_path)
        new = commands.file("2.avsc", NOTE.replace('"id"', '"new"'))
        done = commands.run("register", "orders", new, "--execute", "--profile", "p", code=2)
        assert "refused by read-only profile p" in done.err
        assert "PUT" not in {asked.method for asked in server.asked}
