"""Copies records between clusters with separate registries: schema ids in keys and values become those of the
target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.registry.moving.snapshot import Snapshot, with_needed
from kcli.registry.moving.transfer import FAILED, KNOWN, Transfer
from kcli.registry.subjects import ASSOCIATED, NAMED, subject_of
from kcli.serde.schema_name import schema_names
from kcli.serde.schemas.frame_ids import FieldFrames, FrameRewriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.registry.client import RegistryClient
    from kcli.registry.lookup import RegistrySchemas
    from kcli.schemas import Schema

KINDS = ("key", "value")


class SchemaMoves:
    """The target's ids of the source's schemas. With `register`, missing schemas are registered there, with those that
    they reference. `topics` are the source's and the target's: a subject of the one becomes a subject of the other, by
    the strategy in `strategies` for "key" and "value"."""

    def __init__(
        self,
        source: RegistrySchemas,
        target: RegistryClient,
        topics: tuple[str, str],
        *,
        register: bool,
        strategies: Mapping[str, str],
    ) -> None:
        self._source = source
        self._target = target
        self._topics = topics
        self._register = register
        self._strategies = strategies
        self.registered = 0
        self.rewriter = FrameRewriter([FieldFrames(kind, source, self.id_of) for kind in KINDS])

    async def id_of(self, kind: str, schema: Schema) -> int:
        """Return the id in the target. Raises KcliError if it does not have the schema, or rejects it."""
        subjects = await self._subjects(kind, schema)
        places = await self._places(schema, subjects)
        names = {subject: subjects.get(subject, subject) for subject, _ in places}
        schemas = await with_needed(self._source.client, places)
        renamed = [one.replace(subject=names.get(one.subject, one.subject)) for one in schemas]
        transfer = Transfer(self._target, Snapshot(schemas=tuple(renamed)), keep=False)
        await transfer.plan()
        moves = {move.place: move for move in transfer.moves}
        wanted = [moves[names[subject], version] for subject, version in places]
        if self._register and any(move.action != KNOWN for move in wanted):
            await self._carry_out(transfer)
        known = next((move.id for move in wanted if move.id is not None), None)
        if known is None:
            subject, version = places[0]
            raise KcliError(
                f"{subject} version {version}: {self._target.settings.name} does not have this schema"
            ).hinted("schemas-register")
        return known

    async def _carry_out(self, transfer: Transfer) -> None:
        await transfer.carry_out()
        failed = next((move for move in transfer.moves if move.outcome == FAILED), None)
        if failed is not None and failed.error is not None:
            raise failed.error
        self.registered += sum(move.action != KNOWN for move in transfer.moves)

    async def _places(self, schema: Schema, subjects: Mapping[str, str]) -> list[tuple[str, int]]:
        """Return the source's subjects and versions of the schema: all of the topic's, one for each Protobuf message
        that has a subject; another one if none of the topic's has it."""
        uses = await self._source.client.uses_of(schema.id, deleted=True)
        if not uses:
            raise KcliError(f"schema {schema.id}: the source's registry reports no subject for it")
        versions = {use.subject: use.version for use in reversed(uses)}
        places = [(subject, versions[subject]) for subject in subjects if subject in versions]
        return places or [(uses[0].subject, uses[0].version)]

    async def _subjects(self, kind: str, schema: Schema) -> dict[str, str]:
        """Map the source's subjects that may have the schema to the target's: one for each of its names if the strategy
        uses the name, else one."""
        strategy, (source, target) = self._strategies[kind], self._topics
        if strategy in NAMED:
            needed = await self._source.references(schema)
            names = schema_names(schema, [(name, one.text) for name, one in needed])
            return {
                subject_of(strategy, source, kind, name): subject_of(strategy, target, kind, name) for name in names
            }
        own = await self._source.subject(strategy, source, kind)
        if strategy != ASSOCIATED:
            return {own: subject_of(strategy, target, kind)}
        theirs = await self._target.associated(target, kind)
        if theirs is None:
            theirs = f"{target}-{kind}" if own == f"{source}-{kind}" else own
        return {own: theirs}
