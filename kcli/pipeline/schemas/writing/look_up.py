"""The schema that rows are written by, looked up on the driver before the first row: the latest of a subject, that of
an id, or that of a file, which is registered if the options say so.
"""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.pipeline.schemas.look_up import Opened, asking, chosen, named_registry, subject_of
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.wanted import Wanted
from kcli.pipeline.schemas.writing.frames import check_rules
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Schema, SchemaNotFound
from kcli.serde.schemas.writers import same, writer_of


def looked_up_to_write(
    wanted: Wanted, settings: RegistrySettings | None, *, guard: str = "", profile: str = ""
) -> SealedSchemas:
    """The schema, with what it refers to. `guard` is what the profile of that name forbids. Raises UsageError where no
    registry is named, its schema is of another kind or has rules for writing, or a file's is not the latest and not to
    be registered; SchemaNotFound, SchemaRefused, and what the registry's client raises."""
    registry = named_registry(wanted, settings)

    async def ask(schemas: Opened) -> SealedSchemas:
        known = await chosen(wanted, schemas)
        if wanted.of_file:
            known = await _known(wanted, known.schema, schemas)
        check_rules(known.schema, without=not wanted.rules)
        return SealedSchemas(
            field=wanted.field, form=wanted.form, message=wanted.message, reader=known, settings=registry
        )

    return asking(registry, ask, guard=guard, profile=profile)


async def _known(wanted: Wanted, own: Schema, schemas: Opened) -> Known:
    """The schema of a file as the registry has it."""
    subject = await subject_of(wanted, schemas, Known(schema=own))
    writer_of(own.replace(subject=wanted.reader), [], message=wanted.message)
    latest = await _latest(subject, schemas)
    if not wanted.register:
        if latest is not None and same(latest.schema, own, list(latest.referred), []):
            return latest
        there = f"the latest version of {subject} is another schema" if latest else f"{subject} has no schema"
        raise UsageError(f"option {wanted.option} {wanted.reader}: {there}; registerSchemas=true registers it").hinted(
            "spark-option"
        )
    if latest is not None:
        check_rules(latest.schema, without=not wanted.rules)  # a new version inherits them
    number = await schemas.register(subject, own)
    if number >= 0:
        return Known(schema=own.replace(id=number, subject=subject))
    return await _latest(subject, schemas) or Known(schema=own)  # AWS Glue names it by a UUID


async def _latest(subject: str, schemas: Opened) -> Known | None:
    """The latest version of the subject; None where it has none."""
    try:
        latest = await schemas.latest(subject)
    except SchemaNotFound:
        return None
    needed = await schemas.references(latest) if latest.references else []
    return Known(schema=latest, referred=tuple((name, one.text) for name, one in needed))
