"""Azure's schema registry (2022-10) with the interface of other registries: the schemas of a group are subjects, and a
version has an id of 32 hex digits, which is a GUID here.

A response is the text of a schema, with everything else in its headers. Azure does not list the schemas of a group, and
compares them only on registration.
"""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from kcli.errors import KcliError, UsageError
from kcli.registry.answers import LARGEST_SCHEMA
from kcli.registry.auth import Credentials
from kcli.registry.client import RegistryClient
from kcli.registry.errors import BadAnswer, NotFound, Unsupported, error_of, harmless
from kcli.registry.subjects import quoted
from kcli.schemas import AVRO, JSON, Schema
from kcli.security.http_client import HttpClient
from kcli.text.json_object import read_object, whole_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from kcli.registry.answers import Verdict
    from kcli.registry.errors import RegistryError
    from kcli.registry.settings import RegistrySettings
    from kcli.security.http import Answer

    R = TypeVar("R")

NO_SUBJECT, NO_SCHEMA = 40401, 40403
VERSION = {"api-version": "2022-10"}
MEDIA = {AVRO: "application/json; serialization=Avro", JSON: "application/json; serialization=Json"}
SERIALIZATIONS = {"avro": AVRO, "json": JSON}
MOST_PAGES = 1000


class AzureClient(RegistryClient):
    """The requests that Azure supports; the others raise Unsupported."""

    def __init__(self, settings: RegistrySettings, *, guard: str = "", profile: str = "") -> None:
        super().__init__(settings, guard=guard, profile=profile)
        self._made = HttpClient(settings, Credentials(settings), azure_error)

    async def kind(self) -> str:
        return "azure"

    async def identity(self) -> tuple[str, str]:
        return "", ""

    # -- subjects ------------------------------------------------------------------------------------------------------

    async def subjects(self, prefix: str = "", *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        raise Unsupported("Azure does not list the schemas of a group: give their names")

    async def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        path = f"{self._path(subject)}/versions?{urlencode(VERSION)}"
        found: list[int] = []
        for _ in range(MOST_PAGES):
            answer = await self._ask("GET", path, subject, {"Accept": "application/json"})
            try:
                row = read_object(answer.body.decode())
                found += whole_numbers(row.fields.get("Value"))
                path = row.text("NextLink") if row.fields.get("NextLink") else ""
            except (ValueError, RecursionError) as problem:
                raise self._odd(answer, str(problem)) from None
            if not path:
                break
            path = self._next(answer, path)
        return sorted(found)

    def _next(self, answer: Answer, link: str) -> str:
        """Return the path of the next page, which has to be at the same address, because credentials are sent nowhere
        else."""
        parts, own = urlsplit(link), urlsplit(answer.origin.url)
        if (parts.scheme, parts.netloc) not in ((own.scheme, own.netloc), ("", "")) or not parts.path.startswith("/"):
            raise self._odd(answer, f"the next page is elsewhere, at {link}")
        return f"{parts.path}?{parts.query}"

    async def version(
        self, subject: str, version: int | None = None, *, deleted: bool = False, format: str = ""
    ) -> Schema:
        if version is None:
            known = await self.versions(subject)
            if not known:
                raise NotFound(f"{subject}: it has no versions", 404, NO_SUBJECT)
            version = known[-1]
        path = f"{self._path(subject)}/versions/{version}?{urlencode(VERSION)}"
        return self._schema(await self._ask("GET", path, f"{subject} version {version}", {"Accept": MEDIA[AVRO]}))

    async def lookup(self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Schema:
        path = f"{self._path(subject)}:get-id?{urlencode(VERSION)}"
        answer = await self._ask("POST", path, subject, _media(schema, subject), schema.text)
        return self._schema(answer, schema)

    async def register(
        self, subject: str, schema: Schema, *, normalize: bool = False, imported: bool = False
    ) -> Schema:
        if imported or schema.references:
            raise Unsupported(f"{subject}: Azure assigns ids itself and does not support references")
        path = f"{self._path(subject)}?{urlencode(VERSION)}"
        if self._guard == "read_only":
            raise UsageError(f"refused by read-only profile {self._profile}: it would register {subject}")
        return self._schema(await self._ask("PUT", path, subject, _media(schema, subject), schema.text), schema)

    # -- schemas -------------------------------------------------------------------------------------------------------

    async def schemas(self, prefix: str = "", *, latest_only: bool = False, deleted: bool = False) -> list[Schema]:
        raise Unsupported("Azure does not list the schemas of a group")

    async def by_id(self, id: int, *, subject: str = "", format: str = "") -> Schema:
        raise NotFound(f"schema {id}: Azure's ids have 32 hex digits", 404, NO_SCHEMA)

    async def by_guid(self, guid: str, *, format: str = "") -> Schema:
        id = guid.replace("-", "").lower()
        path = f"/$schemaGroups/$schemas/{quoted(id)}?{urlencode(VERSION)}"
        answer = await self._ask("GET", path, f"schema {guid}", {"Accept": MEDIA[AVRO]})
        schema = self._schema(answer)
        if schema.guid.replace("-", "") != id:
            raise self._odd(answer, f"it has the id {schema.guid}")
        return schema.replace(guid=guid)

    async def compatible(
        self, subject: str, schema: Schema, version: int | None = None, *, every: bool = False, normalize: bool = False
    ) -> Verdict:
        raise Unsupported(f"{subject}: Azure compares schemas only when one is registered").hinted("check-level")

    async def level(self, subject: str = "", *, inherited: bool = True) -> str:
        raise Unsupported("Azure does not report the level of a group")

    async def hint(self, problem: RegistryError, subject: str) -> str:
        return ""

    # -- requests ------------------------------------------------------------------------------------------------------

    def _path(self, subject: str) -> str:
        group = self.settings.azure_group
        if not group:
            raise UsageError(f"{subject}: name the schema group: schema.registry.azure.group")
        return f"/$schemaGroups/{quoted(group)}/schemas/{quoted(subject)}"

    async def _ask(
        self, method: str, path: str, about: str, headers: dict[str, str], body: str | None = None
    ) -> Answer:
        data = None if body is None else body.encode()
        return await self._http.request(method, path, data, repeat=True, about=about, headers=headers)

    def _schema(self, answer: Answer, known: Schema | None = None) -> Schema:
        """Return the schema of a response with a text, or the one that was sent if it has no text."""
        headers = answer.headers
        number, id = headers.get("schema-version", ""), headers.get("schema-id", "")
        if not (number.isascii() and number.isdigit() and len(number) < 10) or not _is_id(id):
            raise self._odd(answer, "its headers have no id and version of a schema")
        guid, subject = id.lower(), headers.get("schema-name", "")
        if known is not None:
            return known.replace(guid=guid, subject=subject, version=int(number), id=-1)
        _, _, serialization = headers.get("content-type", "").lower().replace(" ", "").partition("serialization=")
        kind = SERIALIZATIONS.get(serialization)
        if kind is None:
            raise self._odd(
                answer, f"{harmless(headers.get('content-type', 'no type'), 60)} is not a type that kcli supports"
            )
        try:
            text = answer.body.decode()
        except UnicodeDecodeError:
            raise self._odd(answer, "its text is not UTF-8") from None
        if len(text) > LARGEST_SCHEMA:
            raise self._odd(answer, f"its text is longer than {LARGEST_SCHEMA // 1024**2} MiB")
        return Schema(kind=kind, text=text, guid=guid, subject=subject, version=int(number))

    def _odd(self, answer: Answer, what: str) -> BadAnswer:
        return BadAnswer(f"{answer.origin.url}: unexpected response: {harmless(what)}")

    def _check(self, about: str, method: str, path: str) -> None:
        """Reject every other request."""
        raise Unsupported(f"{about}: kcli does not support this request for Azure ({method} {path.split('/')[1]})")


def azure_error(answer: Answer, about: str, origin: str, credentials: str) -> KcliError:
    """Like `error_of`; for missing things the status is 404, without Confluent's codes."""
    if answer.status == 404:
        return NotFound(f"{about}: Azure has none", 404, NO_SUBJECT)
    return error_of(answer, about, origin, credentials)


def _media(schema: Schema, subject: str) -> dict[str, str]:
    if schema.kind not in MEDIA:
        raise Unsupported(f"{subject}: Azure supports Avro and JSON schemas, not {schema.kind}")
    return {"Content-Type": MEDIA[schema.kind], "Accept": "application/json"}


def _is_id(text: str) -> bool:
    digits = text.replace("-", "").lower()
    return len(digits) == 32 and all(letter in "0123456789abcdef" for letter in digits)
