"""`kcli configs`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, OUTPUT

UNDO_FILE = Option(
    name="undo_file",
    flags=("--undo-file",),
    metavar="FILE",
    help="Where to keep what was set before. Default: a new file in ~/.local/state/kcli/undo.",
)
NO_UNDO = Option(name="no_undo", flags=("--no-undo",), kind="flag", help="Keep no undo file.")
CHANGING = (EXECUTE, DRY_RUN, UNDO_FILE, NO_UNDO, *OUTPUT)
KINDS_SAID = "A KIND is topic, broker, logger, group or client-metrics; `broker default` is all brokers."


def _changing(name: str, line: str, examples: str, words: str) -> Command:
    return Command(
        name=name,
        run=f"kcli.cli.commands.configs.command:{name}",
        help=line,
        description=f"""{line} The plan comes first, checked by the broker: old and new
value; --execute does it. What was set before is kept in an undo file, which `kcli configs restore` takes back.

{KINDS_SAID}

\b
Examples:
{examples}""",
        words=words,
        options=CHANGING,
    )


CONFIGS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.configs.command:list_all",
        help="What has configs that somebody set.",
        description=f"""List what of a kind has configs, and how many of them somebody set.

{KINDS_SAID}

\b
Examples:
  kcli configs list topic
  kcli configs list group
  kcli configs list client-metrics -J""",
        words="KIND",
        options=OUTPUT,
    ),
    "get": Command(
        name="get",
        run="kcli.cli.commands.configs.command:get",
        help="The configs of a topic, broker, logger, group, …",
        description=f"""Print configs: what somebody set, and with --all the inherited ones too.
Secrets are never shown.

{KINDS_SAID}

\b
Examples:
  kcli configs get topic orders
  kcli configs get topic orders --all
  kcli configs get topic orders retention.ms cleanup.policy
  kcli configs get broker 1 --all --docs
  kcli configs get logger 1 --all --format ndjson | jq .""",
        words="KIND NAME [KEY]",
        options=(
            Option(name="all", flags=("-a", "--all"), kind="flag", help="Inherited values too."),
            Option(name="docs", flags=("--docs",), kind="flag", help="With Kafka's own explanation of each."),
            *OUTPUT,
        ),
    ),
    "diff": Command(
        name="diff",
        run="kcli.cli.commands.configs.command:diff",
        help="What differs from the defaults, or from another of the kind.",
        description=f"""Print only what differs: from the defaults, or between two resources of a kind.
Exit code 3 when something does.

{KINDS_SAID}

\b
Examples:
  kcli configs diff topic orders                # from the defaults
  kcli configs diff topic orders orders-copy
  kcli configs diff broker 1 2""",
        words="KIND NAME [OTHER]",
        options=OUTPUT,
    ),
    "set": _changing(
        "set",
        "Set configs.",
        "  kcli configs set topic orders retention.ms=7d --execute\n"
        "  kcli configs set broker default log.cleaner.threads=2 --execute\n"
        "  kcli configs set logger 1 kafka.server.KafkaApis=DEBUG --execute",
        "KIND NAME KEY=VALUE",
    ),
    "delete": _changing(
        "delete",
        "Take configs back to what is inherited.",
        "  kcli configs delete topic orders retention.ms --execute",
        "KIND NAME KEY",
    ),
    "append": _changing(
        "append",
        "Add to configs that are lists.",
        "  kcli configs append topic orders cleanup.policy=compact --execute",
        "KIND NAME KEY=VALUE",
    ),
    "subtract": _changing(
        "subtract",
        "Take away from configs that are lists.",
        "  kcli configs subtract topic orders cleanup.policy=delete --execute",
        "KIND NAME KEY=VALUE",
    ),
    "restore": Command(
        name="restore",
        run="kcli.cli.commands.configs.command:restore",
        help="Take changes back from their undo file.",
        description="""Set configs as an undo file says they were; those that were inherited are inherited again.

\b
Examples:
  kcli configs restore ~/.local/state/kcli/undo/topic-orders-20260131T100000Z.json --execute""",
        words="FILE",
        options=CHANGING,
    ),
}
