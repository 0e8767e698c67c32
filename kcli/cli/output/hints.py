"""The words of the command line for the hints of errors: options and commands, which the library does not know."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.errors import Hint

WORDS = {
    # a broker's codes
    "TOPIC_ALREADY_EXISTS": "; --if-not-exists accepts that",
    "UNKNOWN_TOPIC_OR_PARTITION": "; `kcli topics list` shows what does",
    # connections, profiles, names
    "delimiter": "; here -D DELIM separates records",
    "key-delimiter": "; here -K DELIM separates key and value",
    "template": "; here -f sets what is printed, such as -f '%T %k %s\\n'",
    "controller": ": name a broker; `kcli cluster` commands reach controllers with --bootstrap-controller",
    "broker-map": "; --broker-map maps it, and `kcli doctor` tries each",
    "property": "; for example -X {property}",
    "login": "; for example -X {property} -X sasl.mechanism=PLAIN",
    "confirm": "; add --confirm {profile}",
    "force-delete": "; --force deletes it anyway",
    "force-undo": "; --force does that",
    "force-unregister": " (--force allows that)",
    "history": "; `kcli history` lists them",
    "internal-topic": "; `kcli topics delete --internal` allows this",
    "name-cluster": "; choose that cluster with -b",
    "list-names": "; `kcli {kind}s` lists them",
    "undo-by-force": "; `kcli undo {number} --force` does that",
    "upgrade-feature": "; `kcli cluster features upgrade {feature}={level}` raises it",
    "without-racks": ": --disable-rack-aware plans without racks",
    # groups and their offsets
    "committed": "; `kcli groups describe {group}` shows what is committed",
    "create-group": "; --create creates it",
    "delete-without-undo": "; --no-undo deletes it anyway",
    "export-groups": ", as in `kcli groups export -J` or an undo file",
    "name-topics": ": give topics with --topic",
    "other-group": "; choose another --group",
    # copying
    "create-topic": "; `kcli topics create {topic}` creates it",
    "no-origin": "; use --topic-header, --to TOPIC or --missing skip",
    "schemas-keep": "; --schemas keep copies it as it is",
    "schemas-register": "; --schemas register registers it",
    "skip-error": "; --on-error skip skips it",
    # declared clusters
    "copy-topic": ": `kcli copy {topic} OTHER`",
    "reassign-topic": " with `kcli reassign execute {topic} --replication-factor {replicas}`",
    "schema-registry": "; add --schema-registry URL",
    # transactions
    "fence": ". To abort all of it: kcli txn fence {name}",
    # registries
    "check-level": "; --level LEVEL compares with kcli's own rules",
    "copy-to-folder": "; `kcli registry copy --to {folder}` writes one",
    "delete-first": ": delete it without --permanent first",
    "delete-permanently": "; add --permanent to delete for good",
    "ids-new": "; --ids new registers under new ids",
    "list-deleted": " (registry list --deleted)",
    "soft-deleted": ": --deleted shows it, --permanent deletes it for good",
    "without-rules": "; --without-rules skips rules",
    # sandboxes
    "sandbox-control": "; start `kcli sandbox` without --no-control",
    "sandbox-registry": "; start `kcli sandbox` with --registry",
    # pipelines
    "append-overwrite": ": --append adds to it, --overwrite replaces it",
    "append-topic": " (--append adds the records of the topic)",
    "columns-changed": ". --file-format delta can widen columns (--schema-mode evolve); otherwise write to another "
    "DIR with another --name",
    "delta-jars": ", --packages io.delta:delta-spark_4.2_2.13:4.4.0",
    "java-home": "; --java-home sets it, too",
    "json-schema": "; --value-schema 'id BIGINT, name STRING' says it",
    "partition-by": " (--partition-by)",
    "select": " (--select)",
    "start-over": ", or start over with another checkpoint and --append, and -o for the start",
    "max-per-batch": " (--max-per-batch)",
    "value-column": ": set it with --value-column NAME, or use the whole row with --value json",
    "warehouse": "; give the place of the table with --warehouse DIR or --catalog URL|NAME",
    # what to do about the lag of a group
    "add-partitions": "kcli topics alter {topic} -p {partitions}",
    "caught-up": "kcli lag {group} --max-lag 0 --timeout 10m",
    "delete-group": "kcli groups delete {group}",
    "delete-offsets": "kcli groups delete-offsets {group} -t {topic}",
    "describe-group": "kcli groups describe {group}",
    "doctor": "kcli doctor",
    "find-hanging": "kcli txn find-hanging {at} --older-than 0s",
    "judge-transaction": "; to find out whether it will ever end: kcli txn "
    "find-hanging {topic}:{partition} --older-than 0s",
    "members": "kcli groups members {group}",
    "peek": "kcli groups peek {group} -t {at}",
    "reset": "kcli groups reset {group} -t {at} --to {to}",
    "topic-configs": "kcli configs get topic {topic}",
    "watch-lag": "kcli lag {group} --watch",
    "why": "kcli groups why {group} --over 40s",
}
"""The text behind a message, by the code of its hint. Other codes add nothing."""
LETTERS = {"compression": "-z", "offset": "-o"}
"""Options that have a letter, by their settings."""
SPARK = {
    "onBad=null": "--on-bad null",
    "order_by names": "--order-by names",
    "partition_by ": "--partition-by ",
    "and the condition ": "and --where ",
    "registerSchemas=true": "--register",
    "failOnDataLoss=false": "--skip-lost",
    " (option unknownFields=fail)": "; --schema-mode evolve adds columns for them, pinned leaves them out and counts "
    "such records, quarantine keeps them whole",
    "reset this one to the end": "reset this one to the end (`kcli pipeline checkpoint WHERE --reset-to end`)",
}
"""Words of the command line for those of sentences that cross Spark as text."""


def grant(operation: object, kind: object, name: object) -> str:
    """Return the command line that adds the missing ACL."""
    from shlex import quote

    from kcli import cli

    resource = f"{kind} {quote(str(name))}" if name else kind
    principal = f"User:{cli.user or 'NAME'}"
    return f"kcli acls add {operation} {resource} --allow {quote(principal)}"


def worded(text: str, hint: Hint) -> str:
    """A sentence with the words for its hint."""
    if hint.code == "option":
        name, space, rest = text.partition(" ")
        bare = name.removesuffix(":")
        option = LETTERS.get(bare) or f"--{bare.replace('_', '-')}"
        return f"{option}{name[len(bare) :]}{space}{rest}"
    if hint.code == "spark-option":
        for option, ours in SPARK.items():
            text = text.replace(option, ours)
        return text
    if hint.code == "grant":
        return f"{text}; `{grant(**hint.values)}` grants it"
    if (words := WORDS.get(hint.code)) is None:
        return text
    from shlex import quote

    values = {name: value if name == "property" else quote(str(value)) for name, value in hint.values.items()}
    return f"{text}{words.format_map(values)}"
