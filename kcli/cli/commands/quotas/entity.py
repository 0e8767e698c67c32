"""Whose quotas a line is about: a user, a client-id, an address, or the default of one of these; and their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas import CLIENT, IP, USER
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import QuotaClient, QuotaIp, QuotaUser


class EntityOptions(Options):
    user: QuotaUser = None
    user_default: Annotated[bool, typer.Option("--user-default", help="For all users without their own quota.")] = False
    client: QuotaClient = None
    client_default: Annotated[
        bool,
        typer.Option("--client-id-default", "--client-default", help="For all client ids without their own quota."),
    ] = False
    ip: QuotaIp = None
    ip_default: Annotated[bool, typer.Option("--ip-default", help="For all addresses without their own quota.")] = False


def names_of(options: EntityOptions) -> dict[str, str | None]:
    """The names of the options by kind; None is the default. Raises UsageError for a name and its default at once."""
    given = {
        USER: (options.user, options.user_default),
        CLIENT: (options.client, options.client_default),
        IP: (options.ip, options.ip_default),
    }
    for kind, (name, default) in given.items():
        if name is not None and default:
            raise UsageError(f"--{kind} and --{kind}-default cannot be combined")
    return {kind: name for kind, (name, default) in given.items() if name is not None or default}


class EntityRow(Row, section="quotas"):
    """The columns that say whose quota it is."""

    entity: str = column("Entity; <default> means entities without their own quota.", rank=1)
    user: str | None = column("The user; null for none or the default.", table=False, rank=1)
    client_id: str | None = column("The client.id; null for none or the default.", table=False, rank=3)
    ip: str | None = column("The address; null for none or the default.", table=False)
    defaults: list[str] = column("Which of user, client-id, ip is the default.", table=False)
    quota: str = column("producer_byte_rate, consumer_byte_rate, request_percentage, …", unit="word", rank=1)
