"""Apicurio's own API beside its compatibility API: schemas by their global ids, which its serializers write.

The text alone is answered. It is Protobuf if it is not JSON, and Avro unless it has words of a JSON schema:
the search that would name it counts other ids (2.6.13).
"""

from __future__ import annotations

import json

from kcli.registry.http import Http
from kcli.schemas import AVRO, JSON, PROTOBUF, Reference, Schema, SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.settings import RegistrySettings

COMPATIBLE, OWN = "/apis/ccompat/", "/apis/registry/v2"
JSON_WORDS = frozenset(("$schema", "$id", "$ref", "properties", "allOf", "anyOf", "oneOf", "definitions", "$defs"))


def is_apicurio(settings: RegistrySettings) -> bool:
    return settings.kind == "apicurio" or any(COMPATIBLE in origin.url for origin in settings.origins)


class ApicurioIds:
    """Raises as RegistryClient."""

    def __init__(self, settings: RegistrySettings) -> None:
        origins = tuple(
            origin.replace(url=origin.url.partition("/apis/")[0].rstrip("/") + OWN) for origin in settings.origins
        )
        self._http = Http(settings.replace(origins=origins))

    async def close(self) -> None:
        await self._http.close()

    async def by_global_id(self, id: int) -> Schema:
        about = f"schema with the global id {id}"
        path = f"/ids/globalIds/{id}"
        body = (await self._http.request("GET", path, repeat=True, about=about)).body
        found = (await self._http.request("GET", f"{path}/references", repeat=True, about=about)).body
        try:
            text = body.decode()
            references = tuple(
                Reference(str(one["name"]), str(one["artifactId"]), int(one["version"])) for one in json.loads(found)
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            raise SchemaRefused(f"{about}: its answer is not Apicurio's") from None
        return Schema(kind=kind_of(text), text=text, references=references, guid="", subject="", id=-1)


def kind_of(text: str) -> str:
    """The kind of a schema by its text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return PROTOBUF
    return JSON if isinstance(found, dict) and not JSON_WORDS.isdisjoint(found) else AVRO
