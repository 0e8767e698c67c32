"""Apicurio's own API, in addition to its compatibility API: schemas by the references that its serializers write:
global id, content hash, or group, artifact and version.

By ids and hashes it returns only the text: it is Protobuf if it is not JSON, and Avro unless it has words of a JSON
schema, because the search that would tell uses other ids (2.6.13).
"""

from __future__ import annotations

import json

from kcli.registry.auth import Credentials
from kcli.registry.errors import Unsupported, error_of, harmless
from kcli.registry.subjects import DEFAULT_GROUP, quoted
from kcli.schemas import AVRO, JSON, KINDS, PROTOBUF, Reference, Schema, SchemaNotFound, SchemaRefused
from kcli.security.http_client import HttpClient
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.settings import RegistrySettings

COMPATIBLE, OWN = "/apis/ccompat/", "/apis/registry/v2"
JSON_WORDS = frozenset(("$schema", "$id", "$ref", "properties", "allOf", "anyOf", "oneOf", "definitions", "$defs"))


def is_apicurio(settings: RegistrySettings) -> bool:
    return settings.kind == "apicurio" or any(COMPATIBLE in origin.url for origin in settings.origins)


class ApicurioSchemas:
    """Raises the errors of RegistryClient, and SchemaNotFound."""

    def __init__(self, settings: RegistrySettings) -> None:
        origins = tuple(
            origin.replace(url=origin.url.partition("/apis/")[0].rstrip("/") + OWN) for origin in settings.origins
        )
        settings = settings.replace(origins=origins)
        self._http = HttpClient(settings, Credentials(settings), error_of)

    async def close(self) -> None:
        await self._http.close()

    async def by_global_id(self, id: int) -> Schema:
        return await self._schema(f"/ids/globalIds/{id}", f"schema with the global id {id}")

    async def by_content_hash(self, digest: str) -> Schema:
        return await self._schema(f"/ids/contentHashes/{digest}", f"schema with the content hash {digest}")

    async def by_coordinates(self, group: str, artifact: str, version: str) -> Schema:
        """Return a version, the latest for "". Its id stays unknown, because the compatibility API may use others."""
        about = f"{group or DEFAULT_GROUP}/{artifact} version {version or 'latest'}"
        artifacts = f"/groups/{quoted(group or DEFAULT_GROUP)}/artifacts/{quoted(artifact)}"
        described = f"{artifacts}/versions/{quoted(version)}/meta" if version else f"{artifacts}/meta"
        try:
            meta = read_object((await self._get(described, about)).decode())
            kind, version = meta.text("type"), meta.text("version")
        except (ValueError, RecursionError):
            raise SchemaRefused(f"{about}: its answer is not Apicurio's") from None
        if kind not in KINDS:
            raise SchemaRefused(f"{about}: it is of the type {harmless(kind)}, which kcli does not support")
        found = await self._schema(f"{artifacts}/versions/{quoted(version)}", about, kind)
        number = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else -1
        return found if group not in ("", DEFAULT_GROUP) else found.replace(subject=artifact, version=number)

    async def _schema(self, path: str, about: str, kind: str = "") -> Schema:
        body, found = await self._get(path, about), await self._get(f"{path}/references", about)
        try:
            text = body.decode()
            references = tuple(
                Reference(str(one["name"]), str(one["artifactId"]), int(one["version"])) for one in json.loads(found)
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            raise SchemaRefused(f"{about}: its answer is not Apicurio's") from None
        return Schema(kind=kind or kind_of(text), text=text, references=references)

    async def _get(self, path: str, about: str) -> bytes:
        try:
            return (await self._http.request("GET", path, repeat=True, about=about)).body
        except Unsupported as problem:
            if problem.code != 404:
                raise
            raise SchemaNotFound(f"{about}: the registry has none") from None  # Apicurio's code for that is 404


def kind_of(text: str) -> str:
    """Return the kind of a schema by its text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return PROTOBUF
    return JSON if isinstance(found, dict) and not JSON_WORDS.isdisjoint(found) else AVRO
