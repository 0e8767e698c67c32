"""Records between clusters with a registry each: the ids of schemas in keys and values become those of the target."""

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
    """The ids that schemas of the source have in the target. With `register` those that it does not have are registered
    there, with what they refer to. `topics` are the source's and the target's: the subject of the one becomes that of
    the other, each by the strategy of `strategies` for "key" and "value"."""

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
        """The id in the target. Raises KcliError where it does not have the schema, or does not take it."""
        subjects = await self._subjects(kind, schema)
        subject, version = await self._place(schema, subjects)
        name = subjects.get(subject, subject)
        schemas = await with_needed(self._source.client, [(subject, version)])
        renamed = [one.replace(subject=name) if one.subject == subject else one for one in schemas]
        transfer = Transfer(self._target, Snapshot(schemas=tuple(renamed)), keep=False)
        await transfer.plan()
        wanted = next(move for move in transfer.moves if move.place == (name, version))
        if wanted.action != KNOWN:
            if not self._register:
                raise KcliError(
                    f"{subject} version {version}: {self._target.settings.name} does not have this schema; "
                    "--schemas register registers it"
                )
            await transfer.carry_out()
            failed = next((move for move in transfer.moves if move.outcome == FAILED), None)
            if failed is not None and failed.error is not None:
                raise failed.error
            self.registered += len(transfer.moves) - sum(move.action == KNOWN for move in transfer.moves)
        assert wanted.id is not None
        return wanted.id

    async def _place(self, schema: Schema, subjects: Mapping[str, str]) -> tuple[str, int]:
        """The subject of the source and the version that has the schema: the first of the topic's, where it is one."""
        uses = await self._source.client.uses_of(schema.id, deleted=True)
        if not uses:
            raise KcliError(f"schema {schema.id}: the source's registry names no subject that has it")
        found = next((use for own in subjects for use in uses if use.subject == own), uses[0])
        return found.subject, found.version

    async def _subjects(self, kind: str, schema: Schema) -> dict[str, str]:
        """Those of the target's topic by those of the source's that the schema may be under: one for each of its names
        where the strategy makes the subject of the name, else one."""
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
