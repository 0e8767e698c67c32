"""`kcli meta` and `kcli coord`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import OUTPUT

META = Command(
    name="meta",
    run="kcli.cli.commands.meta.command:meta",
    help="What a broker says of brokers, topics and partitions.",
    description="""Print what one broker says about the cluster, as one answer: brokers, topics, partitions with
leader, replicas and in-sync replicas. All topics, or those named; asking creates none. With --broker
one can see whether a broker is behind the others.

\b
Examples:
  kcli meta
  kcli meta orders payments
  kcli meta --broker 3 -J | jq '.partitions[] | select(.leader == null)'""",
    words="TOPIC",
    options=(
        Option(
            name="broker",
            flags=("--broker",),
            kind="int",
            least=0,
            metavar="ID",
            help="Ask this one (default: any).",
        ),
        *OUTPUT,
    ),
)

COORD = Command(
    name="coord",
    run="kcli.cli.commands.meta.command:coord",
    help="Who coordinates groups and transactional ids.",
    description="""Print the broker that coordinates each group, transactional id or share partition, whether that
exists or not. All of a kind are asked about in one request.

\b
Examples:
  kcli coord billing shipping
  kcli coord --txn load-1 --txn load-2
  kcli coord --share workers:orders:0""",
    words="GROUP",
    options=(
        Option(
            name="txn",
            flags=("--txn", "--transactional-id"),
            multiple=True,
            metavar="TXN",
            help="A transactional id. Repeatable.",
        ),
        Option(
            name="share",
            flags=("--share",),
            multiple=True,
            metavar="GROUP:TOPIC:N",
            help="A partition of a share group, whose state its share coordinator keeps. Repeatable.",
        ),
        *OUTPUT,
    ),
)
