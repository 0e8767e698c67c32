"""`kcli quotas resolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas import InForce, QuotaLevel, describe_quotas, text_of
from kcli.admin.quotas import resolve as rungs_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import QuotaClient, QuotaIp, QuotaUser

NOBODY = "ANONYMOUS"  # the user on a listener without authentication


class QuotaLevelRow(Row, section="ladder"):
    quota: str = column("producer_byte_rate, consumer_byte_rate, request_percentage, …", unit="word", rank=1)
    rank: int = column("Place in Kafka's order; the first with a value is in force.")
    entity: str = column("Entity; <default> means entities without their own quota.", rank=1)
    user: str | None = column("The user; null for none or the default.", table=False, rank=1)
    client_id: str | None = column("The client.id; null for none or the default.", table=False, rank=3)
    ip: str | None = column("The address; null for none or the default.", table=False)
    defaults: list[str] = column("Which of user, client-id, ip is the default.", table=False)
    limit: str | None = column("The limit with its unit.", unit="word", rank=1)
    value: float | None = column("The limit as Kafka stores it.", table=False, rank=1)
    in_force: bool = column("Whether this value is in force.")


class InForceRow(Row, section="quotas"):
    quota: str = column("producer_byte_rate, consumer_byte_rate, request_percentage, …", unit="word", rank=1)
    limit: str = column("The limit with its unit.", unit="word", rank=1)
    value: float | None = column("The limit as Kafka stores it.", table=False, rank=1)
    set_for: str | None = column("The entity it is set for; null when there is no limit.")
    shared_by: str | None = column("The connections that share the limit on a broker.")


SHAPE = shape(
    "quotas.resolve", "Quotas in force for a client, and the entity that sets each.", QuotaLevelRow, InForceRow
)


class ResolveOptions(ReadOptions):
    user: QuotaUser = None
    client: QuotaClient = None
    ip: QuotaIp = None
    all: Annotated[bool, typer.Option("-a", "--all", help="Include entities without a quota.")] = False


@command(
    "quotas resolve",
    help="Explain which quota applies to a client.",
    examples="""
kcli quotas resolve --user alice --client-id app
kcli quotas resolve --client-id app                 # for ANONYMOUS
kcli quotas resolve --user alice --client-id app --ip 10.0.0.7 --all -J""",
)
def resolve(options: ResolveOptions) -> int:
    """Print for each quota the value in force for connections of a user with a client.id, the entity that sets it, and
    the values it overrides. Kafka uses the first that is set of: the user with the client-id, the user with the default
    client-id, the user, the default user with the client-id, the default user with the default client-id, the default
    user, the client-id, the default client-id. On a listener without authentication the user is ANONYMOUS.
    """
    if options.user is None and options.client is None and options.ip is None:
        raise UsageError("missing entity: --user USER --client-id CLIENT, --ip ADDRESS")

    async def work(cluster: Cluster, document: Document) -> None:
        quotas = await describe_quotas(cluster)
        answers = rungs_of(quotas, user=options.user or NOBODY, client=options.client or "", ip=options.ip)
        document.of(QuotaLevelRow)[:] = [
            _rung_row(quota.key, rung)
            for quota in answers
            for rung in quota.ladder
            if rung.value is not None or options.all
        ]
        document.of(InForceRow)[:] = [_quota_row(quota) for quota in answers]

    return answer(options, SHAPE, work)


def _rung_row(key: str, rung: QuotaLevel) -> QuotaLevelRow:
    at = rung.entity
    return QuotaLevelRow.of(
        at,
        quota=key,
        rank=rung.rank,
        entity=str(at),
        limit=None if rung.value is None else text_of(key, rung.value),
        value=rung.value,
        in_force=rung.used,
    )


def _quota_row(quota: InForce) -> InForceRow:
    return InForceRow(
        quota=quota.key,
        limit="no limit" if quota.value is None else text_of(quota.key, quota.value),
        value=quota.value,
        set_for=next((str(rung.entity) for rung in quota.ladder if rung.used), None),
        shared_by=quota.shared or None,
    )
