"""The options of `topics list` that name states of topics."""

from __future__ import annotations

from kcli.cli.parsing.option import Options, flag, span

UNUSED = "30d"


def unused(help: str) -> str | None:
    return span("--unused", alone=UNUSED, help=f"{help} (default {UNUSED}).")


class StateOptions(Options):
    """Which topics are listed by their state; with several, those in any of the states."""

    under_replicated = flag("--under-replicated", help="Only topics with fewer in-sync replicas than replicas.")
    unavailable = flag("--unavailable", help="Only topics with a partition that has no live leader.")
    at_min_isr = flag("--at-min-isr", help="Only topics with a partition that has exactly min.insync.replicas in sync.")
    under_min_isr = flag("--under-min-isr", help="Only topics with a partition that has fewer: it refuses acks=all.")
    unused = unused("Only topics that no group reads and that got no record for this long")
    never_written = flag("--never-written", help="Only topics that no group reads and that never had a record.")

    @property
    def named(self) -> list[str]:
        """The states, in words."""
        states = {
            "under-replicated": self.under_replicated,
            "unavailable": self.unavailable,
            "at min.insync.replicas": self.at_min_isr,
            "under min.insync.replicas": self.under_min_isr,
            "unused": self.unused is not None,
            "unread and never written to": self.never_written,
        }
        return [state for state, given in states.items() if given]
