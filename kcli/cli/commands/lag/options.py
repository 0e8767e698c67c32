"""The options of `kcli lag`."""

from __future__ import annotations

from kcli.cli.parsing.groups import NamedGroups, PatternOptions, ReadOptions, isolation, states, timeout
from kcli.cli.parsing.option import choice, flag, integer, span, text, texts


class LagOptions(NamedGroups, PatternOptions, ReadOptions):
    moved = (("-p", "--by partition"), ("--partitions", "--by partition"))
    by = choice(
        "--by",
        of=("group", "topic", "partition"),
        help="A row per group (default for all groups), topic (for named ones) or partition.",
    )
    topics = texts("-t", "--topic", metavar="TOPIC", help="Only this topic. Repeatable.")
    states = states()
    max_lag = integer(
        "--max-lag", least=0, help="Exit with 3 when a group is more than N offsets behind; with --records, N records."
    )
    max_time = span("--max-time", help="Exit with 3 when the first unread record of a group is older, such as 5m.")
    hold = span("--for", help="The assertion must hold for this long.")
    timeout = timeout("the assertion holds (default: no wait)")
    watch = flag("-w", "--watch", help="Refresh continuously: rates, ETA, time lag.")
    window = span("--window", help="Time window of the rates (default 60s).")
    exact = flag("--exact", help="Time lag by the record's own timestamp, of every partition.")
    internal = flag("--internal", help="Also the groups in which kcli copy and redrive keep their progress.")
    records = flag("--records", help="Count the records behind, by reading them.")
    replay = text("--replay", metavar="FILE", help="Read a recording instead of the cluster (- is stdin).")
    html = text("--html", metavar="FILE", help="With --replay: write one web page that replays the recording.")
    prometheus = text("--prometheus", metavar="[HOST]:PORT", help="Serve /metrics; without HOST for this machine only.")
    isolation = isolation()

    @property
    def isolation_level(self) -> str:
        return self.isolation or "read_uncommitted"

    def level(self, groups: list[str]) -> str:
        """What a row is about: group, topic or partition."""
        return self.by or ("topic" if groups else "group")

    @property
    def over_time(self) -> bool:
        """Whether one snapshot does not answer it."""
        given = (self.max_time, self.hold, self.timeout, self.prometheus, self.replay, self.html, self.refreshes)
        asked = any(option is not None for option in given)
        return asked or self.watch or self.exact or self.words[:1] == ["record"]
