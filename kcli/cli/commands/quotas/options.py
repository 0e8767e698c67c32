"""`kcli quotas`, declared."""

from __future__ import annotations

from kcli.cli.commands.configs.options import CHANGING
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import OUTPUT

_USER = Option(name="user", flags=("--user",), metavar="USER", help="For this user, as the broker names the principal.")
_USERS = Option(
    name="user_default", flags=("--user-default",), kind="flag", help="For every user who has no quota of his own."
)
_CLIENT = Option(name="client", flags=("--client-id", "--client"), metavar="CLIENT", help="For this client.id.")
_CLIENTS = Option(
    name="client_default",
    flags=("--client-id-default", "--client-default"),
    kind="flag",
    help="For every client.id that has no quota of its own.",
)
_IP = Option(name="ip", flags=("--ip",), metavar="ADDRESS", help="For connections from this address.")
_IPS = Option(
    name="ip_default", flags=("--ip-default",), kind="flag", help="For all addresses without one of their own."
)
_ENTITY = (_USER, _USERS, _CLIENT, _CLIENTS, _IP, _IPS)
_ANY = Option(
    name="any", flags=("--any",), multiple=True, metavar="user|client-id|ip",
    help="Entities that have one of this kind, whoever it is. Repeatable.",
)  # fmt: skip
_STRICT = Option(
    name="strict",
    flags=("--strict", "--exact"),
    kind="flag",
    help="Only entities that have no other kind: not user alice with a client-id, when --user alice is asked for.",
)
_DELETE = Option(
    name="remove",
    flags=("--delete", "--remove"),
    multiple=True,
    metavar="QUOTA",
    help="Take this quota away. Repeatable.",
)
_ALL = Option(name="all", flags=("-a", "--all"), kind="flag", help="Also the places where nothing is set.")
KEYS_SAID = """A QUOTA is producer_byte_rate or consumer_byte_rate (bytes a second at each broker, 10MiB),
request_percentage (% of a broker's threads), controller_mutation_rate (topics and
partitions created and deleted a second), or, of an ip, connection_creation_rate."""

QUOTAS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.quotas.command:describe",
        help="All quotas.",
        description="""Print all quotas that are set, by entity.

\b
Examples:
  kcli quotas
  kcli quotas list -J | jq '.quotas[] | select(.quota == "producer_byte_rate")'""",
        options=OUTPUT,
    ),
    "describe": Command(
        name="describe",
        run="kcli.cli.commands.quotas.command:describe",
        help="The quotas of a user, a client-id, an address, or of all of a kind.",
        description="""Print the quotas of entities that match: everything said has to be there, and more may be,
unless --strict.

\b
Examples:
  kcli quotas describe --user alice               # also those of alice with a client-id
  kcli quotas describe --user alice --strict      # only those of alice herself
  kcli quotas describe --user-default --any client-id
  kcli quotas describe --any ip""",
        options=(*_ENTITY, _ANY, _STRICT, *OUTPUT),
    ),
    "alter": Command(
        name="alter",
        run="kcli.cli.commands.quotas.command:alter",
        help="Set quotas, and take them away.",
        description=f"""Set quotas of one entity, and take them away. The plan comes first, checked by the
controller; --execute does it. What was set before is kept in an undo file.

{KEYS_SAID}

\b
Examples:
  kcli quotas alter --user alice producer_byte_rate=10MiB consumer_byte_rate=20MiB --execute
  kcli quotas alter --user alice --client-id app request_percentage=50% --dry-run
  kcli quotas alter --user-default controller_mutation_rate=5/s --execute
  kcli quotas alter --client-id-default --delete consumer_byte_rate --execute
  kcli quotas alter --ip 10.0.0.7 connection_creation_rate=20 --execute""",
        words="QUOTA=VALUE",
        options=(*_ENTITY, _DELETE, *CHANGING),
    ),
    "resolve": Command(
        name="resolve",
        run="kcli.cli.commands.quotas.command:resolve",
        help="Which quota is in force for a client, and why.",
        description="""Print for each quota which value is in force for connections of a user with a client.id, who
set it, and what it beats. Kafka takes the first of: the user with the client-id, the user
with the default client-id, the user, the default user with the client-id, the default user
with the default client-id, the default user, the client-id, the default client-id.
On a listener without authentication the user is ANONYMOUS.

\b
Examples:
  kcli quotas resolve --user alice --client-id app
  kcli quotas resolve --client-id app                 # of ANONYMOUS
  kcli quotas resolve --user alice --client-id app --ip 10.0.0.7 --all -J""",
        options=(_USER, _CLIENT, _IP, _ALL, *OUTPUT),
    ),
    "restore": Command(
        name="restore",
        run="kcli.cli.commands.quotas.command:restore",
        help="Take changes back from their undo file.",
        description="""Set quotas as an undo file says they were, and take away those that were not there.

\b
Examples:
  kcli quotas restore ~/.local/state/kcli/undo/quotas-20260131T100000Z.json --execute""",
        words="FILE",
        options=CHANGING,
    ),
}
