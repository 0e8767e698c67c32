"""`kcli reassign`, declared."""

from __future__ import annotations

from kcli.cli.commands.configs.options import NO_UNDO, UNDO_FILE
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, INTERNAL, OUTPUT

ALL_TOPICS = Option(name="all_topics", flags=("-a", "--all-topics"), kind="flag", help="Every topic.")
_PLAN = (
    ALL_TOPICS,
    INTERNAL,
    Option(
        name="broker_list", flags=("--broker-list", "--to"), metavar="ID,ID…",
        help="Only these brokers get replicas. Default: all.",
    ),
    Option(
        name="remove_brokers", flags=("--remove-broker",), multiple=True, metavar="ID",
        help="Move everything away from this one; of every topic when none is named. Repeatable.",
    ),
    Option(
        name="replication", flags=("--replication-factor",), kind="int", least=1, metavar="N",
        help="So many replicas of each partition.",
    ),
    Option(
        name="no_racks", flags=("--disable-rack-aware",), kind="flag", help="Do not spread replicas over racks."
    ),
    Option(
        name="no_balance", flags=("--no-balance",), kind="flag", help="Move only what has to, balanced or not."
    ),
)  # fmt: skip
_THROTTLE = Option(
    name="throttle",
    flags=("--throttle",),
    metavar="RATE",
    help="Copy at most so many bytes a second at each broker: 50MiB. It is taken away when all is done.",
)
_WAIT = Option(name="wait", flags=("--wait",), kind="flag", help="Wait until all is done; then the throttle goes.")
_TIMEOUT = Option(
    name="timeout", flags=("--timeout",), kind="int", least=0, metavar="SECONDS",
    help="How long --wait waits, then exit 4. Default: as long as it takes.",
)  # fmt: skip
_INTERRUPT = Option(
    name="on_interrupt",
    flags=("--on-interrupt",),
    choices=("keep", "unthrottle", "cancel"),
    help="What Ctrl-C does to moves under way: they go on throttled (default), unthrottled, or are cancelled.",
)
_KEEP = Option(
    name="keep_throttle",
    flags=("--preserve-throttles", "--keep-throttle"),
    kind="flag",
    help="Leave throttles as they are.",
)
_SAVE = Option(
    name="save", flags=("--save",), metavar="FILE", help="Write the plan as kafka-reassign-partitions reads it."
)
_CHANGING = (EXECUTE, DRY_RUN, UNDO_FILE, NO_UNDO, *OUTPUT)
_PLANNED = """Replicas are spread over racks, come to be as many on every broker, and as few bytes
as possible are copied; then preferred leaders are evened out, which copies nothing."""

REASSIGN = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.reassign.progress:show",
        help="Moves under way: bytes and time left.",
        description="""Print the moves that are under way, from whomever: what is added and removed, bytes left,
and the rate and the time left as seen within --over seconds.

\b
Examples:
  kcli reassign
  kcli reassign list --over 5 -J""",
        options=(
            Option(
                name="over", flags=("--over",), metavar="SECONDS",
                help="How long to look for the rate (default 1; 0: no rate).",
            ),
            *OUTPUT,
        ),
    ),
    "plan": Command(
        name="plan",
        run="kcli.cli.commands.reassign.command:plan",
        help="Where replicas would go: balanced, spread over racks, little moved.",
        description=f"""Print a plan for topics: where replicas are and would be, the bytes to be copied, and what
that makes of each broker. {_PLANNED}
Nothing is changed; `kcli reassign execute` does it, with the same options or with the file.

\b
Examples:
  kcli reassign plan orders payments
  kcli reassign plan --all-topics --broker-list 1,2,3,4 --save plan.json
  kcli reassign plan --remove-broker 3               # everything, Kafka's own topics too
  kcli reassign plan orders --replication-factor 3""",
        words="TOPIC",
        options=(*_PLAN, _SAVE, *OUTPUT),
    ),
    "execute": Command(
        name="execute",
        run="kcli.cli.commands.reassign.command:execute",
        help="Move partitions as a file says, or as a plan made now.",
        description=f"""Move partitions to other brokers, as FILE says (kafka-reassign-partitions' JSON, of `plan
--save`, of an undo file), or as a plan made now from topics and options. The plan is
shown first; --execute does it. {_PLANNED}
Where everything was is kept in an undo file, which `execute` reads as well.

\b
Examples:
  kcli reassign execute plan.json --throttle 50MiB --execute --wait
  kcli reassign execute --remove-broker 3 --throttle 20MiB --execute --wait --batch 50
  kcli reassign execute orders --replication-factor 3 --execute
  kcli reassign execute ~/.local/state/kcli/undo/reassign-….json --execute   # back""",
        words="FILE|TOPIC",
        options=(
            *_PLAN,
            _THROTTLE,
            Option(
                name="batch", flags=("--batch",), kind="int", least=1, metavar="N",
                help="Move so many partitions at a time; waits.",
            ),
            Option(
                name="additional", flags=("--additional",), kind="flag", help="Though other moves are under way."
            ),
            _WAIT,
            _TIMEOUT,
            _INTERRUPT,
            *_CHANGING,
        ),
    ),
    "verify": Command(
        name="verify",
        run="kcli.cli.commands.reassign.progress:verify",
        help="Is it done? Then throttles go.",
        description="""Print how far the moves of FILE are, or all that are under way. When nothing moves any more, the
throttles that moves left behind are taken away, whoever set them. Exit code 3 while
something moves, 1 when a partition is elsewhere than FILE says.

\b
Examples:
  kcli reassign verify plan.json
  kcli reassign verify --wait                          # all that is under way
  kcli reassign verify plan.json --wait --timeout 3600 -J""",
        words="FILE",
        options=(_WAIT, _TIMEOUT, _INTERRUPT, _KEEP, *OUTPUT),
    ),
    "cancel": Command(
        name="cancel",
        run="kcli.cli.commands.reassign.cancel:cancel",
        help="Take moves under way back.",
        description="""Cancel moves: each partition is again where it was. The plan comes first; --execute does
it. Then throttles go, unless something else moves. What was on its way is kept in an
undo file, which `kcli reassign execute` begins anew.

\b
Examples:
  kcli reassign cancel plan.json --execute
  kcli reassign cancel orders:0,3 --execute
  kcli reassign cancel --all-topics --execute""",
        words="FILE|TOPIC",
        options=(ALL_TOPICS, _KEEP, *_CHANGING),
    ),
    "throttle": Command(
        name="throttle",
        run="kcli.cli.commands.reassign.throttle:throttle",
        help="Show, change or remove the throttles of moves.",
        description="""Print the throttles of replication that are set at topics and brokers; with RATE hold the
moves under way to so many bytes a second at each broker; with --remove take all away.
A throttle that is left behind slows down replicas that catch up.

\b
Examples:
  kcli reassign throttle
  kcli reassign throttle 100MiB --execute
  kcli reassign throttle --remove --execute""",
        words="RATE",
        options=(
            Option(name="remove", flags=("--remove",), kind="flag", help="Take all throttles away."),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "disks": Command(
        name="disks",
        run="kcli.cli.commands.reassign.disks:disks",
        help="Move replicas between the disks of a broker.",
        description="""Move replicas between the log directories of the broker that has them: to one directory, away
from one, or so that all directories of a broker are about as full. The plan comes first;
--execute does it. `kcli logdirs` shows the directories.

\b
Examples:
  kcli reassign disks --broker 1 --balance
  kcli reassign disks --broker 1 --from /data/a --execute --wait      # empty a disk
  kcli reassign disks orders:0 --broker 2 --to /data/b --throttle 50MiB --execute --wait""",
        words="TOPIC",
        options=(
            Option(
                name="brokers", flags=("--broker",), multiple=True, metavar="ID", help="At this broker. Repeatable."
            ),
            Option(name="to", flags=("--to",), metavar="PATH", help="To this directory."),
            Option(name="away", flags=("--from",), metavar="PATH", help="Only what is in this directory."),
            Option(name="even", flags=("--balance",), kind="flag", help="Until its directories are about as full."),
            _THROTTLE,
            _WAIT,
            _TIMEOUT,
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
}  # fmt: skip
