"""`kcli tokens create`: the only command that gives the HMAC away."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from kcli.acls import principal
from kcli.admin.tokens import describe_tokens
from kcli.changes.users import NewToken
from kcli.cli.commands.tokens.rows import NewTokenRow, milliseconds_of, token_row
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.output.written import check, written
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import AppliedOptions, OutputOptions
from kcli.cli.runtime.answer import answer, say
from kcli.cli.runtime.journal import journaled
from kcli.errors import KcliError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import DryRun, KcliOption

SHAPE = shape(
    "tokens.create",
    "A new delegation token. Its HMAC, the password, is printed only now.",
    NewTokenRow,
)


class CreateOptions(AppliedOptions, OutputOptions):
    owner: Annotated[
        str | None,
        KcliOption(
            "--owner",
            metavar="PRINCIPAL",
            help="Owner of the token (default: yourself). Needs an ACL: create-tokens on that user.",
            also=("--owner-principal",),
        ),
    ] = None
    renewers: Annotated[
        list[str],
        KcliOption(
            "--renewer",
            metavar="PRINCIPAL",
            help="Principals that may renew and expire it, in addition to the owner. Repeatable.",
            also=("--renewer-principal",),
        ),
    ]
    lifetime: Annotated[
        str | None,
        typer.Option(
            "--max-lifetime",
            metavar="DURATION",
            help="Maximum lifetime, such as 12h or 7d (default and limit: the broker's).",
        ),
    ] = None
    hmac_file: Annotated[
        str | None,
        typer.Option("--hmac-file", metavar="FILE", help="Write the HMAC to this new file instead of printing it."),
    ] = None
    dry_run: DryRun = False


@command(
    "tokens create",
    help="Create a delegation token; its secret is printed only now.",
    examples="""
kcli tokens create
kcli tokens create --renewer alice --max-lifetime 1d --hmac-file token.txt
kcli tokens create --owner bob --format json""",
)
def create(options: CreateOptions) -> int:
    """Create a delegation token: its id is a user name, its HMAC the password, for SCRAM with
    sasl.delegation.token=true. The HMAC is printed only now, or written to a file that only you can read. Brokers
    require SASL or TLS for this."""
    options.check_dry_run(options.dry_run)
    owner = None if options.owner is None else principal(options.owner)
    renewers = [principal(name) for name in dict.fromkeys(options.renewers)]
    lifetime = milliseconds_of(options.lifetime, "--max-lifetime")
    path = options.hmac_file
    if path is not None:
        check(path, "--hmac-file")

    async def work(cluster: Cluster, document: Document) -> None:
        if options.dry_run:
            await describe_tokens(cluster, [])
            say(options, f"would create a token of {owner or 'this principal'}")
            return
        row = NewToken(owner=owner or "")
        create = partial(row.create, cluster, renewers, lifetime)
        with nullcontext() if path is None else written(path, "--hmac-file", mode=0o600) as out:
            token = await journaled(options, cluster, lambda: [row.as_json()], None, create)
            if isinstance(token, KcliError):
                raise token
            if out is not None:
                out.write(f"{token.hmac.reveal()}\n".encode())
        hmac = None if path is not None else token.hmac.reveal()
        document.of(NewTokenRow).append(token_row(token).widened(NewTokenRow, hmac=hmac))
        say(
            options,
            "log in with it: -X sasl.mechanism=SCRAM-SHA-512 -X sasl.delegation.token=true "
            f"-X sasl.username={token.id}, and the HMAC as sasl.password",
        )

    return answer(options, SHAPE, work)
