"""The names of each kind that a word may be: from the cluster, from the configuration, or of ours."""

from __future__ import annotations

from kcli.acls import KINDS as ACL_KINDS
from kcli.acls import OPERATIONS
from kcli.proto.messages import REQUESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.completion.place import Offer, Place

CLUSTER = ("topics", "groups", "ids", "transactions", "users", "tokens", "principals")
QUOTA_KEYS = """
producer_byte_rate consumer_byte_rate request_percentage controller_mutation_rate connection_creation_rate
""".split()
KINDS = ("topic", "broker", "logger", "client-metrics", "group")
FIXED = {
    "kinds": KINDS,
    "operations": list(OPERATIONS),
    "acl kinds": list(ACL_KINDS),
    "mechanisms": ["SCRAM-SHA-256", "SCRAM-SHA-512"],
    "quotas": list(QUOTA_KEYS),
    "quota values": [f"{key}=" for key in QUOTA_KEYS],
    "entities": ["user", "client-id", "ip"],
    "states": ["Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"],
    "apis": [name for _, name in REQUESTS.values()],
    "txn states": ["Ongoing", "Empty", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead"],
    "types": ["classic", "consumer", "share", "streams"],
    "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
    "offsets": ["beginning", "end", "stored"],
    "sections": ["topics", "configs", "users", "quotas", "acls", "schemas"],
    "places": ["groups", "group", "topics", "topic", "records", "brokers"],
}
TOPIC_CONFIGS = """
cleanup.policy compression.gzip.level compression.lz4.level compression.type compression.zstd.level delete.retention.ms
file.delete.delay.ms flush.messages flush.ms follower.replication.throttled.replicas index.interval.bytes
leader.replication.throttled.replicas local.retention.bytes local.retention.ms max.compaction.lag.ms max.message.bytes
message.timestamp.after.max.ms message.timestamp.before.max.ms message.timestamp.type min.cleanable.dirty.ratio
min.compaction.lag.ms min.insync.replicas preallocate remote.log.copy.disable remote.log.delete.on.disable
remote.storage.enable retention.bytes retention.ms segment.bytes segment.index.bytes segment.jitter.ms segment.ms
unclean.leader.election.enable
""".split()
"""Those of Kafka 4.3, where no cluster tells its own."""


def names(place: Place) -> Iterable[Offer]:
    """The candidates of the place's kind, with what follows a `,` or a `=` that was typed already."""
    kind, text = place.kind, place.text
    if kind in FIXED:
        return [(name, "") for name in FIXED[kind]]
    if kind == "profiles":
        return profiles()
    if kind == "shapes":
        return _shapes(place.line.words)
    if kind == "columns":
        return _columns(place)
    if kind == "properties":
        return _properties(text)
    if kind in ("configs", "topic keys", "assignments", "keys"):
        return [] if "=" in text else _configs(place, "=" if kind in ("configs", "assignments") else "")
    if kind == "named":
        return _named(place)
    if kind == "plans":
        return [(name, "") for name in [*_plans(text), *_asked(place, "topics")]]
    if kind == "asked":
        return [(name, "") for name in ["any", "controller", "group:", "txn:", "leader:", *_asked(place, "ids")]]
    if kind == "servers":
        done = text[: text.rfind(",") + 1]
        addresses = [servers for _, servers in profiles() if servers]
        return [(done + name, "") for name in [*_asked(place, "brokers"), *addresses, "localhost:9092"]]
    if kind in ("subjects", "contexts", "specs"):
        return _of_registry(place)
    if kind == "map":
        return [] if "=" in text else [(f"{name}=", "") for name in _asked(place, "brokers")]
    return [(name, "") for name in _asked(place, kind)] if kind in CLUSTER else []


def _asked(place: Place, kind: str, about: tuple[str, str] = ("", "")) -> list[str]:
    from kcli.cli.completion.cluster import names_of

    return names_of(kind, place.connection, about)


def _of_registry(place: Place) -> list[Offer]:
    """Subjects or contexts of the registry that the line or the profile names; `specs` are schemas of records, which
    have other forms too."""
    forms = ("topic", "file:", "id:") if place.kind == "specs" else ()
    kind = "contexts" if place.kind == "contexts" else "subjects"
    return [(name, "") for name in [*forms, *_asked(place, kind, (place.registry, ""))]]


def _plans(text: str) -> list[str]:
    """Files that a plan of moves may be, and the folders on the way to one."""
    from os import scandir
    from os.path import dirname

    folder = text[: len(dirname(text)) + 1] if "/" in text else ""
    try:
        with scandir(folder or ".") as entries:
            return [
                folder + entry.name + ("/" if entry.is_dir() else "")
                for entry in entries
                if entry.name[0] != "." and (entry.name.endswith(".json") or (folder and entry.is_dir()))
            ]
    except OSError:
        return []


def _named(place: Place) -> list[Offer]:
    """Resources of the kind that the first word is; a job's name, elsewhere, is not known here."""
    words = place.line.words or [""]
    of = words[1] if len(words) > 1 and words[0] in OPERATIONS else words[0]  # acls who-can OPERATION KIND NAME
    kind = {"topic": "topics", "group": "groups", "broker": "ids", "logger": "ids"}.get(of, "")
    return [(name, "") for name in _asked(place, kind)] if kind else []


def _configs(place: Place, end: str) -> list[Offer]:
    """Names of configs: of the KIND and NAME before it, else of topics."""
    words, about = place.line.words, ("topic", "")
    if place.kind in ("assignments", "keys"):
        if len(words) < 2 or words[0] not in KINDS:
            return []
        about = (words[0], words[1])
    configs = _asked(place, "configs", about) or (TOPIC_CONFIGS if about[0] == "topic" else [])
    return [(name + end, "") for name in configs]


def profiles() -> list[Offer]:
    """The profiles of both files, each with its servers as it is described."""
    from os.path import isfile

    from kcli.config.profiles import document, project_file, user_file

    offers: list[Offer] = []
    for path in (project_file(), user_file()):
        if path is not None and isfile(path):
            for name, table in document(path).get("profiles", {}).items():
                servers = table.get("bootstrap") or table.get("bootstrap.servers") or ""
                offers.append((name, servers if isinstance(servers, str) and servers.isprintable() else ""))
    return offers


def _shapes(before: list[str]) -> list[Offer]:
    """The next word of what `kcli schema` has a schema of."""
    from kcli.cli.parsing.registry import shapes

    split = [name.split(".") for name in shapes()]
    at = len(before)
    return [(words[at], "") for words in split if words[:at] == before and len(words) > at]


def _columns(place: Place) -> list[Offer]:
    """The columns of what the command prints, behind those that are typed already."""
    from kcli.cli.parsing.registry import shapes

    known = shapes()
    done = place.text[: place.text.rfind(",") + 1]
    printed = [name for name in known if f"{name}.".startswith(f"{place.command}.")]
    columns = dict.fromkeys(column for name in printed for column in known[name].split())
    return [(done + name, "") for name in columns if name not in done.split(",")]


def _properties(text: str) -> list[Offer]:
    """Names as `NAME=`; behind the `=` the words that the property knows."""
    from kcli.config.properties.known import KNOWN

    name, equals, _ = text.partition("=")
    if equals:
        unit = KNOWN[name][2] if name in KNOWN else VALUES.get(name, ())
        known = ("true", "false") if unit == "bool" else unit if isinstance(unit, dict | tuple) else ()
        return [(f"{name}={value}", "") for value in known]
    from kcli import property_names as others

    return [(f"{name}=", "") for name in sorted({*KNOWN, *others.TLS, *others.SASL, *others.OAUTH, *VALUES})]


VALUES: dict[str, tuple[str, ...]] = {
    "security.protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    "sasl.mechanism": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM", "GSSAPI"),
    "bootstrap.servers": (),
}
