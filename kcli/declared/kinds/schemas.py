"""Declared subjects of a schema registry: the latest schema, and the compatibility level."""

from __future__ import annotations

from kcli.declared.model import ADD, CHANGE, REMOVE, Declared, Item, Step, Subject
from kcli.errors import KcliError
from kcli.registry.client import RegistryClient
from kcli.registry.errors import Incompatible, NotFound
from kcli.registry.moving.snapshot import each, in_order, own_level
from kcli.schemas import Schema

SET, DELETE = 25, 75
NO_REGISTRY = "schemas are declared, and no registry is named (schema.registry.url)"


async def plan(registry: RegistryClient | None, declared: Declared, *, prune: bool) -> list[Step]:
    """What differs, a subject after those that it refers to."""
    assert registry is not None
    new: set[str] = set()
    steps = []
    for name in _in_order(declared.schemas):
        step = await _compared(registry, name, declared.schemas[name], new)
        if step.items or step.problem is not None:
            steps.append(step)
    if declared.absent_schemas or (prune and declared.scope.get("schemas")):
        steps += await _surplus(registry, declared, prune=prune)
    return steps


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
    step = Step(kind="schema", name=name, place=subject.place, order=SET, do=subject)
    latest = await _latest(registry, name)
    if latest is None:
        step.sign = ADD
    if subject.schema.text:
        before = None if latest is None else f"version {latest.version}"
        known = await _known(registry, name, subject, latest, new)
        if known is not None and latest is not None and known.version < latest.version:
            step.refused = True
            step.problem = KcliError(
                f"{subject.place}: {name}: the declared schema is version {known.version}, and the latest one is "
                f"{latest.version}; delete the later versions, or declare the latest one"
            )
        if known is None:
            new.add(name)
            step.items.append(Item(sign=CHANGE if before else ADD, what="schema", old=before, new=_next(latest)))
    level = await own_level(registry, name) if subject.level else None
    if subject.level and subject.level != level:
        step.items.append(Item(sign=CHANGE if level else ADD, what="compatibility", old=level, new=subject.level))
    step.undo = _undo(name, latest, level, step)
    return step


def _next(latest: Schema | None) -> str:
    return "version 1" if latest is None else f"version {latest.version + 1}"


def _undo(name: str, latest: Schema | None, level: str | None, step: Step) -> dict[str, object]:
    """A new subject goes again, and a level becomes what it was. A version of a subject that was there stays."""
    if latest is None and any(item.what == "schema" for item in step.items):
        return {"absent": {"schemas": [name]}}
    if level is not None and any(item.what == "compatibility" for item in step.items):
        return {"schemas": {name: {"compatibility": level}}}
    return {}


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


async def _surplus(registry: RegistryClient, declared: Declared, *, prune: bool) -> list[Step]:
    """Subjects that are absent, or in scope and declared nowhere."""
    known = await registry.subjects()
    going = {
        name: declared.absent_schemas.get(name, "")
        for name in known
        if name in declared.absent_schemas
        or (prune and name not in declared.schemas and declared.selected("schemas", name))
    }
    schemas = in_order(await each(registry.version, list(going)))
    return [
        Step(
            kind="schema",
            name=latest.subject,
            sign=REMOVE,
            place=going[latest.subject],
            order=DELETE,
            items=[Item(sign=REMOVE, what="schema", old=f"version {latest.version}")],
            undo={"schemas": {latest.subject: entry(latest)}},
        )
        for latest in reversed(schemas)  # what refers to another goes before it
    ]


async def carry_out(registry: RegistryClient | None, steps: list[Step], *, dry_run: bool) -> None:
    """Do it, or have the registry compare a schema with the versions that its subject has."""
    assert registry is not None
    for step in steps:
        try:
            if dry_run:
                await _check(registry, step)
            else:
                await _apply(registry, step)
                step.done = True
        except KcliError as problem:
            step.problem = problem


async def _check(registry: RegistryClient, step: Step) -> None:
    """Raises Incompatible. A level that changes too is the registry's to check, when the schema is registered."""
    what = {item.what for item in step.items}
    if step.sign == REMOVE or what != {"schema"} or step.items[0].old is None:
        return
    try:
        verdict = await registry.compatible(step.name, await _resolved(registry, step.do.schema))
    except NotFound:
        return  # it refers to a subject that is registered before it
    if not verdict.compatible:
        raise Incompatible(step.name, verdict.reasons, 0, 0)


async def _apply(registry: RegistryClient, step: Step) -> None:
    if step.sign == REMOVE:
        await registry.delete_subject(step.name)
        return
    what = {item.what: item for item in step.items}
    level = what.get("compatibility")
    if level is not None and step.sign != ADD:  # what is registered keeps the declared level
        await registry.set_level(str(level.new), step.name)
    if "schema" in what:
        await registry.register(step.name, await _resolved(registry, step.do.schema))
    if level is not None and step.sign == ADD:  # some registries take no level of a subject that is not there
        await registry.set_level(str(level.new), step.name)


def entry(schema: Schema, level: str | None = None) -> dict[str, object]:
    """A subject as a file has it."""
    fields: dict[str, object] = {"type": schema.kind, "schema": schema.text}
    if schema.references:
        fields["references"] = [reference._asdict() for reference in schema.references]
    return fields | ({"compatibility": level} if level else {})


async def exported(registry: RegistryClient, subjects: list[str]) -> dict[str, dict[str, object]]:
    """The latest schema of each subject, and its own level."""
    schemas = await each(registry.version, subjects)
    levels = await each(lambda name: own_level(registry, name), subjects)
    return {name: entry(schema, level) for name, schema, level in zip(subjects, schemas, levels, strict=True)}
