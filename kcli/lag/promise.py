"""An assertion over time: no group is further behind than so many offsets or seconds, and stays so for so long.

Pure: fed with looks, it says whether it holds, is broken, or is not decided yet.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.lag.watch import Look


class Promise:
    """`max_lag` in offsets, `max_time` in seconds, None for none of it; it has to hold for `hold` seconds."""

    def __init__(self, max_lag: int | None, max_time: float | None, hold: float = 0.0) -> None:
        self.max_lag, self.max_time, self.hold = max_lag, max_time, hold
        self._since: float | None = None

    def broken(self, look: Look) -> list[str]:
        """Why it does not hold at this look, a sentence each; [] when it holds."""
        why = []
        for group in look.groups:
            name, lag = group.described.group, group.total.lag or 0
            unread = group.total.unread
            if self.max_lag is not None and lag > self.max_lag:
                why.append(f"{name} is {lag} behind, over {self.max_lag}")
            elif self.max_lag is not None and lag + unread > self.max_lag:
                why.append(f"{name} committed nothing where {unread} offsets are to be read, over {self.max_lag}")
            if self.max_time is None:
                continue
            if group.time_lag is not None and group.time_lag > self.max_time:
                most = "at least " if group.time_lag_least else ""
                why.append(f"{name} is {most}{group.time_lag:.0f} s behind, over {self.max_time:g} s")
            elif any(one.lag.lag and one.time_lag is None for one in group.partitions) or unread:
                why.append(f"{name}: how old its first unread record is cannot be told")
        return why

    def kept(self, look: Look) -> bool:
        """Whether it has held for long enough, this look included; a look at which it is broken starts anew."""
        if self.broken(look):
            self._since = None
            return False
        if self._since is None:
            self._since = look.time
        return look.time - self._since >= self.hold
