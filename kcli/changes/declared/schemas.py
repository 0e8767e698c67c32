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


async def look(plan: ClusterPlan) -> list[Step]:
    """What differs, a subject after those that it refers to."""
    of, registry = plan.declared, _of(plan)
    new: set[str] = set()
    steps = [await _compared(registry, name, of.schemas[name], new) for name in _in_order(of.schemas)]
    steps = [step for step in steps if step.rows]
    if of.absent_schemas or plan.whole("schemas"):
        steps += await _surplus(plan, registry)
    return steps


def _of(plan: ClusterPlan) -> RegistryClient:
    assert plan.registry is not None  # as `look` of the plan checks
    return plan.registry


def _in_order(declared: dict[str, Subject]) -> list[str]:
    """The subjects, each after those it refers to. A circle keeps its order: the registry refuses it."""
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
    """The step of a subject. `new` are those before it that get another version."""
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
            why = f"the declared schema is version {known.version}, and the latest one is {latest.version}"
            refused = f"{subject.place}: {name}: {why}; delete the later versions, or declare the latest one"
    if subject.level != level and subject.level:
        step.part("compatibility", level, subject.level, CHANGE if level else ADD)
        if level is not None and not step.undo:  # a version of a subject that was there stays
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
    """The version that has the declared schema; None where none has it, or what it refers to is new itself."""
    if latest is None or any(reference.subject in new for reference in subject.schema.references):
        return None
    try:
        return await registry.lookup(name, await _resolved(registry, subject.schema))
    except NotFound:
        return None


async def _resolved(registry: RegistryClient, schema: Schema) -> Schema:
    """The schema with a number for each version that is not declared: the latest."""

    async def number(subject: str, version: int) -> int:
        return version if version > 0 else (await registry.version(subject)).version

    references = [
        reference._replace(version=await number(reference.subject, reference.version))
        for reference in schema.references
    ]
    return schema.replace(references=tuple(references))


async def _surplus(plan: ClusterPlan, registry: RegistryClient) -> list[Step]:
    """Subjects that are absent, or in scope and declared nowhere."""
    of = plan.declared
    going = [
        name
        for name in await registry.subjects()
        if name in of.absent_schemas or (name not in of.schemas and plan.prunes("schemas", name))
    ]
    steps = []
    for latest in reversed(in_order(await each(registry.version, going))):  # what refers to another goes before it
        name = latest.subject
        step = Step(stage=DELETE, kind="schema", name=name, sign=REMOVE, key=name)
        step.place = of.absent_schemas.get(name, "")
        step.part("schema", f"version {latest.version}")
        step.value, step.undo = (step, latest), {"schemas": {name: schema_entry(latest)}}
        steps.append(step)
    return steps


# -- making it so -----------------------------------------------------------------------------------------------------


async def _send(plan: ClusterPlan, changes: Changes, dry_run: bool) -> dict[str, object]:
    """One after the other, or have the registry compare a schema with the versions that its subject has."""
    outcomes: dict[str, object] = {}
    for name, (step, schema) in changes.items():
        try:
            await (_check if dry_run else _apply)(_of(plan), schema, step)
            outcomes[name] = None
        except KcliError as error:
            outcomes[name] = error
    return outcomes


async def _check(registry: RegistryClient, schema: Schema, step: Step) -> None:
    """Raises Incompatible. A level that changes too is the registry's to check, when the schema is registered."""
    if [row.item for row in step.rows] != ["schema"] or step.sign == ADD:
        return
    try:
        verdict = await registry.compatible(step.name, await _resolved(registry, schema))
    except NotFound:
        return  # it refers to a subject that is registered before it
    if not verdict.compatible:
        raise Incompatible(step.name, verdict.reasons, 0, 0)


async def _apply(registry: RegistryClient, schema: Schema, step: Step) -> None:
    if step.sign == REMOVE:
        await registry.delete_subject(step.name)
        return
    what = {row.item: str(row.new) for row in step.rows}
    level = what.get("compatibility")
    if level is not None and step.sign != ADD:  # what is registered keeps the declared level
        await registry.set_level(level, step.name)
    if "schema" in what:
        await registry.register(step.name, await _resolved(registry, schema))
    if level is not None and step.sign == ADD:  # some registries take no level of a subject that is not there
        await registry.set_level(level, step.name)


SET = Stage(order=25, send=_send)
DELETE = Stage(order=75, send=_send, checks=False, removes=True)
