"""What a line of `kcli lag` over time asks for, checked before the cluster is asked anything."""

from __future__ import annotations

from kcli.cli.commands.lag.rows import SHAPES
from kcli.cli.output.written import check
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.refresh import interval_of
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError
from kcli.grammar.durations import seconds
from kcli.lag.assertion import LagAssertion
from kcli.lag.history import History
from kcli.text.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.lag.options import LagOptions


class Plan:
    """What a command line asks for. Raises UsageError."""

    def __init__(self, options: LagOptions) -> None:
        words = options.words
        self.options = options
        self.record = words[:1] == ["record"]
        self.groups = Names(words[1:] if self.record else words, literal=options.literal)
        self.topics = Names(options.topics, literal=options.literal)
        self.replay = options.replay
        self.prometheus = _address(options.prometheus)
        self.watch = options.watch or self.record or self.prometheus is not None or self.replay is not None
        self.level = options.level(self.groups.words)
        self.interval = interval_of(options)
        self.window = seconds(options.window, "--window", 60.0, 1)
        self.looks = options.refreshes
        self.hold = seconds(options.hold, "--for", 0.0)
        self.timeout = seconds(options.timeout, "--timeout", None)
        most = seconds(options.max_time, "--max-time", None)
        self.assertion = None
        if options.max_lag is not None or most is not None:
            if self.record or self.prometheus is not None:
                what = "record only stores" if self.record else "--prometheus only serves"
                raise UsageError(f"{what} the data; use --max-lag and --max-time without it")
            self.assertion = LagAssertion(options.max_lag, most, self.hold, groups=self.groups.exact)
        elif self.hold or self.timeout is not None:
            raise UsageError("--for and --timeout need an assertion: --max-lag or --max-time")
        self.exact = most is not None or options.exact
        if options.exact and not self.watch and self.assertion is None and self.looks is None:
            self.looks = 1  # by itself it says how, not how often
        self.format = format_of(options)
        self.view = view_of(options, SHAPES[self.level], self.format)
        if self.record and self.replay:
            raise UsageError("record reads the cluster and --replay a file; use only one")
        self.html = page_path(options, asserted=self.assertion is not None)
        if self.prometheus is not None and self.replay:
            raise UsageError("--prometheus reads the cluster and --replay a file; use only one")

    def history(self) -> History:
        return History(window=self.window, threshold=self.options.max_lag or 0)


def page_path(options: LagOptions, *, asserted: bool) -> str | None:
    """The file of --html. Raises UsageError where it is no use."""
    path = options.html
    if path is None:
        return None
    if not options.replay:
        raise UsageError(
            f"--html writes a recording: kcli lag record --refreshes 60 | kcli lag --replay - --html {path}"
        )
    if asserted:
        raise UsageError("--html and --max-lag cannot be combined")
    check(path, "--html", force=options.force)
    return path


def _address(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    from kcli.metrics.server import address

    return address(text)
