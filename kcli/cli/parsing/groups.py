"""Options that many commands share, a class a subject: a letter means the same everywhere."""

from __future__ import annotations

from kcli.cli.parsing.option import EVERY, Options, choice, every_name, flag, integer, names, span, text, texts
from kcli.value_formats import PLAIN, SINGLE, WHOLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.runtime.journal import ChangeToUndo

FORMATS = ("table", "json", "ndjson", "yaml", "csv", "csv-safe", "tsv", "plain")


class QuietOptions(Options):
    """How much is written to stderr."""

    panel = "Connection"
    folded = EVERY

    quiet = flag("-q", "--quiet", help="Print only errors on stderr.")
    verbose = flag("-v", "--verbose", help="Print more on stderr.")


class ConnectionOptions(QuietOptions):
    """Which cluster, and how it is reached."""

    panel = "Connection"
    folded = EVERY

    bootstrap = text(
        *("-b", "--bootstrap-server", "--bootstrap-servers", "--brokers"),
        metavar="HOST:PORT,…",
        help="Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.",
    )
    profile = text(
        "--profile",
        metavar="NAME",
        help="A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.",
    )
    properties = texts(
        *("-X", "--property"),
        also=("--command-property", "--consumer-property", "--producer-property"),
        metavar="KEY=VALUE",
        help="A Kafka or librdkafka property, such as linger.ms=50. Repeatable.",
    )
    config_file = text(
        *("-F", "--command-config"),
        also=("--consumer.config", "--producer.config"),
        metavar="FILE",
        help="A .properties file.",
    )
    broker_map = texts(
        "--broker-map",
        metavar="FROM=TO",
        help="Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.",
    )
    confirm = text(
        "--confirm",
        metavar="PROFILE",
        help="Allow changes in this protected profile.",
    )
    trace = flag("--trace", help="Print a line on stderr for each frame on the wire.")
    trace_file = text("--trace-file", metavar="FILE", help="Append the lines of --trace to FILE.")


class PatternOptions(Options):
    """Whether names may be patterns."""

    panel = "Names"
    folded = EVERY

    literal = flag(
        "--literal",
        help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.",
    )


class NamedTopics(Options):
    """Topics as Kafka's own scripts name them."""

    panel = "Names"
    folded = EVERY

    named_topics = names(
        "-t", "--topic", metavar="TOPIC", help="The topic, instead of an argument.", also=("--topics",)
    )


class NamedGroups(Options):
    """Groups as Kafka's own scripts name them."""

    panel = "Names"
    folded = EVERY

    named_groups = names(
        "-g", "--group", metavar="GROUP", help="The group, instead of an argument.", also=("--groups",)
    )


class EveryGroup(Options):
    """All groups, as Kafka's own script names them."""

    every_group = every_name("--all-groups", help="All groups, as the pattern '*'.")


class ZoneOptions(Options):
    """In which zone times are printed, and read that name none."""

    panel = "Output"
    folded = EVERY

    local = flag("--local", help="Print times in this machine's zone, with its offset (default: UTC).")
    utc = flag("--utc", help="Read times without a zone as UTC (default: as local).")


class TableOptions(ZoneOptions):
    """How tables are drawn."""

    panel = "Output"
    folded = EVERY

    wide = flag("--wide", help="Show all columns, uncut, with exact numbers, on a terminal too.")
    no_headers = flag("--no-headers", help="Print no titles in tables, CSV and TSV.")


class FormatOptions(TableOptions):
    """How rows are printed."""

    panel = "Output"

    format = choice(
        "--format",
        of=FORMATS,
        help="table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.",
    )
    json = flag("-J", "--json", help="Short for --format json.")


class RowOptions(FormatOptions):
    """Which rows and columns are printed."""

    panel = "Output"
    folded = EVERY

    columns = text("--columns", metavar="COLUMN,…", help="Print only these columns, in this order.")
    sort = text(
        "--sort",
        metavar="COLUMN",
        help="Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.",
    )
    top = integer("--top", least=1, help="Print only the first N rows.")


class OutputOptions(FormatOptions, ConnectionOptions):
    """What a command that prints rows about a cluster has."""


class RefreshOptions(Options):
    """Whether rows are printed once, or refreshed."""

    panel = "Watch"
    folded = EVERY

    watch = flag("-w", "--watch", help="Refresh until Ctrl-C; on a terminal in place.")
    interval = span("--interval", help="Refresh interval of --watch (default 5s).")
    refreshes = integer("--refreshes", least=1, help="Stop after N refreshes of --watch.")


class ReadOptions(RowOptions, RefreshOptions, OutputOptions):
    """What a command has that lists or describes."""


def dry_run() -> bool:
    return flag("--dry-run", help="Only show the plan.")


class PlanOptions(FormatOptions, QuietOptions):
    """What a command has that shows its plan first."""

    panel = "Plan"

    execute = flag("--execute", help="Apply the plan. Without it the plan is only shown (and confirmed on a terminal).")
    yes = flag("-y", "--yes", help="Answer the question on a terminal with yes.")
    expect = integer("--expect", least=1, help="Apply a plan by a pattern only if N names match.")
    dry_run = dry_run()

    @property
    def plan_only(self) -> bool:
        """Whether the plan is only shown: --dry-run, or neither --execute nor --yes nor a terminal to ask on."""
        from kcli.cli.runtime.question import can_ask

        return self.dry_run or not (self.execute or self.yes or can_ask())

    @property
    def keeps_undo(self) -> bool:
        """Whether the journal keeps what undoes the change."""
        return False


class AppliedOptions(Options):
    """What a command takes, too, that has a --dry-run and applies its plan without a question."""

    applied = flag("--execute", "-y", "--yes", help="Apply the plan, which is the default.", hidden=True)

    def check_dry_run(self, dry_run: bool) -> None:
        """Raises UsageError where the plan is both applied and only shown."""
        if self.applied and dry_run:
            from kcli.errors import UsageError

            raise UsageError("--execute and --dry-run exclude each other")


class ChangeOptions(PlanOptions, OutputOptions):
    """What a command has that shows its plan, asks, and changes a cluster."""


class UndoOptions(ChangeOptions):
    """The options of a command whose change can be undone."""

    panel = "Plan"

    undo_file = text(
        "--undo-file",
        metavar="FILE",
        help="Also write the previous state to this file, for `kcli undo FILE`.",
    )
    no_undo = flag("--no-undo", help="Keep nothing to undo the change with.")
    needs_undo = True
    """Whether the change is not made where what undoes it cannot be kept, and the command says how to undo it."""
    undoes: ChangeToUndo | None = None
    """The change that `kcli undo` undoes with these options."""

    @property
    def keeps_undo(self) -> bool:
        return not self.no_undo


def timeout(until: str) -> str | None:
    return span("--timeout", help=f"Wait up to this long until {until}, else exit 4.")


class WaitOptions(Options):
    """Whether a command waits until every broker knows of its change."""

    wait = flag("--wait", help="Wait until every broker has the change (default).")
    no_wait = flag("--no-wait", help="Do not wait until every broker has the change.")
    timeout = timeout("every broker has the change (default: 30s)")

    @property
    def patience(self) -> float | None:
        """How many seconds to wait; None where the command does not."""
        from kcli.grammar.durations import seconds

        patience = seconds(self.timeout, "--timeout", 30.0)
        return None if self.no_wait else patience


DECODED_FORMATS = (*SINGLE, *WHOLE)
"""Formats in which consume, tail and count decode keys and values, as by a schema."""


def value_format() -> str | None:
    return choice(
        "--value-format",
        of=("auto", *PLAIN, *DECODED_FORMATS),
        help="How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2. "
        "Numbers, cbor and those behind it are printed as JSON.",
    )


class TimeFieldOptions(Options):
    """Times that are inside of values."""

    panel = "Times in values"
    folded = EVERY

    time_field = text(
        "--time-field",
        metavar="NAME",
        help="Use the time in this field of the value, such as ts or event.ts, not the record's timestamp.",
    )
    jitter = span(
        "--jitter",
        help="How much the times may decrease from record to record (default 1m).",
    )
    value_format = value_format()


def internal() -> bool:
    return flag("--internal", help="Include Kafka's internal topics.")


def if_exists() -> bool:
    return flag("--if-exists", help="Do not fail if it does not exist.")


def isolation() -> str | None:
    return choice(
        "--isolation",
        also=("--isolation-level",),
        of=("read_uncommitted", "read_committed"),
        help="Measure lag to the high watermark (default) or the last stable offset.",
    )


def states() -> list[str]:
    return texts("--state", metavar="STATE", help="Only groups in this state: Stable, Empty, …")
