"""Which subjects belong to a topic: Confluent's associations, by which a serializer finds the subject of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.values import Frozen

ANY = "-"
"""In a question: any namespace."""
TOPIC = "topic"
LIFECYCLES = ("STRONG", "WEAK")
MOST = 10_000


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
