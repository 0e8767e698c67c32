"""The time zone of times without a zone, typed or printed, as set by --local and --utc for a command line."""

from __future__ import annotations

from kcli.values import Value


class Zone(Value):
    """A time typed without a zone is local or UTC; printed times are in UTC or local."""

    typed_utc: bool = False
    printed_local: bool = False

    def set(self, *, local: bool, utc: bool) -> None:
        """Set the options of a command line; by default neither is given."""
        self.typed_utc, self.printed_local = utc, local


zone = Zone()
"""The zone of the running command."""
