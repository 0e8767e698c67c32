"""`kcli raw`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION, FORMAT, JSON, VERBOSE

RAW = Command(
    name="raw",
    run="kcli.cli.commands.raw.command:run",
    help="Any request as JSON, in any version; what there is of APIs.",
    description="""Send any request of Kafka's protocol and print the answer as JSON. The API is named by name or key.
The body is JSON in the field names of Kafka's schemas (or ours): an argument, @FILE, or - for
stdin; fields that are not given take the schema's defaults, bytes are base64. A profile's guard
holds here too: read_only sends nothing that changes anything.

Error codes in the answer are said by name on stderr, and make the exit code 1.

\b
Examples:
  kcli raw --list                                  # the APIs, with our versions and the broker's
  kcli raw --describe Metadata -v 12               # fields, types, defaults
  kcli raw Metadata '{"topics": [{"name": "orders"}]}'
  kcli raw 60 --broker 2 -v 0 --explain
  kcli raw DescribeGroups '{"groups": ["billing"]}' --broker group:billing
  kcli raw DeleteTopics @delete.json --broker controller --dry-run
  kcli raw ListOffsets - --broker leader:orders:0 --hex < body.json""",
    words="API [BODY]",
    options=(
        Option(
            name="api_version",
            flags=("-v", "--api-version"),
            kind="int",
            least=0,
            metavar="N",
            help="The version. Default: the highest that both sides speak.",
        ),
        Option(
            name="broker",
            flags=("--broker",),
            metavar="WHICH",
            help="Whom to ask: any (default), controller, ID, group:NAME or txn:ID (its coordinator), leader:TOPIC:N.",
        ),
        Option(name="list", flags=("--list",), kind="flag", help="Print the APIs: our versions, and the broker's."),
        Option(
            name="describe", flags=("--describe",), kind="flag", help="Print the fields of an API, request and answer."
        ),
        Option(name="hex", flags=("--hex",), kind="flag", help="Show the bytes of both frames on stderr."),
        Option(name="explain", flags=("--explain",), kind="flag", help="Put the name of each error code beside it."),
        Option(name="dry_run", flags=("--dry-run",), kind="flag", help="Print the whole request, and send nothing."),
        FORMAT,
        JSON,
        *(one for one in CONNECTION if one is not VERBOSE),
    ),
)
