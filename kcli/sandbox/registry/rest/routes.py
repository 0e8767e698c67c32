"""Which function answers which request: Confluent's REST API as of 8.x, without exporters and keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import DEFAULT
from kcli.sandbox.registry.registry import Registry
from kcli.sandbox.registry.rest import association_answers as associations
from kcli.sandbox.registry.rest import schema_answers as schemas
from kcli.sandbox.registry.rest import setting_answers as settings
from kcli.sandbox.registry.rest.asked import Asked

Answer = Callable[[Registry, Asked], object]

ANSWERS: dict[str, Answer] = {
    "GET /": settings.root,
    "GET /subjects": schemas.subjects,
    "POST /subjects/{subject}": schemas.lookup,
    "DELETE /subjects/{subject}": schemas.delete_subject,
    "GET /subjects/{subject}/versions": schemas.versions,
    "POST /subjects/{subject}/versions": schemas.register,
    "GET /subjects/{subject}/versions/{version}": schemas.version,
    "DELETE /subjects/{subject}/versions/{version}": schemas.delete_version,
    "GET /subjects/{subject}/versions/{version}/schema": schemas.version_text,
    "GET /subjects/{subject}/versions/{version}/referencedby": schemas.referenced_by,
    "GET /schemas": schemas.schemas,
    "GET /schemas/types": schemas.types,
    "GET /schemas/ids/{id}": schemas.by_id,
    "GET /schemas/ids/{id}/schema": schemas.text_by_id,
    "GET /schemas/ids/{id}/subjects": schemas.subjects_by_id,
    "GET /schemas/ids/{id}/versions": schemas.versions_by_id,
    "GET /schemas/guids/{guid}": schemas.by_guid,
    "GET /schemas/guids/{guid}/ids": schemas.ids_by_guid,
    "POST /compatibility/subjects/{subject}/versions": settings.compatible_with_all,
    "POST /compatibility/subjects/{subject}/versions/{version}": settings.compatible,
    "GET /config": settings.level,
    "PUT /config": settings.set_level,
    "DELETE /config": settings.delete_level,
    "GET /config/{subject}": settings.level,
    "PUT /config/{subject}": settings.set_level,
    "DELETE /config/{subject}": settings.delete_level,
    "GET /mode": settings.mode,
    "PUT /mode": settings.set_mode,
    "DELETE /mode": settings.delete_mode,
    "GET /mode/{subject}": settings.mode,
    "PUT /mode/{subject}": settings.set_mode,
    "DELETE /mode/{subject}": settings.delete_mode,
    "GET /contexts": settings.contexts,
    "DELETE /contexts/{context}": settings.delete_context,
    "POST /associations": associations.create,
    "GET /associations/subjects/{subject}": associations.of_subject,
    "GET /associations/resources/{namespace}/{name}": associations.of_name,
    "GET /associations/resources/{id}": associations.of_id,
    "DELETE /associations/resources/{id}": associations.delete,
    "GET /v1/metadata/id": settings.identity,
    "GET /v1/metadata/version": settings.release,
}


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


_TABLE = [(*line.partition(" ")[::2], answer) for line, answer in ANSWERS.items()]
_PATTERNS = [(method, _parts(path), answer) for method, path, answer in _TABLE]


def find(method: str, parts: Sequence[str], asked: Asked) -> Answer:
    """The answer to a request by the parts of its path, each decoded; `asked` gets the names in it and the context of
    the address. Raises Refused."""
    if len(parts) > 2 and parts[0] == "contexts":
        asked.context, parts = parts[1].strip(":") or DEFAULT, parts[2:]
    known = False
    for own, pattern, answer in _PATTERNS:
        if len(pattern) != len(parts):
            continue
        pairs = list(zip(pattern, parts, strict=True))
        if all(one[:1] == "{" or one == part for one, part in pairs):
            known = True
            if own == method:
                asked.names = {one[1:-1]: part for one, part in pairs if one[:1] == "{"}
                return answer
    if known:
        raise refusals.Refused(405, 405, "HTTP 405 Method Not Allowed")
    raise refusals.no_such_request()
