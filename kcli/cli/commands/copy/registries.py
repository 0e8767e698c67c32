"""The registries of the two clusters of a copy, and what is done with the ids of schemas."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kcli.cli.output.messages import complain
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError
from kcli.registry.subjects import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption
    from kcli.cli.runtime.connection import Connection
    from kcli.copying.schemas import SchemaMoves
    from kcli.registry.settings import RegistrySettings

    Registries = tuple[RegistrySettings, RegistrySettings]

KEEP, REGISTER, FAIL = "keep", "register", "fail"


class SchemasOptions(Options):
    """What is done with schemas between two registries."""

    panel = "Schemas"

    schemas: Annotated[
        str | None,
        KcliOption(
            "--schemas",
            choices=(KEEP, REGISTER, FAIL),
            help="Schema ids between two registries: keep them; or write the target's ids, and register schemas that "
            "it lacks, or fail.",
        ),
    ] = None
    value_subject: Annotated[
        str | None,
        KcliOption(
            "--value-subject",
            choices=STRATEGIES,
            help="How the subject of values is chosen, for --schemas (default: topic).",
        ),
    ] = None
    key_subject: Annotated[str | None, KcliOption("--key-subject", choices=STRATEGIES, help="The same for keys.")] = (
        None
    )
    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry", metavar="URL", help="The registry of SRC. DST's: --to-X schema.registry.url=URL."
        ),
    ] = None


class KeptSchemasOptions(Options):
    """The same of commands that copy bytes as they are."""

    panel = "Schemas"

    schemas: Annotated[
        str | None,
        KcliOption(
            "--schemas",
            choices=(KEEP,),
            help="Required between two registries: keep schema ids as they are. `kcli copy` can write the target's "
            "ids instead.",
        ),
    ] = None


def check_ids(options: KeptSchemasOptions, source: Connection, target: Connection, url: str | None = None) -> None:
    """Raise UsageError where two clusters have different registries, and it is not said that ids stay. `url` is the
    source's registry, else its properties name it."""
    if options.schemas == KEEP or target is source:
        return
    here, there = source.registry(url), target.registry()
    if here is not None and there is not None and here.name != there.name:
        raise UsageError(
            f"the two clusters have different registries, {here.name} and {there.name}, where the schema ids in "
            "records refer to different schemas: --schemas keep copies them as they are, kcli copy --schemas register "
            "rewrites them"
        )


def registries(options: SchemasOptions, source: Connection, target: Connection) -> Registries | None:
    """The two registries, None where ids stay as they are. Raises UsageError where that would be silent corruption: the
    ids of one registry mean other schemas in another."""
    if options.schemas not in (REGISTER, FAIL) and (options.value_subject or options.key_subject):
        raise UsageError("--value-subject and --key-subject require --schemas register or fail")
    here = source.registry(options.schema_registry)
    there = here if target is source else target.registry()
    if options.schemas == KEEP or (options.schemas is None and (here is None or there is None)):
        return None
    if here is None or there is None:
        side = "SRC: add --schema-registry URL" if here is None else "DST: add --to-X schema.registry.url=URL"
        raise UsageError(f"--schemas {options.schemas}: no registry is set for {side}")
    if here.name == there.name:
        return None
    if options.schemas is None:
        raise UsageError(
            f"the two clusters have different registries, {here.name} and {there.name}: choose what happens to the "
            f"schema ids in records: --schemas register, fail or keep"
        )
    if here.folder or there.folder:
        raise UsageError(f"--schemas {options.schemas}: a folder cannot be used as the registry; give a URL")
    _check_strategies(options, here, there)
    return _with_strategies(options, here), there


def _check_strategies(options: SchemasOptions, here: RegistrySettings, there: RegistrySettings) -> None:
    """A copy finds the subjects of both sides by the strategy of SRC. Raises UsageError where DST names another one."""
    for kind in ("value", "key"):
        said, theirs = getattr(options, f"{kind}_subject"), getattr(there, f"{kind}_strategy")
        ours = here.strategy(kind)
        if theirs and theirs != ours and not said:
            raise UsageError(
                f"SRC finds subjects of {kind}s by {ours}, DST by {theirs}: choose one, such as --{kind}-subject {ours}"
            )


def _with_strategies(options: SchemasOptions, registry: RegistrySettings) -> RegistrySettings:
    """The registry with what the options say of subjects."""
    return registry.replace(
        key_strategy=options.key_subject or registry.key_strategy,
        value_strategy=options.value_subject or registry.value_strategy,
    )


@asynccontextmanager
async def moving(
    both: Registries | None, source: Connection, target: Connection, topics: tuple[str, str], *, register: bool
) -> AsyncIterator[SchemaMoves | None]:
    """What rewrites the ids, None where they stay; at the end it says what it did."""
    if both is None:
        yield None
        return
    from kcli.copying.schemas import SchemaMoves
    from kcli.registry.lookup import RegistrySchemas, client_of

    here, there = source.client(), target.client()
    schemas = RegistrySchemas(both[0], guard=here.guard, profile=here.profile)
    client = client_of(both[1], guard=there.guard, profile=there.profile)
    strategies = {kind: both[0].strategy(kind) for kind in ("key", "value")}
    moves = SchemaMoves(schemas, client, topics, register=register, strategies=strategies)
    try:
        yield moves
    finally:
        await schemas.close()
        await client.close()
        if not source.quiet:
            _report(moves)


def _report(moves: SchemaMoves) -> None:
    if moves.rewriter.rewritten:
        more = f", {moves.registered:,} schemas registered" if moves.registered else ""
        complain(f"{moves.rewriter.rewritten:,} ids of schemas rewritten{more}")
    for field in moves.rewriter.fields:
        left = field.undecoded
        if left.total:
            reason, _ = left.reasons.most_common(1)[0]
            complain(f"{left.total:,} {field.kind}s were copied as they are: {reason}")
