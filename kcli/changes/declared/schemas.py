"""Declared subjects of a schema registry: the latest schema, and the compatibility level."""

from __future__ import annotations

from kcli.changes.declared.step import ADD, CHANGE, REMOVE, Stage, Step
from kcli.declared.entries import schema_entry
from kcli.errors import KcliError
from kcli.registry.errors import Incompatible, NotFound
from kcli.registry.moving.snapshot import each, in_order, own_level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.changes.declared.plan import ClusterPlan
    from kcli.changes.declared.step import Changes
    from kcli.declared.model import Subject
    from kcli.registry.client import RegistryClient
    from kcli.schemas import Schema


async def compare(plan: ClusterPlan) -> list[Step]:
    """Return the steps for subjects, each after the subjects that it references."""
    of, registry = plan.declared, _of(plan)
    new: set[str] = set()
    steps = [await _compared(registry, name, of.schemas[name], new) for name in _in_order(of.schemas)]
    steps = [step for step in steps if step.rows]
    if of.absent_schemas or plan.whole("schemas"):
        steps += await _surplus(plan, registry)
    return steps


def _of(plan: ClusterPlan) -> RegistryClient:
    assert plan.registry is not None  # checked by the plan's `compare`
    return plan.registry


def _in_order(declared: dict[str, Subject]) -> list[str]:
    """Sort the subjects, each after those that it references. A cycle keeps its order: the registry rejects it."""
    ordered: dict[str, None] = {}
    under_way: set[str] = set()

    def visit(name: str) -> None:
        if name in ordered or name in under_way:
            return
        under_way.add(name)
        for reference in declared[name].schema.references:
            if reference.subject in declared:
                visit(reference.subject)
        ordered[name] = None

    for name in declared:
        visit(name)
    return list(ordered)


async def _compared(registry: RegistryClient, name: str, subject: Subject, new: set[str]) -> Step:
    """Return the step of a subject. `new` are earlier subjects that get another version."""
    latest = await _latest(registry, name)
    step = Step(stage=SET, kind="schema", name=name, place=subject.place, key=name)
    step.sign = ADD if latest is None else CHANGE
    refused = None
    level = await own_level(registry, name) if subject.level else None
    if subject.schema.text:
        known = await _known(registry, name, subject, latest, new)
        if known is None:
            new.add(name)
            before = None if latest is None else f"version {latest.version}"
            step.part("schema", before, f"version {1 if latest is None else latest.version + 1}")
            if latest is None:
                step.undo = {"absent": {"schemas": [name]}}
        elif latest is not None and known.version < latest.version:
            why = f"the declared schema is version {known.version}, but the latest is {latest.version}"
            refused = f"{subject.place}: {name}: {why}; delete the later versions, or declare the latest one"
    if subject.level != level and subject.level:
        step.part("compatibility", level, subject.level, CHANGE if level else ADD)
        if level is not None and not step.undo:  # a new version of an existing subject is kept
            step.undo = {"schemas": {name: {"compatibility": level}}}
    step.value = (step, subject.schema)
    return step.fail(KcliError(refused), refused=True) if refused else step


async def _latest(registry: RegistryClient, name: str) -> Schema | None:
    try:
        return await registry.version(name)
    except NotFound:
        return None


async def _known(
    registry: RegistryClient, name: str, subject: Subject, latest: Schema | None, new: set[str]
) -> Schema | None:
    """Return the version with the declared schema; None if there is none, or if a schema that it references is itself
    new."""
    if latest is None or any(reference.subject in new for reference in subject.schema.references):
        return None
    try:
        return await registry.lookup(name, await _resolved(registry, subject.schema))
    except NotFound:
        return None


async def _resolved(registry: RegistryClient, schema: Schema) -> Schema:
    """Return the schema with a number for each undeclared version: the latest."""

    async def number(subject: str, version: int) -> int:
        return version if version > 0 else (await registry.version(subject)).version

    references = [
        reference._replace(version=await number(reference.subject, reference.version))
        for reference in schema.references
    ]
    return schema.replace(references=tuple(references))


async def _surplus(plan: ClusterPlan, registry: RegistryClient) -> list[Step]:
    """Return steps for subjects that are declared absent, or in scope and undeclared."""
    of = plan.declared
    going = [
        name
        for name in await registry.subjects()
        if name in of.absent_schemas or (name not in of.schemas and plan.prunes("schemas", name))
    ]
    steps = []
    for latest in reversed(in_order(await each(registry.version, going))):  # referencing schemas are deleted first
        name = latest.subject
        step = Step(stage=DELETE, kind="schema", name=name, sign=REMOVE, key=name)
        step.place = of.absent_schemas.get(name, "")
        step.part("schema", f"version {latest.version}")
        step.value, step.undo = (step, latest), {"schemas": {name: schema_entry(latest)}}
        steps.append(step)
    return steps


# -- applying ---------------------------------------------------------------------------------------------------------


async def _send(plan: ClusterPlan, changes: Changes, dry_run: bool) -> dict[str, object]:
    """Apply changes one after another, or have the registry check compatibility with the subject's versions."""
    outcomes: dict[str, object] = {}
    for name, (step, schema) in changes.items():
        try:
            await (_check if dry_run else _apply)(_of(plan), schema, step)
            outcomes[name] = None
        except KcliError as error:
            outcomes[name] = error
    return outcomes


async def _check(registry: RegistryClient, schema: Schema, step: Step) -> None:
    """Raise Incompatible if the schema is. If the level changes, too, the registry checks on registration instead."""
    if [row.item for row in step.rows] != ["schema"] or step.sign == ADD:
        return
    try:
        verdict = await registry.compatible(step.name, await _resolved(registry, schema))
    except NotFound:
        return  # it references a subject that is registered before it
    if not verdict.compatible:
        raise Incompatible(step.name, verdict.reasons, 0, 0)


async def _apply(registry: RegistryClient, schema: Schema, step: Step) -> None:
    if step.sign == REMOVE:
        await registry.delete_subject(step.name)
        return
    what = {row.item: str(row.new) for row in step.rows}
    level = what.get("compatibility")
    if level is not None and step.sign != ADD:  # otherwise the declared level remains
        await registry.set_level(level, step.name)
    if "schema" in what:
        await registry.register(step.name, await _resolved(registry, schema))
    if level is not None and step.sign == ADD:  # some registries reject a level for a subject that does not exist
        await registry.set_level(level, step.name)


SET = Stage(order=25, send=_send)
DELETE = Stage(order=75, send=_send, checks=False, removes=True)
