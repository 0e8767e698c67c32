"""The requests of the REST API: what is sent, and what is made of the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kcli.errors import KcliError, UsageError
from kcli.registry import client as module
from kcli.registry.answers import ContextId, SubjectVersion, Verdict
from kcli.registry.client import RegistryClient
from kcli.registry.errors import BadAnswer, RegistryError, Unsupported
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Reference, Schema
from kcli.security.http import Origin
from tests.each import each
from tests.registry.scripted import Asked, Scripted, Step, answer, raw, refusal

INT = Schema(text='"int"')
SUBJECT = ":.c:a/b"
PATH = "%3A.c%3Aa%2Fb"
FULL = {
    "subject": ":.c:o", "version": 3, "id": 7, "guid": "g-1", "schemaType": "PROTOBUF", "schema": "syntax;",
    "references": [{"name": "n", "subject": "s", "version": 1}], "metadata": {"tags": {"x": ["PII"]}},
    "ruleSet": {"domainRules": []}, "deleted": False, "ts": 1, "maxId": 9, "schemaTags": [{"k": 1.5}],
}  # fmt: skip
READ = Schema(
    kind="PROTOBUF", text="syntax;", references=(Reference("n", "s", 1),), id=7, guid="g-1", subject=":.c:o", version=3,
    context=".c", metadata='{"tags": {"x": ["PII"]}}', rule_set='{"domainRules": []}',
    extra='{"schemaTags": [{"k": 1.5}]}',
)  # fmt: skip

ASSOCIATIONS = "/associations/resources/-"
Call = Callable[[RegistryClient], Awaitable[Any]]


async def call(url: str, what: Call, **given: str) -> Any:
    registry = RegistryClient(RegistrySettings(origins=(Origin(url=f"{url}/base"),), retries=0), **given)
    try:
        return await what(registry)
    finally:
        await registry.close()


REQUESTS: list[tuple[Call, str, object, object]] = [
    (lambda r: r.versions(SUBJECT, deleted=True), f"GET /subjects/{PATH}/versions?deleted=true", [1, 2], [1, 2]),
    (lambda r: r.version(SUBJECT), f"GET /subjects/{PATH}/versions/latest", FULL, READ),
    (
        lambda r: r.version(SUBJECT, 3, deleted=True, format="serialized"),
        f"GET /subjects/{PATH}/versions/3?deleted=true&format=serialized", FULL, READ,
    ),
    (lambda r: r.referenced_by("a", 2), "GET /subjects/a/versions/2/referencedby", [5], [5]),
    (lambda r: r.lookup("a", INT, deleted=True), "POST /subjects/a?deleted=true", FULL, READ),
    (
        lambda r: r.register("a", INT, normalize=True), "POST /subjects/a/versions?normalize=true", {"id": 4},
        INT.replace(id=4),
    ),
    (lambda r: r.delete_subject("a"), "DELETE /subjects/a", [1, 2], [1, 2]),
    (lambda r: r.delete_version("a", 2, permanent=True), "DELETE /subjects/a/versions/2?permanent=true", 2, 2),
    (lambda r: r.by_id(7), "GET /schemas/ids/7", {"schema": '"int"'}, INT.replace(id=7)),
    (lambda r: r.by_id(7, subject=":.c:"), "GET /schemas/ids/7?subject=%3A.c%3A", FULL, READ),
    (lambda r: r.by_guid("g-1", format="resolved"), "GET /schemas/guids/g-1?format=resolved", FULL, READ),
    (lambda r: r.ids_of("g-1"), "GET /schemas/guids/g-1/ids", [{"context": ".", "id": 3}], [ContextId(".", 3)]),
    (lambda r: r.uses_of(7), "GET /schemas/ids/7/versions", [{"subject": "a", "version": 1}], [SubjectVersion("a", 1)]),
    (lambda r: r.types(), "GET /schemas/types", ["AVRO"], ["AVRO"]),
    (
        lambda r: r.compatible("a", INT), "POST /compatibility/subjects/a/versions/latest?verbose=true",
        {"is_compatible": False, "messages": ["x", "y"]}, Verdict(False, ("x", "y")),
    ),
    (
        lambda r: r.compatible("a", INT, every=True), "POST /compatibility/subjects/a/versions?verbose=true",
        {"is_compatible": True}, Verdict(True, ()),
    ),
    (lambda r: r.level(), "GET /config?defaultToGlobal=true", {"compatibilityLevel": "FULL"}, "FULL"),
    (lambda r: r.level("a", inherited=False), "GET /config/a", {"compatibility": "NONE"}, "NONE"),
    (lambda r: r.set_level("FULL", "a"), "PUT /config/a", {"compatibility": "FULL"}, None),
    (lambda r: r.delete_level("a"), "DELETE /config/a", {"compatibilityLevel": "NONE"}, None),
    (lambda r: r.mode("a"), "GET /mode/a?defaultToGlobal=true", {"mode": "IMPORT"}, "IMPORT"),
    (lambda r: r.set_mode("IMPORT", force=True), "PUT /mode?force=true", {"mode": "IMPORT"}, None),
    (lambda r: r.delete_mode("a"), "DELETE /mode/a", {"mode": "IMPORT"}, None),
    (lambda r: r.contexts(), "GET /contexts", [".", ".c"], [".", ".c"]),
    (lambda r: r.delete_context(".c"), "DELETE /contexts/.c", None, None),
    (
        lambda r: r.associated("t/1", "key"), f"GET {ASSOCIATIONS}/t%2F1?resourceType=topic&associationType=key",
        [{"subject": "s"}], "s",
    ),
    (lambda r: r.associated("t", "key"), f"GET {ASSOCIATIONS}/t?resourceType=topic&associationType=key", [], None),
]  # fmt: skip


@each(("what", "sent", "said", "result"), REQUESTS)
async def test_a_request_and_its_answer(what: Call, sent: str, said: object, result: object) -> None:
    with Scripted(answer(said)) as server:
        assert await call(server.url, what) == result
    (asked,) = server.asked
    assert f"{asked.method} {asked.path}" == sent.replace(" /", " /base/", 1)


async def test_what_is_registered_keeps_what_kcli_does_not_know() -> None:
    with Scripted(answer({"id": 1, "version": 2, "guid": "g-2", "subject": "o"})) as server:
        made = await call(server.url, lambda registry: registry.register("o", READ))
        await call(server.url, lambda registry: registry.register("o", READ, imported=True))
    plain, imported = (json.loads(asked.body) for asked in server.asked)
    assert plain == {
        name: FULL[name] for name in ("schema", "schemaType", "references", "metadata", "ruleSet", "schemaTags")
    }
    assert imported == {**plain, "id": 7, "version": 3}
    assert (made.id, made.version, made.guid, made.subject) == (1, 2, "g-2", "o")


async def test_a_rule_set_in_its_old_spelling() -> None:
    with Scripted(answer({"schema": '"int"', "ruleset": {"domainRules": [1]}})) as server:
        found = await call(server.url, lambda registry: registry.by_id(1))
    assert found.rule_set == '{"domainRules": [1]}'


# -- lists -------------------------------------------------------------------------------------------------------------


def pages(names: list[str]) -> Callable[[Asked], Step]:
    def route(asked: Asked) -> Step:
        query = dict(pair.split("=") for pair in asked.path.partition("?")[2].split("&"))
        first = int(query["offset"])
        return answer(names[first : first + int(query["limit"])])

    return route


@each("count", [0, 1, 9, 10, 11, 25, 30])
async def test_a_list_is_read_page_by_page(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 10)
    names = [f"s{number}" for number in range(count)]
    with Scripted() as server:
        server.route = pages(names)
        assert await call(server.url, lambda registry: registry.subjects()) == names
        assert len(server.asked) == count // 10 + 1


@each("count", [0, 9, 10, 25])
async def test_a_registry_without_pages_answers_the_whole_list(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 10)
    names = [f"s{number}" for number in range(count)]
    with Scripted(answer(names)) as server:
        assert await call(server.url, lambda registry: registry.subjects()) == names


async def test_a_list_that_never_ends_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 10)
    monkeypatch.setattr(module, "MOST", 100)
    with Scripted() as server:
        server.route = lambda _: answer([f"{len(server.asked)}-{number}" for number in range(10)])
        with pytest.raises(RegistryError, match="there are more than 100"):
            await call(server.url, lambda registry: registry.subjects())


async def test_pages_that_are_too_large_are_asked_for_in_parts() -> None:
    names = [f"a-subject-of-some-length-{number}" for number in range(300)]
    with Scripted() as server:
        server.route = pages(names)
        registry = RegistryClient(RegistrySettings(origins=(Origin(url=f"{server.url}/base"),), largest=2000))
        assert await registry.subjects() == names
        await registry.close()
        assert len(server.asked) > 5


async def test_a_prefix_is_kept_where_the_registry_passes_it_over() -> None:
    with Scripted(answer(["orders-value", "a", ":.c:orders"])) as server:
        assert await call(server.url, lambda registry: registry.subjects("ord")) == ["orders-value"]
        assert len(await call(server.url, lambda registry: registry.subjects(":*:"))) == 3


async def test_all_schemas() -> None:
    with Scripted(answer([FULL])) as server:
        assert await call(server.url, lambda registry: registry.schemas("o", latest_only=True)) == [READ]
        assert "subjectPrefix=o&latestOnly=true" in server.asked[0].path


# -- what a registry has not, and what it gets wrong -------------------------------------------------------------------


async def test_a_registry_without_a_request() -> None:
    with Scripted(refusal(404, 0, "Operation not supported.")) as server:
        with pytest.raises(Unsupported, match=r"does not support this request \(HTTP 404\)"):
            await call(server.url, lambda registry: registry.mode())
        assert await call(server.url, lambda registry: registry.identity()) == ("", "")
        assert await call(server.url, lambda registry: registry.associated("t", "value")) is None


@each(
    ("what", "said", "says"),
    [
        (lambda r: r.by_id(7), {"schema": "x", "id": 8}, "returned another schema than .* it has id 8"),
        (lambda r: r.by_guid("g"), {"schema": "x", "guid": "h\x1b"}, r"it has GUID h\\x1b"),
        (lambda r: r.version("a", 3), {"schema": "x", "version": 4}, "it has version 4"),
        (lambda r: r.version("a"), {"schema": "x"}, "another schema"),
        (lambda r: r.by_id(7), {"id": 7}, "schema is missing"),
        (lambda r: r.by_id(7), {"schema": {}}, "schema: expected a text"),
        (lambda r: r.by_id(7), {"schema": "x", "id": "7"}, "id: expected a whole number"),
        (lambda r: r.by_id(7), {"schema": "x", "id": -7}, "id: out of range"),
        (lambda r: r.by_id(7), {"schema": "x", "id": 2**63}, "id: out of range"),
        (lambda r: r.by_id(7), {"schema": "x", "schemaType": "XSD"}, "unknown type 'XSD'"),
        (lambda r: r.by_id(7), {"schema": "x", "references": [{"name": 1}]}, r"references\[0\].name: expected a text"),
        (lambda r: r.by_id(7), {"schema": "x", "references": [{"name": "a", "subject": "b"}]}, "version: expected"),
        (lambda r: r.by_id(7), {"schema": "x", "references": [{}] * 1001}, "more than 1,000"),
        (lambda r: r.by_id(7), {"schema": "\ud800"}, "unpaired surrogate"),
        (lambda r: r.by_id(7), {"schema": "x", "metadata": {"a": "\ud800"}}, "unpaired surrogate"),
        (lambda r: r.by_id(7), [], "expected a JSON object"),
        (lambda r: r.by_id(7), None, "expected a JSON object"),
        (lambda r: r.register("a", INT), {}, "id is missing"),
        (lambda r: r.register("a", INT), {"id": True}, "id: expected a whole number"),
        (lambda r: r.compatible("a", INT), {"is_compatible": 1}, "is_compatible: expected true or false"),
        (lambda r: r.uses_of(7), [{"subject": "a"}], "version is missing"),
        (lambda r: r.delete_version("a", 1), [1], "expected a whole number"),
        (lambda r: r.level(), {}, "compatibility is missing"),
        (lambda r: r.associated("t", "key"), [{"subject": "a"}, {"subject": "b"}], "associates 2 subjects"),
    ],
)  # fmt: skip
async def test_an_answer_to_another_question_is_refused(what: Call, said: object, says: str) -> None:
    with Scripted(answer(said)) as server:
        with pytest.raises(KcliError, match=says):
            await call(server.url, what)


async def test_a_schema_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted(raw(json.dumps({"schema": "x" * (4 * 1024 * 1024 + 1)}).encode())) as server:
        with pytest.raises(BadAnswer, match="schema: it is longer than 4 MiB"):
            await call(server.url, lambda registry: registry.by_id(1))


# -- what a profile forbids --------------------------------------------------------------------------------------------


@each(("what", "sent", "said", "result"), REQUESTS)
async def test_a_profile_forbids_by_method_and_path(what: Call, sent: str, said: object, result: object) -> None:
    method, path = sent.split(" ")
    changes = method in ("PUT", "DELETE")
    adds = method == "POST" and path.startswith("/subjects/") and "/versions" in path
    with Scripted(answer(said)) as server:
        for guard, forbidden in (("read_only", changes or adds), ("protected", changes), ("", False)):
            if forbidden:
                with pytest.raises(UsageError, match=r"refused by (read-only|protected) profile prod"):
                    await call(server.url, what, guard=guard, profile="prod")
                assert server.asked == []
            else:
                assert await call(server.url, what, guard=guard, profile="prod") == result
            server.asked.clear()


@pytest.mark.process
def test_a_client_that_asks_nothing_imports_no_library_for_http() -> None:
    """A consumer whose schemas are all in the disk cache starts as fast as one without a registry."""
    code = (
        "import sys; from kcli.registry.lookup import open_schemas; from kcli.registry.client import RegistryClient;"
        "from kcli.registry.settings import RegistrySettings, origin_of;"
        "RegistryClient(RegistrySettings(origins=(origin_of('http://registry'),)));"
        "assert 'urllib3' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
