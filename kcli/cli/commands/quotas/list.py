"""`kcli quotas list` and `describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas import ANY, EXACT, IS_DEFAULT, KINDS, Component, describe_quotas, text_of
from kcli.cli.commands.quotas.entity import EntityOptions, EntityRow, names_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.admin.quotas import Quotas


class QuotaRow(EntityRow):
    limit: str | None = column("The limit with its unit.", unit="word", rank=1)
    value: float | None = column("The limit as Kafka stores it.", table=False, rank=1)


LIST = shape("quotas.list", "Quotas that are set, one a row.", QuotaRow, empty="no quotas")
DESCRIBE = shape("quotas.describe", "Quotas that are set, one a row.", QuotaRow, empty="no quota matches")


class DescribeOptions(EntityOptions, ReadOptions):
    any: Annotated[
        list[str],
        typer.Option(
            "--any", metavar="user|client-id|ip", help="Entities that name any user, client-id or ip. Repeatable."
        ),
    ]
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            "--exact",
            help="Only entities without further parts: for --user alice, not alice with a client-id.",
        ),
    ] = False


@command(
    "quotas list",
    help="List all quotas.",
    examples="""
kcli quotas
kcli quotas list -J | jq '.quotas[] | select(.quota == "producer_byte_rate")'""",
)
def list_all(options: ReadOptions) -> int:
    """Print all quotas that are set, by entity."""

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(QuotaRow)[:] = _rows(await describe_quotas(cluster))

    return answer(options, LIST, work)


@command(
    "quotas describe",
    help="Show quotas of a user, a client-id or an address.",
    examples="""
kcli quotas describe --user alice               # also those of alice with a client-id
kcli quotas describe --user alice --strict      # only those of alice alone
kcli quotas describe --user-default --any client-id
kcli quotas describe --any ip""",
)
def describe(options: DescribeOptions) -> int:
    """Print the quotas of entities that have all named parts; --strict excludes entities with further parts."""
    components = _components(options)
    if options.strict and not components:
        raise UsageError("--strict requires --user, --client-id, --ip or --any")

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(QuotaRow)[:] = _rows(await describe_quotas(cluster, components, strict=options.strict))

    return answer(options, DESCRIBE, work)


def _components(options: DescribeOptions) -> list[Component]:
    """What an entity has to have. Raises UsageError."""
    names = names_of(options)
    for kind in options.any:
        if kind not in KINDS:
            raise UsageError(f"--any {kind}: quotas apply to a {', a '.join(KINDS)}")
        if kind in names:
            raise UsageError(f"--any {kind} and --{kind} cannot be combined")
    components = [
        Component(kind=kind, match=IS_DEFAULT if name is None else EXACT, name=name) for kind, name in names.items()
    ]
    return components + [Component(kind=kind, match=ANY) for kind in dict.fromkeys(options.any)]


def _rows(quotas: Quotas) -> list[QuotaRow]:
    return [
        QuotaRow.of(
            at,
            entity=str(at),
            quota=key,
            limit=text_of(key, value),
            value=value,
        )
        for at, limits in quotas.items()
        for key, value in limits.items()
    ]
