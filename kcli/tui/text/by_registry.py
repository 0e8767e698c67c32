"""What the schema registry knows of a record's key and value. Imported where a registry is configured."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kcli.errors import KcliError
from kcli.lag.status import STUCK
from kcli.model import TopicPartition
from kcli.registry.listing.history import changed, pretty, sentence
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.payloads import cells_of
from kcli.serde.schemas.readers import reader_of
from kcli.serde.schemas.single import columns_of, decode_one
from kcli.text.numbers import counted
from kcli.tui.tail import Tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.client import Client
    from kcli.consumer.consumer import Decode
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.tui.session import Session
    from kcli.tui.tail import Seen

    Place = tuple[TopicPartition, int]
    """A partition, and the offset that a group reads from there on."""

MOST = 8  # partitions of which the records are read
PATIENCE = 5.0  # seconds for a record: from the committed offset on there may be markers only


class ByRegistry(NamedTuple):
    """The JSON of a key or value, None with a `reason` where it is not decoded, "" where it names no schema; the
    subject, name and text of its schema, "" where it is not known; `changes` since the version before."""

    json: bytes | None = None
    reason: str = ""
    subject: str = ""
    name: str = ""
    text: str = ""
    changes: str = ""


class Both(NamedTuple):
    """What is known of a record's key and of its value."""

    key: ByRegistry
    value: ByRegistry


async def ask(record: Seen, registry: OpenRegistry) -> Both:
    """Decode the key and the value. A registry that does not answer is a reason."""
    return Both(
        await _known("key", record.key, record, registry), await _known("value", record.value, record, registry)
    )


async def _known(kind: str, data: bytes | None, record: Seen, registry: OpenRegistry) -> ByRegistry:
    if data is None:
        return ByRegistry()
    found = await decode_one(kind, data, record.headers, registry.schemas)
    if found.schema is None:
        return ByRegistry(found.json, found.reason)
    own = await _own_subject(record.topic, kind, found.schema, registry)
    subject, version = await registry.schemas.use_of(found.schema, own)
    id = f"id {found.schema.id}" if found.schema.id >= 0 else found.schema.guid
    name = f"{subject}@{version} ({id}, {found.schema.kind})" if subject else f"schema {id}, {found.schema.kind}"
    changes = await _changes(found.schema, subject, version, registry)
    text = pretty(found.schema.text, found.schema.kind)
    return ByRegistry(found.json, found.reason, subject, name, text, changes)


async def _own_subject(topic: str, kind: str, schema: Schema, registry: OpenRegistry) -> str:
    """The subject that the topic has by the strategy of the settings, "" where that is not known: it only chooses among
    the subjects that have the schema."""
    try:
        return await registry.subject(topic, kind, schema)
    except KcliError:
        return ""


async def _changes(schema: Schema, subject: str, version: int, registry: OpenRegistry) -> str:
    """What changed since the version before, a change a line; "" for a first version, and where that is not known."""
    if version < 2:
        return ""
    try:
        before = max((one for one in await registry.client.versions(subject) if one < version), default=0)
        if not before:
            return ""
        changes, level = await changed(registry, await registry.schemas.version(subject, before), schema)
    except KcliError as problem:
        return f"changes since the previous version are unknown: {problem}"
    kept = f", which keeps {level}" if level else ""
    lines = [f"  {sentence(change)}" for change in changes] or ["  documentation or order only"]
    return "\n".join([f"changed since {subject}@{before}{kept}:", *lines])


class ListDecoder:
    """Decodes the records of one page. What is not decoded is shown as it is stored."""

    def __init__(self) -> None:
        self._fields: list[FieldDecoder] = []

    async def decoded(self, records: Sequence[Seen], registry: OpenRegistry) -> list[tuple[bytes | None, bytes | None]]:
        """The key and value of each record to show; a registry that does not answer leaves them as they are."""
        if not self._fields:
            self._fields = fields_of(registry)
        columns = columns_of([(record.key, record.value, record.headers) for record in records])
        for field in self._fields:
            field.undecoded.reasons.clear()
        keys, values = [await field.decode(columns, "", 0) for field in self._fields]
        return list(
            zip(
                [record.key for record in records] if keys is None else cells_of(keys),
                [record.value for record in records] if values is None else cells_of(values),
                strict=True,
            )
        )

    @property
    def reason(self) -> str:
        """Why some of the records that came last are shown as they are stored; "" where all decode."""
        reasons = sum((field.undecoded.reasons for field in self._fields), Counter[str]())
        return f"✖ {counted(reasons.total(), 'field')} shown raw: {reasons.most_common(1)[0][0]}" if reasons else ""


def fields_of(registry: OpenRegistry) -> list[FieldDecoder]:
    return [FieldDecoder(kind, registry.schemas, reader_of()) for kind in ("key", "value")]


async def batches(registry: OpenRegistry) -> Decode:
    """What decodes batches before a filter looks at them."""
    return SchemaDecoder(fields_of(registry)).batch


class NextRecords:
    """`sentences` are about those that do not decode, by partition and committed offset, with the reason in a second
    line."""

    def __init__(self, session: Session) -> None:
        self.sentences: dict[Place, str] = {}
        self._session = session
        self._asked: set[Place] = set()
        self._learning = False

    async def learn(self, partitions: Sequence[PartitionFigures]) -> bool:
        """Read and decode the next record of each stuck partition, once for each committed offset. Whether there are
        other sentences now; what cannot be read has none, and one question is asked at a time."""
        if self._learning or not (self._session.live and self._session.has_registry):
            return False
        self._learning = True
        try:
            return await self._learn(partitions)
        finally:
            self._learning = False

    async def _learn(self, partitions: Sequence[PartitionFigures]) -> bool:
        stuck = [(place, offset) for part in partitions if part.status == STUCK for place, offset in _next(part)][:MOST]
        before = dict(self.sentences)
        self.sentences = {place: text for place, text in self.sentences.items() if place in stuck}
        self._asked &= set(stuck)
        for place in stuck:
            if place not in self._asked:
                sentence = await self._sentence(*place)
                self._asked.add(place)
                if sentence:
                    self.sentences[place] = sentence
        return self.sentences != before

    async def _sentence(self, at: TopicPartition, offset: int) -> str:
        from kcli.tui.text.by_registry import ask

        try:
            record = await self._session.ask(partial(_first, at, offset, self._session.isolation))
            if record is None:
                return ""
            both = await self._session.ask_registry(partial(ask, record))
        except KcliError:
            return ""  # the page has a toast of its own for a cluster that does not answer
        for kind, found in (("value", both.value), ("key", both.key)):
            if found.reason:
                return f"{at.topic}[{at.partition}] at {record.offset}: its {kind} does not decode\n{found.reason}"
        return ""


def _next(part: PartitionFigures) -> list[Place]:
    sample = part.lag.sample
    at = TopicPartition(sample.topic, sample.partition)
    return [] if sample.committed is None else [(at, sample.committed)]


async def _first(at: TopicPartition, offset: int, isolation: str, client: Client) -> Seen | None:
    """The first record from an offset on, None where none comes."""
    tail = Tail([at.topic], starts={at: offset}, keep=1, first=True, isolation=isolation)
    try:
        async with asyncio.timeout(PATIENCE):
            await tail.follow(client)
    except TimeoutError:
        return None
    return tail.since(0)[0]
