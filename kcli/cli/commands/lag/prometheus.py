"""`kcli lag --prometheus :9308`: the newest snapshot over HTTP, for Prometheus to fetch."""

from __future__ import annotations

from kcli.cli.commands.lag.report import complain_of
from kcli.cli.output.messages import complain
from kcli.cli.output.refreshes import News
from kcli.lag.formats.prometheus import failed, nothing, render
from kcli.metrics.server import listening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kcli.cli.commands.lag.plan import Plan
    from kcli.cli.runtime.signals import Stop
    from kcli.lag.watch import LagSnapshot


async def serve(plan: Plan, stop: Stop, snapshots: Callable[[Callable[[], None]], AsyncIterator[LagSnapshot]]) -> int:
    """Refresh and serve until stopped; `snapshots` calls its argument for each refresh that fails. Raises UsageError
    for an address that cannot be listened on."""
    page = {"text": ""}
    since, news = 0.0, News()

    def lost() -> None:
        page["text"] = failed(since)

    assert plan.prometheus is not None
    async with listening(*plan.prometheus, lambda: page["text"]) as url:
        complain(f"metrics at {url}")
        async for snapshot in snapshots(lost):
            complain_of(plan, snapshot, news)
            if nothing(snapshot):
                lost()
                continue
            since = snapshot.time
            page["text"] = render(snapshot)
    return 0
