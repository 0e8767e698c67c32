"""The same questions to Apicurio 2.6, srfake and the sandbox's registry. Where they differ, the test says how."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kcli.errors import AuthError
from kcli.registry.client import RegistryClient
from kcli.registry.disk import Disk
from kcli.registry.errors import Incompatible, NotFound, RegistryError, Unsupported
from kcli.registry.folder import FolderSchemas, files_of
from kcli.registry.lookup import RegistrySchemas
from kcli.registry.settings import RegistrySettings
from kcli.schemas import AVRO, JSON, PROTOBUF, Reference, Schema
from kcli.secret import Secret
from kcli.security.http import Origin
from kcli.version import __version__
from tests.registry.oracles import Oracle, Srfake

Names = Callable[[str], str]


@asynccontextmanager
async def opened(url: str, user: str = "", password: str = "") -> AsyncIterator[RegistryClient]:
    origin = Origin(url=url, user=user, password=Secret(password))
    client = RegistryClient(RegistrySettings(origins=(origin,), credentials="basic.auth.user.info" if user else ""))
    try:
        yield client
    finally:
        await client.close()


def looking_up(client: RegistryClient, disk: Disk | None = None) -> RegistrySchemas:
    """With the client, which the test closes."""
    schemas = RegistrySchemas(client.settings, disk)
    schemas._client = client
    return schemas


def record(name: str, *fields: str) -> Schema:
    """An Avro record whose fields are integers; `b=1` has a default."""
    rows = []
    for field in fields:
        key, given, default = field.partition("=")
        rows.append(f'{{"name":"{key}","type":"int"{f",{chr(34)}default{chr(34)}:{default}" if given else ""}}}')
    return Schema(text=f'{{"type":"record","name":"{name}","fields":[{",".join(rows)}]}}')


async def test_a_schema_is_registered_once_and_found_in_every_way(client: RegistryClient, subject: Names) -> None:
    name, schema = subject("orders-value"), record(subject("R").replace("-", ""), "a")
    first = await client.register(name, schema)
    assert (await client.register(name, schema)).id == first.id >= 1
    assert await client.versions(name) == [1]
    latest = await client.version(name)
    assert (latest.id, latest.subject, latest.version, latest.kind, latest.text) == (
        first.id, name, 1, AVRO, schema.text,
    )  # fmt: skip
    assert await client.version(name, 1) == latest
    assert (await client.by_id(first.id)).text == schema.text
    assert (await client.lookup(name, schema)).id == first.id
    assert (name, 1) in await client.uses_of(first.id)
    assert name in await client.subjects()
    assert name in await client.subjects("orders-")
    assert name not in await client.subjects("other-")


ODD = ["a/b", "a b", "ü", "a%2Fb", "a?b#c", "a:b", "a+b&c=d", "a\\b", "'\"<>", "..", "."]


async def test_a_subject_may_be_called_anything(client: RegistryClient, oracle: Oracle, subject: Names) -> None:
    """But for dots alone at Apicurio's, which takes them for a step in the path, percent-encoded too."""
    for odd in ODD[:-2] if oracle.name == "apicurio" else ODD:
        name = odd if odd.strip(".") == "" else subject(odd)
        registered = await client.register(name, record("R", "a"))
        assert (await client.version(name)).id == registered.id
        assert (await client.version(name)).subject == name
        assert name in await client.subjects()
        assert 1 in await client.delete_subject(name)


async def test_each_kind_of_schema(client: RegistryClient, subject: Names) -> None:
    for kind, text in (
        (PROTOBUF, 'syntax = "proto3";\npackage p;\nmessage M {\n  int32 a = 1;\n}\n'),
        (JSON, '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}'),
        (AVRO, '"string"'),
    ):
        name = subject(kind)
        number = (await client.register(name, Schema(kind=kind, text=text))).id
        assert (await client.version(name)).kind == kind
        assert (await client.by_id(number)).kind == kind
        assert (await client.by_id(number)).text.split() == text.split()


async def test_what_is_not_there(client: RegistryClient, subject: Names) -> None:
    name = subject("s")
    await client.register(name, record("R", "a"))
    for asking, code in (
        (client.by_id(2_000_000_000), 40403), (client.version(subject("nix")), 40401), (client.version(name, 7), 40402),
        (client.versions(subject("nix")), 40401), (client.lookup(name, record("Other", "z")), 40403),
        (client.delete_subject(subject("nix")), 40401),
    ):  # fmt: skip
        with pytest.raises(NotFound) as problem:
            await asking
        assert problem.value.code == code


async def test_deleted_softly_then_for_good(client: RegistryClient, oracle: Oracle, subject: Names) -> None:
    name = subject("s")
    number = (await client.register(name, record(subject("R").replace("-", ""), "a"))).id
    if oracle.name != "srfake":  # which deletes for good at once
        with pytest.raises(RegistryError, match=r"not soft-deleted yet \(40405\)"):
            await client.delete_subject(name, permanent=True)
    assert await client.delete_subject(name) == [1]
    assert name not in await client.subjects()
    with pytest.raises(NotFound):
        await client.version(name)
    assert (await client.by_id(number)).id == number  # records of it are there still
    if oracle.name != "apicurio":
        assert name in await client.subjects(deleted=True)
        assert (await client.version(name, 1, deleted=True)).id == number
    assert await client.delete_subject(name, permanent=True) == [1]
    assert name not in await client.subjects(deleted=True)


async def test_a_version_is_deleted(client: RegistryClient, subject: Names) -> None:
    name = subject("s")
    await client.register(name, record("R", "a"))
    await client.register(name, record("R", "a", "b=1"))
    assert await client.versions(name) == [1, 2]
    assert await client.delete_version(name, 1) == 1
    assert await client.versions(name) == [2]


async def test_references_are_followed(client: RegistryClient, subject: Names, tmp_path: Path) -> None:
    inner, middle, outer = subject("inner"), subject("middle"), subject("outer")
    await client.register(inner, record("Inner", "a"))
    of_inner = (Reference("Inner", inner, 1),)
    text = '{"type":"record","name":"Middle","fields":[{"name":"i","type":"Inner"}]}'
    await client.register(middle, Schema(text=text, references=of_inner))
    text = '{"type":"record","name":"Outer","fields":[{"name":"m","type":"Middle"},{"name":"i","type":"Inner"}]}'
    both = (Reference("Middle", middle, 1), *of_inner)
    number = (await client.register(outer, Schema(text=text, references=both))).id
    schemas = looking_up(client, Disk("https://r.example", str(tmp_path / "cache")))
    found = await schemas.by_id(number)
    assert found.references == both
    needed = await schemas.references(found)
    assert [(name, schema.subject, schema.version) for name, schema in needed] == [
        ("Inner", inner, 1), ("Middle", middle, 1),
    ]  # fmt: skip
    middle_id = (await client.version(middle)).id
    assert middle_id in await client.referenced_by(inner, 1)
    assert number in await client.referenced_by(inner, 1)
    for schema in (found, *(schema for _, schema in needed)):  # a folder serves what was saved of it
        write_schema(tmp_path / "folder", schema)
    folder = FolderSchemas(str(tmp_path / "folder"))
    assert [schema.text for _, schema in await folder.references(await folder.by_id(number))] == [
        schema.text for _, schema in needed
    ]


async def test_a_reference_to_nothing_is_refused(client: RegistryClient, subject: Names) -> None:
    text = '{"type":"record","name":"Outer","fields":[{"name":"i","type":"Inner"}]}'
    schema = Schema(text=text, references=(Reference("Inner", subject("nix"), 1),))
    with pytest.raises(RegistryError) as problem:
        await client.register(subject("outer"), schema)
    assert problem.value.status in (404, 422)


async def test_levels(client: RegistryClient, oracle: Oracle, subject: Names) -> None:
    name = subject("s")
    await client.register(name, record("R", "a"))
    usual = await client.level()
    assert usual == ("NONE" if oracle.name == "apicurio" else "BACKWARD")
    assert await client.level(name) == usual
    await client.set_level("FULL_TRANSITIVE", name)
    assert await client.level(name, inherited=False) == "FULL_TRANSITIVE"
    await client.delete_level(name)
    if oracle.name == "sandbox":
        with pytest.raises(RegistryError, match=r"the inherited one applies \(40408\)"):
            await client.level(name, inherited=False)
    else:
        assert await client.level(name, inherited=False) == usual
    with pytest.raises(RegistryError) as wrong:
        await client.set_level("NIX", name)
    assert wrong.value.status in (400, 422)


async def test_what_is_incompatible(client: RegistryClient, oracle: Oracle, subject: Names) -> None:
    name = subject("s")
    await client.register(name, record("R", "a"))
    await client.set_level("BACKWARD", name)
    assert (await client.compatible(name, record("R", "a", "b=1"))).compatible
    verdict = await client.compatible(name, record("R", "b"))
    if oracle.name == "srfake":
        assert verdict.compatible  # it says so of everything
        return
    assert not verdict.compatible
    assert verdict.reasons
    assert not (await client.compatible(name, record("R", "b"), every=True)).compatible
    with pytest.raises(Incompatible) as problem:
        await client.register(name, record("R", "b"))
    assert problem.value.reasons == ("b at /fields/0", "a at /fields/0") or len(problem.value.reasons) >= 1
    assert problem.value.exit_code == 1


async def test_a_schema_that_is_none(client: RegistryClient, oracle: Oracle, subject: Names) -> None:
    if oracle.name == "srfake":
        return  # it reads no schema
    with pytest.raises(RegistryError, match=r"the schema is not valid: .* \(42201\)"):
        await client.register(subject("s"), Schema(text='{"type":"reco'))


async def test_requests_that_only_one_of_them_has(client: RegistryClient, oracle: Oracle, subject: Names) -> None:
    name = subject("s")
    registered = await client.register(name, record("R", "a"))
    if oracle.name != "apicurio":
        assert await client.mode() == "READWRITE"
        await client.set_mode("IMPORT", name, force=True)
        assert await client.mode(name) == "IMPORT"
        await client.delete_mode(name)
        assert await client.mode(name) == "READWRITE"
        assert name in [schema.subject for schema in await client.schemas(latest_only=True)]
        guid = (await client.version(name)).guid
        assert (await client.by_guid(guid)).id == registered.id
        assert [row.id for row in await client.ids_of(guid)] == [registered.id]
    if oracle.name == "srfake":
        with pytest.raises(Unsupported):
            await client.types()
    else:
        assert sorted(await client.types()) == ["AVRO", "JSON", "PROTOBUF"]
    if oracle.name == "apicurio":
        for asking in (client.mode(), client.schemas(), client.by_guid("g"), client.set_mode("IMPORT", name)):
            with pytest.raises(Unsupported, match="does not support this request"):
                await asking
    assert await client.associated("orders", "value") is None
    assert await client.identity() == (
        ("kcli-sandbox", f"kcli {__version__}") if oracle.name == "sandbox" else ("", "")
    )


async def test_metadata_and_rules_are_kept(complete: Oracle, subject: Names) -> None:
    async with opened(complete.url) as client:
        metadata = '{"tags": {"a": ["PII"]}, "properties": {"owner": "me"}}'
        rule = '{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "tags": null, "expr": "1"}'
        rules = f'{{"domainRules": [{rule}]}}'
        name = subject("s")
        await client.register(name, record("R", "a").replace(metadata=metadata, rule_set=rules))
        found = await client.version(name)
        other = subject("copy")
        await client.register(other, found)
        again = await client.version(other)
        assert (found.metadata, again.metadata) == (metadata, metadata)
        assert again.rule_set == found.rule_set
        assert '"CEL"' in found.rule_set


async def test_an_id_is_looked_up_in_its_context(complete: Oracle, subject: Names) -> None:
    async with opened(complete.url) as client:
        context = f".{subject('c')}"
        name = f":{context}:{subject('s')}"
        number = (await client.register(name, record(subject("R").replace("-", ""), "a"))).id
        found = await client.version(name)
        assert (found.context, found.subject) == (context, name)
        assert context in [one.strip(":") for one in await client.contexts()]
        found_by_id = await looking_up(client).by_id(number, subject=name)
        assert (found_by_id.context, found_by_id.text) == (context, found.text)
        # the same by an address that is one of a context
        async with opened(f"{complete.url}/contexts/{context}") as inside:
            assert (await inside.by_id(number)).text == found.text


async def test_many_at_once(client: RegistryClient, subject: Names) -> None:
    numbers = [(await client.register(subject("s"), record(subject("R").replace("-", ""), "a"))).id for _ in range(20)]
    schemas = looking_up(client)
    found = await asyncio.gather(*(schemas.by_id(number) for number in numbers * 20))
    assert [schema.id for schema in found] == numbers * 20


async def test_credentials(registry: None) -> None:
    pair = b64encode(b"me:word").decode()
    wanting = Srfake(authorization=f"Basic {pair}").start()
    try:
        for password, let_in in (("word", True), ("other", False)):
            async with opened(wanting.url, "me", password) as client:
                if let_in:
                    assert await client.subjects() == []
                else:
                    with pytest.raises(AuthError, match=r"does not allow it to the user me of basic.auth.user.info: "):
                        await client.subjects()
    finally:
        wanting.stop()


def write_schema(folder: Path, schema: Schema) -> None:
    for path, text in files_of(str(folder), schema):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
