"""Options that many commands share, a class a subject: a letter means the same everywhere."""

from __future__ import annotations

from kcli.cli.parsing.option import EVERY, Options, these
from kcli.value_formats import SINGLE, WHOLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.undo import ChangeToUndo
    from kcli.cli.parsing.shared import DryRun, KcliOption, ValueFormat

FORMATS = ("table", "json", "ndjson", "yaml", "csv", "csv-safe", "tsv", "plain")


class QuietOptions(Options):
    """How much is written to stderr."""

    panel = "Connection"
    folded = EVERY

    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors on stderr.")] = False
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Print more on stderr.")] = False


class ConnectionOptions(QuietOptions):
    """Which cluster, and how it is reached."""

    panel = "Connection"
    folded = EVERY

    bootstrap: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--bootstrap-server",
            "--bootstrap-servers",
            "--brokers",
            metavar="HOST:PORT,…",
            help="Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.",
        ),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="A cluster in config.toml or .kcli.toml. Default: KCLI_PROFILE, else default_profile.",
        ),
    ] = None
    properties: Annotated[
        list[str],
        KcliOption(
            "-X",
            "--property",
            metavar="KEY=VALUE",
            help="A Kafka or librdkafka property, such as linger.ms=50. Repeatable.",
            also=("--command-property", "--consumer-property", "--producer-property"),
        ),
    ]
    config_file: Annotated[
        str | None,
        KcliOption(
            "-F",
            "--command-config",
            metavar="FILE",
            help="A .properties file.",
            also=("--consumer.config", "--producer.config"),
        ),
    ] = None
    broker_map: Annotated[
        list[str],
        typer.Option(
            "--broker-map",
            metavar="FROM=TO",
            help="Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.",
        ),
    ]
    confirm: Annotated[
        str | None, typer.Option("--confirm", metavar="PROFILE", help="Allow changes in this protected profile.")
    ] = None
    trace: Annotated[bool, typer.Option("--trace", help="Print a line on stderr for each frame on the wire.")] = False
    trace_file: Annotated[
        str | None, typer.Option("--trace-file", metavar="FILE", help="Append the lines of --trace to FILE.")
    ] = None


class ControllerOptions(Options):
    """Whether controllers are asked instead of brokers."""

    panel = "Connection"

    bootstrap_controller: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-controller",
            metavar="HOST:PORT,…",
            help="Query the KRaft controllers at this address instead of brokers (Kafka 3.7 and newer).",
        ),
    ] = None


class PatternOptions(Options):
    """Whether names may be patterns."""

    panel = "Names"
    folded = EVERY

    literal: Annotated[
        bool,
        typer.Option(
            "--literal",
            help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a "
            "pattern.",
        ),
    ] = False


class NamedTopics(Options):
    """Topics as Kafka's own scripts name them."""

    panel = "Names"
    folded = EVERY

    named_topics: Annotated[
        list[str],
        KcliOption(
            "-t", "--topic", metavar="TOPIC", help="The topic, instead of an argument.", also=("--topics",), names=True
        ),
    ]


class NamedGroups(Options):
    """Groups as Kafka's own scripts name them."""

    panel = "Names"
    folded = EVERY

    named_groups: Annotated[
        list[str],
        KcliOption(
            "-g", "--group", metavar="GROUP", help="The group, instead of an argument.", also=("--groups",), names=True
        ),
    ]


class EveryGroup(Options):
    """All groups, as Kafka's own script names them."""

    every_group: Annotated[
        bool, KcliOption("--all-groups", metavar="*", help="All groups, as the pattern '*'.", hidden=True, names=True)
    ] = False


class ZoneOptions(Options):
    """In which zone times are printed, and read that name none."""

    panel = "Output"
    folded = EVERY

    local: Annotated[
        bool, typer.Option("--local", help="Print times in this machine's zone, with its offset (default: UTC).")
    ] = False
    utc: Annotated[bool, typer.Option("--utc", help="Read times without a zone as UTC (default: as local time).")] = (
        False
    )


class TableOptions(ZoneOptions):
    """How tables are drawn."""

    panel = "Output"
    folded = EVERY

    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns, uncut, with exact numbers, on a terminal too.")
    ] = False
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Print no titles in tables, CSV and TSV.")] = False


class FormatOptions(TableOptions):
    """How rows are printed."""

    panel = "Output"

    format: Annotated[
        str | None,
        KcliOption(
            "--format", choices=FORMATS, help="table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain."
        ),
    ] = None
    json: Annotated[bool, typer.Option("-J", "--json", help="Short for --format json.")] = False


class RowOptions(FormatOptions):
    """Which rows and columns are printed."""

    panel = "Output"
    folded = EVERY

    columns: Annotated[
        str | None, typer.Option("--columns", metavar="COLUMN,…", help="Print only these columns, in this order.")
    ] = None
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="COLUMN",
            help="Sort by a column: amounts and times largest first, others smallest first. COLUMN:asc or :desc sets "
            "the order.",
        ),
    ] = None
    top: Annotated[int | None, typer.Option("--top", min=1, help="Print only the first N rows.")] = None


class OutputOptions(FormatOptions, ConnectionOptions):
    """What a command that prints rows about a cluster has."""


class RefreshOptions(Options):
    """Whether rows are printed once, or refreshed."""

    panel = "Watch"
    folded = EVERY

    watch: Annotated[bool, typer.Option("-w", "--watch", help="Refresh until Ctrl-C; on a terminal in place.")] = False
    interval: Annotated[
        str | None, typer.Option("--interval", metavar="DURATION", help="Refresh interval of --watch (default 5s).")
    ] = None
    refreshes: Annotated[int | None, typer.Option("--refreshes", min=1, help="Stop after N refreshes of --watch.")] = (
        None
    )


class ReadOptions(RowOptions, RefreshOptions, OutputOptions):
    """What a command has that lists or describes."""


class PlanOptions(FormatOptions, QuietOptions):
    """What a command has that shows its plan first."""

    panel = "Plan"
    folded = these("expect")

    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Apply the plan. Without it the plan is only shown (and confirmed on a terminal)."
        ),
    ] = False
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Answer yes to the confirmation on a terminal.")] = False
    expect: Annotated[
        int | None, typer.Option("--expect", min=1, help="With a pattern: apply the plan only if N names match.")
    ] = None
    dry_run: DryRun = False

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

    applied: Annotated[
        bool, typer.Option("--execute", "-y", "--yes", help="Apply the plan (the default).", hidden=True)
    ] = False

    def check_dry_run(self, dry_run: bool) -> None:
        """Raises UsageError where the plan is both applied and only shown."""
        if self.applied and dry_run:
            from kcli.errors import UsageError

            raise UsageError("--execute and --dry-run cannot be combined")


class ChangeOptions(PlanOptions, OutputOptions):
    """What a command has that shows its plan, asks, and changes a cluster."""


def _no_change() -> ChangeToUndo | None:
    return None


class OverwriteOptions(Options):
    """The option of a command that writes a file by its name."""

    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False


class UndoOptions(ChangeOptions):
    """The options of a command whose change can be undone."""

    panel = "Plan"
    folded = EVERY

    undo_file: Annotated[
        str | None,
        typer.Option(
            "--undo-file", metavar="FILE", help="Also write the previous state to this file, for `kcli undo FILE`."
        ),
    ] = None
    no_undo: Annotated[bool, typer.Option("--no-undo", help="Do not save the previous state for `kcli undo`.")] = False
    needs_undo = True
    """Whether the change is not made where what undoes it cannot be kept, and the command says how to undo it."""
    undoes = _no_change()
    """The change that `kcli undo` undoes with these options."""

    @property
    def keeps_undo(self) -> bool:
        return not self.no_undo


class WaitOptions(Options):
    """Whether a command waits until every broker knows of its change."""

    wait: Annotated[bool, typer.Option("--wait", help="Wait until every broker has the change (default).")] = False
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait until every broker has the change.")] = False
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            help="Wait up to this long until every broker has the change (default: 30s), else exit 4.",
        ),
    ] = None

    @property
    def patience(self) -> float | None:
        """How many seconds to wait; None where the command does not."""
        from kcli.grammar.durations import seconds

        patience = seconds(self.timeout, "--timeout", 30.0)
        return None if self.no_wait else patience


DECODED_FORMATS = (*SINGLE, *WHOLE)
"""Formats in which consume, tail and count decode keys and values, as by a schema."""


class TimeFieldOptions(Options):
    """Times that are inside of values."""

    panel = "Times in values"
    folded = EVERY

    time_field: Annotated[
        str | None,
        typer.Option(
            "--time-field",
            metavar="NAME",
            help="Use the time in this field of the value, such as ts or event.ts, instead of the record's timestamp.",
        ),
    ] = None
    jitter: Annotated[
        str | None,
        typer.Option(
            "--jitter", metavar="DURATION", help="How much the times may decrease from record to record (default 1m)."
        ),
    ] = None
    value_format: ValueFormat = None
