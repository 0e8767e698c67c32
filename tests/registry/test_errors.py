"""What a registry's refusals are said as: the code counts, then the status."""

from __future__ import annotations

import json

from kcli.errors import AuthError, KcliError
from kcli.registry.errors import (
    TEXTS,
    Forbidden,
    Incompatible,
    NotFound,
    RegistryError,
    Unsupported,
    error_of,
    reasons_of,
)
from kcli.schemas import SchemaNotFound
from kcli.security.http import Answer, Origin, Unavailable
from tests.each import each

CONFLUENT = (
    'Schema being registered is incompatible with an earlier schema for subject "o", details: '
    "[{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'b' at path '/fields/0' in the new "
    "schema has no default value and is missing in the old schema', additionalInfo:'b'}, {oldSchemaVersion: 1}, "
    "{oldSchema: '{\"type\":\"record\"}'}, {validateFields: 'false', compatibility: 'BACKWARD'}]"
)
APICURIO = (
    "io.apicurio.registry.rules.RuleViolationException: Incompatible artifact: o [AVRO], num of incompatible "
    "diffs: {2}, list of diff types: [b at /fields/0, a at /fields/0] Causes: b at /fields/0, "
    "expected: 4, found: 3 at /fields/1/type/size, [C, D] at /fields/2/type/symbols"
)


def error(status: int, code: int | None, message: str = "their words", **headers: str) -> KcliError:
    body = {"message": message} if code is None else {"error_code": code, "message": message}
    return told(status, json.dumps(body).encode(), **headers)


def told(status: int, body: bytes, **headers: str) -> KcliError:
    answer = Answer(status, headers, body, Origin(url="http://r"))
    return error_of(answer, "o version 3", "http://r", "the user me of basic.auth.user.info")


@each(
    ("status", "code", "kind", "exit_code", "says"),
    [
        (404, 40401, NotFound, 1, "o version 3: the registry has no such subject (40401)"),
        (404, 40402, NotFound, 1, "o version 3: the subject has no such version (40402)"),
        (404, 40403, NotFound, 1, "o version 3: the registry has no such schema (40403)"),
        (404, 40404, RegistryError, 1, "the subject is soft-deleted (40404)"),
        (409, 40405, RegistryError, 1, "the subject is not soft-deleted yet (40405)"),
        (404, 40406, RegistryError, 1, "the version is soft-deleted"),
        (404, 40407, RegistryError, 1, "the version is not soft-deleted yet"),
        (404, 40408, RegistryError, 1, "no compatibility level of its own: the inherited one applies (40408)"),
        (404, 40409, RegistryError, 1, "no mode of its own: the inherited one applies (40409)"),
        (422, 42201, RegistryError, 1, "the schema is not valid: their words (42201)"),
        (409, 42201, RegistryError, 1, "the schema is not valid: their words (42201)"),
        (422, 42202, RegistryError, 1, "the version is not valid: a version is a number from 1 on, or latest (42202)"),
        (422, 42203, RegistryError, 1, "the compatibility level is not valid: it is NONE, BACKWARD"),
        (422, 42204, RegistryError, 1, "the mode is not valid: it is READWRITE"),
        (422, 42205, RegistryError, 1, "the registry's mode forbids it: their words (42205)"),
        (422, 42206, RegistryError, 1, "other schemas refer to it: delete them first: their words (42206)"),
        (422, 42207, RegistryError, 1, "the schema has another id there: their words (42207)"),
        (422, 42208, RegistryError, 1, "the name of the subject is not valid: their words (42208)"),
        (422, 42209, RegistryError, 1, "the schema is too large"),
        (422, 42210, RegistryError, 1, "the rule set is not valid"),
        (422, 42211, RegistryError, 1, "the context is not empty: delete its subjects first (42211)"),
        (422, 42212, RegistryError, 1, "the association is not valid"),
        (500, 50001, Unavailable, 5, "http://r: the registry's store failed: their words (50001)"),
        (500, 50002, Unavailable, 5, "the registry's store did not answer in time (50002)"),
        (500, 50003, Unavailable, 5, "could not forward the request to its leader: their words (50003)"),
        (500, 50004, Unavailable, 5, "the registry has no leader now (50004)"),
        (503, None, Unavailable, 5, "http://r: HTTP 503: their words"),
        (429, None, Unavailable, 5, "http://r: HTTP 429: their words"),
        (401, 40101, AuthError, 5, "http://r refused the user me of basic.auth.user.info (HTTP 401): their words"),
        (403, 40301, Forbidden, 5, "http://r does not allow it to the user me of basic.auth.user.info: their"),
        (
            404,
            0,
            Unsupported,
            1,
            "http://r does not support this request (HTTP 404); is the path of schema.registry.url complete?",
        ),
        (405, 405, Unsupported, 1, "does not support this request (HTTP 405)"),
        (400, None, RegistryError, 1, "o version 3: http://r answered HTTP 400: their words"),
        (418, 41801, RegistryError, 1, "answered HTTP 418: their words"),
        (422, 2**70, RegistryError, 1, "answered HTTP 422"),
    ],
)
def test_a_code_has_a_sentence(status: int, code: int | None, kind: type, exit_code: int, says: str) -> None:
    problem = error(status, code)
    assert type(problem) is kind
    assert says in str(problem)
    assert problem.exit_code == exit_code
    assert problem.retriable is (kind is Unavailable)


def test_every_code_of_the_table_is_tested() -> None:
    assert len(TEXTS) == 9 + 12 + 4
    for code in TEXTS:
        assert f"({code})" in str(error(code // 100, code))


def test_what_is_not_found_is_known_to_whoever_knows_no_registry() -> None:
    assert isinstance(error(404, 40403), SchemaNotFound)
    assert not isinstance(error(404, 0), SchemaNotFound)


@each(
    ("code", "words", "reasons"),
    [
        (40901, CONFLUENT, 3),
        (409, CONFLUENT, 3),
        (409, APICURIO, 3),
        (409, "just no", 1),
        (None, "", 0),
    ],
)
def test_an_incompatible_schema_has_the_reasons_in_one_line(code: int | None, words: str, reasons: int) -> None:
    problem = error(409, code, words)
    assert isinstance(problem, Incompatible)
    assert len(problem.reasons) == reasons
    what = "o version 3: the schema is incompatible with the versions that the subject has"
    assert str(problem) == (f"{what}: {'; '.join(problem.reasons)}" if reasons else what)
    assert "oldSchema:" not in str(problem)


def test_reasons_of_two_dialects() -> None:
    assert reasons_of(CONFLUENT)[0].startswith("errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field")
    assert reasons_of(APICURIO) == (
        "b at /fields/0", "expected: 4, found: 3 at /fields/1/type/size", "[C, D] at /fields/2/type/symbols",
    )  # fmt: skip


@each(
    "body",
    [
        b"", b"<html><body>proxy</body></html>", b"\xff\x00", b"[]", b"[" * 100_000, b'{"error_code":"x"}',
        b'{"error_code":true,"message":1}', b'{"message":"\\ud800 \\u001b[31m\\u202e' + b"x" * 100_000 + b'"}',
        b"plain \x1b[31m" + b"x" * 100_000,
    ],
)  # fmt: skip
def test_whatever_comes_is_one_harmless_sentence(body: bytes) -> None:
    for status in (400, 401, 403, 404, 409, 422, 500, 599, 302):
        sentence = str(told(status, body))
        assert "\x1b" not in sentence
        assert "\u202e" not in sentence
        assert len(sentence) < 3000
        sentence.encode()


def test_a_secret_of_ours_that_comes_back_is_hidden() -> None:
    from kcli.redact import remember

    remember("hunter2-of-errors")
    assert "hunter2" not in str(error(400, None, "you said hunter2-of-errors"))
