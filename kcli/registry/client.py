"""The requests of a schema registry's REST API, typed: Confluent's API as of 8.x, as far as a registry supports it.

Responses are not trusted until their fields have been type-checked. Unknown fields are kept with a schema, for another
registry. Registries support different requests; others raise Unsupported.
"""

from __future__ import annotations

import json
from urllib.parse import urlencode

from kcli.errors import Hint, UsageError
from kcli.registry import answers
from kcli.registry.auth import Credentials
from kcli.registry.errors import (
    BadAnswer,
    RegistryError,
    Unsupported,
    each_reason,
    error_of,
    harmless,
)
from kcli.registry.subjects import DEFAULT_CONTEXT, among, quoted
from kcli.security.http import TooLarge, WrongAddress
from kcli.tasks import in_daemon_thread
from kcli.text.escape import visible
from kcli.text.json_object import whole, whole_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from kcli.registry.answers import ContextId, SubjectVersion, Verdict
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema
    from kcli.security.http import Answer
    from kcli.security.http_client import HttpClient

    R = TypeVar("R")
    Query = Mapping[str, str | bool]

SERVERS = {"karapace": "karapace", "seastar": "redpanda"}
PAGE = 5000
MOST = 2_000_000
"""Items of a list, over all pages."""
LARGE = 256 * 1024
"""Size from which a response is parsed in a thread: a list of 100,000 subjects takes a tenth of a second."""
LATEST = "latest"


class RegistryClient:
    """One registry. Each method is one request, except those that read several pages. Raises RegistryError and its
    subclasses (errors.py), ConnectError, AuthError, and UsageError if the profile forbids the request."""

    deletes_softly = True
    """Whether deleted schemas can be read until they are permanently deleted."""

    def __init__(self, settings: RegistrySettings, *, guard: str = "", profile: str = "") -> None:
        """`guard` is "", read_only or protected, from the profile of that name."""
        self.settings = settings
        self._made: HttpClient | None = None
        self._guard = guard
        self._profile = profile
        self._kind = ""

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    @property
    def _http(self) -> HttpClient:
        """The HTTP client, created and imported with the first request: none is needed if all schemas are in the disk
        cache."""
        if self._made is None:
            from kcli.security.http_client import HttpClient

            self._made = HttpClient(self.settings, Credentials(self.settings), error_of)
        return self._made

    # -- subjects ------------------------------------------------------------------------------------------------------

    async def subjects(self, prefix: str = "", *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        """Return all subjects with the prefix; with `:*:` before it in all contexts, with `:.:` in the default one."""
        asked = prefix.removeprefix(DEFAULT_CONTEXT)  # as the subjects are named there
        given: Query = {"subjectPrefix": asked, "deleted": deleted, "deletedOnly": deleted_only}
        names = await self._pages("/subjects", given, "the subjects", answers.texts)
        return among(prefix, names)  # Apicurio returns all, and some registries those of all contexts

    async def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        path = f"/subjects/{quoted(subject)}/versions"
        return await self._get(whole_numbers, path, subject, {"deleted": deleted})

    async def version(
        self, subject: str, version: int | None = None, *, deleted: bool = False, format: str = ""
    ) -> Schema:
        """Return a version of a subject; None is the latest one."""
        path = f"/subjects/{quoted(subject)}/versions/{LATEST if version is None else version}"
        about = subject if version is None else f"{subject} version {version}"
        schema = await self._get(answers.schema_of, path, about, {"deleted": deleted, "format": format})
        if schema.version < 0 or (version is not None and schema.version != version):
            raise self._wrong(path, f"it has version {schema.version}")
        return schema

    async def referenced_by(self, subject: str, version: int) -> list[int]:
        """Return the ids of the schemas that reference a version."""
        path = f"/subjects/{quoted(subject)}/versions/{version}/referencedby"
        return await self._get(whole_numbers, path, f"{subject} version {version}")

    async def lookup(self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Schema:
        """Return the schema as registered under the subject. Raises NotFound if it is not."""
        path = f"/subjects/{quoted(subject)}"
        query = {"normalize": normalize, "deleted": deleted}
        return await self._post(answers.schema_of, path, answers.document(schema), subject, query)

    async def register(
        self, subject: str, schema: Schema, *, normalize: bool = False, imported: bool = False
    ) -> Schema:
        """Register a schema, or find it there: return its id, and what else the registry returns. `imported`: with its
        own id and version, which requires mode IMPORT."""
        path = f"/subjects/{quoted(subject)}/versions"
        document = answers.document(schema, imported)
        query = {"normalize": normalize}
        return await self._post(lambda value: answers.registered_of(value, schema), path, document, subject, query)

    async def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Return the deleted versions."""
        path = f"/subjects/{quoted(subject)}"
        return await self._send(whole_numbers, "DELETE", path, subject, {"permanent": permanent})

    async def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        path = f"/subjects/{quoted(subject)}/versions/{version}"
        about = f"{subject} version {version}"
        return await self._send(whole, "DELETE", path, about, {"permanent": permanent})

    # -- schemas -------------------------------------------------------------------------------------------------------

    async def schemas(self, prefix: str = "", *, latest_only: bool = False, deleted: bool = False) -> list[Schema]:
        """Return all versions, or the latest of each subject, page by page. Raises Unsupported."""
        given: Query = {"subjectPrefix": prefix, "latestOnly": latest_only, "deleted": deleted}
        return await self._pages("/schemas", given, "the schemas", answers.schemas_of)

    async def by_id(self, id: int, *, subject: str = "", format: str = "") -> Schema:
        """`subject` may be only a context (`:.staging:`)."""
        path = f"/schemas/ids/{id}"
        schema = await self._get(answers.schema_of, path, f"schema {id}", {"subject": subject, "format": format})
        if schema.id not in (-1, id):
            raise self._wrong(path, f"it has id {schema.id}")
        return schema.replace(id=id)

    async def by_guid(self, guid: str, *, format: str = "") -> Schema:
        path = f"/schemas/guids/{quoted(guid)}"
        schema = await self._get(answers.schema_of, path, f"schema {guid}", {"format": format})
        if schema.guid.lower() not in ("", guid.lower()):
            raise self._wrong(path, f"it has GUID {harmless(schema.guid)}")
        return schema.replace(guid=guid)

    async def ids_of(self, guid: str) -> list[ContextId]:
        return await self._get(answers.context_ids_of, f"/schemas/guids/{quoted(guid)}/ids", f"schema {guid}")

    async def uses_of(self, id: int, *, subject: str = "", deleted: bool = False) -> list[SubjectVersion]:
        """Return the subjects and versions of a schema."""
        query: Query = {"subject": subject, "deleted": deleted}
        return await self._get(answers.uses_of, f"/schemas/ids/{id}/versions", f"schema {id}", query)

    async def types(self) -> list[str]:
        return await self._get(answers.texts, "/schemas/types", "the types of schemas")

    # -- compatibility, modes, contexts --------------------------------------------------------------------------------

    async def compatible(
        self, subject: str, schema: Schema, version: int | None = None, *, every: bool = False, normalize: bool = False
    ) -> Verdict:
        """Return whether the schema is compatible with a version (None is the latest one), or with all that the level
        covers."""
        path = f"/compatibility/subjects/{quoted(subject)}/versions"
        if not every:
            path += f"/{LATEST if version is None else version}"
        query = {"verbose": True, "normalize": normalize}
        verdict = await self._post(answers.verdict_of, path, answers.document(schema), subject, query)
        return verdict._replace(reasons=each_reason(verdict.reasons))

    async def level(self, subject: str = "", *, inherited: bool = True) -> str:
        """Return the compatibility level of a subject, or the global one; with `inherited` also if the subject inherits
        it. "" if it only has other settings."""
        read = answers.level_of if inherited else answers.own_level_of
        query = {"defaultToGlobal": inherited}
        return await self._get(read, _of("/config", subject), subject or "the global level", query)

    async def set_level(self, level: str, subject: str = "") -> None:
        document = {"compatibility": level}
        about = subject or "the global level"
        await self._send(answers.anything, "PUT", _of("/config", subject), about, document=document)

    async def delete_level(self, subject: str = "") -> None:
        """Make the subject inherit its level."""
        await self._send(answers.anything, "DELETE", _of("/config", subject), subject or "the global level")

    async def settings_of(self, subject: str = "", *, inherited: bool = True) -> dict[str, str]:
        """Return all settings of a subject, or the global ones, by name, each as JSON: level, alias, normalize and
        more."""
        query = {"defaultToGlobal": inherited}
        return await self._get(answers.settings_of, _of("/config", subject), subject or "the global settings", query)

    async def set_settings(self, values: Mapping[str, object], subject: str = "") -> None:
        """Change some settings; null removes one. Others are unchanged."""
        about = subject or "the global settings"
        await self._send(answers.anything, "PUT", _of("/config", subject), about, document=values)

    async def mode(self, subject: str = "", *, inherited: bool = True) -> str:
        query = {"defaultToGlobal": inherited}
        return await self._get(answers.mode_of, _of("/mode", subject), subject or "the global mode", query)

    async def set_mode(self, mode: str, subject: str = "", *, force: bool = False) -> None:
        about = subject or "the global mode"
        query = {"force": force}
        await self._send(answers.anything, "PUT", _of("/mode", subject), about, query, document={"mode": mode})

    async def delete_mode(self, subject: str) -> None:
        await self._send(answers.anything, "DELETE", _of("/mode", subject), subject)

    async def contexts(self) -> list[str]:
        """In the form `:.staging:` or `.staging`: registries differ."""
        return await self._get(answers.texts, "/contexts", "the contexts")

    async def delete_context(self, context: str) -> None:
        await self._send(answers.anything, "DELETE", f"/contexts/{quoted(context)}", f"the context {context}")

    async def associated(self, topic: str, part: str) -> str | None:
        """Return the subject that the registry associates with a topic's keys or values ("key", "value"), None without
        one."""
        path = f"/associations/resources/-/{quoted(topic)}"
        try:
            query = {"resourceType": "topic", "associationType": part}
            subjects = await self._get(answers.subjects_of, path, f"topic {topic}", query)
        except RegistryError as problem:
            if problem.status == 404:
                return None
            raise
        if len(subjects) > 1:
            raise RegistryError(f"topic {topic}: the registry associates {len(subjects)} subjects with its {part}s")
        return subjects[0] if subjects else None

    async def identity(self) -> tuple[str, str]:
        """Return (cluster id, registry version), each "" if not reported."""
        try:
            cluster = await self._get(answers.id_of, "/v1/metadata/id", "the registry's id")
            version = await self._get(answers.version_of, "/v1/metadata/version", "the registry's version")
        except (Unsupported, BadAnswer, WrongAddress):
            return "", ""
        return cluster, version

    async def kind(self) -> str:
        """Return which registry this is: from the settings, or guessed once by its address and identification."""
        if not self._kind:
            self._kind = self.settings.kind
        if not self._kind and any("/apis/ccompat/" in f"{origin.url}/" for origin in self.settings.origins):
            self._kind = "apicurio"
        if not self._kind:
            try:
                await self.types()
            except (Unsupported, BadAnswer):  # it has identified itself anyway
                pass
            server = self._http.server.lower()
            kinds = (kind for word, kind in SERVERS.items() if word in server)
            self._kind = next(kinds, "confluent")
        return self._kind

    async def hint(self, problem: RegistryError, subject: str) -> str:
        """Return what exists instead of what was not found: the end of a sentence, "" without a similar name."""
        if problem.code == 40402:
            versions = await self.versions(subject)
            shown = ", ".join(map(str, versions[-10:]))
            return f"; it has versions {'…, ' if len(versions) > 10 else ''}{shown}" if versions else ""
        if problem.code != 40401:
            return ""
        from kcli.text.suggest import did_you_mean

        if subject in await self.subjects(subject, deleted_only=True):
            return f"; it is soft-deleted{Hint('list-deleted')}"
        return visible(did_you_mean(subject, await self.subjects()))

    # -- requests ------------------------------------------------------------------------------------------------------

    async def _get(self, read: Callable[[object], R], path: str, about: str, query: Query | None = None) -> R:
        return await self._send(read, "GET", path, about, query, repeat=True)

    async def _post(
        self,
        read: Callable[[object], R],
        path: str,
        document: Mapping[str, object],
        about: str,
        query: Query | None = None,
    ) -> R:
        return await self._send(read, "POST", path, about, query, document=document, repeat=True)

    async def _send(
        self,
        read: Callable[[object], R],
        method: str,
        path: str,
        about: str,
        query: Query | None = None,
        *,
        document: Mapping[str, object] | None = None,
        repeat: bool = False,
    ) -> R:
        self._check(about, method, path)
        given = {name: "true" if value is True else value for name, value in (query or {}).items() if value}
        target = f"{path}?{urlencode(given)}" if given else path
        body = None if document is None else json.dumps(document).encode()
        answer = await self._http.request(method, target, body, repeat=repeat, about=about)
        value = await self._parsed(answer, method, path)
        try:
            return read(value)
        except ValueError as problem:
            raise BadAnswer(
                f"{answer.origin.url}: unexpected response to {method} {path}: {harmless(str(problem))}"
            ) from None

    def _check(self, about: str, method: str, path: str) -> None:
        """Raise UsageError for what the profile forbids, and Unsupported for what the registry does not support."""
        allow(method, path, self._guard, self._profile)

    async def _parsed(self, answer: Answer, method: str, path: str) -> object:
        try:
            if len(answer.body) < LARGE:
                return _json(answer.body)
            return await in_daemon_thread("registry", _json, answer.body)
        except (ValueError, RecursionError):
            kind = harmless(answer.headers.get("content-type", "no type"), 60)
            raise WrongAddress(
                f"{answer.origin.url}: the answer to {method} {path} is not JSON ({kind}); is this the address of a "
                "schema registry, with its whole path?"
            ) from None

    async def _pages(self, path: str, given: Query, about: str, read: Callable[[object], list[R]]) -> list[R]:
        """Return a list, page by page. A registry without paging returns the whole list, and the same again."""
        rows: list[R] = []
        size = PAGE
        while len(rows) < MOST:
            try:
                query = {**given, "offset": str(len(rows)), "limit": str(size)}
                page = await self._get(read, path, about, query)
            except TooLarge:
                if size == 1:
                    raise
                size = max(1, size // 8)
                continue
            if len(page) > size or (rows and page == rows[: len(page)]):
                return rows or page
            rows += page
            if len(page) < size:
                return rows
        raise RegistryError(f"{about}: there are more than {MOST:,}; give a prefix to list a part of them")

    def _wrong(self, path: str, what: str) -> BadAnswer:
        return BadAnswer(f"{self.settings.name} returned another schema than {path} requested: {what}")


def allow(method: str, path: str, guard: str, profile: str) -> None:
    """Raise UsageError for a request that the profile forbids, before it is sent: read_only allows only reading,
    protected also adding."""
    asks = path.startswith("/compatibility/") or not path.endswith("/versions")
    if not guard or method == "GET" or (method == "POST" and asks):
        return
    if guard == "read_only":
        raise UsageError(f"refused by read-only profile {profile}: {method} {path} would change the registry")
    if guard == "protected" and method != "POST":
        refused = UsageError(f"refused by protected profile {profile}: {method} {path} deletes or alters")
        raise refused.hinted("confirm", profile=profile)


def _json(body: bytes) -> object:
    value: object = json.loads(body) if body else None
    return value


def _of(path: str, subject: str) -> str:
    return f"{path}/{quoted(subject)}" if subject else path
