"""`kcli quotas resolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas import rules
from kcli.admin.quotas.quotas import describe_quotas, text_of
from kcli.cli.commands.quotas.entity import client, entity_columns, ip, user
from kcli.cli.output.render import Document
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import answer
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row

NOBODY = "ANONYMOUS"  # the user on a listener without authentication


class ResolveOptions(OutputOptions):
    user = user()
    client = client()
    ip = ip()
    all = flag("-a", "--all", help="Also the places where nothing is set.")


@command(
    "quotas resolve",
    help="Which quota is in force for a client, and why.",
    examples="""
kcli quotas resolve --user alice --client-id app
kcli quotas resolve --client-id app                 # of ANONYMOUS
kcli quotas resolve --user alice --client-id app --ip 10.0.0.7 --all -J""",
)
def resolve(options: ResolveOptions) -> int:
    """Print for each quota which value is in force for connections of a user with a client.id, who
    set it, and what it beats. Kafka takes the first of: the user with the client-id, the user
    with the default client-id, the user, the default user with the client-id, the default user
    with the default client-id, the default user, the client-id, the default client-id.
    On a listener without authentication the user is ANONYMOUS.
    """
    if options.user is None and options.client is None and options.ip is None:
        raise UsageError("for whom? --user USER --client-id CLIENT, --ip ADDRESS")

    async def work(cluster: Cluster, document: Document) -> None:
        quotas = await describe_quotas(cluster)
        answers = rules.resolve(quotas, user=options.user or NOBODY, client=options.client or "", ip=options.ip)
        document.rows["ladder"] = [
            _rung_row(quota.key, rung)
            for quota in answers
            for rung in quota.ladder
            if rung.value is not None or options.all
        ]
        document.rows["quotas"] = [_quota_row(quota) for quota in answers]

    return answer(options, "quotas.resolve", work)


def _rung_row(key: str, rung: rules.Rung) -> Row:
    return {
        "quota": key,
        "rank": rung.rank,
        **entity_columns(rung.entity),
        "limit": None if rung.value is None else text_of(key, rung.value),
        "value": rung.value,
        "in_force": rung.used,
    }


def _quota_row(quota: rules.InForce) -> Row:
    return {
        "quota": quota.key,
        "limit": "no limit" if quota.value is None else text_of(quota.key, quota.value),
        "value": quota.value,
        "set_for": next((str(rung.entity) for rung in quota.ladder if rung.used), None),
        "shared_by": quota.shared or None,
    }
