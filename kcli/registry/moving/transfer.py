"""A snapshot put into a registry: what is left to register, under which ids, and doing it in order.

Ids are kept in the mode IMPORT, which a subject has while its versions are registered. A registry that still has a
schema under its id, since it was only soft-deleted, gives the id again without it. Where ids are not kept, references
follow the versions that the registry gives. Versions that go into a subject without any are not compared with one
another: they were registered once.
"""

from __future__ import annotations

import json
from collections import Counter

from kcli.errors import KcliError
from kcli.registry.errors import NotFound, Unsupported
from kcli.registry.moving.snapshot import each, needed_by, own, own_level
from kcli.registry.subjects import prefix
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.client import RegistryClient
    from kcli.registry.moving.snapshot import Place, Snapshot
    from kcli.schemas import Schema

KNOWN, REGISTER, IMPORT, CONFLICT = "known", "register", "import", "conflict"
DONE, FAILED = "done", "failed"


class Move(Value):
    """One schema on its way. `id` and `version` are those in the target, None where it has not said them."""

    schema: Schema = None  # type: ignore[assignment]  # always given
    action: str = REGISTER
    id: int | None = None
    version: int | None = None
    error: KcliError | None = None
    outcome: str = ""

    @property
    def place(self) -> Place:
        return self.schema.subject, self.schema.version


class Transfer:
    """`keep`: whether a schema has the id there that it has in the snapshot; otherwise the registry gives one."""

    def __init__(self, target: RegistryClient, snapshot: Snapshot, *, keep: bool) -> None:
        self._target = target
        self._snapshot = snapshot
        self._keep = keep
        self._there: dict[str, tuple[list[int], list[int]]] = {}  # versions of a subject: live, and deleted ones too
        self._own = {(schema.subject, schema.version) for schema in snapshot.schemas}
        self._numbers: dict[Place, int] = {}  # the versions that schemas have in the target
        self.moves: list[Move] = []

    @property
    def ready(self) -> list[Move]:
        return [move for move in self.moves if move.action in (REGISTER, IMPORT) and not move.outcome]

    # -- the plan ------------------------------------------------------------------------------------------------------

    async def plan(self) -> None:
        """Compare with the target. Raises KcliError where it cannot be asked, and where it keeps no ids but must."""
        subjects = self._snapshot.subjects
        self._there = dict(zip(subjects, await each(self._versions, subjects), strict=True))
        same = await self._by_id() if self._keep else {}
        known: set[Place] = set()
        for schema in self._snapshot.schemas:
            move = Move(schema=schema)
            self.moves.append(move)
            if self._there[schema.subject][0] and known.issuperset(self._moved(schema)):
                await self._look_up(move)
            if move.action == KNOWN and move.version is not None:
                known.add(move.place)
                self._numbers[move.place] = move.version
            elif move.action == REGISTER and self._keep:
                self._place(move, same.get((schema.context, schema.id)))
        if any(move.action == IMPORT for move in self.moves):
            await self._refuse_without_import()

    async def _versions(self, subject: str) -> tuple[list[int], list[int]]:
        async def ask(*, deleted: bool) -> list[int]:
            try:
                return await self._target.versions(subject, deleted=deleted)
            except NotFound:
                return []

        every = await ask(deleted=True)
        return (await ask(deleted=False) if every else []), every

    async def _by_id(self) -> dict[tuple[str, int], Schema | None]:
        """What the target has under the ids of the snapshot."""
        ids = list(dict.fromkeys((schema.context, schema.id) for schema in self._snapshot.schemas if schema.id >= 0))

        async def ask(at: tuple[str, int]) -> Schema | None:
            try:
                return await self._target.by_id(at[1], subject=prefix(at[0]))
            except NotFound:
                return None

        return dict(zip(ids, await each(ask, ids), strict=True))

    def _moved(self, schema: Schema) -> set[Place]:
        """The versions of the snapshot that a schema refers to."""
        return {place for place in needed_by(schema) if place in self._own}

    async def _look_up(self, move: Move) -> None:
        try:
            known = await self._target.lookup(move.schema.subject, self._rewritten(move.schema))
        except NotFound:
            return
        move.action, move.id, move.version = KNOWN, known.id, known.version
        if self._keep and move.schema.id not in (-1, known.id):
            move.action = CONFLICT
            move.error = KcliError(f"{move.schema.name}: it has id {known.id} there, not {move.schema.id}")

    def _place(self, move: Move, same: Schema | None) -> None:
        """How a schema gets its id."""
        schema = move.schema
        live, every = self._there[schema.subject]
        if schema.id < 0:
            move.action, move.error = CONFLICT, KcliError(f"{schema.name}: it has no id").hinted("ids-new")
        elif same is not None and not _alike(same, schema):
            there = f" ({same.subject} version {same.version})" if same.subject else ""
            move.action = CONFLICT
            move.error = KcliError(f"{schema.name}: another schema has id {schema.id} there{there}")
        elif schema.version in live:
            move.action, move.error = CONFLICT, KcliError(f"{schema.name}: this version is another schema there")
        else:
            move.id = schema.id
            move.action = REGISTER if same is not None and schema.version in every else IMPORT
            move.version = schema.version if move.action == IMPORT else None

    async def _refuse_without_import(self) -> None:
        try:
            await self._target.mode()
        except Unsupported:
            unkept = KcliError(f"{self._target.settings.name} has no mode IMPORT, which keeps ids")
            raise unkept.hinted("ids-new") from None

    # -- doing it ------------------------------------------------------------------------------------------------------

    async def carry_out(self) -> None:
        """Register what is ready, in order. The first failure ends it: what is left has no outcome."""
        ready = self.ready
        modes: dict[str, str | None] = {}
        levels: dict[str, str | None] = {}
        try:
            for subject in dict.fromkeys(move.schema.subject for move in ready if move.action == IMPORT):
                modes[subject] = await own(self._target.mode, subject)
                await self._target.set_mode("IMPORT", subject, force=True)
            left = Counter(move.schema.subject for move in ready if move.action == REGISTER)
            for move in ready:
                await self._register(move)
                subject = move.schema.subject
                if move.action == REGISTER and left[subject] > 1 and not self._there[subject][0]:
                    left[subject] = 0
                    levels[subject] = await own_level(self._target, subject)
                    await self._target.set_level("NONE", subject)
        except KcliError as problem:
            failed = next((move for move in ready if not move.outcome), None)
            if failed is None:
                raise
            failed.outcome, failed.error = FAILED, problem
        finally:
            await self._set_back(modes, levels)

    async def _set_back(self, modes: dict[str, str | None], levels: dict[str, str | None]) -> None:
        """Give subjects the modes and the levels that they had before."""
        for subject, mode in modes.items():
            await (self._target.set_mode(mode, subject) if mode else self._target.delete_mode(subject))
        for subject, level in levels.items():
            await (self._target.set_level(level, subject) if level else self._target.delete_level(subject))

    async def _register(self, move: Move) -> None:
        subject = move.schema.subject
        schema = self._rewritten(move.schema)
        done = await self._target.register(subject, schema, imported=move.action == IMPORT)
        if done.version < 0:
            done = await self._target.lookup(subject, schema)
        if self._keep and done.id != move.schema.id:
            raise KcliError(
                f"{move.schema.name}: registered with id {done.id}, not {move.schema.id}: records of the old id "
                "cannot be read with it"
            )
        move.id, move.version, move.outcome = done.id, done.version, DONE
        self._numbers[move.place] = done.version

    def _rewritten(self, schema: Schema) -> Schema:
        """The schema with the versions that its references have in the target."""
        pairs = zip(schema.references, needed_by(schema), strict=True)
        references = [
            reference._replace(version=self._numbers.get(place, reference.version)) for reference, place in pairs
        ]
        return schema.replace(references=tuple(references))


def _alike(schema: Schema, other: Schema) -> bool:
    """Whether two texts are the same schema, written differently at most."""
    if schema.kind != other.kind:
        return False
    try:
        return bool(json.loads(schema.text) == json.loads(other.text))
    except (ValueError, RecursionError):
        return schema.text.split() == other.text.split()
