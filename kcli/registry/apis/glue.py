"""AWS Glue's registry with the interface of other registries: its schemas are subjects, and a version has a UUID and no
id.

Glue compares schemas only on registration. Before that, kcli compares Avro by its own rules.
"""

from __future__ import annotations

import asyncio
import json
import os

from kcli.errors import AuthError, KcliError, UsageError
from kcli.redact import remember
from kcli.registry.answers import LARGEST_SCHEMA, Verdict, sound
from kcli.registry.client import RegistryClient
from kcli.registry.errors import (
    BadAnswer,
    Forbidden,
    Incompatible,
    NotFound,
    RegistryError,
    Unsupported,
    error_of,
    harmless,
)
from kcli.registry.subjects import among
from kcli.schemas import AVRO, KINDS, Schema
from kcli.security.http import Unavailable
from kcli.security.http_client import HttpClient
from kcli.tasks import in_daemon_thread
from kcli.text.escape import printable
from kcli.text.json_object import JsonObject, read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeVar

    from kcli.registry.settings import RegistrySettings
    from kcli.serde.avro.compatibility import Violation

    R = TypeVar("R")
    from kcli.security.http import Answer, Origin

READS = ("Get", "List", "Check")
CHANGES = ("Update", "Delete")
PAGE = 100
MOST_PAGES = 10_000
NEW_LEVEL = "BACKWARD"
"""The level of a schema that kcli creates; also that of AWS's own serializers."""
COMPARES = "AWS Glue compares schemas only when one is registered; kcli itself compares Avro"
PAUSE = 0.5  # seconds between checks whether a new version was accepted
TRIES = 60


class GlueClient(RegistryClient):
    """The requests that Glue supports; the others raise Unsupported."""

    deletes_softly = False

    def __init__(self, settings: RegistrySettings, *, guard: str = "", profile: str = "") -> None:
        """Raises UsageError without botocore."""
        super().__init__(settings, guard=guard, profile=profile)
        self._made = HttpClient(settings, AwsCredentials("glue", settings.glue_region), glue_error)

    async def kind(self) -> str:
        return "glue"

    async def identity(self) -> tuple[str, str]:
        return "", ""

    # -- subjects ------------------------------------------------------------------------------------------------------

    async def subjects(self, prefix: str = "", *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        given = {"RegistryId": {"RegistryName": self.settings.glue_registry}}
        rows = await self._listed("ListSchemas", given, "Schemas", "the schemas")
        names = [row.text("SchemaName") for row in rows]
        return among(prefix, names)

    async def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        rows = await self._listed("ListSchemaVersions", {"SchemaId": self._id(subject)}, "Schemas", subject)
        return sorted(row.number("VersionNumber") for row in rows if row.text("Status") == "AVAILABLE")

    async def version(
        self, subject: str, version: int | None = None, *, deleted: bool = False, format: str = ""
    ) -> Schema:
        number = {"LatestVersion": True} if version is None else {"VersionNumber": version}
        about = subject if version is None else f"{subject} version {version}"
        given = {"SchemaId": self._id(subject), "SchemaVersionNumber": number}
        return await self._call("GetSchemaVersion", given, about, _schema)

    async def lookup(self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Schema:
        given = {"SchemaId": self._id(subject), "SchemaDefinition": schema.text}
        guid = await self._call("GetSchemaByDefinition", given, subject, _guid)
        return await self.by_guid(guid)

    async def register(
        self, subject: str, schema: Schema, *, normalize: bool = False, imported: bool = False
    ) -> Schema:
        if imported:
            raise Unsupported(f"{subject}: AWS Glue assigns ids itself")
        if schema.references:
            raise Unsupported(f"{subject}: AWS Glue does not support references")
        given: dict[str, object] = {"SchemaId": self._id(subject), "SchemaDefinition": schema.text}
        try:
            guid = await self._call("RegisterSchemaVersion", given, subject, _guid, repeat=True)
        except NotFound:
            registry = {"RegistryName": self.settings.glue_registry}
            given = {
                "RegistryId": registry,
                "SchemaName": subject,
                "DataFormat": schema.kind,
                "Compatibility": NEW_LEVEL,
                "SchemaDefinition": schema.text,
            }
            guid = await self._call("CreateSchema", given, subject, lambda row: row.text("SchemaVersionId"))
        return await self._accepted(subject, guid)

    async def referenced_by(self, subject: str, version: int) -> list[int]:
        """Return nothing: Glue does not support references."""
        return []

    async def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete a schema permanently with all its versions, and wait for that; Glue returns no numbers."""
        given = {"SchemaId": self._id(subject)}
        await self._call("DeleteSchema", given, subject, lambda row: row.text("SchemaName"))
        await self._gone("GetSchema", given, subject)
        return []

    async def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        """Delete a version permanently, and wait until it is gone. Glue refuses to delete the first one, and one that
        the level needs."""
        about, name = f"{subject} version {version}", {"SchemaId": self._id(subject)}
        problem = await self._call("DeleteSchemaVersions", {**name, "Versions": str(version)}, about, _not_deleted)
        if problem:
            raise RegistryError(f"{about}: AWS Glue does not delete it: {problem}")
        await self._gone("GetSchemaVersion", {**name, "SchemaVersionNumber": {"VersionNumber": version}}, about)
        return version

    async def _gone(self, operation: str, given: Mapping[str, object], about: str) -> None:
        """Wait for the end of a deletion."""

        async def gone() -> bool | None:
            try:
                await self._call(operation, given, about, lambda row: None)
            except NotFound:
                return True
            return None

        await _settled(gone, f"{about}: AWS Glue began to delete it, and has not done so")

    async def _accepted(self, subject: str, guid: str) -> Schema:
        """Return a new version after Glue has compared it. Raises Incompatible."""

        async def accepted() -> Schema | None:
            given = {"SchemaVersionId": guid}
            status = await self._call("GetSchemaVersion", given, subject, lambda row: row.text("Status"))
            if status == "AVAILABLE":
                return await self.by_guid(guid)
            if status != "PENDING":
                reason = "AWS Glue rejects it: it is invalid, or not compatible at the level of the subject"
                raise Incompatible(subject, (f"{reason} (status {harmless(status)})",), 0, 0)
            return None

        return await _settled(accepted, f"{subject}: AWS Glue did not compare the new version")

    # -- schemas -------------------------------------------------------------------------------------------------------

    async def schemas(self, prefix: str = "", *, latest_only: bool = False, deleted: bool = False) -> list[Schema]:
        raise Unsupported("AWS Glue lists schemas without their text")

    async def by_id(self, id: int, *, subject: str = "", format: str = "") -> Schema:
        raise NotFound(f"schema {id}: AWS Glue has UUIDs and no ids", 404, NO_SCHEMA)

    async def by_guid(self, guid: str, *, format: str = "") -> Schema:
        schema = await self._call("GetSchemaVersion", {"SchemaVersionId": guid}, f"schema {guid}", _schema)
        if schema.guid.lower() != guid.lower():
            raise self._wrong("GetSchemaVersion", f"it has UUID {harmless(schema.guid)}")
        return schema

    # -- compatibility -------------------------------------------------------------------------------------------------

    async def compatible(
        self, subject: str, schema: Schema, version: int | None = None, *, every: bool = False, normalize: bool = False
    ) -> Verdict:
        """Compare Avro by kcli's rules and the level of the subject. For other kinds Glue only checks whether the text
        is valid; if it is, raises Unsupported."""
        level = await self.level(subject)
        if level in ("NONE", "DISABLED"):
            return Verdict(level == "NONE", () if level == "NONE" else ("the level DISABLED allows no new version",))
        if schema.kind != AVRO:
            given = {"DataFormat": schema.kind, "SchemaDefinition": schema.text}
            problem = await self._call("CheckSchemaVersionValidity", given, subject, _problem)
            if problem:
                return Verdict(False, (problem,))
            raise Unsupported(f"{subject}: {COMPARES}, but not {schema.kind}")
        from kcli.serde.avro.compatibility import LEVELS, check
        from kcli.serde.avro.parse import parse

        numbers: list[int | None] = [version]
        if LEVELS[level][1] or every:
            numbers = [*await self.versions(subject)]
        known = [await self.version(subject, number) for number in numbers]
        found = check(level, parse(schema.text, []), [parse(one.text, []) for one in known])
        return Verdict(not found, tuple(_reason(one) for one in found))

    async def level(self, subject: str = "", *, inherited: bool = True) -> str:
        if not subject:
            return NEW_LEVEL
        given = {"SchemaId": self._id(subject)}
        level = await self._call("GetSchema", given, subject, lambda row: row.text("Compatibility"))
        return level.replace("_ALL", "_TRANSITIVE")

    async def settings_of(self, subject: str = "", *, inherited: bool = True) -> dict[str, str]:
        return {"compatibility": json.dumps(await self.level(subject))}

    async def set_level(self, level: str, subject: str = "") -> None:
        if not subject:
            raise Unsupported("AWS Glue has no level for a whole registry")
        given = {
            "SchemaId": self._id(subject),
            "Compatibility": level.replace("_TRANSITIVE", "_ALL"),
            "SchemaVersionNumber": {"LatestVersion": True},
        }
        await self._call("UpdateSchema", given, subject, lambda row: None)

    async def hint(self, problem: RegistryError, subject: str) -> str:
        """Like other registries; without permission to list schemas there is no hint."""
        try:
            return await super().hint(problem, subject)
        except KcliError:
            return ""

    async def contexts(self) -> list[str]:
        return ["."]

    # -- requests ------------------------------------------------------------------------------------------------------

    def _id(self, subject: str) -> dict[str, object]:
        return {"RegistryName": self.settings.glue_registry, "SchemaName": subject}

    async def _call(
        self,
        operation: str,
        given: Mapping[str, object],
        about: str,
        read: Callable[[JsonObject], R],
        *,
        repeat: bool = False,
    ) -> R:
        self._allow(operation)
        headers = {"X-Amz-Target": f"AWSGlue.{operation}", "Content-Type": "application/x-amz-json-1.1"}
        body = json.dumps(given).encode()
        again = repeat or operation.startswith(READS)
        answer = await self._http.request("POST", "/", body, repeat=again, about=about, headers=headers)
        try:
            return read(read_object(answer.body.decode() or "{}"))
        except (ValueError, RecursionError) as problem:
            raise BadAnswer(
                f"{answer.origin.url}: unexpected response to {operation}: {harmless(str(problem))}"
            ) from None

    def _allow(self, operation: str) -> None:
        """Like `allow` of other registries, by the name of the operation."""
        if self._guard == "read_only" and not operation.startswith(READS):
            raise UsageError(f"refused by read-only profile {self._profile}: {operation} would change the registry")
        if self._guard == "protected" and operation.startswith(CHANGES):
            refused = UsageError(f"refused by protected profile {self._profile}: {operation} deletes or alters")
            raise refused.hinted("confirm", profile=self._profile)

    async def _listed(self, operation: str, given: Mapping[str, object], field: str, about: str) -> list[JsonObject]:
        rows: list[JsonObject] = []
        token = ""
        for _ in range(MOST_PAGES):
            more = {"NextToken": token} if token else {}
            page, token = await self._call(
                operation, {**given, "MaxResults": PAGE, **more}, about, lambda row: _page(row, field)
            )
            rows += page
            if not token:
                return rows
        raise RegistryError(f"{about}: there are more than {MOST_PAGES * PAGE:,}")

    def _check(self, about: str, method: str, path: str) -> None:
        """Reject every other request."""
        raise Unsupported(f"{about}: kcli does not support this request for AWS Glue ({method} {path.split('/')[1]})")


async def _settled(ask: Callable[[], Awaitable[R | None]], unless: str) -> R:
    """Return the first result that is not None. Raises RegistryError after TRIES attempts."""
    for _ in range(TRIES):
        if (found := await ask()) is not None:
            return found
        await asyncio.sleep(PAUSE)
    raise RegistryError(f"{unless} within {TRIES * PAUSE:g} s")


def _reason(found: Violation) -> str:
    type, location, message = found.reason
    return f"{found.direction}: {type} at {location or '/'}: {message}"


def _page(row: JsonObject, field: str) -> tuple[list[JsonObject], str]:
    return row.objects(field), row.text("NextToken") if row.has("NextToken") else ""


def _guid(row: JsonObject) -> str:
    return row.text("SchemaVersionId")


def _not_deleted(row: JsonObject) -> str:
    """Return why a version was not deleted, "" if it was."""
    if not row.has("SchemaVersionErrors"):
        return ""
    for failed in row.objects("SchemaVersionErrors"):
        details = failed.nested("ErrorDetails")
        return harmless(f"{details.text('ErrorCode')}: {details.text('ErrorMessage')}")
    return ""


def _problem(row: JsonObject) -> str:
    """Return why Glue rejects a text as a schema, "" if it does not."""
    if row.flag("Valid"):
        return ""
    return harmless(row.text("Error") if row.has("Error") else "") or "AWS Glue takes it for no schema"


def _schema(row: JsonObject) -> Schema:
    """Return a version; the name of its schema is at the end of the ARN."""
    kind, text = row.text("DataFormat"), sound(row.text("SchemaDefinition"))
    if kind not in KINDS:
        raise ValueError(f"DataFormat: unknown type {kind[:40]!r}; known: {', '.join(KINDS)}")
    if len(text) > LARGEST_SCHEMA:
        raise ValueError(f"SchemaDefinition: it is longer than {LARGEST_SCHEMA // 1024**2} MiB")
    subject = row.text("SchemaArn").rpartition("/")[2] if row.has("SchemaArn") else ""
    return Schema(kind=kind, text=text, guid=_guid(row).lower(), subject=subject, version=row.number("VersionNumber"))


# The meaning of AWS Glue's errors, by the name of the exception in the response.


NO_SUBJECT, NO_SCHEMA = 40401, 40403
SIGNATURE = frozenset(
    "UnrecognizedClientException InvalidSignatureException ExpiredTokenException InvalidClientTokenId "
    "MissingAuthenticationTokenException IncompleteSignature SignatureDoesNotMatch AuthFailure".split()
)
DENIED = ("AccessDeniedException", "AccessDenied")
LATER = frozenset(
    "ThrottlingException Throttling InternalServiceException OperationTimeoutException InternalFailure "
    "ConcurrentModificationException ServiceUnavailable".split()
)


def glue_error(answer: Answer, about: str, origin: str, credentials: str) -> KcliError:
    """Like `error_of`."""
    name, words = _said(answer)
    said = f": {words}" if words else ""
    if not name:
        return error_of(answer, about, origin, credentials)
    if name in SIGNATURE:
        return AuthError(f"{origin} refused {credentials or 'the credentials of AWS'} ({name}){said}")
    if name in DENIED:
        return Forbidden(f"{about}: {origin} does not allow it to {credentials or 'the credentials of AWS'}{said}")
    if name in LATER:
        return Unavailable(f"{origin}: {name}{said}", status=answer.status)
    if name == "EntityNotFoundException":
        return NotFound(f"{about}: AWS Glue has none{said}", answer.status, NO_SUBJECT)
    return RegistryError(f"{about}: AWS Glue answered {name}{said}", answer.status)


def _said(answer: Answer) -> tuple[str, str]:
    """Return the name of the exception and its message, "" for a response that is not Glue's."""
    try:
        document = read_object(answer.body[: 64 * 1024].decode("utf-8", "replace"))
        name = document.text("__type").rpartition("#")[2]
        words = next((document.text(field) for field in ("Message", "message") if document.has(field)), "")
    except (ValueError, RecursionError):
        return "", ""
    return harmless(name, 80), harmless(words)


# Requests to AWS, signed (SigV4) by botocore, which also finds the credentials: environment, profile, role.


SIGNED = ("Content-Type", "X-Amz-Target")
MISSING = "requests to AWS Glue are signed by botocore: pip install 'kcli-kafka[aws]'"


class AwsCredentials:
    """Credentials for one service in one region, "" for the environment's region. Raises UsageError without botocore or
    region."""

    def __init__(self, service: str, region: str) -> None:
        try:
            from botocore.session import Session
        except ImportError:
            raise UsageError(MISSING) from None
        self._service = service
        self._region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
        if not self._region:
            raise UsageError("the AWS region is unknown: set schema.registry.glue.region, or AWS_REGION")
        self._session = Session()
        self._name = ""

    async def headers(self, origin: Origin, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]:
        """Return the additional headers of the signature. Raises AuthError without credentials."""
        given = {name: headers[name] for name in SIGNED if name in headers}
        return await in_daemon_thread("aws", self._signed, f"{origin.url}/", given, body or b"")

    def _signed(self, url: str, headers: dict[str, str], body: bytes) -> dict[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        try:
            held = self._session.get_credentials()
            found = held.get_frozen_credentials() if held is not None else None
        except BotoCoreError as problem:
            raise AuthError(f"the credentials of AWS: {printable(str(problem))}") from None
        if found is None:
            raise AuthError("no AWS credentials: set AWS_ACCESS_KEY_ID, or AWS_PROFILE")
        for secret in (found.secret_key, found.token):
            if secret:
                remember(secret)
        self._name = f"the AWS access key {printable(found.access_key)} ({held.method})"
        request = AWSRequest("POST", url, headers=headers, data=body)
        SigV4Auth(found, self._service, self._region).add_auth(request)
        return dict(request.headers.items())

    def name(self, origin: Origin) -> str:
        """Name for messages: the id of the key, which is not secret, and where botocore found it."""
        return self._name

    def refused(self) -> bool:
        """botocore renews expired credentials itself."""
        return False
