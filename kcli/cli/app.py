"""The commands there are, and the top of the help. A module is imported when its command runs, not before.

`COMMANDS` rows are name: ("module:attribute", help line); the attribute is a Command or a dict of them (option.py), a
Typer app, or a function that takes the words after the command's name and returns an exit code. A row is all that a
new command needs here.
"""

from __future__ import annotations

from kcli.errors import UsageError

COMMANDS: dict[str, tuple[str, str]] = {
    "produce": ("hot", "Send lines, files or JSON envelopes as records."),
    "consume": ("hot", "Print records; follow unless bounded."),
    "tail": ("hot", "Print the last records by time over all partitions, then follow."),
    "count": ("hot", "Count records exactly."),
    "cat": ("kcli.cli.commands.cat.command:run", "Run a command line of kcat's; also when kcli is linked as kcat."),
    "copy": ("kcli.cli.commands.copy.options:COPY", "Copy records from one topic to another, also between clusters."),
    "redrive": ("kcli.cli.commands.redrive.options:REDRIVE", "Send dead letters back to the topics they came from."),
    "sandbox": ("kcli.cli.commands.sandbox.sandbox:app", "Run an embedded Kafka broker on this machine."),
    "faults": ("kcli.cli.commands.faults.options:FAULTS", "What a sandbox shall do wrong: list, order, take back."),
    "demo": ("kcli.cli.commands.demo.command:app", "Do the main job on the embedded sandbox."),
    "topics": ("kcli.cli.parsing.admin_options:TOPICS", "Topics: list, describe, create, alter, trim, stats, delete."),
    "groups": ("kcli.cli.parsing.admin_options:GROUPS", "Consumer groups: describe, reset, export, clone, delete."),
    "rollback": ("kcli.cli.commands.groups.rollback_options:ROLLBACK", "Put a group back to a time inside the values."),
    "lag": ("kcli.cli.parsing.admin_options:LAG", "Who is how far behind: by group, topic or partition."),
    "offsets": ("kcli.cli.parsing.admin_options:OFFSETS", "Where logs start and end, by time too."),
    "pipeline": ("kcli.cli.commands.pipeline.options:PIPELINE", "Export, import and copy topics on Spark."),
    "tui": ("kcli.cli.commands.tui.options:TUI", "The dashboard: groups, lag, partitions, members, topics, records."),
    "config": ("kcli.cli.commands.config.options:CONFIG", "Profiles: list, show, check, import, path."),
    "doctor": ("kcli.cli.commands.doctor.options:DOCTOR", "Why can't I connect: every step, and what mends it."),
    "apply": ("kcli.cli.commands.apply.options:APPLY", "Make a cluster as files declare it; the plan first."),
    "diff": ("kcli.cli.commands.apply.options:DIFF", "What apply would change; exit code 3 when there is something."),
    "export": ("kcli.cli.commands.apply.options:EXPORT", "Write a cluster down as a file that apply takes."),
    "brokers": (
        "kcli.cli.commands.cluster.options:BROKERS",
        "Brokers: what each leads and stores, which versions it speaks.",
    ),
    "cluster": ("kcli.cli.commands.cluster.options:CLUSTER", "The cluster: controller, quorum, features."),
    "logdirs": ("kcli.cli.commands.cluster.options:LOGDIRS", "What is on the disks of brokers."),
    "configs": (
        "kcli.cli.commands.configs.options:CONFIGS",
        "Configs of topics, brokers, loggers, groups, client metrics.",
    ),
    "quotas": ("kcli.cli.commands.quotas.options:QUOTAS", "Quotas of users, client ids, addresses: set, resolve."),
    "raw": ("kcli.cli.commands.raw.options:RAW", "Any request as JSON, in any version; what there is of APIs."),
    "meta": ("kcli.cli.commands.meta.options:META", "What a broker says of brokers, topics and partitions."),
    "coord": ("kcli.cli.commands.meta.options:COORD", "Who coordinates groups and transactional ids."),
    "txn": ("kcli.cli.commands.txn.options:TXN", "Transactions: list, describe, find and abort hanging ones."),
    "acls": ("kcli.cli.commands.acls.options:ACLS", "ACLs: list, add, remove, and who can do what."),
    "users": ("kcli.cli.commands.users.options:USERS", "SCRAM users: list, describe, set a password, delete."),
    "tokens": ("kcli.cli.commands.tokens.options:TOKENS", "Delegation tokens: list, create, renew, expire."),
    "leaders": ("kcli.cli.commands.leaders.options:LEADERS", "Leaders: not the preferred ones; elections."),
    "reassign": ("kcli.cli.commands.reassign.options:REASSIGN", "Replicas: balanced plans, moves, throttles, disks."),
    "schema": ("kcli.cli.commands.schema.schema:run", "The JSON schema of what a command prints."),
    "completion": ("kcli.cli.completion.printing:run", "Print the completion script of bash, zsh or fish."),
}

ALIASES = {
    "topic": "topics",
    "group": "groups",
    "offset": "offsets",
    "dash": "tui",
    "ls": "list",
    "rm": "delete",
}

USAGE = "Usage: kcli COMMAND [ARGUMENTS]"


def help_text() -> str:
    """What `kcli --help` prints, made without Typer: it must be as quick as a glance."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (_, line) in COMMANDS.items())
    return f"""{USAGE}

kcli is a command line for Apache Kafka.

Commands:
{rows}

Options:
  -V, --version  Print the version and which record core is in use.
  -h, --help     Print this. `kcli COMMAND --help` tells about one command.

The cluster is named by -b HOST:PORT or KCLI_BOOTSTRAP. stdout is data only.
Exit codes: 0 done, 1 failure, 2 usage, 3 an assertion did not hold,
4 timed out, 5 could not connect or authenticate, 130 interrupted,
143 ended by SIGTERM, 129 by SIGHUP.
"""


def no_such_command(words: list[str]) -> UsageError:
    """What to say to somebody whose first word is no command."""
    from kcli.cli.parsing import other_tools as elsewhere
    from kcli.cli.parsing.parser import KCAT
    from kcli.text.suggest import did_you_mean

    name = words[0]
    if name[:2] in KCAT:
        return UsageError(f"{name[:2]} is kcat's; here it is `{KCAT[name[:2]]}`, or `kcli cat {name[:2]} …`")
    if name.startswith("-"):
        return UsageError(f"options stand behind the command: kcli COMMAND {name} …; see `kcli --help`")
    near = elsewhere.command(words) or did_you_mean(name, COMMANDS)
    return UsageError(f"there is no command {name!r}{near or '; see `kcli --help`'}")
