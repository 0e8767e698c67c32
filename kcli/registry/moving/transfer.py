"""Writes a snapshot to a registry: determines what is left to register, under which ids, and registers it in order.

Ids and versions are kept with mode IMPORT, which a subject has while its versions are registered: a soft-deleted
version becomes a version again under its own number, and those that are soft-deleted in the snapshot are deleted again
at the end. A registry without that mode reuses the id of a soft-deleted schema under a new number. If ids are not kept,
references are adapted to the versions that the registry assigns. Versions for a subject without any are not compared
with one another, because they were registered before.
"""

from __future__ import annotations

import json
from collections import Counter

from kcli.errors import KcliError
from kcli.registry.errors import NotFound
from kcli.registry.moving.snapshot import each, has_modes, inherit_level, live_versions, needed_by, own, own_level
from kcli.registry.subjects import prefix
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.client import RegistryClient
    from kcli.registry.moving.snapshot import Place, Snapshot
    from kcli.schemas import Schema

KNOWN, REGISTER, IMPORT, BURY, CONFLICT = "known", "register", "import", "import deleted", "conflict"
DONE, FAILED = "done", "failed"


class Move(Value):
    """A schema to move. `id` and `version` are those in the target, None if not known yet."""

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
    """`keep`: schemas keep the ids that they have in the snapshot; otherwise the registry assigns them."""

    def __init__(self, target: RegistryClient, snapshot: Snapshot, *, keep: bool) -> None:
        self._target = target
        self._snapshot = snapshot
        self._keep = keep
        # versions of a subject: live, and including deleted ones
        self._there: dict[str, tuple[list[int], list[int]]] = {}
        self._own = {(schema.subject, schema.version) for schema in snapshot.schemas}
        self._numbers: dict[Place, int] = {}  # versions of schemas in the target
        self.moves: list[Move] = []
        self.losses: list[str] = []
        """Sentences about ids and versions that lose their meaning in the target."""

    @property
    def ready(self) -> list[Move]:
        return [move for move in self.moves if move.action in (REGISTER, IMPORT, BURY) and not move.outcome]

    # -- the plan ------------------------------------------------------------------------------------------------------

    async def plan(self) -> None:
        """Compare with the target. Raises KcliError if it cannot be asked, and if it must keep ids but cannot."""
        subjects = self._snapshot.subjects
        self._there = dict(zip(subjects, await each(self._versions, subjects), strict=True))
        same = await self._by_id() if self._keep else {}
        buried = self._buried()
        known: set[Place] = set()
        for schema in self._snapshot.schemas:
            move = Move(schema=schema)
            if move.place in buried and not self._keep:
                continue
            self.moves.append(move)
            if move.place in buried:
                move.action = BURY
            elif self._there[schema.subject][0] and known.issuperset(self._moved(schema)):
                await self._look_up(move)
            if move.action in (REGISTER, BURY) and self._keep:
                await self._place(move, same.get((schema.context, schema.id)))
            if move.action == KNOWN and move.version is not None:
                known.add(move.place)
                self._numbers[move.place] = move.version
        if any(move.action in (IMPORT, BURY) for move in self.moves) and not await has_modes(self._target):
            unkept = KcliError(f"{self._target.settings.name} has no mode IMPORT, which keeps ids")
            raise unkept.hinted("ids-new")
        self._count_losses(buried)

    def _buried(self) -> set[Place]:
        """Return the soft-deleted versions of the snapshot that no other references."""
        needed: set[Place] = set()
        buried = set()
        for schema in reversed(self._snapshot.schemas):  # referenced schemas come before
            place = schema.subject, schema.version
            if place in self._snapshot.deleted and place not in needed:
                buried.add(place)
            else:
                needed.update(needed_by(schema))
        return buried

    def _count_losses(self, buried: set[Place]) -> None:
        """Note which ids and versions lose their meaning."""
        if buried and not self._keep:
            count, they = len(buried), "it is" if len(buried) == 1 else "they are"
            self.losses.append(
                f"{count} soft-deleted version{'s' * (count > 1)} cannot get a new id, so {they} left out: "
                f"{_listed(sorted(buried))}"
            )
        if raised := sorted(self._snapshot.deleted - buried):
            self.losses.append(
                f"soft-deleted in the source, but not here, as other schemas refer to it: {_listed(raised)}"
            )
        following = {subject: max(every, default=0) + 1 for subject, (_, every) in self._there.items()}
        other = []
        for move in self.moves:
            subject, number = move.place
            new = move.version
            if move.action == REGISTER:
                new = following[subject]
                following[subject] += 1
            if move.action in (REGISTER, KNOWN) and new not in (None, number):
                latest = ", the latest" if number < max(self._there[subject][0], default=0) < (new or 0) else ""
                other.append(f"{subject} {number} as {new}{latest}")
        if other:
            self.losses.append(f"{len(other)} version{'s' * (len(other) > 1)} under another number: {'; '.join(other)}")

    async def _versions(self, subject: str) -> tuple[list[int], list[int]]:
        try:
            every = await self._target.versions(subject, deleted=True)
        except NotFound:
            return [], []
        return await live_versions(self._target, subject), every

    async def _by_id(self) -> dict[tuple[str, int], Schema | None]:
        """Return what the target has under the ids of the snapshot."""
        ids = list(dict.fromkeys((schema.context, schema.id) for schema in self._snapshot.schemas if schema.id >= 0))

        async def ask(at: tuple[str, int]) -> Schema | None:
            try:
                return await self._target.by_id(at[1], subject=prefix(at[0]))
            except NotFound:
                return None

        return dict(zip(ids, await each(ask, ids), strict=True))

    def _moved(self, schema: Schema) -> set[Place]:
        """Return the versions of the snapshot that a schema references."""
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

    async def _place(self, move: Move, same: Schema | None) -> None:
        """Determine the id and version of a schema."""
        schema = move.schema
        live, every = self._there[schema.subject]
        if schema.id < 0:
            move.action, move.error = CONFLICT, KcliError(f"{schema.name}: it has no id").hinted("ids-new")
        elif same is not None and not _alike(same, schema):
            there = f" ({same.subject} version {same.version})" if same.subject else ""
            move.action = CONFLICT
            move.error = KcliError(f"{schema.name}: another schema has id {schema.id} there{there}")
        elif schema.version in every and await self._is_other(schema):
            move.action, move.error = CONFLICT, KcliError(f"{schema.name}: this version is another schema there")
        else:
            move.id, move.version = schema.id, schema.version
            if schema.version in live or (schema.version in every and move.action == BURY):
                move.action = KNOWN
            elif schema.version in every and not await has_modes(self._target):
                move.version = None
            elif move.action != BURY:
                move.action = IMPORT

    async def _is_other(self, schema: Schema) -> bool:
        """Whether the target has another schema under the version, soft-deleted or not."""
        try:
            there = await self._target.version(schema.subject, schema.version, deleted=True)
        except NotFound:  # Apicurio does not show soft-deleted versions
            return False
        return there.id != schema.id

    # -- applying ------------------------------------------------------------------------------------------------------

    async def carry_out(self) -> None:
        """Register what is ready, in order. The first failure ends it: the rest has no outcome."""
        ready = self.ready
        modes: dict[str, str | None] = {}
        levels: dict[str, str | None] = {}
        try:
            for subject in dict.fromkeys(move.schema.subject for move in ready if move.action in (IMPORT, BURY)):
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
            await self._bury([move for move in ready if move.action == BURY and move.outcome == DONE])
            await self._set_back(modes, levels)

    async def _bury(self, moves: list[Move]) -> None:
        """Soft-delete again what is soft-deleted in the snapshot."""
        for move in reversed(moves):
            try:
                await self._target.delete_version(*move.place)
            except KcliError as problem:
                move.outcome, move.error = FAILED, problem

    async def _set_back(self, modes: dict[str, str | None], levels: dict[str, str | None]) -> None:
        """Restore the modes and levels that subjects had before."""
        for subject, mode in modes.items():
            await (self._target.set_mode(mode, subject) if mode else self._target.delete_mode(subject))
        for subject, level in levels.items():
            await (self._target.set_level(level, subject) if level else inherit_level(self._target, subject))

    async def _register(self, move: Move) -> None:
        subject = move.schema.subject
        schema = self._rewritten(move.schema)
        done = await self._target.register(subject, schema, imported=move.action in (IMPORT, BURY))
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
        """Return the schema with the versions that its references have in the target."""
        pairs = zip(schema.references, needed_by(schema), strict=True)
        references = [
            reference._replace(version=self._numbers.get(place, reference.version)) for reference, place in pairs
        ]
        return schema.replace(references=tuple(references))


def _listed(places: list[Place]) -> str:
    """Return `orders-value 1, 2; money 3`."""
    by_subject: dict[str, list[str]] = {}
    for subject, number in places:
        by_subject.setdefault(subject, []).append(str(number))
    return "; ".join(f"{subject} {', '.join(numbers)}" for subject, numbers in by_subject.items())


def _alike(schema: Schema, other: Schema) -> bool:
    """Whether two texts are the same schema, at most formatted differently."""
    if schema.kind != other.kind:
        return False
    try:
        return bool(json.loads(schema.text) == json.loads(other.text))
    except (ValueError, RecursionError):
        return schema.text.split() == other.text.split()
