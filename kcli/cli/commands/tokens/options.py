"""`kcli tokens`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, IF_EXISTS, OUTPUT

TOKENS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.tokens.command:list_all",
        help="Delegation tokens that one may see.",
        description="""Print delegation tokens, the next to end first. What proves them is not printed.

\b
Examples:
  kcli tokens
  kcli tokens list --owner bob -J""",
        options=(
            Option(
                name="owners", flags=("--owner",), multiple=True, metavar="PRINCIPAL",
                help="Only tokens of this principal: User:bob, or bob. Repeatable.",
            ),
            *OUTPUT,
        ),
    ),
    "create": Command(
        name="create",
        run="kcli.cli.commands.tokens.command:create",
        help="Make one; the only time that its secret is printed.",
        description="""Make a delegation token: its id is a user name, its HMAC the password, for SCRAM with
sasl.delegation.token=true. The HMAC is printed here and nowhere else, or written to a file
that only you can read. The broker wants to be asked over SASL or TLS.

\b
Examples:
  kcli tokens create
  kcli tokens create --renewer alice --max-lifetime 1d --hmac-file token.txt
  kcli tokens create --owner bob --format json""",
        options=(
            Option(
                name="owner", flags=("--owner",), metavar="PRINCIPAL",
                help="Whose token it shall be; else one's own. Takes an ACL: create-tokens on that user.",
            ),
            Option(
                name="renewers", flags=("--renewer",), multiple=True, metavar="PRINCIPAL",
                help="Who may renew and expire it, beside its owner. Repeatable.",
            ),
            Option(
                name="lifetime", flags=("--max-lifetime",), metavar="DURATION",
                help="When it ends for good, such as 12h or 7d; else, and at most, what the broker says.",
            ),
            Option(
                name="hmac_file", flags=("--hmac-file",), metavar="FILE",
                help="Write the HMAC to this new file instead of printing it.",
            ),
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "renew": Command(
        name="renew",
        run="kcli.cli.commands.tokens.command:renew",
        help="Let tokens live longer.",
        description="""Renew delegation tokens by their ids: they end later, but not after their end for good.

\b
Examples:
  kcli tokens renew nWPnUkAORGOvZcXJRbRTmQ
  kcli tokens renew nWPnUkAORGOvZcXJRbRTmQ --for 2d""",
        words="TOKEN",
        options=(
            Option(
                name="period", flags=("--for",), metavar="DURATION",
                help="From now on, such as 12h or 7d; else what the broker says.",
            ),
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "expire": Command(
        name="expire",
        run="kcli.cli.commands.tokens.command:expire",
        help="Let tokens end, at once or soon.",
        description="""Expire delegation tokens by their ids. The plan comes first; --execute does it. Nothing brings
a token back.

\b
Examples:
  kcli tokens expire nWPnUkAORGOvZcXJRbRTmQ --execute
  kcli tokens expire nWPnUkAORGOvZcXJRbRTmQ --in 5m --execute""",
        words="TOKEN",
        options=(
            Option(name="period", flags=("--in",), metavar="DURATION", help="Not at once but so long from now."),
            IF_EXISTS,
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
}  # fmt: skip
