"""Options that several administration commands have."""

from __future__ import annotations

from kcli.cli.parsing.groups import FORMATS, ConnectionOptions
from kcli.cli.parsing.option import Option

CONNECTION = ConnectionOptions.declared
QUIET, VERBOSE = CONNECTION[-2:]

FORMAT = Option(
    name="format",
    flags=("--format",),
    choices=FORMATS,
    help="Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.",
)
JSON = Option(name="json", flags=("-J", "--json"), kind="flag", help="Short for --format json.")
OUTPUT = (FORMAT, JSON, *CONNECTION)

INTERNAL = Option(name="internal", flags=("--internal",), kind="flag", help="Kafka's own topics too.")
EXECUTE = Option(
    name="execute",
    flags=("--execute",),
    kind="flag",
    help="Do it. Without, the plan is shown, and on a terminal you are asked.",
)
DRY_RUN = Option(name="dry_run", flags=("--dry-run",), kind="flag", help="Only show what would be done.")
NO_WAIT = Option(name="no_wait", flags=("--no-wait",), kind="flag", help="Do not wait until every broker knows.")
STATE = Option(
    name="states",
    flags=("--state",),
    multiple=True,
    metavar="STATE",
    help="Only groups in this state: Stable, Empty, …",
)
