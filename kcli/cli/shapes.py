"""What each command prints, column by column: the contract of `--format`, from which `kcli schema` is made.

A column that is there stays; a new one may be added at the end; anything else raises the version of the shape.
"""

from __future__ import annotations

from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]


class Column(Frozen):
    """One column. `kind` is string, integer, number, duration (seconds), boolean, strings, integers or object (string
    to string)."""

    name: str = ""
    kind: str = "string"
    about: str = ""
    null: bool = False
    table: bool = True  # False: left out of the table, which people read; every other format has it
    sparse: bool = False  # left out of a table in which no row has a value

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").upper()


class Section(Frozen):
    """A list of rows of one kind, and its name in the JSON document."""

    name: str = ""
    columns: tuple[Column, ...] = ()
    table: bool = True

    def drawn(self, rows: list[Row]) -> list[Column]:
        """The columns of a table of these rows."""
        return [c for c in self.columns if c.table and not (c.sparse and all(row.get(c.name) is None for row in rows))]


class Shape(Frozen):
    """All that one command prints, in the order of its tables. The last section drawn as a table is the main one:
    what row formats (ndjson, csv, tsv, plain) print."""

    name: str = ""
    version: int = 1
    about: str = ""
    sections: tuple[Section, ...] = ()

    @property
    def id(self) -> str:
        return f"kcli.{self.name}/{self.version}"

    @property
    def main(self) -> Section:
        return [section for section in self.sections if section.table][-1]


def _c(name: str, kind: str, about: str, *, null: bool = False, table: bool = True, sparse: bool = False) -> Column:
    return Column(name=name, kind=kind, about=about, null=null, table=table, sparse=sparse)


TOPIC = _c("topic", "string", "Name of the topic.")
PARTITION = _c("partition", "integer", "Number of the partition.")
GROUP = _c("group", "string", "Name of the group.")
ERROR = _c("error", "string", "Why there are no figures; null when there are.", null=True, table=False)
NOTE = _c("note", "string", "What the figures do not say by themselves.", null=True)
STATUS = _c("status", "string", "OK, UNKNOWN, NO COMMIT, BEHIND, ORPHANED or LOSING DATA.")
STATUS_OVER_TIME = _c(
    "status",
    "string",
    "IDLE, OK, UNKNOWN, NO COMMIT, BEHIND, REWOUND, TXN-BLOCKED, GROWING, STUCK, ORPHANED or LOSING DATA.",
)
TIME = _c("time", "string", "When it was looked at, UTC.", table=False)
RATES = (
    _c("in_rate", "number", "Offsets written a second.", null=True),
    _c("out_rate", "number", "Offsets committed a second.", null=True),
    _c("eta", "duration", "Seconds until the lag is worked off; null when it is not, or not known.", null=True),
    _c("time_lag", "duration", "How long ago the first unread offset was written, in seconds.", null=True),
)
OVER_TIME = (
    _c("time_lag_kind", "string", "interpolated, exact, or at least.", null=True, table=False),
    _c("falling", "number", "Offsets a second by which it falls further behind.", null=True, table=False),
    _c("loss_in", "duration", "Seconds until retention takes unread records.", null=True, sparse=True),
    _c("peak", "integer", "The largest lag seen.", table=False),
)
LAG = _c("lag", "integer", "Offsets behind: end minus committed; null without a commit.", null=True)
UNREAD = _c("unread", "integer", "Offsets from log start where nothing is committed.", null=True, table=False)
LOST = _c("lost", "integer", "Offsets that retention took before they were read.", table=False)
BEYOND = _c("beyond", "integer", "How far committed is past the end; 0 unless the topic was recreated.", table=False)
MEMBERS = _c("members", "integer", "Members that own a partition counted here.")
HOSTS = _c("hosts", "strings", "Where those members run.")
NO_COMMITS = _c("no_commit", "integer", "Partitions without a commit.", table=False)
STATE = _c("state", "string", "State of the group; null when the broker is too old to say.", null=True)
TYPE = _c("type", "string", "classic, consumer (KIP-848), share or streams; null as for state.", null=True)

_LAG_PARTITION = (
    GROUP,
    TOPIC,
    PARTITION,
    _c("committed", "integer", "Committed offset; null when nothing is committed.", null=True),
    _c("end", "integer", "End offset (high watermark, or last stable offset by isolation).", null=True),
    LAG,
    STATUS,
    _c("member_id", "string", "Id of the member that owns the partition.", null=True),
    _c("client_id", "string", "Client id of that member.", null=True, table=False),
    _c("host", "string", "Where that member runs.", null=True),
    NOTE,
    _c("start", "integer", "Log start offset.", null=True, table=False),
    UNREAD,
    LOST,
    BEYOND,
    ERROR,
)
_LAG_TOPIC = (
    GROUP,
    TOPIC,
    _c("partitions", "integer", "Partitions the group committed or owns."),
    LAG,
    STATUS,
    MEMBERS,
    HOSTS,
    NOTE,
    UNREAD,
    LOST,
    BEYOND,
    NO_COMMITS,
)
_LAG_GROUP = (
    GROUP,
    TYPE,
    STATE,
    _c("topics", "integer", "Topics the group committed or owns."),
    _c("partitions", "integer", "Partitions the group committed or owns."),
    LAG,
    STATUS,
    MEMBERS,
    HOSTS,
    NOTE,
    UNREAD,
    LOST,
    BEYOND,
    NO_COMMITS,
    _c("coordinator", "integer", "Id of the coordinating broker.", table=False),
)


def _over_time(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a snapshot, with what a watch knows beside them; ids and counts of less use leave the table."""
    made: list[Column] = [TIME]
    for column in columns:
        if column.name == "status":
            made += [*RATES, STATUS_OVER_TIME]
        else:
            hidden = ("member_id", "topics", "partitions", "type")
            made.append(column.replace(table=column.table and column.name not in hidden))
    return (*made, *OVER_TIME)


_TOPIC_FACTS = (
    TOPIC,
    _c("partitions", "integer", "Number of partitions."),
    _c("replicas", "integer", "Replication factor."),
    _c("under_replicated", "integer", "Partitions with fewer in-sync replicas than replicas."),
    _c("leaderless", "integer", "Partitions that nobody leads."),
    _c("internal", "boolean", "True for Kafka's own topics.", table=False),
    _c("topic_id", "string", "Topic id; null from brokers before 2.8.", null=True, table=False),
)
_MEMBER = (
    GROUP,
    _c("member_id", "string", "Member id."),
    _c("instance_id", "string", "Static member id (group.instance.id).", null=True, sparse=True),
    _c("client_id", "string", "Client id."),
    _c("host", "string", "Where the member runs."),
    _c("epoch", "integer", "Member epoch (KIP-848); null for classic members.", null=True, table=False),
    _c("rack", "string", "Rack.", null=True, table=False),
    _c("partitions", "integer", "Partitions it owns."),
    _c("assignment", "strings", "Those partitions, as topic:partition."),
    _c("subscribed", "strings", "Topics (or the pattern) it subscribed to.", table=False),
    _c("tasks", "strings", "Tasks of a streams member: 0_3, 0_3 standby, 0_3 warm-up.", null=True, sparse=True),
)
_PLAN_TOPIC = (
    TOPIC,
    _c("result", "string", "would delete, deleted, absent, or failed."),
    _c("partitions", "integer", "Partitions there were.", null=True),
    _c("offsets", "integer", "Offsets between start and end: about how many records go.", null=True),
    ERROR,
)
_PLAN_GROUP = (
    GROUP,
    _c("result", "string", "would delete, deleted, refused, absent, or failed."),
    STATE,
    _c("members", "integer", "Members it has.", null=True),
    _c("partitions", "integer", "Partitions with a committed offset that goes with it.", null=True),
    ERROR,
)
_RESET = (
    GROUP,
    TOPIC,
    PARTITION,
    _c("old", "integer", "Committed offset before; null when nothing was committed.", null=True),
    _c("new", "integer", "Committed offset after; null for none.", null=True),
    _c("delta", "integer", "new minus old; null where one of them is none.", null=True),
    LAG.replace(about="Offsets behind at the new offset; null without one.", table=False),
    _c(
        "result",
        "string",
        "would reset, would delete, reset, deleted, unchanged, skipped, refused, failed or unknown.",
    ),
    NOTE,
    _c("start", "integer", "Log start offset.", null=True, table=False),
    _c("end", "integer", "High watermark.", null=True, table=False),
    ERROR.replace(about="Why it was not done; null when it was, or will be."),
)
_OFFSETS = (
    TOPIC,
    PARTITION,
    _c("start", "integer", "Log start offset.", null=True),
    _c("stable", "integer", "Last stable offset: where read_committed ends.", null=True),
    _c("end", "integer", "High watermark: where read_uncommitted ends.", null=True),
    _c("span", "integer", "end minus start; records at most, not exactly.", null=True),
    _c("leader", "integer", "Id of the leading broker; null when nobody leads.", null=True, table=False),
    ERROR,
)
_OFFSETS_AT = (
    _c("at_offset", "integer", "First offset at or after --at; the end when there is none.", null=True, sparse=True),
    _c("at_timestamp", "integer", "Timestamp (ms) of the record there; null at the end.", null=True, sparse=True),
)
_OFFSETS_GROUP = (
    _c("committed", "integer", "Committed offset of --group.", null=True, sparse=True),
    LAG.replace(sparse=True),
)

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="topics.list",
        about="Topics, one a row.",
        sections=(Section(name="topics", columns=_TOPIC_FACTS),),
    ),
    Shape(
        name="topics.describe",
        about="Partitions of topics, and the topics with their own configs.",
        sections=(
            Section(
                name="topics",
                columns=(
                    *(c.replace(table=c.name in ("topic", "partitions", "replicas", "topic_id")) for c in _TOPIC_FACTS),
                    _c("configs", "object", "Configs set on the topic itself; a secret is null."),
                ),
            ),
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    _c("leader", "integer", "Id of the leading broker; null when nobody leads.", null=True),
                    _c("leader_epoch", "integer", "Leader epoch.", null=True, table=False),
                    _c("replicas", "integers", "Brokers with a replica, preferred leader first."),
                    _c("isr", "integers", "Replicas in sync."),
                    _c("offline", "integers", "Replicas offline.", table=False),
                    _c("start", "integer", "Log start offset.", null=True),
                    _c("end", "integer", "High watermark.", null=True),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="topics.create",
        about="What was created.",
        sections=(
            Section(
                name="topics",
                columns=(
                    TOPIC,
                    _c("result", "string", "created, would create, exists, or failed."),
                    _c("partitions", "integer", "Number of partitions.", null=True),
                    _c("replicas", "integer", "Replication factor.", null=True),
                    _c("configs", "object", "Configs set on the topic itself."),
                    _c("topic_id", "string", "Topic id.", null=True, table=False),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="topics.delete",
        about="What was deleted, or would be.",
        sections=(Section(name="topics", columns=_PLAN_TOPIC),),
    ),
    Shape(
        name="groups.list",
        about="Groups of all types, one a row.",
        sections=(
            Section(
                name="groups",
                columns=(
                    GROUP,
                    TYPE,
                    STATE,
                    _c("protocol", "string", "Protocol type, such as consumer or connect."),
                    _c("coordinator", "integer", "Id of the coordinating broker."),
                ),
            ),
        ),
    ),
    Shape(
        name="groups.describe",
        about="Partitions of groups with lag and owner, the groups, and their members.",
        sections=(
            Section(
                name="groups",
                columns=(
                    GROUP,
                    TYPE,
                    STATE,
                    _c("assignor", "string", "How partitions are assigned.", null=True),
                    _c("coordinator", "integer", "Id of the coordinating broker."),
                    _c("epoch", "integer", "Group epoch (KIP-848).", null=True, table=False),
                    _c("members", "integer", "Members."),
                    LAG,
                    STATUS,
                ),
            ),
            Section(name="partitions", columns=_LAG_PARTITION),
            Section(name="members", columns=_MEMBER, table=False),
        ),
    ),
    Shape(
        name="groups.members",
        about="Members of groups and what they own.",
        sections=(Section(name="members", columns=_MEMBER),),
    ),
    Shape(
        name="groups.delete",
        about="What was deleted, or would be.",
        sections=(Section(name="groups", columns=_PLAN_GROUP),),
    ),
    Shape(
        name="groups.reset",
        about="Committed offsets that were changed, or would be: old, new and delta.",
        sections=(Section(name="partitions", columns=_RESET),),
    ),
    Shape(
        name="groups.delete-offsets",
        about="Committed offsets that were deleted, or would be.",
        sections=(Section(name="partitions", columns=_RESET),),
    ),
    Shape(
        name="groups.clone",
        about="Committed offsets that a group got from another, or would get.",
        sections=(Section(name="partitions", columns=_RESET),),
    ),
    Shape(
        name="groups.export",
        about="Committed offsets, as `groups reset --from-file` reads them; an undo file is such a document.",
        sections=(
            Section(
                name="taken",
                table=False,
                columns=(
                    _c("time", "string", "When they were read, UTC."),
                    _c("cluster_id", "string", "Cluster they are of; null when it does not say.", null=True),
                ),
            ),
            Section(
                name="offsets",
                columns=(
                    GROUP,
                    TOPIC,
                    PARTITION,
                    _c("offset", "integer", "Committed offset; null (undo files only): nothing committed.", null=True),
                    _c("leader_epoch", "integer", "Leader epoch committed with it.", null=True, sparse=True),
                    _c("metadata", "string", "Text committed with it.", null=True, sparse=True),
                ),
            ),
        ),
    ),
    Shape(
        name="lag",
        about="Lag by group and topic, and the groups. Named groups without --by.",
        sections=(
            Section(name="topics", columns=_LAG_TOPIC),
            Section(name="groups", columns=_LAG_GROUP, table=False),
        ),
    ),
    Shape(
        name="lag.group",
        about="Lag by group.",
        sections=(Section(name="groups", columns=_LAG_GROUP),),
    ),
    Shape(
        name="lag.partition",
        about="Lag by partition, and the groups.",
        sections=(
            Section(name="partitions", columns=_LAG_PARTITION),
            Section(name="groups", columns=_LAG_GROUP, table=False),
        ),
    ),
    Shape(
        name="lag.watch.topic",
        about="One look of a watch, by group and topic.",
        sections=(Section(name="topics", columns=_over_time(_LAG_TOPIC)),),
    ),
    Shape(
        name="lag.watch.group",
        about="One look of a watch, by group.",
        sections=(Section(name="groups", columns=_over_time(_LAG_GROUP)),),
    ),
    Shape(
        name="lag.watch.partition",
        about="One look of a watch, by partition.",
        sections=(Section(name="partitions", columns=_over_time(_LAG_PARTITION)),),
    ),
    Shape(
        name="offsets",
        about="Where logs start and end.",
        sections=(Section(name="partitions", columns=_OFFSETS + _OFFSETS_AT + _OFFSETS_GROUP),),
    ),
    Shape(
        name="redrive",
        about="What became of dead letters, or would become of them, by target; and how many were read.",
        sections=(
            Section(
                name="totals",
                table=False,
                columns=(
                    _c("topic", "string", "The dead-letter topic."),
                    _c("read", "integer", "Records read."),
                    _c("filtered", "integer", "Of these, left out by filters."),
                    _c("group", "string", "Name under which the cluster keeps how far it is."),
                ),
            ),
            Section(
                name="targets",
                columns=(
                    _c("topic", "string", "Where the records go; null for those that go nowhere.", null=True),
                    _c("records", "integer", "Records with this target, or with this reason."),
                    _c("redriven", "integer", "Acknowledged by the target topic; 0 in a plan."),
                    _c("skipped", "integer", "Left out by --max-attempts or --missing skip."),
                    _c("failed", "integer", "Not sent back."),
                    _c("unknown", "integer", "Perhaps sent back: no answer came."),
                    NOTE,
                ),
            ),
        ),
    ),
    Shape(
        name="copy",
        about="What became of the records of a copy.",
        sections=(
            Section(
                name="copies",
                columns=(
                    _c("source", "string", "Topic the records came from."),
                    _c("destination", "string", "Topic they went to."),
                    _c("read", "integer", "Records read."),
                    _c("copied", "integer", "Records acknowledged (with --exactly-once: committed)."),
                    _c("filtered", "integer", "Records that the filters left out."),
                    _c("failed", "integer", "Records that were not published."),
                    _c("unknown", "integer", "Records that may be published; no answer says whether."),
                    _c("untouched", "integer", "Records whose batch went on as it was."),
                    _c("bytes", "integer", "Bytes of batches as they were fetched."),
                    _c("seconds", "number", "How long it took."),
                    _c("group", "string", "Under which name the positions are kept; null with --no-resume.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="copy.plan",
        about="What a copy would do, by partition and over time.",
        sections=(
            Section(
                name="times",
                columns=(
                    _c("from", "string", "Begin of the time, UTC; null for records without one.", null=True),
                    _c("copied", "integer", "Records that would be copied; a batch counts where it begins."),
                    _c("bytes", "integer", "Bytes of batches as they were fetched."),
                    _c("bar", "string", "The same to look at."),
                ),
            ),
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    _c("start", "integer", "First offset of the range."),
                    _c("end", "integer", "Offset at which it ends."),
                    _c("records", "integer", "Records in it."),
                    _c("copied", "integer", "Records that would be copied."),
                    _c("bytes", "integer", "Bytes of batches as they were fetched."),
                    _c("first", "string", "Earliest timestamp, by batch headers, UTC.", null=True),
                    _c("last", "string", "Latest timestamp, by batch headers, UTC.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="count",
        about="Records there are, exactly.",
        sections=(
            Section(
                name="partitions",
                columns=(TOPIC, PARTITION, _c("count", "integer", "Records a consumer would see.")),
            ),
        ),
    ),
    Shape(
        name="doctor",
        about="Every step from the configuration to what one may do, in order.",
        sections=(
            Section(
                name="steps",
                columns=(
                    _c("step", "string", "config, DNS, TCP, TLS, ApiVersions, SASL, metadata, advertised, rights."),
                    _c("address", "string", "Address it is about.", null=True),
                    _c("broker", "integer", "Broker that advertises the address.", null=True, sparse=True),
                    _c("status", "string", "ok, warning, failed, or skipped behind a failed one."),
                    _c("time_ms", "number", "How long it took, in milliseconds.", null=True),
                    _c("result", "string", "What was found, or what is wrong."),
                    _c("fault", "string", "Name of what is wrong, for programs.", null=True, table=False),
                    _c("mend", "string", "What mends it.", null=True, table=False),
                ),
            ),
        ),
    ),
    Shape(
        name="config.list",
        about="Profiles, of the project and of the user.",
        sections=(
            Section(
                name="profiles",
                columns=(
                    _c("profile", "string", "Name of the profile."),
                    _c("bootstrap", "string", "Where the cluster listens.", null=True),
                    _c("protocol", "string", "security.protocol."),
                    _c("protected", "string", "read_only, protected, or null.", null=True),
                    _c("default", "boolean", "True when it is used without --profile."),
                    _c("config_file", "string", "File it stands in."),
                    NOTE,
                ),
            ),
        ),
    ),
    Shape(
        name="config.show",
        about="What is in effect, and where each value comes from.",
        sections=(
            Section(
                name="settings",
                columns=(
                    _c("property", "string", "Name of the property."),
                    _c("value", "string", "Its value; secrets are ***, sources are named.", null=True),
                    _c("from", "string", "Option, variable, file:line, or default."),
                ),
            ),
        ),
    ),
    Shape(
        name="config.check",
        about="Whether profiles make sense.",
        sections=(
            Section(
                name="profiles",
                columns=(
                    _c("profile", "string", "Name of the profile."),
                    _c("config_file", "string", "File it stands in."),
                    _c("result", "string", "ok, warning or failed."),
                    NOTE,
                ),
            ),
        ),
    ),
)
"""Every shape, by the words of its command."""


def shape(name: str) -> Shape:
    """The shape of a command. Raises KeyError."""
    return next((one for one in SHAPES if one.name == name), None) or _unknown(name)


def _unknown(name: str) -> Shape:
    raise KeyError(name)
