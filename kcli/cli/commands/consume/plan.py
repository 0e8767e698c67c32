"""What a command line of `kcli consume` says: its options, and what they mean without a share group."""

from __future__ import annotations

from kcli.cli.commands.consume.selection import EARLIEST, LATEST, Selection, named_topics
from kcli.cli.output.messages import complain
from kcli.cli.parsing.groups import ConnectionOptions, PatternOptions, TimeFieldOptions
from kcli.cli.parsing.option import these
from kcli.cli.parsing.record_groups import (
    FilterOptions,
    OrderedOptions,
    PrintOptions,
    SchemaOptions,
    SelectionOptions,
    TimeOptions,
    TopicOptions,
)
from kcli.errors import UsageError
from kcli.settings import GroupSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.parsing.shared import RecordLimit
    from kcli.grammar.bound import Bound


class ConsumeOptions(
    TopicOptions,
    PatternOptions,
    SelectionOptions,
    TimeOptions,
    OrderedOptions,
    TimeFieldOptions,
    FilterOptions,
    SchemaOptions,
    PrintOptions,
    ConnectionOptions,
):
    folded = these("beginning", "per_partition", "order", "share_group", "share_ack", "timeout", "control")

    beginning: Annotated[bool, typer.Option("--from-beginning", help="The same as -o beginning.")] = False
    exit_at_end: Annotated[bool, typer.Option("-e", "--exit", help="Stop at the end seen when reading began.")] = False
    count: RecordLimit = None
    per_partition: Annotated[
        int | None, typer.Option("--per-partition", min=1, help="Stop after N records of each partition.")
    ] = None
    order: Annotated[
        Literal["offset", "time"] | None, typer.Option("--order", help="Merge by time, or one partition after another.")
    ] = None
    newest_first: Annotated[
        bool, typer.Option("--newest-first", help="With -n N: the last N by time, newest first.")
    ] = False
    fail_if_none: Annotated[bool, typer.Option("--fail-if-none", help="Exit 3 if no record matched.")] = False
    group: Annotated[str | None, typer.Option("-g", "--group", metavar="GROUP", help="Join this consumer group.")] = (
        None
    )
    share_group: Annotated[
        str | None, typer.Option("--share-group", metavar="GROUP", help="Join this share group (KIP-932).")
    ] = None
    share_ack: Annotated[
        Literal["accept", "release", "reject"] | None,
        typer.Option("--share-ack", help="How records are acknowledged (default accept)."),
    ] = None
    control: Annotated[bool, typer.Option("--print-control-records", help="Print transaction markers, too.")] = False
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DURATION", help="Exit 4 if no record arrives for this long.")
    ] = None
    timeout_ms: Annotated[
        int | None, typer.Option("--timeout-ms", metavar="MS", min=0, help="Kafka's --timeout, in ms.", hidden=True)
    ] = None

    @property
    def patience(self) -> float | None:
        """Seconds to wait for a record. Raises UsageError."""
        if self.timeout is None:
            return None if self.timeout_ms is None else self.timeout_ms / 1000
        from kcli.grammar.durations import seconds

        return seconds(self.timeout, "--timeout", None)


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: ConsumeOptions) -> None:
        topics, literal = named_topics(options), options.literal
        super().__init__(
            options, "consume", topics, times=options, field=options, filters=options, schemas=options, literal=literal
        )
        self.options = options
        self.print_decoded(options)
        if options.control:
            self.settings = self.settings.replace(include_control=True)
        self.limit: int = -1 if options.count is None else options.count
        self.to_end: bool = options.exit_at_end
        self.timeout = options.patience
        self.single: bool = options.unbuffered
        self.fail_if_none: bool = options.fail_if_none
        if options.beginning:
            if self.range.start is not None:
                raise UsageError("--from-beginning and -o both set where to start; use only one")
            self.range.start = EARLIEST
        self.group = self._group(options.group)
        self.order: str | None = options.order
        if self.order is not None and self.group is not None:
            raise UsageError(
                "--order reads all partitions at once, so it cannot be combined with --group, which "
                "assigns them to members"
            )
        self.per_partition: int | None = options.per_partition
        if self.per_partition is not None and (self.order is not None or self.group is not None):
            raise UsageError("--per-partition cannot be combined with --order or --group")
        if self.decoding is not None:
            part = self.limit >= 0 or self.per_partition is not None
            # --order drops what a filter could not see in one partition while another one reaches the limit
            self.decoding.waits = part and (self.order is None or self.keep is None)
        self.newest: bool = options.newest_first
        if self.newest:
            self._check_newest(options)
        if self.order == "offset" and self.end is None:
            raise UsageError("--order offset reads one partition after another, so it needs an end: add -e, or -o :END")

    def _check_newest(self, options: ConsumeOptions) -> None:
        """Raises UsageError for what does not go with --newest-first."""
        if self.limit < 0:
            raise UsageError("--newest-first reads backwards from the end: give the number of records with -n N")
        others = {
            "--group": self.group,
            "--order": self.order,
            "--per-partition": self.per_partition,
            "--timeout": self.timeout,
            "--print-control-records": options.control or None,
        }
        for name, given in others.items():
            if given is not None:
                raise UsageError(
                    f"--newest-first reads existing records from the end; {name} cannot be combined with it"
                )
        self.to_end = True

    def _group(self, name: str | None) -> GroupSettings | None:
        changes = self.connection.properties.member()
        if name is None and not changes.get("group"):
            if self.range.stored:
                raise UsageError("-o stored needs --group")
            return None
        if self.range.starts:
            raise UsageError("--group starts at its committed offsets; `kcli groups reset --to 0=5,1=7` moves them")
        if self.partitions is not None:
            raise UsageError("-p cannot be combined with --group, which assigns the partitions")
        start = self.range.start
        if self.payload is not None:
            raise UsageError("--group starts at its committed offsets; `kcli groups reset` moves them to a time")
        if self.range.stop is not None or (start is not None and start.kind not in ("earliest", "latest", "stored")):
            raise UsageError(
                "--group starts at its committed offsets; only -o beginning or -o end (used if there are "
                "none) are allowed"
            )
        if start is not None and start.kind != "stored":
            self.settings = self.settings.replace(reset=start.kind)
        if not changes.get("auto_commit", True) and not self.connection.quiet:
            complain(
                "enable.auto.commit=false has no effect: -g commits printed records; without -g nothing is committed"
            )
        return GroupSettings(**{**changes, "auto_commit": False}).replace(group=name or str(changes["group"]))

    @property
    def patience(self) -> float:
        """Seconds for looking something up: half of --timeout, so that time is left for reading."""
        return super().patience if self.timeout is None else min(super().patience, self.timeout / 2)

    @property
    def bounded(self) -> bool:
        return self.limit >= 0 or self.per_partition is not None or self.end is not None

    @property
    def end(self) -> Bound | None:
        """Where to stop; None is to follow. A range of payload times that ends is searched in the log as it is now."""
        ends = self.to_end or (self.payload is not None and self.payload.end is not None)
        return self.range.stop or (LATEST if ends else None)
