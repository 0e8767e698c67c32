"""`kcli registry export`, `import`, `copy` and `restore`: from each registry to each other, by a folder, by a file."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import inside
from tests.registry.commands import Commands
from tests.registry.oracles import Oracle
from tests.registry.scripted import Asked, Scripted, raw

Names = Callable[[str], str]
KINDS = ["apicurio", "srfake", "sandbox"]


def commands_of(kind: str, request: pytest.FixtureRequest, tmp_path: Path, stack: ExitStack) -> Commands:
    if kind == "sandbox":
        sandbox = stack.enter_context(SandboxThread(registry=True))
        return Commands(sandbox.registry_url, tmp_path, "sandbox")
    oracle: Oracle = request.getfixturevalue(kind)
    return Commands(oracle.url, tmp_path, oracle.name)


@pytest.fixture(params=KINDS)
def source(request: pytest.FixtureRequest, registry: None, tmp_path: Path) -> Iterator[Commands]:
    with ExitStack() as stack:
        yield commands_of(request.param, request, tmp_path, stack)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Commands]:
    """A sandbox's registry, which is empty."""
    with ExitStack() as stack:
        sandbox = stack.enter_context(SandboxThread(registry=True))
        yield Commands(sandbox.registry_url, tmp_path, "sandbox")


def forwarding(url: str) -> Callable[[Asked], bytes]:
    """Answers with what the registry of that address says."""

    def ask_there(asked: Asked) -> bytes:
        request = Request(
            url + asked.path, asked.body or None, {"Content-Type": "application/json"}, method=asked.method
        )
        try:
            with urlopen(request, timeout=20) as found:
                return raw(found.read(), found.status)
        except HTTPError as refused:
            with refused:
                return raw(refused.read(), refused.code)

    return ask_there


class Filled:
    """Subjects of a registry: `orders` has two versions, the second refers to `money`; its level is its own."""

    def __init__(self, commands: Commands, subject: Names) -> None:
        self.money, self.orders = subject("money"), subject("orders-value")
        record = subject("Money").replace("-", "")
        name = subject("Order").replace("-", "")
        first = commands.registered(self.orders, commands.avro("o1.avsc", "id:int", record=name))
        commands.run("compat", self.orders, "--set", "none", "--execute")  # Apicurio's takes none of a new subject
        money = commands.registered(self.money, commands.avro("money.avsc", "cents:long", record=record))
        path = commands.avro("o2.avsc", "id:string", f"price:{record}", record=name)
        reference = f"{record}={self.money}@1"
        second = commands.registered(self.orders, path, "--reference", reference)
        commands.run("compat", self.orders, "--set", "forward", "--execute")
        self.reference = reference
        self.ids = {(self.orders, 1): first, (self.money, 1): money, (self.orders, 2): second}


def versions(commands: Commands, *subjects: str) -> dict[tuple[str, int], int]:
    """The ids of the versions that a registry has."""
    return {(subject, row["version"]): row["id"] for subject in subjects for row in commands.rows("versions", subject)}


def test_a_registry_goes_through_a_folder_to_another(
    source: Commands, target: Commands, tmp_path: Path, subject: Names
) -> None:
    filled = Filled(source, subject)
    folder = str(tmp_path / "schemas")
    done = source.run("export", folder, filled.orders)
    assert "3 versions exported" in done.err
    text = Path(folder, "ids", f"{filled.ids[filled.orders, 1]}.avsc").read_text()
    assert json.loads(text)["fields"] == [{"name": "id", "type": "int"}]
    plan = target.rows("import", folder)
    assert {row["result"] for row in plan} == {"would import"}
    assert [(row["subject"], row["version"]) for row in plan].index((filled.money, 1)) < 2
    assert target.rows("list") == []
    done = target.run("import", folder, "--execute")
    assert versions(target, filled.orders, filled.money) == filled.ids
    (row,) = target.rows("describe", filled.orders)
    assert row["references"] == [filled.reference]
    assert [row["level"] for row in target.rows("compat", filled.orders)] == ["FORWARD"]
    assert [row["mode"] for row in target.rows("mode", filled.orders)] == ["READWRITE"]
    assert "already has all of it" in target.run("import", folder, "--execute").err
    back = done.err.partition("kcli undo ")[2].split()[0]
    target.run("undo", back, "--execute")
    assert target.rows("list") == []
    assert "BACKWARD" in str(target.rows("compat", filled.orders))


@pytest.mark.parametrize("name", ["schemas.yaml", "schemas.json"])
def test_a_registry_goes_through_a_file_to_another(
    source: Commands, target: Commands, tmp_path: Path, subject: Names, name: str
) -> None:
    filled = Filled(source, subject)
    path = str(tmp_path / name)
    source.run("export", path, filled.orders)
    assert "the file exists" in source.run("export", path, code=2).err
    target.run("import", path, "--execute")
    assert versions(target, filled.orders, filled.money) == filled.ids
    printed = source.run("export", "-", filled.orders).out.decode()
    if name.endswith(".yaml"):
        assert printed == Path(path).read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_subjects_are_copied_under_new_ids(
    kind: str, source: Commands, request: pytest.FixtureRequest, tmp_path: Path, subject: Names
) -> None:
    with ExitStack() as stack:
        target = commands_of(kind, request, tmp_path, stack)
        filled = Filled(source, subject)
        if source.url == target.url:  # one process: only what is there can be found there
            done = source.run("copy", filled.orders, "--to", target.url, "--ids", "new")
            assert "already has all of it" in done.err
            return
        stack.enter_context(SandboxThread())
        rows = source.rows("copy", filled.orders, "--to", target.url, "--ids", "new", "--execute")
        assert {row["result"] for row in rows} == {"registered"}
        new = {(row["subject"], row["new_version"]): row["new_id"] for row in rows}
        assert versions(target, filled.orders, filled.money) == new
        (row,) = target.rows("describe", filled.orders)
        assert row["references"] == [filled.reference]
        assert [row["level"] for row in target.rows("compat", filled.orders)] == ["FORWARD"]


@pytest.mark.usefixtures("apicurio")
def test_ids_are_not_kept_where_a_registry_cannot(
    target: Commands, request: pytest.FixtureRequest, registry: None, tmp_path: Path, subject: Names
) -> None:
    """Apicurio has no modes."""
    with ExitStack() as stack:
        apicurio = commands_of("apicurio", request, tmp_path, stack)
        filled = Filled(target, subject)
        done = target.run("copy", filled.orders, "--to", apicurio.url, "--execute", code=1)
        assert "--ids new registers under new ids" in done.err or "another schema has id" in done.err
        apicurio.run("describe", filled.orders, code=1)


def test_ids_are_kept_by_a_copy(source: Commands, target: Commands, subject: Names) -> None:
    filled = Filled(source, subject)
    source.run("copy", filled.orders, "--to", target.url, "--execute")
    assert versions(target, filled.orders, filled.money) == filled.ids
    assert [row["mode"] for row in target.rows("mode", filled.orders)] == ["READWRITE"]


def test_another_schema_under_the_same_id_is_a_conflict(target: Commands, tmp_path: Path) -> None:
    path = str(tmp_path / "schemas.json")
    with SandboxThread(registry=True) as sandbox:
        source = Commands(sandbox.registry_url, tmp_path)
        source.registered("a", source.avro("a.avsc", "id:int"))
        source.registered("b", source.avro("b.avsc", "id:long"))
        source.run("export", path)
    target.registered("other", target.avro("b.avsc", "id:string"))
    target.registered("b", target.avro("c.avsc", "id:int", "x:string"))
    done = target.run("import", path, "--execute", code=1)
    assert "a version 1: another schema has id 1 there" in done.err
    assert "b version 1: another schema has id 2 there" in done.err
    assert [row["subject"] for row in target.rows("list")] == ["b", "other"]
    rows = target.rows("import", path, "a", "--ids", "new", "--execute")
    assert [(row["result"], row["new_id"]) for row in rows] == [("registered", 3)]
    (row,) = target.rows("import", path, "a", code=1)
    assert row["result"] == "conflict"  # it has another id there


def test_gaps_of_versions_and_deleted_references_survive(target: Commands, tmp_path: Path) -> None:
    """The second version of `money` is deleted softly, and `orders` refers to it; `orders` has lost its first."""
    with SandboxThread(registry=True) as sandbox:
        source = Commands(sandbox.registry_url, tmp_path)
        for number, field in enumerate(("cents:long", "c:long", "d:long")):
            source.run("compat", "money", "--set", "none", "--execute")
            source.registered("money", source.avro(f"m{number}.avsc", field, record="Money"))
        source.registered("orders", source.avro("o.avsc", "p:int"))
        source.run("compat", "orders", "--set", "none", "--execute")
        path = source.avro("o2.avsc", "price:Money")
        source.registered("orders", path, "--reference", "Money=money@2")
        source.run("delete", "orders@1", "--execute")
        ids = versions(source, "orders")
        source.run("copy", "orders", "--to", target.url, "--execute")
        assert versions(target, "orders") == ids == {("orders", 2): 5}
        assert versions(target, "money") == {("money", 2): 2}
        other = SandboxThread(registry=True)
        with other:
            new = Commands(other.registry_url, tmp_path)
            source.run("copy", "orders", "--to", new.url, "--ids", "new", "--execute")
            assert versions(new, "orders") == {("orders", 1): 2}
            (row,) = new.rows("describe", "orders")
            assert row["references"] == ["Money=money@1"]


def test_what_was_deleted_is_restored_with_its_id(source: Commands, subject: Names) -> None:
    filled = Filled(source, subject)
    done = source.run("delete", filled.orders, "--execute")
    back = done.err.partition("kcli undo ")[2].split()[0]
    source.run("describe", filled.orders, code=1)
    if source.name == "srfake":  # it takes a soft-deleted schema for a registered one
        return
    source.run("undo", back, "--execute")
    assert sorted(versions(source, filled.orders).values()) == [filled.ids[filled.orders, n] for n in (1, 2)]


def test_what_was_deleted_for_good_is_restored_with_its_id(tmp_path: Path, subject: Names) -> None:
    with SandboxThread(registry=True) as sandbox:
        source = Commands(sandbox.registry_url, tmp_path)
        filled = Filled(source, subject)
        source.run("delete", filled.orders, "--execute")
        done = source.run("delete", filled.orders, "--permanent", "--execute")
        back = done.err.partition("kcli undo ")[2].split()[0]
        source.run("get", str(filled.ids[filled.orders, 1]), code=1)
        assert {row["result"] for row in source.rows("undo", back)} == {"would import deleted"}
        source.run("undo", back, "--execute")
        rows = source.rows("versions", filled.orders, "--deleted")
        assert [row["id"] for row in rows] == [filled.ids[filled.orders, number] for number in (1, 2)]
        assert "soft-deleted" in source.run("describe", filled.orders, code=1).err, "as it was before"
        assert [row["level"] for row in source.rows("compat", filled.orders)] == ["FORWARD"]
        assert [row["mode"] for row in source.rows("mode", filled.orders)] == ["READWRITE"]
        assert "not an undo file" in source.run("undo", source.file("x", "{}"), code=2).err


def test_a_failure_in_the_middle_ends_an_import_and_sets_the_modes_back(target: Commands) -> None:
    def file(text: str) -> str:
        rows = [("a", 1, '"int"'), ("b", 2, text), ("c", 3, '"string"')]
        subjects = {name: {"versions": [{"version": 1, "id": id, "schema": text}]} for name, id, text in rows}
        return target.file("schemas.json", json.dumps({"schema": "kcli.registry/1", "subjects": subjects}))

    rows = target.rows("import", file('{"type": "nix"}'), "--execute", code=1)
    assert [(row["subject"], row["result"]) for row in rows] == [("a", "imported"), ("b", "failed"), ("c", "not done")]
    assert "schema is not valid" in rows[1]["error"]
    assert [row["mode"] for row in target.rows("mode", "a", "b", "c")] == ["READWRITE"] * 3
    rows = target.rows("import", file('"long"'), "--execute")
    assert [row["result"] for row in rows] == ["known", "imported", "imported"]
    assert versions(target, "a", "b", "c") == {("a", 1): 1, ("b", 1): 2, ("c", 1): 3}


def test_a_profile_guards_the_target_of_a_copy(tmp_path: Path, target: Commands, subject: Names) -> None:
    with SandboxThread(registry=True) as sandbox:
        source = Commands(sandbox.registry_url, tmp_path)
        source.registered("a", source.avro("a.avsc", "id:int"))
        config = source.file(
            "config.toml",
            f'[profiles.look]\nregistry = "{target.url}"\nread_only = true\n'
            f'[profiles.work]\nregistry = "{target.url}"\n'
            f'[profiles.none]\nbootstrap = "localhost:1"\n',
        )
        env = {"KCLI_CONFIG": config}
        del source.env["XDG_CACHE_HOME"]
        done = source.run("copy", "--to-profile", "look", "--execute", code=2, env=env)
        assert "read-only profile look" in done.err
        assert target.rows("list") == []
        assert "missing target" in source.run("copy", code=2).err


def heard(server: Scripted) -> set[str | None]:
    """The logins that a server was shown."""
    return {asked.headers.get("authorization") for asked in server.asked}


@pytest.mark.parametrize("option", ["--to-X", "--to-profile"])
def test_each_registry_is_shown_its_own_login_only(option: str, tmp_path: Path, target: Commands) -> None:
    with SandboxThread(registry=True) as sandbox, Scripted() as old, Scripted() as new:
        source = Commands(sandbox.registry_url, tmp_path)
        source.registered("a", source.avro("a.avsc", "id:int"))
        old.route, new.route = forwarding(source.url), forwarding(target.url)
        logins = {name: f"Basic {b64encode(f'{name}:pw-{name}'.encode()).decode()}" for name in ("old", "new")}
        from_old = ["--schema-registry", old.url, "-X", "basic.auth.user.info=old:pw-old"]
        to_new = ["--to", new.url, "--to-X", "basic.auth.user.info=new:pw-new"]
        env = {"KCLI_SCHEMA_REGISTRY_URL": ""}
        del source.env["XDG_CACHE_HOME"]
        if option == "--to-profile":
            text = f'[profiles.new]\nregistry = "{new.url}"\n"basic.auth.user.info" = "new:pw-new"\n'
            env["KCLI_CONFIG"], to_new = source.file("config.toml", text), ["--to-profile", "new"]
        done = inside("registry", "copy", *from_old, *to_new, "--execute", env={**source.env, **env})
        assert done.code == 0, done
        assert heard(old) == {logins["old"]}
        assert heard(new) == {logins["new"]}
        assert versions(target, "a") == {("a", 1): 1}
        new.asked.clear()
        done = inside("registry", "copy", *from_old, "--to", new.url, "--execute", env=source.env)
        assert done.code == 0, done
        assert heard(new) == {None}, "the source's login is not the target's"


def test_a_folder_answers_in_place_of_a_registry(source: Commands, tmp_path: Path, subject: Names) -> None:
    filled = Filled(source, subject)
    folder = tmp_path / "schemas"
    source.run("export", str(folder), filled.orders)
    local = Commands(f"file:{folder}", tmp_path)
    assert [(row["subject"], row["version"], row["id"]) for row in local.rows("list", "--levels")] == [
        (filled.money, 1, filled.ids[filled.money, 1]), (filled.orders, 2, filled.ids[filled.orders, 2]),
    ]  # fmt: skip
    assert versions(local, filled.orders, filled.money) == filled.ids
    assert local.rows("describe", filled.orders)[0]["references"] == [filled.reference]
    assert local.run("describe", f"{filled.orders}@1").out == source.run("describe", f"{filled.orders}@1").out
    assert local.run("diff", f"{filled.orders}@1", filled.orders, code=3).out
    assert "has no such version" in local.run("describe", f"{filled.orders}@9", code=1).err
    assert "did you mean" in local.run("describe", filled.orders[:-1], code=1).err
    path = local.avro("o3.avsc", "id:boolean")
    local.run("check", filled.orders, path, "--level", "full", code=3)
    for words in (("register", filled.orders, path), ("compat", filled.orders, "--set", "full")):
        assert "is a folder, which kcli can only read" in local.run(*words, "--execute", code=2).err
    with SandboxThread(registry=True) as sandbox:
        new = Commands(sandbox.registry_url, tmp_path)
        local.run("copy", "--to", new.url, "--execute")
        assert versions(new, filled.orders, filled.money) == filled.ids


def test_what_a_file_lacks(target: Commands) -> None:
    for name, text, why in (
        ("a.yaml", "subjects: {}", "schema is missing"),
        ("b.yaml", "schema: x", "expected kcli.registry/1"),
        ("c.json", "[", "c.json"),
        ("d.yaml", "schema: kcli.registry/1\nsubjects: {s: {versions: [{version: 1}]}}", "schema is missing"),
        ("e.yaml", "schema: kcli.registry/1\nsubjects: {s: {versions: [{version: x, schema: y}]}}", "whole number"),
        ("f.yaml", "schema: kcli.registry/1\nsubjects: {s: {versions: [{version: 1, schema: y, type: XML}]}}", "XML"),
        ("g.yaml", "schema: kcli.registry/1\nsubjects: {s: {versions: "
         "[{version: 1, schema: y}, {version: 1, schema: z}]}}", "is listed twice"),
        ("h.yaml", "schema: kcli.registry/1\nsubjects: {s: {versions: [{version: 1, schema: y, "
         "references: [{name: s, subject: t, version: 1}]}]}, t: {versions: [{version: 1, schema: y, "
         "references: [{name: s, subject: s, version: 1}]}]}}", "circular references"),
    ):  # fmt: skip
        done = target.run("import", target.file(name, text), code=1 if name[0] == "h" else 2)
        assert why in done.err, (name, done.err)
    assert "No such file" in target.run("import", "/nix/nix.yaml", code=2).err
    assert "folder not found" in target.run("import", "/nix/nix", code=2).err


def with_deleted(tmp_path: Path, sandbox: SandboxThread) -> Commands:
    """A registry with two soft-deleted versions of three, a soft-deleted subject, and settings of a subject's own."""
    source = Commands(sandbox.registry_url, tmp_path, "sandbox")
    for number, fields in enumerate((["id:int"], ["id:int", "n:int="], ["id:int", "n:int=", "m:int="]), 1):
        source.registered("orders-value", source.avro(f"o{number}.avsc", *fields, record="Order"))
    source.registered("gone-value", source.avro("gone.avsc", "id:int", record="Gone"))
    source.run("delete", "orders-value@1", "orders-value@2", "gone-value", "--execute", "--yes")
    source.run("config", "orders-value", "--set", "normalize=true", "--set", "compatibilityGroup=app", "--execute")
    source.run("compat", "orders-value", "--set", "full", "--execute")
    source.run("mode", "orders-value", "--set", "readonly", "--execute")
    return source


@pytest.mark.parametrize("way", ["copy", "folder", "all.yaml", "all.json"])
def test_soft_deleted_versions_and_all_settings_are_copied(target: Commands, tmp_path: Path, way: str) -> None:
    with SandboxThread(registry=True) as sandbox:
        source = with_deleted(tmp_path, sandbox)
        if way == "copy":
            done = source.run("copy", "--to", target.url, "--execute")
        else:
            source.run("export", str(tmp_path / way))
            done = target.run("import", str(tmp_path / way), "--execute")
    assert "4 versions registered" in done.err
    assert "SOFT-DELETED" not in done.err
    assert versions(target, "orders-value") == {("orders-value", 3): 3}
    rows = target.rows("versions", "orders-value", "gone-value", "--deleted")
    assert [(row["version"], row["id"]) for row in rows] == [(1, 1), (2, 2), (3, 3), (1, 4)]
    assert [row["subject"] for row in target.rows("list")] == ["orders-value"]
    target.run("describe", "1")
    target.run("describe", "4")
    settings = {
        row["name"]: row["value"] for row in target.rows("config", "orders-value") if row["source"] == "subject"
    }
    assert settings == {"compatibility": "FULL", "compatibilityGroup": "app", "normalize": "true"}
    assert [row["mode"] for row in target.rows("mode", "orders-value")] == ["READONLY"]
    back = done.err.partition("kcli undo ")[2].split()[0]
    target.run("undo", back, "--execute")
    assert target.rows("list") == []
    assert [row["mode"] for row in target.rows("mode", "orders-value")] == ["READWRITE"]
    assert "subject" not in {row["source"] for row in target.rows("config", "orders-value")}


def test_a_second_copy_leaves_soft_deleted_versions_alone(target: Commands, tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        source = with_deleted(tmp_path, sandbox)
        source.run("copy", "--to", target.url, "--execute")
        assert "already has all of it" in source.run("copy", "--to", target.url, "--execute").err
        rows = source.rows("copy", "--to", target.url)
        assert {row["result"] for row in rows} == {"known"}
        target.run("mode", "orders-value", "--set", "readwrite", "--execute")
        target.run("delete", "orders-value@3", "--execute", "--yes")
        rows = source.rows("copy", "orders-value", "--to", target.url, "--execute")
        assert [(row["new_version"], row["result"]) for row in rows] == [(1, "known"), (2, "known"), (3, "imported")]


def test_the_plan_names_versions_that_new_ids_lose(target: Commands, tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        source = with_deleted(tmp_path, sandbox)
        said = source.run("copy", "--to", target.url, "--ids", "new").err
        assert "3 soft-deleted versions cannot get a new id, so they are left out: " in said
        assert "left out: gone-value 1; orders-value 1, 2" in said
        assert "1 version under another number: orders-value 3 as 1" in said
        source.run("copy", "--to", target.url, "--ids", "new", "--execute")
        assert list(versions(target, "orders-value")) == [("orders-value", 1)]


def test_undoing_a_deletion_keeps_the_version_and_the_latest(tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox:
        source = Commands(sandbox.registry_url, tmp_path)
        for number, fields in enumerate((["id:int"], ["id:int", "n:int="]), 1):
            source.registered("a", source.avro(f"a{number}.avsc", *fields))
        deleted = source.run("delete", "a@1", "--execute", "--yes").err.partition("kcli undo ")[2].split()[0]
        gone = source.run("delete", "a@1", "--permanent", "--execute").err.partition("kcli undo ")[2].split()[0]
        source.run("undo", gone, "--execute")
        assert versions(source, "a") == {("a", 2): 2}
        assert [row["version"] for row in source.rows("versions", "a", "--deleted")] == [1, 2]
        source.run("undo", deleted, "--execute")
        assert versions(source, "a") == {("a", 1): 1, ("a", 2): 2}
        assert [row["mode"] for row in source.rows("mode", "a")] == ["READWRITE"]


def test_a_registry_without_import_says_which_version_becomes_the_latest(tmp_path: Path) -> None:
    with SandboxThread(registry=True) as sandbox, Scripted() as between:
        forward = forwarding(sandbox.registry_url)
        between.route = lambda asked: raw(b"{}", 404) if asked.path.startswith("/mode") else forward(asked)
        source = Commands(between.url, tmp_path)
        for number, fields in enumerate((["id:int"], ["id:int", "n:int="]), 1):
            source.registered("a", source.avro(f"a{number}.avsc", *fields))
        back = source.run("delete", "a@1", "--execute", "--yes").err.partition("kcli undo ")[2].split()[0]
        assert "1 version under another number: a 1 as 3, the latest" in source.run("undo", back).err


def test_settings_of_every_name_are_copied(target: Commands, tmp_path: Path) -> None:
    """Through registries that keep any setting, as Confluent's does."""
    wanted = {
        "alias": "orders", "defaultMetadata": {"properties": {"owner": "a"}}, "overrideRuleSet": {"domainRules": []},
        "compatibilityLevel": "FORWARD",
    }  # fmt: skip
    kept = dict(wanted)

    def answers(url: str, store: dict[str, Any]) -> Callable[[Asked], bytes]:
        forward = forwarding(url)

        def answer(asked: Asked) -> bytes:
            if not asked.path.startswith("/config/"):
                return forward(asked)
            if asked.method == "PUT":
                given = json.loads(asked.body)
                store.update({"compatibilityLevel" if name == "compatibility" else name: given[name] for name in given})
            none = b'{"error_code": 40408, "message": "none"}'
            return raw(json.dumps(store).encode(), 200) if store else raw(none, 404)

        return answer

    with SandboxThread(registry=True) as sandbox, Scripted() as old, Scripted() as new:
        there: dict[str, Any] = {}
        old.route, new.route = answers(sandbox.registry_url, kept), answers(target.url, there)
        source = Commands(old.url, tmp_path)
        source.registered("a", source.avro("a.avsc", "id:int"))
        source.run("copy", "--to", new.url, "--execute")
        assert there == wanted
        source.run("export", str(tmp_path / "folder"))
        there.clear()
        Commands(new.url, tmp_path).run("import", str(tmp_path / "folder"), "--execute")
        assert there == wanted
