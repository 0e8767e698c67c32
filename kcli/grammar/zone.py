"""The zone of times that name none, and of times that are printed: what --local and --utc say of one command line."""

from __future__ import annotations

from kcli.values import Value


class Zone(Value):
    """A time that is typed without a zone is one of this machine, or of UTC; a time that is printed is in UTC, or in
    this machine's zone."""

    typed_utc: bool = False
    printed_local: bool = False

    def set(self, *, local: bool, utc: bool) -> None:
        """What a command line says; neither is the default."""
        self.typed_utc, self.printed_local = utc, local


zone = Zone()
"""That of the command that runs."""
