"""Records between clusters with a registry each: the ids of schemas in keys and values become those of the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.registry.moving.snapshot import Snapshot, with_needed
from kcli.registry.moving.transfer import FAILED, KNOWN, Transfer
from kcli.serde.schemas.frame_ids import FieldFrames, FrameRewriter

if TYPE_CHECKING:
    from kcli.registry.client import RegistryClient
    from kcli.registry.lookup import RegistrySchemas
    from kcli.schemas import Schema

KINDS = ("key", "value")


class SchemaMoves:
    """The ids that schemas of the source have in the target. With `register` those that it does not have are registered
    there, with what they refer to. `topics` are the source's and the target's: the subject of the one becomes that of
    the other."""

    def __init__(
        self, source: RegistrySchemas, target: RegistryClient, topics: tuple[str, str], *, register: bool
    ) -> None:
        self._source = source
        self._target = target
        self._topics = topics
        self._register = register
        self.registered = 0
        self.rewriter = FrameRewriter([FieldFrames(kind, source, self.id_of) for kind in KINDS])

    async def id_of(self, kind: str, schema: Schema) -> int:
        """The id in the target. Raises KcliError where it does not have the schema, or does not take it."""
        subject, version = await self._place(kind, schema)
        schemas = await with_needed(self._source.client, [(subject, version)])
        renamed = [self._renamed(kind, one) if one.subject == subject else one for one in schemas]
        transfer = Transfer(self._target, Snapshot(schemas=tuple(renamed)), keep=False)
        await transfer.plan()
        wanted = next(move for move in transfer.moves if move.place == (self._named(kind, subject), version))
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

    async def _place(self, kind: str, schema: Schema) -> tuple[str, int]:
        """The subject of the source and the version that has the schema: that of the topic, where it is one."""
        uses = await self._source.client.uses_of(schema.id, deleted=True)
        if not uses:
            raise KcliError(f"schema {schema.id}: the source's registry names no subject that has it")
        own = f"{self._topics[0]}-{kind}"
        found = next((one for one in uses if one.subject == own), uses[0])
        return found.subject, found.version

    def _named(self, kind: str, subject: str) -> str:
        source, target = self._topics
        return f"{target}-{kind}" if subject == f"{source}-{kind}" else subject

    def _renamed(self, kind: str, schema: Schema) -> Schema:
        return schema.replace(subject=self._named(kind, schema.subject))
