"""The registry of commands: each subject with its line in the help, and the modules that declare its commands.

    "topics": ("Topics: list, create, …", "topics.list topics.create")

The modules are of `kcli/cli/commands`, in the order in which a list of commands has theirs. A subject whose only
command has its own name (`kcli lag`) has none behind it. Everything that asks which commands there are asks here: the
parser, Typer, help, completion, and the tests.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from kcli.cli.parsing.command import Command

    Verbs = dict[str, Command]
    """The commands of a subject by the words after its name: `reset`, `features upgrade`."""

SUBJECTS: dict[str, tuple[str, str]] = {
    "produce": ("produce.produce", "Send lines, files or JSON as records."),
    "consume": ("consume.consume", "Print records and follow; stop with -e, -n or an end offset."),
    "tail": ("consume.tail", "Print the last records by time over all partitions, then follow."),
    "count": ("consume.count", "Count records exactly."),
    "cat": ("cat.command", "Run a kcat command line."),
    "copy": ("copy.copy", "Copy records between topics, within or across clusters."),
    "redrive": ("redrive.redrive", "Send dead letters back to their original topics."),
    "sandbox": ("sandbox", "Run an embedded Kafka broker on this machine."),
    "faults": ("faults", "Inject faults into a sandbox: list, add, clear."),
    "demo": ("demo.command", "Produce, consume and see lag on an embedded sandbox."),
    "topics": (
        "topics.list topics.describe topics.create topics.delete topics.alter topics.trim topics.stats",
        "List, describe, create, alter, trim and delete topics.",
    ),
    "groups": (
        "groups.list groups.describe groups.why groups.peek groups.members groups.remove_members "
        "groups.delete groups.reset.reset groups.delete_offsets groups.clone groups.export groups.dlq",
        "Describe, reset, export, clone and delete consumer groups.",
    ),
    "registry": (
        "registry.list registry.describe registry.diff registry.register registry.check registry.delete "
        "registry.settings registry.contexts registry.payload.decode registry.payload.encode "
        "registry.transfer.export registry.transfer.importing registry.transfer.copy",
        "List, compare, register, check, copy and delete schemas.",
    ),
    "streams": ("streams.describe streams.reset", "Describe and reset Kafka Streams applications."),
    "rollback": ("groups.reset.rollback", "Rewind a group to a time found in the record values."),
    "lag": ("lag.lag lag.rows", "Show consumer lag by group, topic or partition."),
    "offsets": ("offsets", "Show start and end offsets, or the offset at a time."),
    "pipeline": (
        "pipeline.export pipeline.importing pipeline.copy pipeline.doctor pipeline.sql "
        "pipeline.profile.profile pipeline.replay pipeline.run pipeline.checkpoint.checkpoint "
        "pipeline.finalize pipeline.clean",
        "Export, import and copy topics on Spark.",
    ),
    "tui": ("tui", "Open the dashboard: groups, lag, topics, brokers, records."),
    "config": (
        "config.list config.current config.use config.add config.remove config.show config.check "
        "config.importing.importing config.path",
        "Add, choose, list, show, check and remove profiles.",
    ),
    "doctor": ("doctor.doctor", "Diagnose a connection step by step and suggest fixes."),
    "apply": ("apply.apply", "Apply a cluster's declaration from files, plan first."),
    "diff": ("apply.diff", "Show what `apply` would change; exit 3 on a difference."),
    "export": ("apply.export", "Export a cluster to a file for `apply`."),
    "history": ("history", "List the changes that kcli made to clusters."),
    "undo": ("undo", "Undo a change, by its number or its undo file."),
    "brokers": ("brokers.list brokers.versions", "List brokers with leaders, disks and API versions."),
    "cluster": (
        "cluster.describe cluster.quorum cluster.features cluster.feature_levels cluster.voters cluster.unregister",
        "Describe the cluster: controller, quorum, features.",
    ),
    "logdirs": ("logdirs.list logdirs.replicas", "Show the log directories and replica sizes of brokers."),
    "configs": (
        "configs.list configs.get configs.diff configs.set configs.unset configs.lists",
        "Get and set configs of topics, brokers, groups and more.",
    ),
    "quotas": ("quotas.list quotas.alter quotas.resolve", "List, set and resolve client quotas."),
    "raw": ("raw.raw raw.schema", "Send any protocol request as JSON; list the APIs."),
    "meta": ("meta", "Print a broker's metadata, as kpax does; see `topics describe`."),
    "coord": ("coord", "Find coordinators of groups and transactional ids, as kpax does."),
    "txn": (
        "txn.list txn.describe txn.producers txn.find_hanging txn.abort txn.fence",
        "List, describe and abort transactions; find hanging ones.",
    ),
    "acls": (
        "acls.list acls.add acls.remove acls.who_can",
        "List, add and remove ACLs; check a principal's rights.",
    ),
    "users": ("users.list users.describe users.set users.delete", "List, describe, set and delete SCRAM users."),
    "tokens": (
        "tokens.list tokens.create tokens.renew tokens.expire",
        "List, create, renew and expire delegation tokens.",
    ),
    "leaders": ("leaders.list leaders.elect", "Find partitions without their preferred leader; elect leaders."),
    "reassign": (
        "reassign.list reassign.plan reassign.execute reassign.verify reassign.cancel reassign.throttle reassign.disks",
        "Move replicas: plan, execute, verify, throttle.",
    ),
    "schema": ("schema", "Print the JSON schema of a command's output."),
    "completion": ("completion", "Print the completion script for bash, zsh or fish."),
}

SECTIONS: dict[str, tuple[str, ...]] = {
    "Records": ("consume", "produce", "tail", "count", "copy", "redrive", "registry", "cat"),
    "Groups and lag": ("lag", "groups", "offsets", "streams", "rollback"),
    "Topics and cluster": (
        *("topics", "configs", "cluster", "brokers", "logdirs", "leaders", "reassign"),
        *("txn", "apply", "diff", "export", "history", "undo", "meta", "coord", "raw"),
    ),
    "Access": ("acls", "users", "tokens", "quotas"),
    "Pipeline": ("pipeline",),
    "Sandbox": ("sandbox", "demo", "faults"),
    "kcli itself": ("tui", "doctor", "config", "schema", "completion"),
}
"""The headings of `kcli --help` with their subjects, the most used first."""

ALIASES = {
    **{name.removesuffix("s"): name for name in SUBJECTS if name.endswith("s") and name != "configs"},
    "clusters": "cluster",
    "dash": "tui",
    "pipelines": "pipeline",
    "profile": "config",
    "profiles": "config",
    "reassignment": "reassign",
    "registries": "registry",
    "sr": "registry",
    "reassignments": "reassign",
    "transaction": "txn",
    "transactions": "txn",
    "txns": "txn",
}
"""Other names of subjects: each in singular and plural, but `config` and `configs`: kcli's own, and Kafka's."""
VERBS_TOO = {
    "ls": ("list", "describe"),
    "get": ("describe",),
    "history": ("versions",),
    "list": ("describe",),
    "rm": ("delete", "remove", "unset", "expire"),
    "delete": ("unset",),
}
"""Other names of verbs, each with those that it may be, the first that there is."""


def subject(word: str) -> str | None:
    """The subject that a line's first word names, by its name or an alias; None for an unknown word."""
    name = word if word in SUBJECTS else ALIASES.get(word, word)
    return name if name in SUBJECTS else None


def verb(word: str, known: Container[str]) -> str | None:
    """The command of a subject that a word names, by its name or another one; None for an unknown word."""
    return next((name for name in (word, *VERBS_TOO.get(word, ())) if name in known), None)


def modules(name: str) -> list[str]:
    """The modules that declare the commands of a subject."""
    return [f"kcli.cli.commands.{module}" for module in SUBJECTS[name][0].split()]


def declared(name: str) -> Command | Verbs:
    """The command of a subject, or its commands."""
    from kcli.cli.parsing import table

    found = table.read(name)
    if found is None:
        from kcli.cli.parsing.declarations import commands_of

        found = commands_of(name)
    return found.get("", found)


def shapes() -> dict[str, str]:
    """The names that `kcli schema` takes, each with the columns that --sort and --columns take."""
    from kcli.cli.parsing import table

    found = table.shapes()
    if found is None:
        from kcli.cli.output.tables.shape import every_column

        found = every_column()
    return found


def import_all() -> None:
    """Import the modules of all commands: for what commands declare beside themselves."""
    from importlib import import_module

    for name in SUBJECTS:
        for module in modules(name):
            import_module(module)


def every() -> Iterator[tuple[str, Command]]:
    """Each command by its whole name, in the order of the help."""
    for name in SUBJECTS:
        known = declared(name)
        verbs = known if isinstance(known, dict) else {"": known}
        yield from ((f"{name} {verb}".rstrip(), command) for verb, command in verbs.items())
