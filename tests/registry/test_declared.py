"""`schemas:` of `kcli apply`, `diff` and `export`, on each registry."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import inside
from tests.programs import Result
from tests.registry.commands import Commands
from tests.registry.oracles import Oracle

Names = Callable[[str], str]


class Declaring:
    """`apply`, `diff` and `export` on a sandbox's brokers and a registry, in one folder."""

    def __init__(self, bootstrap: str, commands: Commands) -> None:
        self.commands, self.folder = commands, commands.folder
        self.env = {**commands.env, "KCLI_BOOTSTRAP": bootstrap, "KCLI_SCHEMA_REGISTRY_URL": commands.url}

    def run(self, *words: str, code: int = 0) -> Result:
        done = inside(*words, env=self.env)
        assert done.code == code, (words, done)
        return done

    def plan(self, *words: str, code: int = 0) -> list[Any]:
        rows = json.loads(self.run(*words, "-J", code=code).out)["changes"]
        return [(row["change"], row["name"], row["config"], row["old"], row["new"], row["result"]) for row in rows]


@pytest.fixture(params=["apicurio", "sandbox", "srfake"])
def declaring(request: pytest.FixtureRequest, registry: None, tmp_path: Path) -> Iterator[Declaring]:
    with SandboxThread(registry=True) as sandbox:
        url, name = sandbox.registry_url, "sandbox"
        if request.param != "sandbox":
            oracle: Oracle = request.getfixturevalue(request.param)
            url, name = oracle.url, oracle.name
        yield Declaring(sandbox.bootstrap, Commands(url, tmp_path, name))


def test_declared_schemas_are_registered_in_order_and_taken_back(declaring: Declaring, subject: Names) -> None:
    commands, money, orders = declaring.commands, subject("money"), subject("orders-value")
    commands.avro("money.avsc", "cents:long", record="Money")
    commands.avro("orders.avsc", "id:int", "price:Money")
    path = commands.file(
        "all.yaml",
        f"""schemas:
  {orders}:
    file: orders.avsc
    compatibility: full
    references: [{{name: Money, subject: {money}}}]
  {money}: {{file: money.avsc}}
""",
    )
    planned: list[Any] = [
        ("+", money, "schema", None, "version 1", "would create"),
        ("+", orders, "schema", None, "version 1", "would create"),
        ("+", orders, "compatibility", None, "FULL", "would create"),
    ]
    if commands.name != "sandbox":  # they answer the level that is inherited
        old = "NONE" if commands.name == "apicurio" else "BACKWARD"
        planned[2] = ("~", orders, "compatibility", old, "FULL", "would change")
    found = declaring.plan("diff", path, code=3)
    assert [row[:3] for row in found] == [row[:3] for row in planned] or commands.name == "apicurio"
    assert declaring.plan("apply", path)[0] == planned[0]
    done = declaring.run("apply", path, "--execute")
    (row,) = commands.rows("describe", orders)
    assert row["references"] == [f"Money={money}@1"]
    assert [row["level"] for row in commands.rows("compat", orders)] == ["FULL"]
    assert declaring.plan("diff", path) == []
    assert declaring.plan("apply", path, "--execute") == []
    back = done.err.partition("kcli undo ")[2].split()[0]
    if commands.name == "apicurio":  # what was deleted softly still refers to the other
        refused = declaring.run("undo", back, "--execute", code=1)
        assert "other schemas refer to it" in refused.err
        return
    declaring.run("undo", back, "--execute")
    commands.run("describe", orders, code=1)
    commands.run("describe", money, code=1)


def test_a_new_version_is_compared_before_it_is_registered(declaring: Declaring, subject: Names) -> None:
    commands, name = declaring.commands, subject("orders-value")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    commands.run("compat", name, "--set", "backward", "--execute")
    commands.avro("v2.avsc", "id:int", "other:int")
    path = commands.file("all.yaml", f"schemas: {{{name}: {{file: v2.avsc}}}}")
    if commands.name != "srfake":  # it says that everything is compatible
        assert declaring.plan("apply", path, "--execute", code=1) == [
            ("~", name, "schema", "version 1", "version 2", "failed")
        ]
        assert "other" in declaring.run("apply", path, code=1).err
        assert [row["version"] for row in commands.rows("versions", name)] == [1]
    loose = commands.file("loose.yaml", f"schemas: {{{name}: {{file: v2.avsc, compatibility: none}}}}")
    assert [row[5] for row in declaring.plan("apply", loose, "--execute")] == ["changed", "changed"]
    assert [row["version"] for row in commands.rows("versions", name)] == [1, 2]
    old = commands.file("old.yaml", f"schemas: {{{name}: {{file: v1.avsc}}}}")
    refused = declaring.run("apply", old, code=1)
    assert "the declared schema is version 1, but the latest is 2" in refused.err


def test_an_export_with_schemas_changes_nothing(declaring: Declaring, subject: Names) -> None:
    commands, money, orders = declaring.commands, subject("money"), subject("orders-value")
    commands.registered(money, commands.avro("money.avsc", "cents:long", record="Money"))
    path = commands.avro("orders.avsc", "id:int", "price:Money")
    commands.registered(orders, path, "--reference", f"Money={money}@1")
    commands.run("compat", orders, "--set", "full", "--execute")
    for format in ("yaml", "toml", "json"):
        text = declaring.run("export", orders, money, "--only", "schemas", "--format", format).out.decode()
        path = commands.file(f"all.{format}", text)
        assert orders in text
        assert "FULL" in text
        assert declaring.plan("diff", path) == []
    assert b"schemas" not in declaring.run("export", "--only", "topics").out


def test_pruning_deletes_subjects_in_scope(declaring: Declaring, subject: Names) -> None:
    commands, name = declaring.commands, subject("s")
    commands.registered(f"{name}-a", commands.avro("v1.avsc", "id:int"))
    commands.registered(f"{name}-b", commands.avro("v1.avsc", "id:int"))
    path = commands.file("all.yaml", f"scope: {{schemas: ['{name}-*']}}\nschemas: {{{name}-a: {{file: v1.avsc}}}}")
    assert declaring.plan("diff", path) == []
    done = declaring.run("apply", path, "--prune", "--execute")
    assert [row["subject"] for row in commands.rows("list", f"{name}-*")] == [f"{name}-a"]
    back = done.err.partition("kcli undo ")[2].split()[0]
    if commands.name == "srfake":  # it takes a soft-deleted schema for a registered one
        return
    declaring.run("undo", back, "--execute")
    assert [row["subject"] for row in commands.rows("list", f"{name}-*")] == [f"{name}-a", f"{name}-b"]


@pytest.mark.parametrize(("text", "why"), [
    ("schemas: {s: {}}", "all.yaml:1: s: add file, schema or compatibility"),
    ("schemas: {s: {file: nix.avsc}}", "nix.avsc: No such file"),
    ("schemas:\n  s:\n    schema: x\n    file: y", "all.yaml:3: s has both file and schema"),
    ("schemas: {s: {schema: x, compatibility: loose}}", "LOOSE is not one of"),
    ("schemas: {s: {schema: x, type: XML}}", "unknown value XML"),
    ("schemas: {s: {schema: x, references: [{name: y}]}}", "subject is missing"),
    ("schemas: {s: {schema: x}}\nabsent: {schemas: [s]}", "declared both absent and present"),
])  # fmt: skip
def test_what_is_wrong_with_a_file(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(text)
    done = inside("diff", str(tmp_path / "all.yaml"), "--schema-registry", "http://127.0.0.1:1")
    assert done.code == 2
    assert why in done.err


def test_for_schemas_alone_no_broker_is_asked(tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox, socket.create_server(("127.0.0.1", 0)) as broker:
        broker.setblocking(False)
        commands = Commands(sandbox.registry_url, tmp_path, "sandbox")
        declaring = Declaring(f"127.0.0.1:{broker.getsockname()[1]}", commands)
        commands.avro("orders.avsc", "id:int")
        path = commands.file("all.yaml", "schemas: {orders-value: {file: orders.avsc, compatibility: full}}\n")
        assert [row[5] for row in declaring.plan("apply", path)] == ["would create", "would create"]
        done = declaring.run("apply", path, "--execute")
        assert "to undo this: kcli undo " in done.err
        assert commands.rows("list")[0]["subject"] == "orders-value"
        assert declaring.plan("diff", path) == []
        undo = done.err.partition("kcli undo ")[2].split()[0]
        declaring.run("undo", undo, "--execute")
        assert commands.rows("list") == []
        with pytest.raises(BlockingIOError):
            broker.accept()


def test_a_registry_is_wanted_only_where_schemas_are_declared(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("schemas: {s: {schema: '\"int\"'}}")
    environment = {"KCLI_SCHEMA_REGISTRY_URL": ""} if "KCLI_SCHEMA_REGISTRY_URL" in os.environ else {}
    with SandboxThread(topics={"t": 1}) as sandbox:
        done = inside("diff", str(tmp_path / "all.yaml"), "-b", sandbox.bootstrap, env=environment)
        assert (done.code, "no registry is set" in done.err) == (2, True), done
        assert inside("export", "-b", sandbox.bootstrap, "--schema-registry", "http://127.0.0.1:1").code == 5
        done = inside("export", "-b", sandbox.bootstrap, "--only", "schemas")
        assert (done.code, "no registry is set" in done.err) == (2, True), done
