"""`kcli brokers`, `kcli cluster` and `kcli logdirs`, declared."""

from __future__ import annotations

from kcli.cli.option import Command, Option
from kcli.cli.shared_options import OUTPUT

BROKERS = {
    "list": Command(
        name="list",
        run="kcli.cli.cluster:brokers",
        help="All brokers, with what they lead and store.",
        description="""Print the brokers: whether each answers and how quickly, what it leads and stores, which
replicas are behind. Fenced ones are shown too, from clusters that tell (Kafka 4.0). Exit
code 1 when one does not answer.

\b
Examples:
  kcli brokers
  kcli brokers list -J | jq '.brokers[] | select(.behind > 0)'""",
        options=OUTPUT,
    ),
    "versions": Command(
        name="versions",
        run="kcli.cli.cluster:versions",
        help="Which APIs brokers speak, in which versions.",
        description="""Print the APIs that brokers speak, and what kcli speaks of them.

\b
Examples:
  kcli brokers versions
  kcli brokers versions 1 2 --format csv""",
        words="ID",
        options=OUTPUT,
    ),
}

CLUSTER = {
    "list": Command(
        name="list",
        run="kcli.cli.cluster:overview",
        help="Its id, controller, brokers and release.",
        description="""Print what the cluster is: id, controller, brokers, release, topics and groups.

\b
Examples:
  kcli cluster
  kcli cluster list --format plain""",
        options=OUTPUT,
    ),
    "quorum": Command(
        name="quorum",
        run="kcli.cli.cluster:quorum",
        help="Who decides: voters and observers, and how far each is behind.",
        description="""Print the KRaft quorum: its leader, voters and observers, and how far each is behind in
the metadata log.

\b
Examples:
  kcli cluster quorum
  kcli cluster quorum -J | jq '.nodes[] | select(.lag > 100)'""",
        options=OUTPUT,
    ),
    "features": Command(
        name="features",
        run="kcli.cli.cluster:features",
        help="Which features are switched on, at which level.",
        description="""Print the features of the cluster: the level in force, and the levels a broker supports.

\b
Examples:
  kcli cluster features
  kcli cluster features --format csv""",
        options=OUTPUT,
    ),
}

_BROKER = Option(name="brokers", flags=("--broker",), multiple=True, metavar="ID", help="Only this broker. Repeatable.")
_TOPIC = Option(
    name="topics", flags=("-t", "--topic"), multiple=True, metavar="TOPIC", help="Only this topic. Repeatable."
)
_BY = Option(name="by", flags=("--by",), choices=("replica", "topic", "broker"), help="Default: replica.")
_SORT = Option(name="sort", flags=("--sort",), choices=("broker", "size", "topic"), help="By what (default: broker).")

LOGDIRS = {
    "list": Command(
        name="list",
        run="kcli.cli.logdirs:directories",
        help="The directories of brokers: used, free, how many replicas.",
        description="""Print the log directories of brokers: bytes of replicas, what is left on the volume, how
many replicas. Exit code 1 when a directory is offline or a broker does not tell.

\b
Examples:
  kcli logdirs
  kcli logdirs --broker 1 --broker 2 -J""",
        options=(
            Option(
                name="brokers", flags=("--broker",), multiple=True, metavar="ID", help="Only this broker. Repeatable."
            ),
            *OUTPUT,
        ),
    ),
    "replicas": Command(
        name="replicas",
        run="kcli.cli.logdirs:replicas",
        help="The replicas in them, with sizes.",
        description="""Print replicas with their sizes, by directory; or added up by topic or broker.

\b
Examples:
  kcli logdirs replicas --topic orders
  kcli logdirs replicas --by topic --sort size
  kcli logdirs replicas --broker 1 --format csv""",
        options=(
            Option(
                name="topics",
                flags=("-t", "--topic"),
                multiple=True,
                metavar="TOPIC",
                help="Only this topic. Repeatable.",
            ),
            Option(
                name="brokers", flags=("--broker",), multiple=True, metavar="ID", help="Only this broker. Repeatable."
            ),
            Option(
                name="by",
                flags=("--by",),
                choices=("replica", "topic", "broker"),
                help="A row for each (default: replica).",
            ),
            _SORT,
            *OUTPUT,
        ),
    ),
}
