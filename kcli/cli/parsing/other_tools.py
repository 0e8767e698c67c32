"""The words of kaf, kafkactl, rpk, kcl and Kafka's own scripts, and kcli's word for the same.

Imported only for a line with a mistake; kcat's letters are in `commands/cat/parsing/`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

GET = "`kcli config show PROFILE` for a profile, `kcli configs get KIND NAME` for a config of Kafka"
SET = "`kcli config add NAME` for a profile, `kcli configs set KIND NAME KEY=VALUE` for a config of Kafka"
NOUNS = {
    word: command
    for command, words in {
        "topics": "topic",
        "brokers": "broker node nodes",
        "groups": "consumer-group consumer-groups consumer share-group share-groups group consumer-group-offset",
        "acls": "acl access-control-list",
        "users": "user scram",
        "quotas": "quota",
        "tokens": "token dtoken",
        "logdirs": "logdir log-dirs log-dir",
        "txn": "transaction transactions",
        "config": "context contexts profile profiles",
    }.items()
    for word in words.split()
}
"""What is spoken of, by its names in other tools, and the command here."""

ALONE = {
    "create": "kcli topics create TOPIC", "get": "kcli topics list", "ls": "kcli topics list",
    "list": "kcli topics list", "describe": "kcli topics describe TOPIC", "alter": "kcli topics alter TOPIC",
    "delete": "kcli topics delete TOPIC", "rm": "kcli topics delete TOPIC", "clone": "kcli copy SRC DST --create",
    "reset": "kcli groups reset GROUP -t TOPIC --to WHERE", "seek": "kcli groups reset GROUP -t TOPIC --to WHERE",
    "query": "kcli consume TOPIC -e --key KEY", "transact": "kcli copy SRC DST --exactly-once",
    "metadata": "kcli meta", "info": "kcli cluster describe", "use": "kcli config use NAME",
    "watch": "kcli lag --watch",
    "security": "kcli acls` or `kcli users", "container": "kcli sandbox", "ui": "kcli tui", "dashboard": "kcli tui",
    "stats": "kcli topics stats", "trim": "kcli topics trim TOPIC --before WHERE",
    "elect-leaders": "kcli leaders elect", "head": "kcli consume TOPIC -n N",
    "client-metrics": "kcli configs list client-metrics", "misc": "kcli raw`, `kcli offsets` or `kcli brokers versions",
    "myconf": "kcli config", "admin": "kcli brokers`, `kcli configs` or `kcli cluster",
    "members": "kcli groups members", "partitions": "kcli topics describe TOPIC", "top": "kcli tui",
    "search": "kcli consume TOPIC -e --grep RE", "grep": "kcli consume TOPIC -e --grep RE",
    "find": "kcli consume TOPIC -e --grep RE", "peek": "kcli groups peek GROUP", "why": "kcli groups why GROUP",
    "purge": "kcli topics trim TOPIC --before end", "clear": "kcli topics trim TOPIC --before end",
    "truncate": "kcli topics trim TOPIC --before end", "empty": "kcli topics trim TOPIC --before end",
    "replay": "kcli groups reset GROUP -t TOPIC --to WHERE` or `kcli pipeline replay SRC DST",
    "dlq": "kcli redrive TOPIC", "dead-letter": "kcli redrive TOPIC", "dead-letters": "kcli redrive TOPIC",
    "retry": "kcli redrive TOPIC",
    "status": "kcli groups why GROUP` for a group, `kcli cluster describe` for a cluster",
    "health": "kcli doctor", "ping": "kcli doctor", "check": "kcli doctor", "diagnose": "kcli doctor",
    "test": "kcli doctor", "connect": "kcli config add NAME -b HOST:PORT", "login": "kcli config add NAME -b HOST:PORT",
    "use-context": "kcli config use NAME", "desc": "kcli topics describe TOPIC", "show": "kcli topics describe TOPIC",
    "partition": "kcli topics describe TOPIC", "replicas": "kcli topics describe TOPIC",
    "bench": "kcli produce TOPIC --value X --repeat N", "perf": "kcli produce TOPIC --value X --repeat N",
    "produce-perf": "kcli produce TOPIC --value X --repeat N", "mirror": "kcli copy SRC DST --to-profile NAME",
    "migrate": "kcli copy SRC DST --to-profile NAME", "backup": "kcli pipeline export TOPIC DIR",
    "tombstone": "kcli produce TOPIC --tombstone KEY", "send": "kcli produce TOPIC", "pub": "kcli produce TOPIC",
    "sub": "kcli consume TOPIC", "read": "kcli consume TOPIC", "follow": "kcli consume TOPIC -o end",
    "commit": "kcli groups reset GROUP -t TOPIC --to WHERE", "rewind": "kcli groups reset GROUP -t TOPIC --to WHERE",
    "skip": "kcli groups reset GROUP -t TOPIC --to WHERE", "retention": "kcli configs set topic TOPIC retention.ms=7d",
    "ttl": "kcli configs set topic TOPIC retention.ms=7d",
    "compact": "kcli configs set topic TOPIC cleanup.policy=compact",
    "size": "kcli topics stats TOPIC", "disk": "kcli logdirs list", "disks": "kcli logdirs list",
    "isr": "kcli topics list --under-replicated", "urp": "kcli topics list --under-replicated",
    "under-replicated": "kcli topics list --under-replicated", "rebalance": "kcli reassign plan",
    "move": "kcli reassign plan",
    "preferred": "kcli leaders elect", "elect": "kcli leaders elect",
    "throttle": "kcli quotas alter` or `kcli reassign throttle",
    "tls": "kcli help clusters", "ssl": "kcli help clusters", "sasl": "kcli help clusters",
    "kerberos": "kcli help clusters",
    "oauth": "kcli help clusters", "env": "kcli help clusters", "avro": "kcli help schemas",
    "protobuf": "kcli help schemas",
    "subject": "kcli registry list", "subjects": "kcli registry list", "decode": "kcli registry decode",
    "encode": "kcli registry encode", "json": "kcli consume TOPIC -e -J",
    "header": "kcli consume TOPIC -e --header NAME=VALUE",
    "key": "kcli consume TOPIC -e --key KEY", "filter": "kcli consume TOPIC -e --where CONDITION",
    "timestamp": "kcli offsets TOPIC --at TIME", "wc": "kcli count TOPIC", "count-messages": "kcli count TOPIC",
    "sql": "kcli pipeline sql QUERY", "remove": "kcli topics delete TOPIC", "drop": "kcli topics delete TOPIC",
    "add": "kcli topics create TOPIC", "create-topic": "kcli topics create TOPIC",
    "delete-topic": "kcli topics delete TOPIC", "monitor": "kcli tui", "member": "kcli groups members GROUP",
    "controller": "kcli cluster quorum", "settings": "kcli configs list topic", "import": "kcli produce TOPIC FILE",
    "restore": "kcli undo", "compare": "kcli diff FILE", "audit": "kcli history", "abort": "kcli txn abort TOPIC",
    "fence": "kcli txn fence ID", "exactly-once": "kcli copy SRC DST --exactly-once",
    "producer": "kcli produce TOPIC", "coordinator": "kcli groups describe GROUP", "validate": "kcli registry check",
}  # fmt: skip
"""A first word that is no command here."""

PAIRS = {
    "alter broker": "kcli configs set broker ID KEY=VALUE",
    "alter partition": "kcli reassign plan",
    "clone consumer-group": "kcli groups clone FROM TO",
    "create consumer-group": "kcli groups reset GROUP -t TOPIC --to WHERE",
    "delete consumer-group-offset": "kcli groups delete-offsets GROUP -t TOPIC",
    "delete records": "kcli topics trim TOPIC --before WHERE",
    "describe broker": "kcli configs get broker ID",
    "security acl": "kcli acls",
    "security user": "kcli users",
    "profile use": "kcli config use NAME",
}
"""Two first words whose line here is not made of theirs."""

VERBS = {
    "topics": {
        "consume": "kcli consume TOPIC", "produce": "kcli produce TOPIC", "tail": "kcli tail TOPIC",
        "count": "kcli count TOPIC", "offsets": "kcli offsets TOPIC", "copy": "kcli copy SRC DST",
        "add-partitions": "kcli topics alter TOPIC -p N", "set-partitions": "kcli topics alter TOPIC -p N",
        "alter-config": "kcli topics alter TOPIC --config KEY=VALUE",
        "set-config": "kcli topics alter TOPIC --config KEY=VALUE", "config": "kcli configs get topic TOPIC",
        "configs": "kcli configs get topic TOPIC", "trim-prefix": "kcli topics trim TOPIC --before WHERE",
        "delete-records": "kcli topics trim TOPIC --before WHERE", "clear": "kcli topics trim TOPIC --before end",
        "purge": "kcli topics trim TOPIC --before end", "empty": "kcli topics trim TOPIC --before end",
        "describe-storage": "kcli topics stats TOPIC", "analyze": "kcli topics stats TOPIC",
        "lag": "kcli lag", "update": "alter", "add": "create", "clone": "kcli copy SRC DST --create",
    },
    "groups": {
        "remove-member": "remove-members", "kick": "remove-members",
        "seek": "reset", "reset-offsets": "reset", "commit": "reset", "offset-delete": "delete-offsets",
        "lag": "kcli lag GROUP", "copy": "clone", "offsets": "kcli groups describe GROUP",
        "rename": "kcli groups clone GROUP NEW`, then `kcli groups delete GROUP",
    },
    "cluster": {
        "info": "describe", "health": "kcli topics list` and `kcli leaders list", "metadata": "kcli meta",
        "config": "kcli configs get broker ID", "partitions": "kcli reassign", "logdirs": "kcli logdirs",
        "txn": "kcli txn", "quotas": "kcli quotas", "storage": "kcli logdirs", "id": "describe",
        "brokers": "kcli brokers",
        "describe-quorum": "quorum", "describe-cluster": "describe", "elect-leaders": "kcli leaders elect",
        "add-controller": "voters add", "remove-controller": "voters remove", "list-endpoints": "kcli brokers list",
    },
    "config": {
        "current-context": "current", "get-contexts": "list", "view": "show", "print": "show",
        "get-clusters": "list", "use-context": "use",
        "use-cluster": "use",
        "select-cluster": "use",
        "add-cluster": "add", "delete": "remove", "rm": "remove", "get": GET, "set": SET, "describe": GET, "alter": SET,
        "create": "add",
    },
    "configs": {"alter": "set", "add": "set", "remove": "unset", "reset": "unset"},
    "quotas": {"set": "alter", "add": "alter", "create": "alter", "delete": "alter", "remove": "alter"},
    "txn": {"describe-producers": "producers", "forceTerminateTransaction": "fence", "terminate": "fence"},
    "acls": {"create": "add", "delete": "remove", "describe": "list"},
    "users": {"create": "set", "add": "set", "alter": "set", "update": "set", "remove": "delete"},
    "tokens": {"describe": "list", "delete": "expire", "remove": "expire"},
    "brokers": {"api-versions": "versions", "describe": "kcli configs get broker ID",
                "config": "kcli configs get broker ID"},
    "reassign": {"alter": "execute", "generate": "plan", "status": "verify"},
    "leaders": {"election": "elect"},
    "logdirs": {"alter": "kcli reassign disks"},
}  # fmt: skip
"""By command here, what others call a verb: a verb of it, or a whole line."""

VERBS_FIRST = ("get", "list", "create", "describe", "alter", "delete", "reset", "clone")
EVERYWHERE = {"get": "describe", "show": "describe", "info": "describe", "remove": "delete", "describe": "get"}
"""Verbs of any command, where it has those and has not these."""

SLOWER = "an option of produce, copy and redrive; `| pv -qlL 5` prints 5 lines per second"
OPTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "-o": (
        ("--at", "`--at TIME` for a time, `--format json` for the form of the output"),
        ("--format", "--format json"),
    ),
    "--output": (("--format", "--format json"), ("-J", "-J")),
    "--format": (("-f", "-f FORMAT` or `-J"),),
    "--force": (("--execute", "--execute"),),
    "--replicas": (("--replication-factor", "-r N"),),
    "-c": (("--config", "--config KEY=VALUE"),),
    "--topic-config": (("--config", "--config KEY=VALUE"),),
    "--add-config": (("--config", "--config KEY=VALUE"),),
    "--set": (("--config", "--config KEY=VALUE"),),
    "--num": (("--max-messages", "-n N"),),
    "--limit": (("--max-messages", "-n N"), ("--top", "--top N")),
    "-n": (("--refreshes", "--top N` for the first rows, or with --watch `--refreshes N"), ("--top", "--top N")),
    "--count": (("--refreshes", "--refreshes N"),),
    "--replication-factor": (("--delete-config", "kcli reassign execute TOPIC --replication-factor N"),),
    "-p": (("--before", "kcli topics trim TOPIC:PARTITION"), ("--to", "-t TOPIC:PARTITION")),
    "--partition": (("--before", "kcli topics trim TOPIC:PARTITION"), ("--to", "-t TOPIC:PARTITION")),
    "--limit-messages": (("--max-messages", "-n N"),),
    "--head": (("--max-messages", "-n N"),),
    "--tail": (("--from-beginning", "kcli tail TOPIC -n N`, or `-o -N"),),
    "--oldest": (("--to-earliest", "--to-earliest"), ("--from-beginning", "--from-beginning")),
    "--newest": (("--to-latest", "--to-latest"), ("--offset", "-o end")),
    "--from-timestamp": (("--start", "--start TIME"),),
    "--to-timestamp": (("--end", "--end TIME"),),
    "--print-keys": (("-f", "-f '%k %s\\n'"),),
    "--print-headers": (("-f", "-f '%h %s\\n'"),),
    "--read-committed": (("--isolation", "--isolation read_committed"),),
    "--commit": (("--share-group", "-g GROUP"),),
    "--formatter-property": (("-f", "-f '%k\\t%s\\n'"),),
    "--reader-property": (("-K", "-K DELIM"),),
    "--include": (("--from-beginning", "kcli consume '^RE'"),),
    "--exclude-internal": (("--internal", "the default; --internal shows them"),),
    "--separator": (("-K", "-K DELIM"),),
    "--tombstone": (("--null", "-Z"),),
    "--null-value": (("--null", "-Z"),),
    "--input-mode": (("--input", "--input json"),),
    "--time": (("--at", "--at TIME"),),
    "--rate": (("--no-follow", SLOWER), ("--max-messages", SLOWER)),
    "--filter": (
        ("--grep", "--grep RE` (anywhere) or `--where 'value.FIELD == X'"),
        ("--match", "kcli topics list PATTERN"),
    ),
    "--from": (("--offset", "-o OFFSET"), ("--to-earliest", "--to WHERE")),
    "--since": (("--start", "--start TIME"), ("--to-datetime", "--to-datetime TIME")),
    "--until": (("--end", "--end TIME"),),
    "--file": (("--whole", "kcli produce TOPIC FILE"),),
    "--principal": (("--allow-principal", "--allow USER` or `--deny USER"),),
    "--follow": (
        ("--from-beginning", "the default, unless -e ends it"),
        ("--no-follow", "the default, unless -e ends it"),
    ),
}
"""An option: what it is here, for a command that has the first of each pair."""


def command(words: list[str]) -> str:
    """What a line of another tool begins with here, such as "; here it is `kcli topics list`" for `get topics`; ""
    when unknown."""
    first, second = words[0], words[1] if len(words) > 1 else ""
    second = {"ls": "list", "rm": "delete"}.get(second, second)
    pair = PAIRS.get(f"{first} {second}")
    if pair is not None:
        return _here(pair)
    if first in VERBS_FIRST and NOUNS.get(second, second) in VERBS:
        first, second = NOUNS.get(second, second), "list" if first == "get" else first
    name = NOUNS.get(first, first)
    if name not in VERBS:
        return _here(ALONE.get(first, ""))
    if not second or second.startswith("-"):
        return _here(f"kcli {name}")
    known = _declared(name)
    return _here(f"kcli {name} {second}") if second in known else verb(name, second, known) or _here(f"kcli {name}")


def verb_here(name: str, word: str, verbs: Container[str]) -> str | None:
    """The verb that another tool's verb of one of our commands is here; None for none, and for a whole line."""
    verb = VERBS.get(name, {}).get(word) or EVERYWHERE.get(word)
    return verb if verb in verbs else None


def verb(name: str, word: str, verbs: Container[str]) -> str:
    """What another tool's verb of one of our commands is here, as `command` has it; "" when unknown."""
    ours = VERBS.get(name, {}).get(word, "")
    if not ours and EVERYWHERE.get(word) in verbs:
        ours = EVERYWHERE[word]
    return _here(f"kcli {name} {ours}" if ours in verbs else ours)


def option(flag: str, flags: Container[str]) -> str:
    """What another tool's option is here, for a command with these options; "" when unknown."""
    return _here(next((here for needed, here in OPTIONS.get(flag, ()) if needed in flags), ""))


def choice(flag: str, text: str) -> str:
    """What a value that is none of an option's choices was meant for; "" when unknown."""
    if flag == "--input" and ("." in text or "/" in text):
        return "; a file is an argument: kcli produce TOPIC FILE --input json-values"
    return ""


def _here(ours: str) -> str:
    if not ours:
        return ""
    return f"; here it is `{ours}`" if ours.startswith(("kcli ", "-")) else f"; here it is {ours}"


def _declared(name: str) -> Container[str]:
    from kcli.cli.parsing.registry import declared

    table = declared(name)
    return table if isinstance(table, dict) else ()
