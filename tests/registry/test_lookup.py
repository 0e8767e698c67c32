"""Schemas of a registry: contexts, references, the disk, one request for each."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from kcli.errors import ConnectError, UsageError
from kcli.registry.disk import NEUTRAL, Disk, place_of
from kcli.registry.errors import BadAnswer, NotFound
from kcli.registry.lookup import RegistrySchemas, lasting, open_schemas
from kcli.registry.references import DEEPEST, MOST
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Reference, Schema, SchemaNotFound, SchemaRefused
from kcli.secret import Secret
from kcli.security import OAuth, Tls
from kcli.security.http import Origin
from kcli.values import Frozen
from tests.each import each
from tests.registry.scripted import Asked, Scripted, Step, answer, nobody, refusal

NAME = "https://registry.example"


@asynccontextmanager
async def schemas(url: str, folder: Path | None = None) -> AsyncIterator[RegistrySchemas]:
    """Of a registry that is called NAME on the disk."""
    settings = RegistrySettings(origins=(Origin(url=url),), retries=0)
    made = RegistrySchemas(settings, Disk(NAME, str(folder)) if folder is not None else None)
    try:
        yield made
    finally:
        await made.close()


class World:
    """A registry of subjects and versions, by `route`; ids are as they were added."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def add(self, subject: str, version: int, *references: tuple[str, str, int]) -> int:
        rows = [{"name": name, "subject": of, "version": number} for name, of, number in references]
        self.rows.append({
            "subject": subject, "version": version, "id": len(self.rows), "schema": f"text of {subject}",
            "references": rows, "guid": f"G-{len(self.rows)}",
        })  # fmt: skip
        return len(self.rows) - 1

    def route(self, asked: Asked) -> Step:
        path = asked.path.partition("?")[0]
        parts = path.split("/")
        if parts[1] == "schemas":
            key = "id" if parts[2] == "ids" else "guid"
            found = [row for row in self.rows if str(row[key]).lower() == parts[3].lower()]
        else:
            from urllib.parse import unquote

            found = [row for row in self.rows if row["subject"] == unquote(parts[2])]
            if parts[4] != "latest":
                found = [row for row in found if str(row["version"]) == parts[4]]
        return answer(found[-1]) if found else refusal(404, 40403)


async def test_one_request_for_each_schema_whatever_happens() -> None:
    world = World()
    world.add("a", 1)
    with Scripted() as server:
        server.route = world.route
        async with schemas(server.url) as registry:
            asking = [ask for _ in range(20) for ask in (registry.by_id(0), registry.by_guid("g-0"))]
            found = await asyncio.gather(*asking)
            assert {schema.text for schema in found} == {"text of a"}
            assert sorted(server.paths()) == ["/schemas/guids/g-0", "/schemas/ids/0"]
            for _ in range(3):
                assert (await registry.latest("a")).version == 1
                assert (await registry.version("a", 1)).id == 0
                with pytest.raises(SchemaNotFound):
                    await registry.by_id(9)
        assert len(server.asked) == 5


async def test_an_id_is_asked_for_in_its_context_and_never_under_a_guessed_subject() -> None:
    with Scripted(answer({"schema": '"int"'})) as server:
        async with schemas(server.url) as registry:
            assert (await registry.by_id(7)).context == ""
            assert (await registry.by_id(7, context=".c")).context == ".c"
            assert (await registry.by_id(7, context="d")).context == "d"
            assert (await registry.by_id(7, subject=":.e:orders-value")).context == ".e"
            await registry.by_id(7, context=".c")
        assert server.paths() == [
            "/schemas/ids/7", "/schemas/ids/7?subject=%3A.c%3A", "/schemas/ids/7?subject=%3A.d%3A",
            "/schemas/ids/7?subject=%3A.e%3Aorders-value",
        ]  # fmt: skip


async def test_a_schema_that_cannot_be_read_does_not_hide_the_others() -> None:
    with Scripted() as server:
        server.route = lambda asked: answer({"schema": 1 if asked.path.endswith("/7") else '"int"'})
        async with schemas(server.url) as registry:
            for _ in range(3):
                with pytest.raises(BadAnswer):
                    await registry.by_id(7)
            assert (await registry.by_id(8)).text == '"int"'
        assert len(server.asked) == 2


async def test_registering_makes_the_latest_version_another_one() -> None:
    with Scripted() as server:
        server.route = lambda asked: (
            answer({"id": 5}) if asked.method == "POST" else answer({"schema": "x", "version": len(server.asked)})
        )
        async with schemas(server.url) as registry:
            before = await registry.latest("a")
            assert await registry.register("a", Schema(text="x"), normalize=True) == 5
            assert (await registry.latest("a")).version > before.version


@each(
    ("said", "strategy", "subject"),
    [
        (answer([{"subject": "theirs"}]), "associated", "theirs"), (answer([]), "associated", "orders-value"),
        (refusal(404, 0), "associated", "orders-value"), (answer([{"subject": "theirs"}]), "topic", "orders-value"),
        (answer([]), "record", "ns.R"), (answer([]), "topic-record", "orders-ns.R"),
    ],
)  # fmt: skip
async def test_the_subject_of_a_topic(said: bytes, strategy: str, subject: str) -> None:
    with Scripted(said) as server:
        async with schemas(server.url) as registry:
            for _ in range(3):
                assert await registry.subject(strategy, "orders", "value", "ns.R") == subject
        assert len(server.asked) == (1 if strategy == "associated" else 0)


# -- references --------------------------------------------------------------------------------------------------------


async def test_what_is_needed_stands_in_front_and_is_asked_for_once() -> None:
    world = World()
    world.add("d", 2)
    world.add("b", 1, ("D", "d", 2))
    world.add("c", 1, ("D", "d", 2), ("B", "b", 1))
    top = world.add("a", 1, ("B", "b", 1), ("C", "c", 1))
    with Scripted() as server:
        server.route = world.route
        async with schemas(server.url) as registry:
            found = await registry.references(await registry.by_id(top))
            assert [(name, schema.subject) for name, schema in found] == [("D", "d"), ("B", "b"), ("C", "c")]
            assert await registry.references(await registry.by_id(top)) == found
        assert [path for path in server.paths() if path.startswith("/subjects")] == [
            "/subjects/b/versions/1?deleted=true", "/subjects/d/versions/2?deleted=true",
            "/subjects/c/versions/1?deleted=true",
        ]  # fmt: skip


async def test_a_reference_is_meant_in_the_context_of_its_schema() -> None:
    world = World()
    world.add(":.c:b", 1, ("O", ":.other:o", 1))
    world.add(":.other:o", 1)
    top = world.add(":.c:a", 1, ("B", "b", 1))
    with Scripted() as server:
        server.route = world.route
        async with schemas(server.url) as registry:
            found = await registry.references(await registry.by_id(top))
            assert [schema.subject for _, schema in found] == [":.other:o", ":.c:b"]


async def test_references_in_a_circle_are_refused_with_the_chain() -> None:
    world = World()
    world.add("a", 1, ("B", "b", 1))
    world.add("b", 1, ("C", "c", 1))
    world.add("c", 1, ("A", "a", 1))
    with Scripted() as server:
        server.route = world.route
        async with schemas(server.url) as registry:
            with pytest.raises(
                SchemaRefused, match="circular references: a version 1 → b version 1 → c version 1 → a version 1"
            ):
                await registry.references(await registry.latest("a"))


@each("depth", [DEEPEST, DEEPEST + 1])
async def test_references_are_followed_to_a_depth(depth: int) -> None:
    world = World()
    for level in range(depth):
        world.add(f"s{level}", 1, (f"n{level + 1}", f"s{level + 1}", 1))
    world.add(f"s{depth}", 1)
    with Scripted() as server:
        server.route = world.route
        async with schemas(server.url) as registry:
            top = await registry.latest("s0")
            if depth == DEEPEST:
                assert len(await registry.references(top)) == depth
                return
            with pytest.raises(SchemaRefused, match=r"deeper than 64: s0 version 1 → s1 .* → … → .* → s65 version 1"):
                await registry.references(top)


@each("count", [MOST, MOST + 1])
async def test_so_many_references_and_no_more(count: int) -> None:
    """Two levels: a thousand is what one schema may name."""
    middle = Schema(
        text="m", subject="m", version=1, references=tuple(Reference(f"n{i}", "x", 1) for i in range(count - 1))
    )
    top = Schema(text="t", subject="t", version=1, references=(Reference("m", "m", 1),))

    from kcli.registry.references import resolve

    async def ask(subject: str, version: int) -> Schema:
        return middle if subject == "m" else Schema(text="x", subject="x", version=1)

    if count == MOST:
        assert len(await resolve(top, ask)) == count
        return
    with pytest.raises(SchemaRefused, match="t version 1: it needs more than 1,000 schemas, the last of x version 1"):
        await resolve(top, ask)


async def test_a_wide_web_is_walked_once() -> None:
    """Each of 30 levels names the next one twice: two to the power of thirty ways."""
    asked = 0

    async def ask(subject: str, version: int) -> Schema:
        nonlocal asked
        asked += 1
        level = int(subject) + 1
        names = (Reference(f"a{level}", str(level), 1), Reference(f"b{level}", str(level), 1)) if level < 30 else ()
        return Schema(text=subject, subject=subject, version=1, references=names)

    from kcli.registry.references import resolve

    found = await resolve(Schema(references=(Reference("a0", "0", 1), Reference("b0", "0", 1))), ask)
    assert len(found) == 60
    assert asked == 60


# -- the disk ----------------------------------------------------------------------------------------------------------


async def test_the_next_run_asks_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "schemas"
    world = World()
    world.add("b", 1)
    top = world.add("a", 1, ("B", "b", 1))
    with Scripted() as server:
        server.route = world.route
        async with schemas(server.url, folder) as registry:
            first = await registry.by_id(top)
            needed = await registry.references(first)
            named = await registry.by_guid("G-0")
            in_context = await registry.by_id(top, context=".c")
            await registry.latest("a")
    async with schemas(nobody(), folder) as registry:
        again = await registry.by_id(top)
        assert again == first
        assert await registry.references(again) == needed
        assert await registry.by_guid("g-0") == named
        assert await registry.by_id(top, context=".c") == in_context
        with pytest.raises(ConnectError):
            await registry.latest("a")  # which may be another one now
        with pytest.raises(ConnectError):
            await registry.by_id(top, context=".d")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())
    assert len(list(folder.iterdir())) == 4


def kept(folder: Path, schema: Schema, key: str = "k") -> Path:
    Disk(NAME, str(folder)).write(key, [("n", schema)])
    (path,) = folder.iterdir()
    return path


SCHEMA = Schema(
    kind="JSON", text='{"ü": 1}', references=(Reference("n", "s", 2),), id=3, guid="g", subject="s", version=4,
    context=".c", metadata='{"a": 1}', rule_set='{"b": []}', extra='{"c": null}',
)  # fmt: skip


def test_a_schema_comes_back_as_it_was(tmp_path: Path) -> None:
    for number, schema in enumerate((SCHEMA, Schema(), Schema(context=".x", id=0))):
        disk = Disk(NAME, str(tmp_path / str(number)))
        disk.write("k", [("n", schema), ("m", SCHEMA)])
        assert disk.read("k") == [("n", schema), ("m", SCHEMA)]
        assert disk.read("other") is None


@each("cut", [0, 1, 63, 64, 65, 66, 200, -1])
def test_a_file_that_was_cut_short_is_not_used(tmp_path: Path, cut: int) -> None:
    folder = tmp_path / f"cut{cut}"
    path = kept(folder, SCHEMA)
    path.write_bytes(path.read_bytes()[:cut])
    assert Disk(NAME, str(folder)).read("k") is None


def test_no_bit_may_flip(tmp_path: Path) -> None:
    path = kept(tmp_path, SCHEMA)
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert Disk(NAME, str(tmp_path)).read("k") is None


def test_a_file_of_another_name_is_not_used(tmp_path: Path) -> None:
    """A hash says that it is whole, and its own words what it stands for."""
    path = kept(tmp_path, SCHEMA)
    disk = Disk(NAME, str(tmp_path))
    for other, key in ((disk, "other key"), (Disk("https://other.example", str(tmp_path)), "k")):
        os.replace(path, other._path(key))
        assert other.read(key) is None
        os.replace(other._path(key), path)
    assert disk.read("k") is not None


FULL = RegistrySettings(
    origins=(Origin(url=NAME, user="me", password=Secret("hunter2")),),
    oauth=OAuth(token=Secret("token")),
    tls=Tls(),
    headers=(("Target-Sr-Cluster", "lsrc-1"),),
)


def changed(value: object, annotation: str) -> object:
    """Another value of the same kind."""
    if "Secret" in annotation:
        return Secret("another")
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return (*value, ("X", "y")) if isinstance(value, tuple) else f"{value}x"


def test_all_that_selects_what_a_registry_answers_selects_its_files() -> None:
    """Each setting on its own, but for those that are named as neutral."""
    place = place_of(FULL)
    assert "hunter2" not in place
    assert "token" not in place
    assert place_of(FULL.replace()) == place
    parts: list[tuple[Frozen, Callable[[Frozen], RegistrySettings]]] = [
        (FULL, lambda one: cast(RegistrySettings, one)),
        (FULL.origins[0], lambda one: FULL.replace(origins=(cast(Origin, one),))),
        (cast(Frozen, FULL.oauth), lambda one: FULL.replace(oauth=cast(OAuth, one))),
        (cast(Frozen, FULL.tls), lambda one: FULL.replace(tls=cast(Tls, one))),
    ]
    for part, whole in parts:
        for f in part.__fields__:
            if f.name in ("origins", "oauth", "tls"):
                continue
            other = whole(part.replace(**{f.name: changed(getattr(part, f.name), f.annotation)}))
            assert (place_of(other) == place) == (f.name in NEUTRAL), f.name


async def test_another_login_does_not_get_the_schemas_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("kcli.registry.lookup.lasting", lambda _: True)
    for how in ("user", "headers", "again"):
        with Scripted(answer({"schema": f'"{how}"'})) as server:
            origin = Origin(url=NAME, user=how if how == "user" else "me", password=Secret("hunter2"))
            settings = RegistrySettings(origins=(origin,), headers=(("T", how),) if how == "headers" else ())
            opened = RegistrySchemas(settings.replace(origins=(Origin(url=server.url),)), Disk(place_of(settings)))
            assert (await opened.by_id(1)).text == f'"{how}"'
            await opened.close()
    assert len(list((tmp_path / "kcli/schemas").iterdir())) == 3
    assert not any(b"hunter2" in path.read_bytes() for path in (tmp_path / "kcli/schemas").iterdir())


def test_a_full_disk_leaves_no_part_of_a_schema(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        Disk(NAME, str(tmp_path)).write("k", [("n", SCHEMA)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_others_can_write_is_not_believed(tmp_path: Path) -> None:
    kept(tmp_path, SCHEMA)
    disk = Disk(NAME, str(tmp_path))
    for mode, believed in ((0o700, True), (0o702, False)):
        tmp_path.chmod(mode)
        assert (disk.read("k") is not None) is believed


def test_a_folder_that_cannot_be_made_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    disk = Disk(NAME, str(tmp_path / "file" / "schemas"))
    disk.write("k", [("n", SCHEMA)])
    assert disk.read("k") is None


@each(
    ("url", "kept_on_disk"),
    [
        ("https://registry.example", True), ("http://10.0.0.1:8081", True), ("http://localhost:8081", False),
        ("http://127.0.0.1:8081", False), ("http://[::1]:8081", False), ("http://schema-registry:8081", False),
    ],
)  # fmt: skip
def test_a_registry_that_may_begin_again_from_1_is_not_kept_on_disk(url: str, kept_on_disk: bool) -> None:
    assert lasting(RegistrySettings(origins=(Origin(url=url),))) is kept_on_disk


async def test_without_a_cache_on_disk_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("kcli.registry.lookup.lasting", lambda _: True)
    with Scripted(answer({"schema": '"int"'})) as server:
        settings = RegistrySettings(origins=(Origin(url=server.url),))
        for one, files in ((settings.replace(disk=False), 0), (settings, 1)):
            opened = open_schemas(one)
            await opened.by_id(1)
            await opened.close()
            assert len(os.listdir(tmp_path / "kcli/schemas") if files else os.listdir(tmp_path)) == files


async def test_a_read_only_profile_registers_nothing() -> None:
    with Scripted(answer({"id": 1})) as server:
        opened = open_schemas(RegistrySettings(origins=(Origin(url=server.url),)), guard="read_only", profile="p")
        with pytest.raises(UsageError, match="refused by read-only profile p"):
            await opened.register("a", Schema(text='"int"'))
        await opened.close()
        assert server.asked == []


def test_not_found_is_final_for_whoever_asks() -> None:
    assert not NotFound("x", 404, 40403).retriable


KEPT = """
import asyncio, sys
from kcli.config.properties.merged import read_properties
from kcli.registry.lookup import open_schemas
from kcli.registry.settings import registry_of
settings = registry_of(read_properties(None, ["schema.registry.url=https://registry.example"]))
print(asyncio.run(open_schemas(settings).by_id(7)).text)
print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.process
def test_a_schema_on_the_disk_costs_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = place_of(RegistrySettings(origins=(Origin(url=NAME),), tls=Tls()))
    Disk(place).write("id 7 of the default context", [("", SCHEMA)])
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == SCHEMA.text
    dear = {"http.client", "urllib3", "kcli.registry.client", "hashlib", "email", "dataclasses", "typing"}
    assert not dear & set(done.stderr.split()[-2000:]) - set(subprocess.run(
        [sys.executable, "-c", "import asyncio, sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split())  # fmt: skip
