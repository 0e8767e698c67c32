"""What a registry's refusals mean, by the code in its answer, as sentences with a remedy.

The codes are those of Confluent's registry (`rest/exceptions/Errors.java`); other registries use some of them, with
other HTTP statuses, and 0 or none where they have no such request.
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

SHOWN = 200  # characters of what a registry says
LONGEST_REASON = 2000
INCOMPATIBLE = (40901, 409)
NO_OWN = (40401, 40408, 40409)
"""Codes of a subject that has no setting of its own."""
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
"""Codes that need a hint, and which."""
EXPLAINED = (42201, 42205, 42206, 42207, 42208, 42209, 42210, 42212, 50001, 50003)
"""Codes after which the registry's own words say more."""


class RegistryError(KcliError):
    """The registry refused. `status` is HTTP's, `code` the registry's own, 0 where it gave none."""

    def __init__(self, message: str, status: int = 0, code: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class NotFound(RegistryError, SchemaNotFound):
    """It has no such subject, version or schema."""


class Unsupported(RegistryError):
    """It has no such request: registries differ."""


class BadAnswer(RegistryError):
    """An answer that is not to what was asked: another schema, another shape."""


class Incompatible(RegistryError):
    """The schema does not go with the subject's versions; `reasons` are the registry's."""

    def __init__(self, about: str, reasons: tuple[str, ...], status: int, code: int) -> None:
        what = f"{about}: the schema is incompatible with the versions that the subject has"
        super().__init__(f"{what}: {'; '.join(reasons)}" if reasons else what, status, code)
        self.reasons = reasons


class Forbidden(AuthError):
    """This one request is not allowed; others may be."""


def error_of(answer: Answer, about: str, origin: str, credentials: str) -> KcliError:
    """The error of an answer that is none of success. `about` is what was asked for (`orders-value version 3`),
    `credentials` how we showed ourselves, "" for not at all."""
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
        return Unsupported(f"{about}: {origin} has no such request (HTTP {status}){why}", status, code)
    return RegistryError(f"{about}: {origin} answered HTTP {status}{f': {words}' if words else ''}", status, code)


def _said(answer: Answer) -> tuple[int, str]:
    """The code and the words of an answer, whatever it is."""
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
    """What the registry says, fit to be shown: no secret of ours, nothing a terminal obeys, and not for ever."""
    text = " ".join(redacted(text).split())
    return visible(text if len(text) <= limit else f"{text[:limit]}…")


def reasons_of(words: str) -> tuple[str, ...]:
    """The reasons for an incompatibility in a registry's message, one each; without the old schema, which is long."""
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
    """The reasons in the messages of a verdict, one each; without the old schema."""
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
        f"{origin} wants credentials (HTTP 401): set basic.auth.user.info, or bearer.auth.token and its kin{detail}"
    )
