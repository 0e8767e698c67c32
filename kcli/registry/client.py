"""The requests of a schema registry's REST API, typed: Confluent's as of 8.x, as far as a registry has them.

An answer is a stranger's until its fields were read by type. Fields that kcli does not know are kept with a schema, for
another registry. Which requests a registry has differs: one that it has not raises Unsupported.
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
"""Items of a list, page by page."""
LARGE = 256 * 1024
"""Bytes from which on an answer is parsed in a thread: a list of 100,000 subjects takes a tenth of a second."""
LATEST = "latest"


class RegistryClient:
    """One registry. Each method is one request, except those that read page after page. Raises RegistryError and its
    kinds (errors.py), ConnectError, AuthError; UsageError where the profile forbids it."""

    deletes_softly = True
    """Whether what is deleted can be read until it is deleted for good."""

    def __init__(self, settings: RegistrySettings, *, guard: str = "", profile: str = "") -> None:
        """`guard` is "", read_only or protected, of the profile of that name."""
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
        """Made, and imported, for the first request: there is none where all schemas are in the disk cache."""
        if self._made is None:
            from kcli.security.http_client import HttpClient

            self._made = HttpClient(self.settings, Credentials(self.settings), error_of)
        return self._made

    # -- subjects ------------------------------------------------------------------------------------------------------

    async def subjects(self, prefix: str = "", *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        """All subjects that begin with the prefix; `:*:` in front of it means all contexts, `:.:` the default one."""
        asked = prefix.removeprefix(DEFAULT_CONTEXT)  # as the subjects there are named
        given: Query = {"subjectPrefix": asked, "deleted": deleted, "deletedOnly": deleted_only}
        names = await self._pages("/subjects", given, "the subjects", answers.texts)
        return among(prefix, names)  # Apicurio answers all, and some all contexts

    async def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        path = f"/subjects/{quoted(subject)}/versions"
        return await self._get(whole_numbers, path, subject, {"deleted": deleted})

    async def version(
        self, subject: str, version: int | None = None, *, deleted: bool = False, format: str = ""
    ) -> Schema:
        """A version of a subject, None is the latest one."""
        path = f"/subjects/{quoted(subject)}/versions/{LATEST if version is None else version}"
        about = subject if version is None else f"{subject} version {version}"
        schema = await self._get(answers.schema_of, path, about, {"deleted": deleted, "format": format})
        if schema.version < 0 or (version is not None and schema.version != version):
            raise self._wrong(path, f"it has version {schema.version}")
        return schema

    async def referenced_by(self, subject: str, version: int) -> list[int]:
        """The ids of the schemas that refer to a version."""
        path = f"/subjects/{quoted(subject)}/versions/{version}/referencedby"
        return await self._get(whole_numbers, path, f"{subject} version {version}")

    async def lookup(self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Schema:
        """The schema as it is registered under the subject. Raises NotFound where it is not."""
        path = f"/subjects/{quoted(subject)}"
        query = {"normalize": normalize, "deleted": deleted}
        return await self._post(answers.schema_of, path, answers.document(schema), subject, query)

    async def register(
        self, subject: str, schema: Schema, *, normalize: bool = False, imported: bool = False
    ) -> Schema:
        """Register a schema, or find it there: its id, and what else the registry says of it. `imported`: with the id
        and version that it has, which takes the mode IMPORT."""
        path = f"/subjects/{quoted(subject)}/versions"
        document = answers.document(schema, imported)
        query = {"normalize": normalize}
        return await self._post(lambda value: answers.registered_of(value, schema), path, document, subject, query)

    async def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """The versions that were deleted."""
        path = f"/subjects/{quoted(subject)}"
        return await self._send(whole_numbers, "DELETE", path, subject, {"permanent": permanent})

    async def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        path = f"/subjects/{quoted(subject)}/versions/{version}"
        about = f"{subject} version {version}"
        return await self._send(whole, "DELETE", path, about, {"permanent": permanent})

    # -- schemas -------------------------------------------------------------------------------------------------------

    async def schemas(self, prefix: str = "", *, latest_only: bool = False, deleted: bool = False) -> list[Schema]:
        """All versions, or the latest of each subject, in as many requests as there are pages. Raises Unsupported."""
        given: Query = {"subjectPrefix": prefix, "latestOnly": latest_only, "deleted": deleted}
        return await self._pages("/schemas", given, "the schemas", answers.schemas_of)

    async def by_id(self, id: int, *, subject: str = "", format: str = "") -> Schema:
        """`subject` may be a context alone (`:.staging:`)."""
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
        """The subjects and versions that a schema has."""
        query: Query = {"subject": subject, "deleted": deleted}
        return await self._get(answers.uses_of, f"/schemas/ids/{id}/versions", f"schema {id}", query)

    async def types(self) -> list[str]:
        return await self._get(answers.texts, "/schemas/types", "the types of schemas")

    # -- compatibility, modes, contexts --------------------------------------------------------------------------------

    async def compatible(
        self, subject: str, schema: Schema, version: int | None = None, *, every: bool = False, normalize: bool = False
    ) -> Verdict:
        """Whether the schema goes with a version (None is the latest one), or with every one that counts."""
        path = f"/compatibility/subjects/{quoted(subject)}/versions"
        if not every:
            path += f"/{LATEST if version is None else version}"
        query = {"verbose": True, "normalize": normalize}
        verdict = await self._post(answers.verdict_of, path, answers.document(schema), subject, query)
        return verdict._replace(reasons=each_reason(verdict.reasons))

    async def level(self, subject: str = "", *, inherited: bool = True) -> str:
        """The compatibility level of a subject, or the global one; with `inherited` also where it has none itself, else
        "" where it has only other settings."""
        read = answers.level_of if inherited else answers.own_level_of
        query = {"defaultToGlobal": inherited}
        return await self._get(read, _of("/config", subject), subject or "the global level", query)

    async def set_level(self, level: str, subject: str = "") -> None:
        document = {"compatibility": level}
        about = subject or "the global level"
        await self._send(answers.anything, "PUT", _of("/config", subject), about, document=document)

    async def delete_level(self, subject: str = "") -> None:
        """Let the subject inherit it."""
        await self._send(answers.anything, "DELETE", _of("/config", subject), subject or "the global level")

    async def settings_of(self, subject: str = "", *, inherited: bool = True) -> dict[str, str]:
        """All settings of a subject, or the global ones, by name, each as JSON: level, alias, normalize and more."""
        query = {"defaultToGlobal": inherited}
        return await self._get(answers.settings_of, _of("/config", subject), subject or "the global settings", query)

    async def set_settings(self, values: Mapping[str, object], subject: str = "") -> None:
        """Change some settings; null removes one. Those that are not named stay."""
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
        """As `:.staging:` or `.staging`: registries differ."""
        return await self._get(answers.texts, "/contexts", "the contexts")

    async def delete_context(self, context: str) -> None:
        await self._send(answers.anything, "DELETE", f"/contexts/{quoted(context)}", f"the context {context}")

    async def associated(self, topic: str, part: str) -> str | None:
        """The subject that the registry associates with a topic's keys or values ("key", "value"), None without one."""
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
        """(id of the cluster, version of the registry), each "" where it does not say."""
        try:
            cluster = await self._get(answers.id_of, "/v1/metadata/id", "the registry's id")
            version = await self._get(answers.version_of, "/v1/metadata/version", "the registry's version")
        except (Unsupported, BadAnswer, WrongAddress):
            return "", ""
        return cluster, version

    async def kind(self) -> str:
        """Which registry this is: as the settings say, else guessed once, by its address and what it calls itself."""
        if not self._kind:
            self._kind = self.settings.kind
        if not self._kind and any("/apis/ccompat/" in f"{origin.url}/" for origin in self.settings.origins):
            self._kind = "apicurio"
        if not self._kind:
            try:
                await self.types()
            except (Unsupported, BadAnswer):  # it identified itself all the same
                pass
            server = self._http.server.lower()
            kinds = (kind for word, kind in SERVERS.items() if word in server)
            self._kind = next(kinds, "confluent")
        return self._kind

    async def hint(self, problem: RegistryError, subject: str) -> str:
        """What is there in place of what was not found: the end of a sentence, "" where nothing is near."""
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
                f"{answer.origin.url}: the answer to {method} {path} is not what was asked for: "
                f"{harmless(str(problem))}"
            ) from None

    def _check(self, about: str, method: str, path: str) -> None:
        """Raises UsageError for what the profile forbids, and Unsupported for what the registry does not have."""
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
        """What a list has, page by page. A registry that knows no pages answers the whole list, and again the same."""
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
        raise RegistryError(f"{about}: there are more than {MOST:,}; name a part of them by how they begin")

    def _wrong(self, path: str, what: str) -> BadAnswer:
        return BadAnswer(f"{self.settings.name} answered another schema than {path} asks for: {what}")


def allow(method: str, path: str, guard: str, profile: str) -> None:
    """Raises UsageError for a request that the profile forbids, before it is sent: read_only allows what only reads,
    protected also what adds."""
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
