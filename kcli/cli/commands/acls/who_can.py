"""`kcli acls who-can`: the principals that may, from which hosts, and by which ACL."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.acls import ANYWHERE, Acl, block_of, client_address, principal
from kcli.admin.acl_check import (
    WITHOUT,
    Authorizer,
    Verdict,
    acls_of,
    authorizer,
    reason,
    unnamed,
    verdict,
    verdicts,
)
from kcli.admin.acls import takes_blocks
from kcli.cli.commands.acls.parse import ResourceOptions, operations, resources, spoken
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, say
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

MAY_NOT = 3


class VerdictRow(Row, section="verdicts"):
    principal: str = column("Principal; User:* stands for users without their own row.", rank=1)
    host: str = column("Client address, or block of addresses; * stands for addresses without their own row.")
    allowed: bool = column("Whether the principal is allowed.", rank=1)
    reason: str = column("The ACL, or other rule, that decides.", unit="sentence")


SHAPE = shape("acls.who-can", "Principals that are allowed or denied, one per row.", VerdictRow)


class WhoCanOptions(ResourceOptions, ReadOptions):
    principal: Annotated[
        str | None,
        typer.Option("--principal", metavar="PRINCIPAL", help="Check this principal only; exit 3 if it is denied."),
    ] = None
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="HOST", help="Client address (default: an address that no ACL names)."),
    ] = None


@command(
    "acls who-can",
    help="Show principals allowed to use a resource, and why.",
    words="[OPERATION RESOURCE NAME]",
    examples="""
kcli acls who-can write topic orders
kcli acls who-can --operation write --topic orders   # with the options of acls add
kcli acls who-can read group billing --principal bob
kcli acls who-can read topic orders --principal bob --host 10.0.0.7 && echo yes
kcli acls who-can create cluster""",
)
def run(options: WhoCanOptions) -> int:
    """Print the principals allowed to perform an OPERATION on a resource: literal, prefixed and wildcard
    ACLs together, denials first. With --principal, print whether that principal is allowed; exit code 3 if not.

    \b
    A RESOURCE is topic, group, cluster, transactional-id, delegation-token or user.
    """
    operation, kind, name = _asked(options)
    who = None if options.principal is None else principal(options.principal)
    if options.host is not None and who is None:
        raise UsageError("--host needs --principal")

    async def work(cluster: Cluster, document: Document) -> int | None:
        acls, beside = await asyncio.gather(acls_of(cluster, kind, name), authorizer(cluster))
        if any(block_of(acl.host) is not None for acl in acls) and not await takes_blocks(cluster):
            acls = [acl for acl in acls if block_of(acl.host) is None]
            say(options, "ACLs for blocks of addresses have no effect: this cluster only matches single addresses")
        if who is None:
            answers = verdicts(acls, operation)
        else:
            answers = [verdict(acls, who, client_address(options.host or ANYWHERE), operation)]
        rows = document.of(VerdictRow)
        rows += [_row(answered, acls, beside) for answered in answers]
        if who is None:
            rows += [_row(answered, acls, beside) for answered in unnamed(answers, beside)]
        for remark in _remarks(acls, beside, who):
            say(options, remark)
        return MAY_NOT if who is not None and not rows[0].allowed else None

    return answer(options, SHAPE, work)


def _row(answered: Verdict, acls: list[Acl], beside: Authorizer) -> VerdictRow:
    allowed, why = reason(answered, acls, beside)
    return VerdictRow(principal=answered.principal, host=answered.host, allowed=allowed, reason=why)


def _remarks(acls: list[Acl], beside: Authorizer, who: str | None) -> list[str]:
    """What cannot be known from here."""
    remarks = []
    if beside.super_users is None:
        them = "super users" if who is None else f"{who}, if it is a super user,"
        remarks.append(f"{them} may do anything regardless of ACLs; the broker does not list super users")
    if beside.everyone is None and not acls:
        remarks.append(f"no ACL covers it: {WITHOUT} decides, but the broker does not report it")
    return remarks


def _asked(options: WhoCanOptions) -> tuple[str, str, str]:
    """Operation, kind and name of a line, as words or by the options of `acls add`. Raises UsageError."""
    named, asked = resources(options), operations(options)
    if not named and not asked:
        return spoken(options.words, "who-can")
    if options.words or len(named) != 1 or len(asked) != 1:
        raise UsageError("give one operation and one resource: --operation write --topic orders, or write topic orders")
    return spoken([asked[0], *named[0]], "who-can")
