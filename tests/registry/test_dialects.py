"""Registries that were not run: what they answer, as their own sources and tests have it, and what is made of it.

Karapace 4 and Redpanda 25. Their codes are Confluent's, their words are not, and fields without a value are null.
"""

from __future__ import annotations

import pytest

from kcli.errors import KcliError
from kcli.registry.client import RegistryClient
from kcli.registry.errors import Incompatible, NotFound, RegistryError
from kcli.registry.settings import RegistrySettings
from kcli.schemas import AVRO, Reference, Schema
from kcli.security.http import Origin, Unavailable
from tests.each import each
from tests.registry.scripted import Scripted, answer, refusal

INT = Schema(text='"int"')
KARAPACE = {
    "subject": "s", "version": 1, "id": 1, "schema": '"int"', "schemaType": None, "references": None, "maxId": None,
    "compatibility": None,
}  # fmt: skip
REDPANDA = {
    "subject": "s", "version": 1, "id": 1, "schema": '"int"', "schemaType": "AVRO",
    "references": [{"name": "n", "subject": "o", "version": 2}], "deleted": False,
    "metadata": {"properties": {"a": "b"}},
}  # fmt: skip


async def ask(url: str, **given: object) -> RegistryClient:
    return RegistryClient(RegistrySettings(origins=(Origin(url=url),), retries=0).replace(**given))


@each(
    ("row", "references"), [(KARAPACE, ()), (REDPANDA, (Reference("n", "o", 2),))],
)  # fmt: skip
async def test_a_schema(row: dict[str, object], references: tuple[Reference, ...]) -> None:
    with Scripted(answer(row)) as server:
        client = await ask(server.url)
        found = await client.version("s")
        await client.close()
    assert (found.kind, found.text, found.id, found.references) == (AVRO, '"int"', 1, references)


@each(
    ("status", "code", "message", "kind", "says"),
    [
        (404, 40401, "Subject 'x' not found.", NotFound, "the registry has no such subject (40401)"),
        (404, 40402, "Version 7 not found.", NotFound, "the subject has no such version (40402)"),
        (404, 40403, "Schema 7 not found", NotFound, "the registry has no such schema (40403)"),
        (
            404, 40404, "Subject 's' was soft deleted.Set permanent=true to delete permanently", RegistryError,
            "the subject is soft-deleted (40404)",
        ),
        (
            404, 40405, "Subject 's' was not deleted first before being permanently deleted", RegistryError,
            "not soft-deleted yet (40405)",
        ),
        (
            404, 40408, "Subject 's' does not have subject-level compatibility configured", RegistryError,
            "the inherited one applies (40408)",
        ),
        (
            422, 42202, "The specified version 'x' is not a valid version id.", RegistryError,
            "the version is not valid: a version is a number from 1 on, or latest (42202)",
        ),
        (
            422, 42206, "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=s,version=1}",
            RegistryError, "other schemas refer to it: delete them first: One or more references exist",
        ),
        (422, 42208, "The specified subject 's' is not a valid.", RegistryError, "the name of the subject is not"),
        (500, 50003, "Error while forwarding the request to the master.", Unavailable, "to its leader: Error while"),
        (503, None, "", Unavailable, "HTTP 503"),
        (
            409, 409, "Incompatible schema, compatibility_mode=BACKWARD. Incompatibilities: reader type: int",
            Incompatible, "has: Incompatible schema, compatibility_mode=BACKWARD. Incompatibilities: reader type",
        ),
    ],
)  # fmt: skip
async def test_a_refusal(status: int, code: int | None, message: str, kind: type[KcliError], says: str) -> None:
    with Scripted(refusal(status, code, message)) as server:
        client = await ask(server.url)
        with pytest.raises(kind) as problem:
            await client.register("s", INT)
        await client.close()
    assert says in str(problem.value)


@each(
    ("path", "server_header", "named", "kind"),
    [
        ("/apis/ccompat/v7", "", "", "apicurio"), ("", "Karapace/4.0.0", "", "karapace"),
        ("", "Seastar httpd", "", "redpanda"), ("", "", "", "confluent"),
        ("", "Seastar httpd", "confluent", "confluent"),
    ],
)  # fmt: skip
async def test_the_kind_of_a_registry_is_guessed_once(path: str, server_header: str, named: str, kind: str) -> None:
    with Scripted(answer(["AVRO"], Server=server_header)) as server:
        client = await ask(server.url + path, kind=named)
        assert [await client.kind() for _ in range(3)] == [kind] * 3
        await client.close()
        assert len(server.asked) == (0 if path or named else 1)


@each(
    ("subject", "says"),
    [
        ("order-value", "; did you mean orders-value?"), ("zzz", ""),
    ],
)  # fmt: skip
async def test_what_is_not_there_has_the_nearest_name(subject: str, says: str) -> None:
    with Scripted() as server:
        server.route = lambda asked: (
            answer(["orders-value", "a"]) if asked.path.startswith("/subjects?") else refusal(404, 40401)
        )
        client = await ask(server.url)
        with pytest.raises(NotFound) as problem:
            await client.version(subject)
        assert await client.hint(problem.value, subject) == says
        await client.close()


async def test_a_subject_that_is_soft_deleted_is_no_other_name() -> None:
    with Scripted() as server:
        server.route = lambda asked: (
            answer(["orders-value"] if "deletedOnly=true" in asked.path else ["orders-value2"])
            if asked.path.startswith("/subjects?")
            else refusal(404, 40401)
        )
        client = await ask(server.url)
        with pytest.raises(NotFound) as problem:
            await client.version("orders-value")
        assert await client.hint(problem.value, "orders-value") == "; it is soft-deleted"
        await client.close()


async def test_a_version_that_is_not_there_has_those_that_are() -> None:
    with Scripted() as server:
        server.route = lambda asked: answer([1, 2, 5]) if asked.path.endswith("/versions") else refusal(404, 40402)
        client = await ask(server.url)
        with pytest.raises(NotFound) as problem:
            await client.version("s", 4)
        assert await client.hint(problem.value, "s") == "; it has versions 1, 2, 5"
        await client.close()
