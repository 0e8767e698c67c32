"""The registry of commands: each subject with its line in the help, and the modules that declare its commands.

    "topics": ("Topics: list, create, …", "topics.list topics.create")

The modules are of `kcli/cli/commands`, in the order in which a list of commands has theirs. A subject whose only
command has its own name (`kcli lag`) has none behind it. Everything that asks which commands there are asks here: the
parser, Typer, help, completion, and the tests. `declared` reads the generated tables (`make tables`), which cost
nothing to import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from kcli.cli.parsing.command import Command

    Verbs = dict[str, Command]
    """The commands of a subject by what stands behind its name: `reset`, `features upgrade`."""

SUBJECTS: dict[str, tuple[str, str]] = {
    "produce": ("produce.produce", "Send lines, files or JSON envelopes as records."),
    "consume": ("consume.consume", "Print records; follow unless bounded."),
    "tail": (
        "consume.tail",
        "Print the last records by time over all partitions, then follow.",
    ),
    "count": ("consume.count", "Count records exactly."),
    "cat": ("cat.command", "Run a command line of kcat's; also when kcli is linked as kcat."),
    "copy": ("copy.copy", "Copy records from one topic to another, also between clusters."),
    "redrive": ("redrive.redrive", "Send dead letters back to the topics they came from."),
    "sandbox": ("sandbox.sandbox", "Run an embedded Kafka broker on this machine."),
    "faults": ("faults.faults", "What a sandbox shall do wrong: list, order, take back."),
    "demo": ("demo.command", "Do the main job on the embedded sandbox."),
    "topics": (
        "topics.list topics.describe topics.create topics.delete topics.alter topics.trim topics.stats",
        "Topics: list, describe, create, alter, trim, stats, delete.",
    ),
    "groups": (
        "groups.list groups.describe groups.members groups.delete groups.reset.reset groups.delete_offsets "
        "groups.clone groups.export",
        "Consumer groups: describe, reset, export, clone, delete.",
    ),
    "rollback": ("groups.reset.rollback", "Put a group back to a time inside the values."),
    "lag": ("lag.lag lag.rows", "Who is how far behind: by group, topic or partition."),
    "offsets": ("offsets.offsets", "Where logs start and end, by time too."),
    "pipeline": (
        "pipeline.export pipeline.importing pipeline.copy pipeline.warmup pipeline.doctor pipeline.sql "
        "pipeline.profile.profile pipeline.replay pipeline.spec.run pipeline.jobs.list pipeline.jobs.status "
        "pipeline.jobs.end pipeline.checkpoint.checkpoint pipeline.finalize",
        "Export, import and copy topics on Spark.",
    ),
    "tui": ("tui.tui", "The dashboard: groups, lag, partitions, members, topics, records."),
    "config": (
        "config.list config.current config.add config.remove config.show config.check config.importing.importing "
        "config.path",
        "Profiles: add, list, show, check, import, remove.",
    ),
    "doctor": ("doctor.doctor", "Why can't I connect: every step, and what mends it."),
    "apply": ("apply.apply", "Make a cluster as files declare it; the plan first."),
    "diff": ("apply.diff", "What apply would change; exit code 3 when there is something."),
    "export": ("apply.export", "Write a cluster down as a file that apply takes."),
    "brokers": (
        "brokers.list brokers.versions",
        "Brokers: what each leads and stores, which versions it speaks.",
    ),
    "cluster": (
        "cluster.describe cluster.quorum cluster.features cluster.feature_levels cluster.voters cluster.unregister",
        "The cluster: controller, quorum, features.",
    ),
    "logdirs": ("logdirs.list logdirs.replicas", "What is on the disks of brokers."),
    "configs": (
        "configs.list configs.get configs.diff configs.set configs.unset configs.lists configs.restore",
        "Configs of topics, brokers, loggers, groups, client metrics.",
    ),
    "quotas": (
        "quotas.list quotas.alter quotas.resolve quotas.restore",
        "Quotas of users, client ids, addresses: set, resolve.",
    ),
    "raw": ("raw.raw raw.schema", "Any request as JSON, in any version; what there is of APIs."),
    "meta": ("meta.meta", "What a broker says of brokers, topics and partitions."),
    "coord": ("meta.coord", "Who coordinates groups and transactional ids."),
    "txn": (
        "txn.list txn.describe txn.producers txn.find_hanging txn.abort txn.fence",
        "Transactions: list, describe, find and abort hanging ones.",
    ),
    "acls": (
        "acls.list acls.add acls.remove acls.restore acls.who_can",
        "ACLs: list, add, remove, and who can do what.",
    ),
    "users": (
        "users.list users.describe users.set users.delete",
        "SCRAM users: list, describe, set a password, delete.",
    ),
    "tokens": (
        "tokens.list tokens.create tokens.renew tokens.expire",
        "Delegation tokens: list, create, renew, expire.",
    ),
    "leaders": ("leaders.list leaders.elect", "Leaders: not the preferred ones; elections."),
    "reassign": (
        "reassign.list reassign.plan reassign.execute reassign.verify reassign.cancel reassign.throttle "
        "reassign.disks.disks",
        "Replicas: balanced plans, moves, throttles, disks.",
    ),
    "schema": ("schema.schema", "The JSON schema of what a command prints."),
    "completion": ("completion.completion", "Print the completion script of bash, zsh or fish."),
}

ALIASES = {
    **{name.removesuffix("s"): name for name in SUBJECTS if name.endswith("s") and name != "configs"},
    "clusters": "cluster",
    "dash": "tui",
    "pipelines": "pipeline",
    "profile": "config",
    "profiles": "config",
    "reassignment": "reassign",
    "reassignments": "reassign",
    "transaction": "txn",
    "transactions": "txn",
    "txns": "txn",
}
"""Other names of subjects: each in singular and plural, but `config` and `configs`: kcli's own, and Kafka's."""
VERBS_TOO = {
    "ls": ("list", "describe"),
    "list": ("describe",),
    "rm": ("delete", "remove", "unset", "expire"),
    "delete": ("unset",),
}
"""Other names of verbs, each with those that it may be, the first that there is."""


def subject(word: str) -> str | None:
    """The subject that a line's first word names, by its name or an alias; None where there is none."""
    name = word if word in SUBJECTS else ALIASES.get(word, word)
    return name if name in SUBJECTS else None


def verb(word: str, known: Container[str]) -> str | None:
    """The command of a subject that a word names, by its name or another one; None where there is none."""
    return next((name for name in (word, *VERBS_TOO.get(word, ())) if name in known), None)


def modules(name: str) -> list[str]:
    """The modules that declare the commands of a subject."""
    return [f"kcli.cli.commands.{module}" for module in SUBJECTS[name][0].split()]


def declared(name: str) -> Command | Verbs:
    """The command of a subject, or its commands."""
    from importlib import import_module

    table: Verbs = import_module(f"kcli.cli.parsing.tables.{name}").COMMANDS
    return table.get("", table)


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
