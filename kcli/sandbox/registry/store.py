"""What a registry holds: the versions of subjects, and the ids of schemas in each context. A schema is kept once,
however many versions have it; its GUID is made of its content, the same in all contexts."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import DEFAULT, split
from kcli.schemas import AVRO
from kcli.values import Frozen, Value

T = TypeVar("T")

MOST_VERSIONS = 100_000
LARGEST = 256 * 1024 * 1024  # characters of all schemas together
ANY = "-"
"""In a question: any namespace."""
TOPIC = "topic"
LIFECYCLES = ("STRONG", "WEAK")
MOST = 10_000


class Reference(Frozen):
    name: str = ""
    subject: str = ""  # with its context
    version: int = -1


class Content(Frozen):
    """A schema as it is kept. `metadata` and `rule_set` are JSON texts, "" without one."""

    kind: str = AVRO
    text: str = ""
    references: tuple[Reference, ...] = ()
    metadata: str = ""
    rule_set: str = ""

    @property
    def guid(self) -> str:
        parts = [self.kind, self.text, [[r.name, r.subject, r.version] for r in self.references]]
        digest = hashlib.sha256(json.dumps([*parts, self.metadata, self.rule_set]).encode()).digest()
        return str(uuid.UUID(bytes=digest[:16], version=5))

    @property
    def size(self) -> int:
        return len(self.text) + len(self.metadata) + len(self.rule_set)


class Version(Value):
    """A version of a subject."""

    subject: str = ""
    number: int = 0
    id: int = 0
    guid: str = ""
    content: Content = Content()
    deleted: bool = False  # softly


class _Space:
    """The ids of a context, and the versions that have each of them."""

    def __init__(self) -> None:
        self.by_id: dict[int, dict[tuple[str, int], Version]] = {}
        self.ids: dict[str, int] = {}  # by GUID
        self.last = 0


class Store:
    """`note` writes a change before it is made; it raises BrokerError when the disk refuses."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self._note = note
        self._subjects: dict[str, dict[int, Version]] = {}
        self._spaces: dict[str, _Space] = {}
        self._referrers: dict[tuple[str, int], dict[tuple[str, int], Version]] = {}
        self._count = 0
        self._size = 0
        self._found: tuple[object, Any] | None = None

    # -- reading ------------------------------------------------------------------------------------------------------

    def subjects(self) -> list[str]:
        """All of them, those too that have deleted versions only."""
        return sorted(self._subjects)

    def contexts(self) -> list[str]:
        return sorted({DEFAULT, *(split(subject)[0] for subject in self._subjects)})

    def found(self, query: object, find: Callable[[], T]) -> T:
        """What is found for a query, looked for once until something changes: a client reads a list page by page."""
        if self._found is None or self._found[0] != query:
            self._found = (query, find())
        found: T = self._found[1]
        return found

    def versions(self, subject: str, *, deleted: bool = False) -> list[Version]:
        """In order. With `deleted` the softly deleted ones, too."""
        rows = self._subjects.get(subject, {})
        return [rows[number] for number in sorted(rows) if deleted or not rows[number].deleted]

    def find(self, subject: str, number: int) -> Version | None:
        """The version, softly deleted or not."""
        return self._subjects.get(subject, {}).get(number)

    def with_id(self, context: str, id: int) -> list[Version]:
        """The versions of a context that have an id, softly deleted ones too."""
        space = self._spaces.get(context)
        return [] if space is None else list(space.by_id.get(id, {}).values())

    def ids_of(self, guid: str) -> list[tuple[str, int]]:
        """(context, id) of a GUID."""
        return [(name, space.ids[guid]) for name, space in sorted(self._spaces.items()) if guid in space.ids]

    def referrers(self, subject: str, number: int) -> list[Version]:
        """The versions that refer to one and are not deleted."""
        return [row for row in self._referrers.get((subject, number), {}).values() if not row.deleted]

    # -- changes ------------------------------------------------------------------------------------------------------

    def add(self, subject: str, content: Content, *, number: int, id: int | None = None) -> Version:
        """A new version, with the id that the schema has in the context or else gets. Raises Refused when the registry
        is full."""
        if self._count >= MOST_VERSIONS or self._size + content.size > LARGEST:
            raise refusals.too_large("The sandbox's registry is full: it holds 100,000 versions and 256 MiB of schemas")
        guid = content.guid
        space = self._spaces.get(split(subject)[0]) or _Space()
        id = space.ids.get(guid, space.last + 1) if id is None else id
        row = Version(subject=subject, number=number, id=id, guid=guid, content=content)
        self._write(row, deleted=False)
        self._put(row)
        return row

    def delete_softly(self, row: Version) -> None:
        self._write(row, deleted=True)
        self._found = None
        row.deleted = True

    def delete(self, row: Version) -> None:
        """For good. The id stays with others that have it, and is never given to another schema."""
        context = split(row.subject)[0]
        space, place = self._spaces[context], (row.subject, row.number)
        self._note("registry last", {"key": context, "value": space.last})
        self._note("registry version", {"key": f"{row.number} {row.subject}", "value": None})
        self._found = None
        versions = self._subjects[row.subject]
        del versions[row.number]
        if not versions:
            del self._subjects[row.subject]
        self._count -= 1
        self._size -= row.content.size
        for reference in row.content.references:
            self._referrers[reference.subject, reference.version].pop(place, None)
        del space.by_id[row.id][place]
        if not space.by_id[row.id]:
            del space.by_id[row.id]
            if space.ids.get(row.guid) == row.id:
                del space.ids[row.guid]

    def _write(self, row: Version, *, deleted: bool) -> None:
        content = row.content
        facts = {
            "subject": row.subject,
            "version": row.number,
            "id": row.id,
            "deleted": deleted,
            "kind": content.kind,
            "text": content.text,
            "references": [[reference.name, reference.subject, reference.version] for reference in content.references],
            "metadata": content.metadata,
            "rule_set": content.rule_set,
        }
        self._note("registry version", {"key": f"{row.number} {row.subject}", "value": facts})

    def restore(self, facts: Mapping[str, Any]) -> None:
        """A version, as it was written."""
        content = Content(
            kind=facts["kind"],
            text=facts["text"],
            references=tuple(Reference(name=n, subject=s, version=v) for n, s, v in facts["references"]),
            metadata=facts["metadata"],
            rule_set=facts["rule_set"],
        )
        row = Version(subject=facts["subject"], number=facts["version"], content=content, deleted=facts["deleted"])
        row.id, row.guid = facts["id"], content.guid
        self._put(row)

    def restore_last(self, context: str, last: int) -> None:
        """The highest id that a context ever gave."""
        space = self._spaces.setdefault(context, _Space())
        space.last = max(space.last, last)

    def _put(self, row: Version) -> None:
        self._found = None
        place = (row.subject, row.number)
        self._subjects.setdefault(row.subject, {})[row.number] = row
        self._count += 1
        self._size += row.content.size
        for reference in row.content.references:
            self._referrers.setdefault((reference.subject, reference.version), {})[place] = row
        space = self._spaces.setdefault(split(row.subject)[0], _Space())
        same = space.by_id.setdefault(row.id, {})
        for other in same.values():
            row.content = other.content  # one object for all versions of a schema
            break
        same[place] = row
        space.ids.setdefault(row.guid, row.id)
        space.last = max(space.last, row.id)


class Resource(Frozen):
    """What a subject is associated with: a topic (`kind`) of a cluster, whose id is the namespace."""

    id: str = ""
    name: str = ""
    namespace: str = ""
    kind: str = TOPIC


class Association(Frozen):
    """The `subject`, with its context, of a topic's keys or values: `part` is "key" or "value"."""

    resource: Resource = Resource()
    subject: str = ""
    part: str = "value"
    lifecycle: str = "STRONG"
    frozen: bool = False


class Associations:
    """By the resource's id. `note` writes each change to the journal before it is made."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self._note = note
        self._by_id: dict[str, tuple[Association, ...]] = {}

    def of_resource(self, id: str) -> Sequence[Association]:
        return self._by_id.get(id, ())

    def every(self) -> list[Association]:
        return [one for rows in self._by_id.values() for one in rows]

    def add(self, resource: Resource, new: Sequence[Association]) -> None:
        """Raises Refused for a part of the resource that has a subject already, or that is named twice."""
        rows = list(self.of_resource(resource.id))
        for association in new:
            if any(one.part == association.part for one in rows):
                raise refusals.associated(association.part, resource.name)
            rows.append(association)
        if len(self._by_id) >= MOST and resource.id not in self._by_id:
            raise refusals.too_large(f"The sandbox's registry associates at most {MOST:,} resources")
        self._put(resource.id, tuple(rows))

    def delete(self, id: str, parts: Sequence[str]) -> None:
        """Those of the `parts`, or without any all of the resource. Raises Refused where it has no such association."""
        rows = self.of_resource(id)
        left = tuple(one for one in rows if parts and one.part not in parts)
        if len(left) == len(rows):
            raise refusals.no_association(id)
        self._put(id, left)

    def _put(self, id: str, rows: tuple[Association, ...]) -> None:
        facts = [[*_facts(one.resource), one.subject, one.part, one.lifecycle, one.frozen] for one in rows]
        self._note("registry association", {"key": id, "value": facts or None})
        self._by_id.pop(id, None)
        if rows:
            self._by_id[id] = rows

    def restore(self, id: str, facts: Sequence[Sequence[Any]]) -> None:
        """As they were written."""
        rows = []
        for name, namespace, kind, subject, part, lifecycle, frozen in facts:
            resource = Resource(id=id, name=name, namespace=namespace, kind=kind)
            rows.append(Association(resource=resource, subject=subject, part=part, lifecycle=lifecycle, frozen=frozen))
        self._by_id[id] = tuple(rows)


def _facts(resource: Resource) -> tuple[str, str, str]:
    return resource.name, resource.namespace, resource.kind
