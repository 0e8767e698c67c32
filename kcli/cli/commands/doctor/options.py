"""`kcli doctor`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import OUTPUT

DOCTOR = Command(
    name="doctor",
    run="kcli.cli.commands.doctor.command:run",
    help="Why can't I connect: every step to every broker, and what mends it.",
    description="""Go the whole way to the cluster step by step: the configuration, DNS, TCP, TLS, ApiVersions, SASL,
metadata, every address that the brokers advertise, and what you may do there. A step that fails says what is wrong and
what mends it.

\b
Exit codes: 0 all is well, 1 something behind a connection (rights, a topic,
a broker too old), 2 the configuration, 5 a connection.

\b
Examples:
  kcli doctor -b kafka-1:9092
  kcli doctor --profile prod -t orders -g billing      # what I may do with them
  kcli doctor --profile prod -J | jq '.steps[] | select(.status == "failed")'""",
    options=(
        *OUTPUT,
        Option(
            name="topics",
            flags=("-t", "--topic"),
            multiple=True,
            metavar="TOPIC",
            help="Whether it may be read or written. Repeatable.",
        ),
        Option(
            name="groups",
            flags=("-g", "--group"),
            multiple=True,
            metavar="GROUP",
            help="Whether the group may be used. Repeatable.",
        ),
        Option(
            name="timeout_ms",
            flags=("--timeout-ms",),
            kind="int",
            least=1,
            metavar="MS",
            help="How long each step may take (default 5000).",
        ),
    ),
)
