"""`kcli brokers`, `kcli cluster` and `kcli logdirs`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, OUTPUT

_UNSAFE = Option(
    name="unsafe",
    flags=("--unsafe",),
    kind="flag",
    help="Also a downgrade that loses what the old level does not know.",
)

BROKERS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.cluster.command:brokers",
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
        run="kcli.cli.commands.cluster.command:versions",
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
        run="kcli.cli.commands.cluster.command:overview",
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
        run="kcli.cli.commands.cluster.command:quorum",
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
        run="kcli.cli.commands.cluster.command:features",
        help="Which features are switched on, at which level.",
        description="""Print the features of the cluster: the level in force, and the levels a broker supports.
`features set`, `upgrade` and `downgrade` change them.

\b
Examples:
  kcli cluster features
  kcli cluster features --format csv
  kcli cluster features upgrade --dry-run""",
        options=OUTPUT,
    ),
    "features set": Command(
        name="features set",
        run="kcli.cli.commands.cluster.changes:set_features",
        help="Set levels of features, up or down.",
        description="""Set the levels of features; 0 switches one off. The plan comes first, checked by the
controller; --execute does it, all of them or none.

\b
Examples:
  kcli cluster features set transaction.version=2 share.version=1
  kcli cluster features set share.version=0 --execute""",
        words="FEATURE=LEVEL",
        options=(_UNSAFE, EXECUTE, DRY_RUN, *OUTPUT),
    ),
    "features upgrade": Command(
        name="features upgrade",
        run="kcli.cli.commands.cluster.changes:upgrade_features",
        help="Take features up, to a level or to the highest.",
        description="""Take features to higher levels; without a level to the highest that the broker supports,
without names all of them. The plan comes first, checked by the controller; --execute does it.

\b
Examples:
  kcli cluster features upgrade --dry-run
  kcli cluster features upgrade metadata.version --execute
  kcli cluster features upgrade transaction.version=2 --execute""",
        words="FEATURE[=LEVEL]",
        options=(EXECUTE, DRY_RUN, *OUTPUT),
    ),
    "features downgrade": Command(
        name="features downgrade",
        run="kcli.cli.commands.cluster.changes:downgrade_features",
        help="Take features down; with --unsafe also where that loses.",
        description="""Take features to lower levels. What would lose metadata is refused without --unsafe. The plan
comes first, checked by the controller; --execute does it.

\b
Examples:
  kcli cluster features downgrade share.version=0
  kcli cluster features downgrade transaction.version=1 --execute""",
        words="FEATURE=LEVEL",
        options=(_UNSAFE, EXECUTE, DRY_RUN, *OUTPUT),
    ),
    "voters": Command(
        name="voters",
        run="kcli.cli.commands.cluster.voters:voters",
        help="The controllers: who votes, where, from which directory.",
        description="""Print the members of the KRaft quorum with their directories and listeners. `voters add` gives
one a vote, `voters remove` takes it (KIP-853, kraft.version 1).

\b
Examples:
  kcli cluster voters
  kcli cluster voters -J | jq '.voters[] | select(.role != "observer")'""",
        options=OUTPUT,
    ),
    "voters add": Command(
        name="voters add",
        run="kcli.cli.commands.cluster.voters:add",
        help="Give a controller a vote.",
        description="""Give a controller a vote in the quorum. It is named by its id and where the others reach it;
its directory is asked of the leader, which it must be fetching from. The plan comes first;
--execute does it.

\b
Examples:
  kcli cluster voters add 3000@ctrl3:9093
  kcli cluster voters add 3000@ctrl3:9093:Hk2mN3xTQ0iC1lmJ0o4mTg --execute""",
        words="ID@HOST:PORT",
        options=(
            Option(
                name="listener",
                flags=("--listener",),
                metavar="NAME",
                help="Name of its listener (default: that of the voters, CONTROLLER).",
            ),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "voters remove": Command(
        name="voters remove",
        run="kcli.cli.commands.cluster.voters:remove",
        help="Take a controller's vote.",
        description="""Take the vote of a controller, one that is gone for good as well. The plan comes first; --execute
does it.

\b
Examples:
  kcli cluster voters remove 3000
  kcli cluster voters remove 3000:Hk2mN3xTQ0iC1lmJ0o4mTg --execute""",
        words="VOTER",
        options=(EXECUTE, DRY_RUN, *OUTPUT),
    ),
    "unregister": Command(
        name="unregister",
        run="kcli.cli.commands.cluster.changes:unregister",
        help="Have the cluster forget brokers that will not come back.",
        description="""Have the cluster forget brokers that are gone for good. One that is up is refused. Replicas
that are still assigned to it are counted in the plan: reassign them first, or they stay
under-replicated. --execute does it.

\b
Examples:
  kcli cluster unregister 4
  kcli cluster unregister 4 5 --execute""",
        words="BROKER",
        options=(
            Option(name="force", flags=("--force",), kind="flag", help="Also one that is up."),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
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
        run="kcli.cli.commands.cluster.logdirs:directories",
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
        run="kcli.cli.commands.cluster.logdirs:replicas",
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
