"""The options of `topics list` that name states of topics."""

from __future__ import annotations

from kcli.cli.parsing.option import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption


class StateOptions(Options):
    """Which topics are listed by their state; with several, those in any of the states."""

    under_replicated: Annotated[
        bool, typer.Option("--under-replicated", help="Only topics with fewer in-sync replicas than replicas.")
    ] = False
    unavailable: Annotated[
        bool, typer.Option("--unavailable", help="Only topics with a partition that has no live leader.")
    ] = False
    at_min_isr: Annotated[
        bool,
        typer.Option("--at-min-isr", help="Only topics with a partition that has exactly min.insync.replicas in sync."),
    ] = False
    under_min_isr: Annotated[
        bool, typer.Option("--under-min-isr", help="Only topics with a partition that has fewer: it refuses acks=all.")
    ] = False
    unused: Annotated[
        str | None,
        KcliOption(
            "--unused",
            metavar="DURATION",
            help="Only topics that no group reads and that got no record for this long (default 30d).",
            alone="30d",
        ),
    ] = None
    never_written: Annotated[
        bool, typer.Option("--never-written", help="Only topics that no group reads and that never had a record.")
    ] = False

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
