"""The meaning of a registry's errors, by the code in the response, as sentences with a remedy.

The codes are those of Confluent's registry (`rest/exceptions/Errors.java`); other registries use some of them, with
other HTTP statuses, and 0 or none for requests that they do not support.
"""

from __future__ import annotations

from kcli.errors import AuthError, KcliError
from kcli.redact import redacted
from kcli.schemas import SchemaNotFound
from kcli.security.http import UNAVAILABLE, Unavailable
from kcli.text.escape import visible
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.security.http import Answer

SHOWN = 200  # characters of a registry's message
LONGEST_REASON = 2000
INCOMPATIBLE = (40901, 409)
NO_OWN = (40401, 40408, 40409)
"""Codes for a subject without its own setting."""
NOT_FOUND = (40401, 40402, 40403)

TEXTS = {
    40401: "the registry has no such subject",
    40402: "the subject has no such version",
    40403: "the registry has no such schema",
    40404: "the subject is soft-deleted",
    40405: "the subject is not soft-deleted yet",
    40406: "the version is soft-deleted",
    40407: "the version is not soft-deleted yet",
    40408: "the subject has no compatibility level of its own: the inherited one applies",
    40409: "the subject has no mode of its own: the inherited one applies",
    42201: "the schema is not valid",
    42202: "the version is not valid: a version is a number from 1 on, or latest",
    42203: "the compatibility level is not valid: it is NONE, BACKWARD, FORWARD or FULL, each also with _TRANSITIVE",
    42204: "the mode is not valid: it is READWRITE, READONLY, READONLY_OVERRIDE or IMPORT",
    42205: "the registry's mode forbids it",
    42206: "other schemas refer to it: delete them first",
    42207: "the schema has another id there",
    42208: "the name of the subject is not valid",
    42209: "the schema is too large",
    42210: "the rule set is not valid",
    42211: "the context is not empty: delete its subjects first",
    42212: "the association is not valid",
    50001: "the registry's store failed",
    50002: "the registry's store did not answer in time",
    50003: "the registry could not forward the request to its leader",
    50004: "the registry has no leader now",
}
DELETED = {40404: "soft-deleted", 40405: "delete-first", 40406: "soft-deleted", 40407: "delete-first"}
"""Codes that need a hint, and the hint."""
EXPLAINED = (42201, 42205, 42206, 42207, 42208, 42209, 42210, 42212, 50001, 50003)
"""Codes for which the registry's own message has more details."""


class RegistryError(KcliError):
    """The registry rejected the request. `status` is the HTTP status, `code` the registry's own, 0 if there is none."""

    def __init__(self, message: str, status: int = 0, code: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class NotFound(RegistryError, SchemaNotFound):
    """There is no such subject, version or schema."""


class Unsupported(RegistryError):
    """The registry does not support the request."""


class BadAnswer(RegistryError):
    """The response does not match the request: another schema, another form."""


class Incompatible(RegistryError):
    """The schema is not compatible with the subject's versions; `reasons` are the registry's."""

    def __init__(self, about: str, reasons: tuple[str, ...], status: int, code: int) -> None:
        what = f"{about}: the schema is incompatible with the versions that the subject has"
        super().__init__(f"{what}: {'; '.join(reasons)}" if reasons else what, status, code)
        self.reasons = reasons


class Forbidden(AuthError):
    """This request is not permitted; others may be."""


def error_of(answer: Answer, about: str, origin: str, credentials: str) -> KcliError:
    """Return the error of an unsuccessful response. `about` is what was requested (`orders-value version 3`),
    `credentials` describes our login, "" for none."""
    code, words = _said(answer)
    status = answer.status
    if status in (401, 403):
        return _refused(status, words, about, origin, credentials)
    if code in INCOMPATIBLE or (status == 409 and code not in TEXTS):
        return Incompatible(about, reasons_of(words), status, code)
    text = TEXTS.get(code, "")
    if text and code in EXPLAINED and words:
        text = f"{text}: {words}"
    if status in UNAVAILABLE or 50001 <= code <= 50004:
        reason = f"{text} ({code})" if text else f"HTTP {status}{f': {words}' if words else ''}"
        return Unavailable(f"{origin}: {reason}", status=status)
    if text:
        kind = NotFound if code in NOT_FOUND else RegistryError
        error = kind(f"{about}: {text} ({code})", status, code)
        return error.hinted(DELETED[code]) if code in DELETED else error
    if status in (404, 405, 501):
        why = "; is the path of schema.registry.url complete? Apicurio's ends with /apis/ccompat/v7"
        if "/apis/ccompat/" in origin:
            why = ": registries differ"
        return Unsupported(f"{about}: {origin} does not support this request (HTTP {status}){why}", status, code)
    return RegistryError(f"{about}: {origin} answered HTTP {status}{f': {words}' if words else ''}", status, code)


def _said(answer: Answer) -> tuple[int, str]:
    """Return the code and the message of a response of any form."""
    text = answer.body[: 64 * 1024].decode("utf-8", "replace")
    try:
        document = read_object(text)
        code = document.number("error_code") if document.has("error_code") else 0
        words = document.text("message") if document.has("message") else ""
    except (ValueError, RecursionError):
        return 0, "" if "<html" in text[:1000].lower() else harmless(text)
    limit = LONGEST_REASON if code in INCOMPATIBLE or answer.status == 409 else SHOWN
    return code, harmless(words, limit)


def harmless(text: str, limit: int = SHOWN) -> str:
    """Return the registry's message for display: without our secrets and control characters, and shortened."""
    text = " ".join(redacted(text).split())
    return visible(text if len(text) <= limit else f"{text[:limit]}…")


def reasons_of(words: str) -> tuple[str, ...]:
    """Return the single reasons for an incompatibility in a registry's message, without the old schema, which
    is long."""
    _, details, rest = words.partition("details: [")
    if details:
        parts = rest.removesuffix("]").removesuffix("}").removeprefix("{").split("}, {")
        return tuple(part for part in (part.strip() for part in parts) if part and not part.startswith("oldSchema:"))
    _, causes, rest = words.partition(" Causes: ")
    if causes:
        import re

        lines = re.sub(r"( at /[^\s,]*), ", r"\1\n", rest) if " at /" in rest else rest.replace(", ", "\n")
        return tuple(line for line in map(str.strip, lines.split("\n")) if line)
    return (words,) if words else ()


def each_reason(messages: Iterable[str]) -> tuple[str, ...]:
    """Return the single reasons in the messages of a verdict, without the old schema."""
    reasons: list[str] = []
    for text in messages:
        if text.startswith("{oldSchema:"):
            continue
        reasons += reasons_of(text) if " Causes: " in text else [text.removeprefix("{").removesuffix("}")]
    return tuple(reasons)


def _refused(status: int, words: str, about: str, origin: str, credentials: str) -> AuthError:
    detail = f": {words}" if words else ""
    if status == 403:
        return Forbidden(f"{about}: {origin} does not allow it{f' to {credentials}' if credentials else ''}{detail}")
    if credentials:
        return AuthError(f"{origin} refused {credentials} (HTTP 401){detail}")
    return AuthError(
        f"{origin} requires credentials (HTTP 401): set basic.auth.user.info, or bearer.auth.token or "
        f"another bearer.auth property{detail}"
    )
