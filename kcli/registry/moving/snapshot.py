"""The subjects of a registry at one moment: their versions, including soft-deleted ones, what these reference, and the
settings of the subjects themselves."""

from __future__ import annotations

import asyncio
import heapq
import json

from kcli.registry.errors import NO_OWN, NOT_FOUND, RegistryError, Unsupported
from kcli.registry.subjects import within
from kcli.schemas import SchemaRefused
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from kcli.registry.client import RegistryClient
    from kcli.schemas import Schema

    Asked = TypeVar("Asked")
    Found = TypeVar("Found")
    Place = tuple[str, int]
    """A subject and one of its versions."""

GONE = (*NOT_FOUND, 40404, 40406)
"""Error codes of things that do not exist, or are soft-deleted."""
LEVEL = "compatibility"
AT_A_TIME = 200
"""Number of concurrent requests; the client limits connections separately."""


class Snapshot(Frozen):
    """`schemas` are versions of subjects, each after those it references and after the earlier versions; `deleted` are
    the soft-deleted ones among them. Levels, modes and other settings are those that subjects have themselves."""

    schemas: tuple[Schema, ...] = ()
    deleted: frozenset[Place] = frozenset()
    levels: Mapping[str, str] = {}
    modes: Mapping[str, str] = {}
    settings: Mapping[str, Mapping[str, object]] = {}

    @property
    def subjects(self) -> list[str]:
        return list(dict.fromkeys(schema.subject for schema in self.schemas))


async def take(source: RegistryClient, subjects: Iterable[str]) -> Snapshot:
    """Return all versions of these subjects, and those of other subjects that they reference, including soft-deleted
    ones. Raises KcliError, SchemaRefused for circular references."""
    named = list(subjects)
    numbers = await each(lambda subject: source.versions(subject, deleted=True), named)
    places = [(subject, number) for subject, versions in zip(named, numbers, strict=True) for number in versions]
    schemas = tuple(await with_needed(source, places))
    every = list(dict.fromkeys(schema.subject for schema in schemas))
    live = dict(zip(every, await each(lambda subject: live_versions(source, subject), every), strict=True))
    deleted = {(one.subject, one.version) for one in schemas if one.version not in live[one.subject]}
    return Snapshot(schemas=schemas, deleted=frozenset(deleted), **await own_settings(source, named))


async def live_versions(source: RegistryClient, subject: str) -> list[int]:
    """Return the versions of a subject that are not soft-deleted; empty for a subject that does not exist."""
    try:
        return await source.versions(subject)
    except RegistryError as problem:
        if problem.code not in GONE:
            raise
        return []


async def own_settings(source: RegistryClient, subjects: Sequence[str]) -> dict[str, Any]:
    """Return levels, modes and other settings that subjects have themselves, as in a Snapshot."""
    found = await each(lambda subject: own(source.settings_of, subject), subjects)
    values = {
        subject: {name: json.loads(text) for name, text in texts.items()}
        for subject, texts in zip(subjects, found, strict=True)
        if texts
    }
    modes = dict(zip(subjects, await each(lambda subject: own(source.mode, subject), subjects), strict=True))
    return {
        "levels": {subject: value.pop(LEVEL) for subject, value in values.items() if LEVEL in value},
        "modes": {subject: mode for subject, mode in modes.items() if mode},
        "settings": {subject: value for subject, value in values.items() if value},
    }


async def with_needed(source: RegistryClient, places: list[Place]) -> list[Schema]:
    """Return these versions and all that they reference, in order. Raises KcliError."""
    by_place: dict[Place, Schema] = {}
    while places:
        asked = await each(lambda place: _version(source, place), places)
        by_place |= {(schema.subject, schema.version): schema for schema in asked}
        needed = {place: None for schema in asked for place in needed_by(schema) if place not in by_place}
        places = list(needed)
    return in_order(by_place.values())


async def _version(source: RegistryClient, place: Place) -> Schema:
    subject, number = place
    schema = await source.version(subject, number, deleted=True)
    return schema.replace(subject=subject, version=number)


async def own_level(source: RegistryClient, subject: str) -> str | None:
    """Return the level that a subject has itself, None if it inherits one, or if the registry has no levels."""
    return await own(source.level, subject) or None


async def has_modes(target: RegistryClient) -> bool:
    """Whether a registry has modes; mode IMPORT keeps ids."""
    try:
        await target.mode()
    except Unsupported:
        return False
    return True


async def inherit_level(target: RegistryClient, subject: str) -> None:
    """Make a subject inherit its level, without changing its other settings."""
    if {*(await own(target.settings_of, subject) or ())} - {LEVEL}:
        await target.set_settings({LEVEL: None}, subject)  # deleting the level would delete the others, too
    else:
        await target.delete_level(subject)


async def own(ask: Callable[..., Awaitable[Found]], subject: str) -> Found | None:
    """Return what is set for a subject itself: the result of a client's `level`, `mode` or `settings_of`. None if
    nothing is, and if the registry does not support the request."""
    try:
        return await ask(subject, inherited=False)
    except RegistryError as problem:
        if problem.code in NO_OWN or isinstance(problem, Unsupported):
            return None
        raise


async def each(ask: Callable[[Asked], Awaitable[Found]], items: Sequence[Asked]) -> list[Found]:
    """Return the result of `ask` for each item, many at a time."""
    answers: list[Found] = []
    for start in range(0, len(items), AT_A_TIME):
        answers += await asyncio.gather(*(ask(item) for item in items[start : start + AT_A_TIME]))
    return answers


def needed_by(schema: Schema) -> list[Place]:
    """Return the versions that a schema references directly."""
    return [(within(schema.context, reference.subject), reference.version) for reference in schema.references]


def in_order(schemas: Iterable[Schema]) -> list[Schema]:
    """Sort schemas after those they reference and after the previous version, otherwise by id: an empty registry then
    assigns the same ids if they have no gaps. Raises SchemaRefused for circular references."""
    by_place = {(schema.subject, schema.version): schema for schema in schemas}
    waiting: dict[Place, set[Place]] = {}
    followers: dict[Place, list[Place]] = {}
    before: Place | None = None
    for place in sorted(by_place):
        needs = {other for other in needed_by(by_place[place]) if other in by_place and other != place}
        if before is not None and before[0] == place[0]:
            needs.add(before)
        before = place
        waiting[place] = needs
        for other in needs:
            followers.setdefault(other, []).append(place)
    ready = [(by_place[place].id, place) for place, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, place = heapq.heappop(ready)
        ordered.append(by_place[place])
        for other in followers.get(place, ()):
            waiting[other].discard(place)
            if not waiting[other]:
                heapq.heappush(ready, (by_place[other].id, other))
    if len(ordered) < len(by_place):
        left = next(place for place, needs in waiting.items() if needs)
        raise SchemaRefused(f"{left[0]} version {left[1]}: circular references")
    return ordered
