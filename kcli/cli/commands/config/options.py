"""Options that several commands of `kcli config` have."""

from __future__ import annotations

from kcli.cli.parsing.groups import QuietOptions


class RemarkOptions(QuietOptions):
    """Whether remarks are printed."""

    verbose = False  # there is nothing to report
