"""`kcli txn`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, OUTPUT

_BROKERS = Option(
    name="brokers", flags=("--broker",), multiple=True, metavar="ID", help="Only what this broker has. Repeatable."
)
_OPEN = Option(name="open", flags=("--open",), kind="flag", help="Only with an open transaction.")

TXN = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.txn.command:list_all",
        help="Transactional ids: state, producer, age.",
        description="""List transactional ids as their coordinators know them; all brokers are asked. The brokers
filter, so that a long list need not come over the wire.

\b
Examples:
  kcli txn list
  kcli txn list --open --longer-than 5m        # who holds readers up
  kcli txn list --pattern 'billing-.*' -J
  kcli txn list --producer-id 1042             # whose is it""",
        options=(
            Option(
                name="txn_states",
                flags=("--state",),
                multiple=True,
                metavar="TXN-STATE",
                help="Only in this state: Ongoing, Empty, CompleteCommit, … Repeatable.",
            ),
            _OPEN,
            Option(
                name="producer_ids",
                flags=("--producer-id",),
                multiple=True,
                metavar="N",
                help="Only of this producer id. Repeatable.",
            ),
            Option(
                name="longer_than",
                flags=("--longer-than", "--duration-filter"),
                metavar="DURATION",
                help="Only with a transaction that has run longer, such as 5m.",
            ),
            Option(
                name="pattern",
                flags=("--pattern", "--transactional-id-pattern"),
                metavar="REGEX",
                help="Only ids that match as a whole (RE2, Kafka 4.1).",
            ),
            _BROKERS,
            *OUTPUT,
        ),
    ),
    "describe": Command(
        name="describe",
        run="kcli.cli.commands.txn.command:describe",
        help="Transactional ids with timeout, age and open partitions.",
        description="""Print transactional ids: state, producer id and epoch, timeout, age, and the partitions that
wait for the markers, with the offset at which each is held up.

\b
Examples:
  kcli txn describe billing-1
  kcli txn describe billing-1 billing-2 -J | jq '.partitions[].topic'""",
        words="TXN",
        options=OUTPUT,
    ),
    "producers": Command(
        name="producers",
        run="kcli.cli.commands.txn.command:producers",
        help="Who writes to partitions, and since where it is open.",
        description="""Print the producers that partitions remember: idempotent and transactional ones, the last to
write first.

\b
Examples:
  kcli txn producers orders
  kcli txn producers orders:0,1 --open
  kcli txn producers orders:0 --broker 2       # as that replica knows them""",
        words="TOPIC[:0,1]",
        options=(
            _OPEN,
            Option(
                name="broker",
                flags=("--broker",),
                kind="int",
                least=0,
                metavar="ID",
                help="Ask this replica, not the leaders.",
            ),
            *OUTPUT,
        ),
    ),
    "find-hanging": Command(
        name="find-hanging",
        run="kcli.cli.commands.txn.hanging:find_hanging",
        help="Open transactions that no coordinator will ever end.",
        description="""Find hanging transactions (KIP-664): open in a partition, its last record older than
--older-than, and its coordinator either does not know the producer or does not count the
partition in. Readers of committed records wait there for ever. All topics are scanned, or those
named. Exit code 3 when one hangs.

\b
Examples:
  kcli txn find-hanging
  kcli txn find-hanging orders --older-than 1h
  kcli txn find-hanging --broker 2 -J""",
        words="TOPIC[:0,1]",
        options=(
            Option(
                name="older_than",
                flags=("--older-than",),
                metavar="DURATION",
                help="How old its last record is at least. Default 15m, the longest timeout brokers allow.",
            ),
            Option(
                name="brokers",
                flags=("--broker",),
                multiple=True,
                metavar="ID",
                help="Only partitions that this broker leads. Repeatable.",
            ),
            *OUTPUT,
        ),
    ),
    "abort": Command(
        name="abort",
        run="kcli.cli.commands.txn.ending:abort_command",
        help="Abort a hanging transaction in a partition.",
        description="""Abort a hanging transaction by writing the marker that its coordinator will never write. It is
named by the offset at which it began; one that its coordinator knows is refused: `kcli txn fence`
is for those. The plan comes first; --execute does it. There is no way back.

\b
Examples:
  kcli txn abort orders:0 --start-offset 42
  kcli txn abort orders:0 --start-offset 42 --execute
  kcli txn abort orders:0 --producer-id 7 --producer-epoch 0 --coordinator-epoch 3 --execute
  kcli txn abort --fence billing-1 --execute   # the same as kcli txn fence""",
        words="TOPIC[:0,1]",
        options=(
            Option(
                name="start_offset",
                flags=("--start-offset",),
                kind="int",
                least=0,
                metavar="N",
                help="Where it began, as find-hanging prints it (OPEN SINCE).",
            ),
            Option(name="topic", flags=("-t", "--topic"), metavar="TOPIC", help="The topic, as Kafka's tool says it."),
            Option(
                name="partition", flags=("-p", "--partition"), kind="int", least=0, metavar="N", help="The partition."
            ),
            Option(
                name="producer_id",
                flags=("--producer-id",),
                kind="int",
                least=0,
                metavar="N",
                help="Instead of --start-offset, with both epochs: nothing is looked up or checked.",
            ),
            Option(
                name="producer_epoch",
                flags=("--producer-epoch",),
                kind="int",
                least=0,
                metavar="N",
                help="Its epoch.",
            ),
            Option(
                name="coordinator_epoch",
                flags=("--coordinator-epoch",),
                kind="int",
                least=-1,
                metavar="N",
                help="The epoch of its coordinator; -1 for one that never wrote a marker.",
            ),
            Option(name="fence", flags=("--fence",), kind="flag", help="The words are transactional ids: fence them."),
            Option(
                name="force",
                flags=("--force",),
                kind="flag",
                help="Also one that its coordinator knows: the other partitions of it stay as they are.",
            ),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "fence": Command(
        name="fence",
        run="kcli.cli.commands.txn.ending:fence",
        help="Take ids from their producers; open transactions abort.",
        description="""Fence transactional ids: the open transaction of each is aborted by its coordinator, and the
producer that used it gets PRODUCER_FENCED. The plan comes first; --execute does it.

\b
Examples:
  kcli txn fence billing-1
  kcli txn fence billing-1 --execute""",
        words="TXN",
        options=(EXECUTE, DRY_RUN, *OUTPUT),
    ),
}
