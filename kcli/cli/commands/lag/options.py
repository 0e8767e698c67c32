"""The options of `kcli lag`."""

from __future__ import annotations

from kcli.cli.parsing.groups import NamedGroups, OverwriteOptions, PatternOptions, ReadOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.parsing.shared import GroupStates, LagIsolation


class LagOptions(NamedGroups, PatternOptions, ReadOptions, OverwriteOptions):
    moved = (("-p", "--by partition"), ("--partitions", "--by partition"))
    by: Annotated[
        Literal["group", "topic", "partition"] | None,
        typer.Option("--by", help="A row per group (default for all groups), topic (for named ones) or partition."),
    ] = None
    topics: Annotated[list[str], typer.Option("-t", "--topic", metavar="TOPIC", help="Only this topic. Repeatable.")]
    states: GroupStates
    max_lag: Annotated[
        int | None,
        typer.Option(
            "--max-lag",
            min=0,
            help="Exit with 3 when a group is more than N offsets behind; with --records, N records.",
        ),
    ] = None
    max_time: Annotated[
        str | None,
        typer.Option(
            "--max-time",
            metavar="DURATION",
            help="Exit with 3 when the first unread record of a group is older than this, such as 5m.",
        ),
    ] = None
    hold: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="The assertion must hold for this long.")
    ] = None
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            help="Wait up to this long until the assertion holds (default: no wait), else exit 4.",
        ),
    ] = None
    watch: Annotated[bool, typer.Option("-w", "--watch", help="Refresh continuously: rates, ETA, time lag.")] = False
    window: Annotated[
        str | None, typer.Option("--window", metavar="DURATION", help="Time window of the rates (default 60s).")
    ] = None
    exact: Annotated[
        bool, typer.Option("--exact", help="Measure the time lag of every partition by the record's own timestamp.")
    ] = False
    internal: Annotated[
        bool, typer.Option("--internal", help="Include the groups in which kcli copy and redrive keep their progress.")
    ] = False
    records: Annotated[bool, typer.Option("--records", help="Count the records behind, by reading them.")] = False
    replay: Annotated[
        str | None,
        typer.Option("--replay", metavar="FILE", help="Read a recording instead of the cluster (- is stdin)."),
    ] = None
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="With --replay: write one web page that replays the recording."),
    ] = None
    prometheus: Annotated[
        str | None,
        typer.Option("--prometheus", metavar="[HOST]:PORT", help="Serve /metrics; without HOST, on this machine only."),
    ] = None
    isolation: LagIsolation = None

    @property
    def isolation_level(self) -> str:
        return self.isolation or "read_uncommitted"

    def level(self, groups: list[str]) -> str:
        """What a row is about: group, topic or partition."""
        return self.by or ("topic" if groups else "group")

    @property
    def silent(self) -> bool:
        """Whether only the exit code is wanted, and no table."""
        return self.quiet and not (self.watch or self.json or self.format)

    @property
    def over_time(self) -> bool:
        """Whether one snapshot does not answer it."""
        given = (self.max_time, self.hold, self.timeout, self.prometheus, self.replay, self.html, self.refreshes)
        asked = any(option is not None for option in given)
        return asked or self.watch or self.exact or self.words[:1] == ["record"]
