"""`kcli registry` against registries of others: list, describe, register, check, levels and modes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.commands.registry.compared import rows_of
from kcli.registry.client import RegistryClient
from kcli.registry.errors import Forbidden, reasons_of
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import inside
from tests.registry.commands import Commands
from tests.registry.oracles import Apicurio, Oracle, Srfake
from tests.registry.scripted import Asked, Scripted, answer, raw, refusal
from tests.registry.test_errors import APICURIO, CONFLUENT

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


def test_a_schema_is_registered_after_its_plan(commands: Commands, subject: Names) -> None:
    name, path = subject("orders-value"), commands.avro("v1.avsc", "id:int")
    plan = commands.run("register", name, path)
    assert b"would register" in plan.out
    assert plan.err.endswith("plan only, nothing changed; add --execute to apply it\n")
    commands.run("describe", name, code=1)
    number = commands.registered(name, path)
    (row,) = commands.rows("list", name)
    assert row == {"subject": name, "version": 1, "type": "AVRO", "id": number, "level": None, "mode": None}
    again = commands.run("register", name, path, "--execute")
    assert f"{name} already has this schema: version 1, id {number}" in again.err


def test_a_schema_is_printed(commands: Commands, subject: Names) -> None:
    name = subject("orders-value")
    path = commands.avro("v1.avsc", "id:int", record=subject("R").replace("-", ""))
    number = commands.registered(name, path)
    text = json.loads(Path(path).read_text())
    for word in (name, f"{name}@1", f"{name}@latest", str(number), f"id:{number}"):
        assert json.loads(commands.run("get", word).out) == text
    (row,) = commands.rows("describe", f"{name}@1")
    assert (row["subject"], row["version"], row["id"], row["type"]) == (name, 1, number, "AVRO")
    assert json.loads(row["schema"]) == text
    missing = commands.run("get", f"{name}@7", code=1)
    assert "has no such version (40402); it has versions 1" in missing.err
    assert f"did you mean {name}" in commands.run("get", name.replace("orders", "order"), code=1).err
    assert b'"ok": false' in commands.run("get", subject("nix"), "-J", code=1).out


def test_references_are_named_printed_and_put_in(commands: Commands, subject: Names) -> None:
    money, orders = subject("money"), subject("orders-value")
    commands.registered(money, commands.avro("money.avsc", "cents:long", record="Money"))
    path = commands.avro("orders.avsc", "price:Money", "tip:Money")
    reference = f"Money={money}@1"
    commands.registered(orders, path, "--reference", reference)
    (row,) = commands.rows("describe", orders)
    assert row["references"] == [reference]
    both = commands.rows("describe", orders, "--references")
    assert [one["subject"] for one in both] == [money, orders]
    whole = json.loads(commands.run("describe", orders, "--resolved").out)
    price, tip = (field["type"] for field in whole["fields"])
    assert (price["name"], price["fields"], tip) == ("Money", [{"name": "cents", "type": "long"}], "Money")
    refused = commands.run("register", orders, path, "--reference", "Money", code=2)
    assert "--reference Money: expected NAME=SUBJECT@VERSION" in refused.err


def test_subjects_are_listed_by_pattern(commands: Commands, subject: Names) -> None:
    path, name = commands.avro("v1.avsc", "id:int"), subject("a")
    for end in ("x-value", "y-value", "z-key"):
        commands.registered(f"{name}-{end}", path)
    assert [row["subject"] for row in commands.rows("list", f"{name}-*-value")] == [
        f"{name}-x-value", f"{name}-y-value",
    ]  # fmt: skip
    assert {f"{name}-z-key"} <= {row["subject"] for row in commands.rows("list")}
    assert "no subject matches" in commands.run("list", f"{name}-nix*", code=1).err
    missing = commands.run("list", f"{name}-x", code=1)
    assert "the registry has no such subject" in missing.err
    assert f"{name}-x-value" in missing.err


def test_subjects_are_listed_by_context(commands: Commands, subject: Names) -> None:
    path, name = commands.avro("v1.avsc", "id:int"), subject("a")
    space = f".{subject('s')}"
    here, there, other = f"{name}-value", f":{space}:{name}-value", f":{space}:b-{name}"
    for one in (here, there, other):
        commands.registered(one, path)

    def listed(*words: str) -> list[str]:
        return [row["subject"] for row in commands.rows("list", *words)]

    for words, rows in {
        (f":{space}:",): [there, other],
        (f":{space}:*-value",): [there],
        (f":{space}:^{name}",): [there],
        (f":{space}:", "--literal"): [there, other],
        (f":*:{name}-value",): [there, here],
        (f":*:{name}*",): [there, here],
        (f":.:{name}*",): [here],
        (f":.:{name}-value",): [here],
        (f"{name}-value", "--context", space): [there],
        (f"{name}*", "--context", space): [there],
        (f"{name}*", "--context", "*"): [there, here],
        (f"{name}*", "--context", "."): [here],
        ("--context", space): [there, other],
    }.items():
        assert sorted(listed(*words)) == sorted(rows), words
    for words, present in {(":*:",): {here, there, other}, (":.:",): {here}, ("--context", "."): {here}}.items():
        assert set(listed(*words)) & {here, there, other} == present
    assert "no subject matches" in commands.run("list", f":.{subject('nix')}:", code=1).err
    assert "no such subject" in commands.run("list", f":{space}:{name}*", "--literal", code=1).err


def test_a_check_says_that_there_was_nothing_to_compare_with(commands: Commands, subject: Names) -> None:
    """A subject that is new, or mistyped."""
    name, path = subject("orders-value"), commands.avro("v1.avsc", "id:int")
    commands.registered(name, path)
    mistyped = name.replace("orders", "order")
    for words in (["check", mistyped, path], ["check", mistyped, path, "--level", "full"]):
        checked = commands.run(*words)
        assert "the registry has no such subject, so nothing was compared; did you mean " in checked.err
        assert name in checked.err
    assert "nothing was compared" not in commands.run("check", name, path).err


def test_a_check_exits_with_3(commands: Commands, subject: Names) -> None:
    name = subject("orders-value")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    commands.run("compat", name, "--set", "backward", "--execute")
    good, bad = commands.avro("v2.avsc", "id:int", "note:string="), commands.avro("bad.avsc", "other:int")
    assert "the schema is compatible (level BACKWARD)" in commands.run("check", name, good).err
    if commands.name == "srfake":  # it says so of everything
        assert "the schema is compatible (level BACKWARD)" in commands.run("check", name, bad).err
    else:
        rows = commands.rows("check", name, bad, code=3)
        assert {row["subject"] for row in rows} == {name}
        assert "other" in rows[0]["why"]
        refused = commands.run("register", name, bad, "--execute", code=1)
        assert "the schema is incompatible with the versions that the subject has: " in refused.err
        assert rows[0]["why"] in refused.err
        assert rows[0]["why"] in refused.out.decode()
        assert [row["version"] for row in commands.rows("list", name)] == [1]
        commands.rows("check", name, bad, "--all-versions", code=3)
    (row,) = commands.rows("check", name, bad, "--level", "backward", code=3)
    assert (row["version"], row["direction"], row["type"], row["location"]) == (
        1, "backward", "READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0",
    )  # fmt: skip
    assert {row["direction"] for row in commands.rows("check", name, bad, "--level", "FULL", code=3)} == {
        "backward", "forward",
    }  # fmt: skip
    assert commands.rows("check", subject("new"), bad) == []


def test_a_registrys_reasons_are_read(tmp_path: Path) -> None:
    """The sandbox has Confluent's words: the rows are those of kcli's own check, except the sentence."""
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path)
        commands.registered("s", commands.avro("v1.avsc", "id:int", "gone:int"))
        commands.run("compat", "s", "--set", "full", "--execute")
        bad = commands.avro("bad.avsc", "id:string", "other:int")
        asked, local = (commands.rows("check", "s", bad, *more, code=3) for more in ([], ["--level", "full"]))

        def told(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
            return {tuple(row[key] for key in ("version", "direction", "type", "location")) for row in rows}

        assert told(asked) == told(local)
        assert (1, "backward", "READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/1") in told(asked)
        assert {direction for _, direction, *_ in told(asked)} == {"backward", "forward"}
        assert not any("errorType" in row["why"] or "oldSchema" in row["why"] for row in asked)
        row = next(row for row in asked if row["type"] == "TYPE_MISMATCH")
        assert row["why"].endswith("(reader type: STRING not compatible with writer type: INT)")


def test_the_reasons_of_others_are_rows() -> None:
    """Confluent's text as it is recorded, and Apicurio's, which has no types."""
    (row,) = rows_of("o", reasons_of(CONFLUENT))
    assert (row.version, row.direction, row.type, row.location) == (
        1, "backward", "READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0",
    )  # fmt: skip
    assert row.why == (
        "The field 'b' at path '/fields/0' in the new schema has no default value and is missing in the old schema"
    )
    assert next((row.type, row.why) for row in rows_of("o", reasons_of(APICURIO))) == (None, "b at /fields/0")


def test_a_transitive_level_looks_at_every_version(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "a:int"))
    commands.run("compat", name, "--set", "none", "--execute")
    commands.registered(name, commands.avro("v2.avsc", "b:int"))
    new = commands.avro("new.avsc", "b:int")
    assert commands.rows("check", name, new, "--level", "backward") == []
    (row,) = commands.rows("check", name, new, "--level", "backward-transitive", code=3)
    assert row["version"] == 1


def test_files_are_checked_without_a_registry(tmp_path: Path) -> None:
    commands = Commands("http://127.0.0.1:1", tmp_path)
    one, two, three = (
        commands.avro(f"v{n}.avsc", *f) for n, f in ((1, ["a:int"]), (2, ["a:int", "b:int="]), (3, ["b:int"]))
    )
    words = ("check", f"file:{one}", f"file:{two}", three, "--level")
    rows = commands.rows(*words, "backward-transitive", code=3)
    assert [(row["subject"], row["why"]) for row in rows] == [
        (f"file:{one}", "the field b of the new schema has no default and is missing in the other schema")
    ]
    assert commands.rows(*words, "backward") == []
    assert "unknown compatibility level loose" in commands.run(*words, "loose", code=2).err
    assert "requires --level" in commands.run("check", f"file:{one}", two, code=2).err
    proto = commands.file("o.proto", 'syntax = "proto3"; message M { int32 a = 1; }')
    other = commands.file("p.proto", 'syntax = "proto3"; message M { string a = 1; int64 b = 2; }')
    assert commands.rows("check", f"file:{proto}", proto, "--level", "full") == []
    (row,) = commands.rows("check", f"file:{proto}", other, "--level", "forward", code=3)
    assert (row["type"], row["location"], row["direction"]) == ("FIELD_KIND_CHANGED", "/M/1", "forward")
    schema = commands.file("o.json", "{}")
    said = commands.run("check", f"file:{schema}", schema, "--level", "full", code=2).err
    assert "kcli does not compare JSON schemas itself; give a subject, so that the registry does" in said
    bad = commands.file("bad.avsc", Path(one).read_text().replace('"int"', '"int", "default": null'))
    assert (
        "is not valid: the default of the field a"
        in commands.run("check", f"file:{one}", bad, "--level", "full", code=1).err
    )


def test_levels(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    usual = "NONE" if commands.name == "apicurio" else "BACKWARD"
    assert [(row["subject"], row["level"]) for row in commands.rows("compat")] == [(None, usual)]
    plan = commands.rows("compat", name, "--set", "full")
    assert [(row["level"], row["new"], row["result"]) for row in plan] == [(usual, "FULL", "would change")]
    assert [row["level"] for row in commands.rows("compat", name)] == [usual]
    assert [row["result"] for row in commands.rows("compat", name, "--set", "full", "--execute")] == ["changed"]
    assert [row["level"] for row in commands.rows("compat", name)] == ["FULL"]
    assert [row["level"] for row in commands.rows("list", name, "--levels")] == ["FULL"]
    assert [row["result"] for row in commands.rows("compat", name, "--set", "full", "--execute")] == ["unchanged"]
    assert [row["result"] for row in commands.rows("compat", name, "--delete", "--execute")] == ["changed"]
    assert [row["level"] for row in commands.rows("compat", name)] == [usual]
    assert "the global level can only be set" in commands.run("compat", "--delete", "--execute", code=2).err


def test_modes(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    if commands.name == "apicurio":
        assert commands.run("mode", name, code=1).err.endswith(
            "does not support this request (HTTP 404): registries differ\n"
        )
        return
    assert [row["mode"] for row in commands.rows("mode", name)] == ["READWRITE"]
    commands.run("mode", name, "--set", "import", "--force", "--execute")
    assert [row["mode"] for row in commands.rows("mode", name)] == ["IMPORT"]
    commands.run("mode", name, "--delete", "--execute")
    assert [row["mode"] for row in commands.rows("mode", name)] == ["READWRITE"]


def test_a_mode_or_a_level_behind_the_subject_is_no_subject(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    refused = commands.run("mode", name, "readonly", code=2)
    assert f"readonly is a mode, not a subject: kcli registry mode {name} --set readonly" in refused.err
    assert "kcli registry compat --set Full-Transitive" in commands.run("compat", "Full-Transitive", code=2).err
    commands.registered("import", commands.avro("v1.avsc", "id:int"))
    if commands.name != "apicurio":
        assert [row["subject"] for row in commands.rows("mode", "import")] == ["import"]


def test_a_profile_guards_the_registry(commands: Commands, subject: Names) -> None:
    name, path = subject("s"), commands.avro("v1.avsc", "id:int")
    config = commands.file(
        "config.toml",
        f'[profiles.look]\nbootstrap = "localhost:1"\nregistry = "{commands.url}"\nread_only = true\n'
        f'[profiles.prot]\nbootstrap = "localhost:1"\nregistry = "{commands.url}"\nprotected = true\n',
    )
    env = {**commands.env, "KCLI_CONFIG": config}

    def run(*words: str) -> tuple[int, str]:
        done = inside("registry", *words, env=env)
        return done.code, done.err

    code, said = run("register", name, path, "--execute", "--profile", "look")
    assert code == 2
    assert "read-only profile look" in said
    assert run("list", name, "--profile", "look")[0] == 1  # it was not registered
    assert run("check", name, path, "--profile", "look")[0] == 0  # which only asks
    assert run("register", name, path, "--execute", "--profile", "prot")[0] == 0  # which only adds
    code, said = run("compat", name, "--set", "full", "--execute", "--profile", "prot")
    assert code == 2
    assert "protected profile prot" in said
    assert run("compat", name, "--set", "full", "--execute", "--profile", "prot", "--confirm", "prot")[0] == 0


def test_what_a_line_lacks(tmp_path: Path) -> None:
    commands = Commands("http://127.0.0.1:1", tmp_path)
    said = inside("registry", "list", env=commands.env)
    assert (said.code, said.err) == (2, (
        "kcli: no registry is set; add --schema-registry URL, or schema.registry.url to the profile\n"
    ))  # fmt: skip
    assert "expected a subject and a file" in commands.run("register", "s", code=2).err
    assert "nix.avsc: No such file" in commands.run("register", "s", str(tmp_path / "nix.avsc"), code=2).err
    assert "--type XML: expected AVRO" in commands.run("register", "s", "f", "--type", "XML", code=2).err
    commands.run("list", code=5)


def test_subjects_of_a_context(srfake: Srfake, registry: None, tmp_path: Path, subject: Names) -> None:
    commands = Commands(srfake.url, tmp_path)
    context, name = subject("c"), subject("s")
    commands.registered(f":.{context}:{name}", commands.avro("v1.avsc", "id:int"))
    for given in (context, f".{context}"):  # srfake knows no `:*:`
        assert f":.{context}:{name}" in [row["subject"] for row in commands.rows("list", "--context", given)]


def test_subjects_whose_topic_is_gone(apicurio: Apicurio, registry: None, tmp_path: Path, subject: Names) -> None:
    commands = Commands(apicurio.url, tmp_path)
    path, name = commands.avro("v1.avsc", "id:int"), subject("t")
    for end in ("here-value", "gone-value", "gone-key", "record"):
        commands.registered(f"{name}-{end}", path)
    with SandboxThread(topics={f"{name}-here": 1}) as sandbox:
        rows = commands.rows("list", f"{name}-*", "--unused", "-b", sandbox.bootstrap)
    assert [row["subject"] for row in rows] == [f"{name}-gone-key", f"{name}-gone-value"]


def test_a_schema_is_registered_under_its_id(tmp_path: Path) -> None:
    """Confluent's registry takes it in mode IMPORT."""
    not_there = refusal(404, 40401)
    with Scripted(
        not_there, answer({"id": 4711}), answer({"subject": "s", "version": 9, "id": 4711, "schema": "x"})
    ) as server:
        commands = Commands(server.url, tmp_path)
        path = commands.avro("v1.avsc", "id:int")
        (row,) = commands.rows("register", "s", path, "--id", "4711", "--version", "9", "--execute")
        assert (row["id"], row["version"], row["result"]) == (4711, 9, "registered")
        sent = json.loads(server.asked[1].body)
        assert (server.asked[1].path, sent["id"], sent["version"]) == ("/subjects/s/versions", 4711, 9)
    assert "--version requires --id" in commands.run("register", "s", path, "--version", "9", code=2).err


def test_versions_say_what_changed_and_which_level_that_keeps(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    commands.run("compat", name, "--set", "none", "--execute")
    commands.registered(name, commands.avro("v2.avsc", "id:int", "note:string="))
    commands.registered(name, commands.avro("v3.avsc", "id:string"))
    rows = commands.rows("history", name)
    assert [(row["version"], row["level"], row["note"]) for row in rows] == [
        (1, None, "first version"), (2, "FULL", '+ note: string = ""'), (3, "NONE", "- note; id: int → string"),
    ]  # fmt: skip
    assert "the registry has no such subject" in commands.run("versions", subject("nix"), code=1).err


def test_two_schemas_are_compared(commands: Commands, subject: Names) -> None:
    name, other = subject("s"), commands.avro("v2.avsc", "id:long")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    done = commands.run("diff", name, f"file:{other}", code=3)
    assert "the change keeps the level BACKWARD" in done.err
    assert commands.rows("diff", name, f"file:{other}", code=3) == [
        {"field": "id", "action": "type", "old": "int", "new": "long"}
    ]
    assert commands.rows("diff", name, f"{name}@1") == []
    one, two = (commands.file(f"{n}.proto", f'syntax = "proto3";\nmessage {n} {{}}') for n in ("A", "B"))
    assert commands.rows("diff", f"file:{one}", f"file:{two}", code=3) == [
        {"field": "2", "action": "line", "old": "message A {}", "new": None},
        {"field": "2", "action": "line", "old": None, "new": "message B {}"},
    ]
    assert "has no such version (40402)" in commands.run("diff", name, f"{name}@7", code=1).err
    assert "has only version 1" in commands.run("diff", name, code=1).err


def test_versions_and_subjects_are_deleted_after_their_plan(commands: Commands, subject: Names) -> None:
    name = subject("s")
    commands.registered(name, commands.avro("v1.avsc", "id:int"))
    commands.registered(name, commands.avro("v2.avsc", "id:int", "note:string="))
    assert [row["result"] for row in commands.rows("delete", name)] == ["would delete"] * 2
    assert [row["version"] for row in commands.rows("versions", name)] == [1, 2]
    twice = commands.rows("delete", name, f"{name}@1", name)
    assert [(row["version"], row["result"]) for row in twice] == [(1, "would delete"), (2, "would delete")]
    assert [row["result"] for row in commands.rows("delete", f"{name}@1", f"{name}@1", "--execute")] == ["deleted"]
    assert [row["version"] for row in commands.rows("versions", name)] == [2]
    rows = commands.rows("delete", name, name, "--execute")
    assert [(row["version"], row["result"]) for row in rows] == [(2, "deleted")]
    assert "the registry has no such subject" in commands.run("delete", name, "--execute", code=1).err
    commands.run("get", name, code=1)


def test_what_others_refer_to_is_not_deleted(commands: Commands, subject: Names) -> None:
    money, orders = subject("money"), subject("orders-value")
    commands.registered(money, commands.avro("money.avsc", "cents:long", record="Money"))
    path = commands.avro("orders.avsc", "price:Money")
    number = commands.registered(orders, path, "--reference", f"Money={money}@1")
    (row,) = commands.rows("delete", money, "--execute", code=1)
    assert (row["references"], row["result"]) == ([str(number)], "referenced")
    assert [row["version"] for row in commands.rows("versions", money)] == [1]


def test_what_is_not_soft_deleted_is_not_deleted_for_good_and_offers_no_undo(tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path, "sandbox")
        path = commands.avro("a.avsc", "id:int")
        commands.registered("a", path)
        done = commands.run("delete", "a", "--permanent", "--execute", code=1)
        assert "a version 1: not soft-deleted yet: delete it without --permanent first" in done.err
        assert "to undo" not in done.err
        assert [row["result"] for row in commands.rows("delete", "a@1", "--permanent", code=1)] == ["not soft-deleted"]
        commands.run("delete", "a", "--execute")
        assert "to undo" in commands.run("delete", "a", "--permanent", "--execute").err


def test_a_refusal_while_the_plan_is_carried_out_ends_with_5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delete = RegistryClient.delete_subject

    async def refused(client: RegistryClient, subject: str, *, permanent: bool = False) -> list[int]:
        if subject == "open":
            return await delete(client, subject, permanent=permanent)
        raise Forbidden(f"{subject}: the registry does not allow it")

    monkeypatch.setattr(RegistryClient, "delete_subject", refused)
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path, "sandbox")
        path = commands.avro("a.avsc", "id:int")
        for subject in ("open", "closed"):
            commands.registered(subject, path)
        assert [row["result"] for row in commands.rows("delete", "closed", "--execute", code=5)] == ["failed"]
        rows = commands.rows("delete", "closed", "open", "--execute", code=1)
        assert [row["result"] for row in rows] == ["failed", "deleted"], "a part was done"


def test_an_empty_context_is_deleted(tmp_path: Path) -> None:
    """Only Confluent's registry and the sandbox's have the request."""
    with SandboxThread(registry=True) as sandbox:
        commands = Commands(sandbox.registry_url, tmp_path, "sandbox")
        commands.registered(":.gone:a", commands.avro("a.avsc", "id:int"))
        commands.run("mode", ":.gone:", "--set", "readonly", "--execute")
        assert [row["context"] for row in commands.rows("contexts")] == [".", ".gone"]
        (row,) = commands.rows("contexts", ".gone", "--delete", "--execute", code=1)
        assert (row["result"], row["subjects"]) == ("not empty", 1)
        commands.run("mode", ":.gone:", "--delete", "--execute")
        commands.run("delete", ":.gone:a", "--execute")
        commands.run("delete", ":.gone:a", "--permanent", "--execute")
        commands.run("mode", ":.gone:", "--set", "readonly", "--execute")
        (row,) = commands.rows("contexts", ".gone", "--delete")
        assert row["result"] == "would delete"
        (row,) = commands.rows("contexts", ".gone", "--delete", "--execute")
        assert row["result"] == "deleted"
        assert [row["context"] for row in commands.rows("contexts")] == ["."]


def test_the_latest_version_is_not_deleted_by_that_name(tmp_path: Path) -> None:
    done = Commands("http://127.0.0.1:1", tmp_path).run("delete", "orders@latest", "--execute", code=2)
    assert "orders@latest: give the version as a number" in done.err


def test_a_level_of_json_schema_is_the_registrys_or_refused(tmp_path: Path) -> None:
    """kcli has no rules for JSON schemas: it says what the registry says, by the level that this has."""
    config = {"compatibilityLevel": "FULL_TRANSITIVE"}
    verdict: dict[str, object] = {"is_compatible": False, "messages": ["no"]}
    asked: list[str] = []

    def route(one: Asked) -> bytes:
        asked.append(f"{one.method} {one.path.partition('?')[0]}")
        known = {"/config": config, "/compatibility": verdict, "/subjects": {"schema": "{}", "version": 1, "id": 1}}
        return raw(json.dumps(known["/" + one.path.split("/")[1]]).encode(), 200)

    with Scripted() as server:
        server.route = route
        commands = Commands(server.url, tmp_path)
        path = commands.file("s.json", "{}")
        (row,) = commands.rows("check", "a", path, "--level", "full-transitive", code=3)
        assert row["why"] == "no"
        assert "POST /compatibility/subjects/a/versions" in asked
        config["compatibilityLevel"] = "BACKWARD"
        commands.rows("check", "a", path, "--level", "backward", code=3)
        assert "POST /compatibility/subjects/a/versions/latest" in asked
        verdict["is_compatible"] = True
        assert (
            "the schema is compatible (level BACKWARD)" in commands.run("check", "a", path, "--level", "backward").err
        )
        said = commands.run("check", "a", path, "--level", "full", code=2).err
        assert "the registry uses the level BACKWARD of a; omit --level" in said
        commands.run("check", "a", path, "--level", "none")
