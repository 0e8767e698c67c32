"""What annotations of options are made of beside Typer's own: `KcliOption`, and options that several commands share.

Commands import this for type checking only: it imports Typer.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from typer.models import OptionInfo

from kcli.cli.parsing.groups import DECODED_FORMATS
from kcli.value_formats import PLAIN


class KcliOption(OptionInfo):
    """What Typer's option cannot say: `also` are spellings of other tools, which the help hides; `choices` are the
    values where a tuple has them; the values of `names` are arguments (`topics describe -t orders` is `topics describe
    orders`); `alone` is the value where a line names the option without one; only an option that may be `empty` takes
    an empty value."""

    def __init__(
        self,
        *flags: str,
        also: tuple[str, ...] = (),
        choices: tuple[str, ...] = (),
        names: bool = False,
        alone: str = "",
        empty: bool = False,
        **of_typer: Any,
    ) -> None:
        super().__init__(param_decls=flags, **of_typer)
        self.also, self.choices, self.names, self.alone, self.empty = also, choices, names, alone, empty


ScopeTopics = Annotated[
    list[str],
    typer.Option(
        "-t",
        "--topic",
        metavar="TOPIC[:0,1]",
        help="A topic, all its partitions or those named: orders, orders:0,1, orders:0-5. Repeatable.",
    ),
]

PipelineName = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Name of this pipeline. Default: its source and its sink.")
]

QuotaUser = Annotated[
    str | None, typer.Option("--user", metavar="USER", help="For this user, as the broker names the principal.")
]

QuotaClient = Annotated[
    str | None, typer.Option("--client-id", "--client", metavar="CLIENT", help="For this client.id.")
]

QuotaIp = Annotated[str | None, typer.Option("--ip", metavar="ADDRESS", help="For connections from this address.")]

KeptIds = Annotated[
    Literal["keep", "new"] | None,
    typer.Option(
        "--ids", help="keep (default): the ids of the source, with the mode IMPORT. new: ids that the registry assigns."
    ),
]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show the plan.")]

ValueFormat = Annotated[
    str | None,
    KcliOption(
        "--value-format",
        choices=("auto", *PLAIN, *DECODED_FORMATS),
        help="How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2. "
        "Numbers, cbor and the formats after it are printed as JSON.",
    ),
]

Internal = Annotated[bool, typer.Option("--internal", help="Include Kafka's internal topics.")]

IfExists = Annotated[bool, typer.Option("--if-exists", help="Do not fail if it does not exist.")]

LagIsolation = Annotated[
    Literal["read_uncommitted", "read_committed"] | None,
    KcliOption(
        "--isolation",
        help="Measure lag to the high watermark (default) or the last stable offset.",
        also=("--isolation-level",),
    ),
]

GroupStates = Annotated[
    list[str], typer.Option("--state", metavar="STATE", help="Only groups in this state: Stable, Empty, …")
]

RecordLimit = Annotated[
    int | None, typer.Option("-n", "-c", "--count", "--max-messages", min=0, help="Stop after N records.")
]

Repartition = Annotated[bool, typer.Option("--repartition", help="Choose new partitions, by key.")]

Compression = Annotated[
    str | None,
    KcliOption(
        "-z",
        "--compression",
        metavar="CODEC[:LEVEL]",
        help="none, gzip, snappy, lz4 or zstd.",
        also=("--compression-codec",),
    ),
]
"""The codec of records that are sent, with its level."""
