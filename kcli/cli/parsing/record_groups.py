"""Options that commands about records share: where to read, which records, how they are printed, where to write.

The commands of the hot path (consume, tail, count, produce) declare theirs with these classes: nothing here imports
what they do not have anyway.
"""

from __future__ import annotations

from kcli.cli.parsing.groups import DECODED_FORMATS, ConnectionOptions, ZoneOptions
from kcli.cli.parsing.option import EVERY, Options, these

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.parsing.shared import KcliOption, ValueFormat


class TopicOptions(Options):
    """The topics, beside those that are arguments."""

    panel = "Names"
    folded = EVERY

    topics: Annotated[
        list[str],
        KcliOption("-t", "--topic", metavar="TOPIC", help="The topic, instead of an argument.", also=("--topics",)),
    ]


class SelectionOptions(ConnectionOptions):
    """Which cluster, partitions and offsets are read, and how much of open transactions."""

    folded = these("isolation")

    partitions: Annotated[
        str | None, typer.Option("-p", "--partition", metavar="N,N-N", help="Only these partitions, such as 0,3-5.")
    ] = None
    offset: Annotated[
        list[str],
        typer.Option("-o", "--offset", metavar="OFFSET", help="Start, or START:STOP: 5, -10, 5:9, @-1h, end."),
    ]
    isolation: Annotated[
        Literal["read_uncommitted", "read_committed"] | None,
        KcliOption("--isolation", help="Default: read_committed.", also=("--isolation-level",)),
    ] = None


class OrderedOptions(Options):
    """How far a range of timestamps is read."""

    folded = EVERY

    ordered: Annotated[
        bool,
        typer.Option(
            "--ordered", help="Assume that timestamps ascend in each partition: stop at the first one past the range."
        ),
    ] = False


class TimeOptions(Options):
    """Between which times records are read."""

    start: Annotated[
        str | None, typer.Option("--start", metavar="TIME", help="Records from here on: 09:00, -1h, today, earliest.")
    ] = None
    end: Annotated[str | None, typer.Option("--end", metavar="TIME", help="Only records before this time.")] = None


class FilterOptions(Options):
    """Which records are filtered out."""

    panel = "Filters"
    folded = these("key_grep", "value_format", "skip_corrupt")

    grep: Annotated[
        list[str],
        typer.Option(
            "--grep", metavar="RE", help="Only records whose value matches this regular expression. Repeatable."
        ),
    ]
    only_keys: Annotated[
        list[str],
        KcliOption("--key", metavar="KEY", help="Only records with this key. Repeatable (any matches).", empty=True),
    ]
    key_grep: Annotated[
        list[str],
        typer.Option("--key-grep", metavar="RE", help="Only records whose key matches this regular expression."),
    ]
    only_headers: Annotated[
        list[str], typer.Option("--header", metavar="NAME[=VALUE]", help="Only records with this header. Repeatable.")
    ]
    where: Annotated[
        list[str],
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only records that meet this condition, such as 'value.user.id == 42'.",
        ),
    ]
    value_format: ValueFormat = None
    skip_corrupt: Annotated[
        bool,
        typer.Option("--skip-corrupt", help="Skip corrupt batches and report them (default: exit 1 at the first)."),
    ] = False


class SchemaOptions(Options):
    """How keys and values are decoded by the schemas of a registry."""

    panel = "Schemas"
    folded = EVERY

    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry", metavar="URL", help="Decode keys and values by the schemas of this registry."
        ),
    ] = None
    value_schema: Annotated[
        str | None,
        typer.Option(
            "--value-schema",
            metavar="SPEC",
            help="The schema of values: file:PATH, id:N, SUBJECT[@VERSION], topic[@VERSION]; for Protobuf, add "
            "#MESSAGE.",
        ),
    ] = None
    key_schema: Annotated[
        str | None, typer.Option("--key-schema", metavar="SPEC", help="The schema of keys, in the same forms.")
    ] = None
    value_subject: Annotated[
        str | None,
        typer.Option(
            "--value-subject",
            metavar="SUBJECT",
            help="The subject of values: topic (default), record, topic-record, associated, or a name.",
            hidden=True,
        ),
    ] = None
    key_subject: Annotated[
        str | None,
        typer.Option("--key-subject", metavar="SUBJECT", help="The subject of keys, in the same words.", hidden=True),
    ] = None
    key_format: Annotated[
        str | None,
        KcliOption(
            "--key-format",
            choices=DECODED_FORMATS,
            help="Decode keys of this format, as --value-format does values.",
            hidden=True,
        ),
    ] = None
    no_schema_cache: Annotated[
        bool, typer.Option("--no-schema-cache", help="Neither use nor keep schemas in the cache folder.", hidden=True)
    ] = False
    raw_value: Annotated[
        bool, typer.Option("--raw-value", help="Do not decode, even if the profile names a registry.")
    ] = False
    without_rules: Annotated[bool, typer.Option("--without-rules", help="Skip the schema's rules for reading.")] = False
    logical: Annotated[
        Literal["text", "raw"] | None,
        typer.Option("--logical", help="Dates, times and decimals as text (default), or as stored."),
    ] = None
    avro_json: Annotated[
        bool, typer.Option("--avro-json", help="Avro's own JSON: unions name their branch, bytes are strings.")
    ] = False
    proto_names: Annotated[
        Literal["file", "json"] | None,
        typer.Option("--proto-names", help="Protobuf field names as in the file (default), or in lowerCamelCase."),
    ] = None
    validate: Annotated[bool, typer.Option("--validate", help="Check values against their JSON schema.")] = False
    fail_on_invalid: Annotated[
        bool,
        typer.Option(
            "--fail-on-invalid", help="Like --validate, and exit 1 if a value does not match its JSON schema."
        ),
    ] = False
    fail_on_undecoded: Annotated[
        bool, typer.Option("--fail-on-undecoded", help="Exit 1 if a key or value could not be decoded.")
    ] = False


class DelimiterOptions(Options):
    """What parts records, and keys from values, in a text that is read or printed."""

    panel = "Text"
    folded = EVERY

    delimiter: Annotated[
        str | None,
        typer.Option("-D", metavar="DELIM", help=r"Delimiter after records: \n (default), \0, \t, \xNN, or text."),
    ] = None
    key_delimiter: Annotated[
        str | None, typer.Option("-K", metavar="DELIM", help="Delimiter between key and value.")
    ] = None
    nulls: Annotated[bool, typer.Option("-Z", "--null", help="Send empty as null; print null as NULL.")] = False


PRINTED = ("auto", "msgpack")
"""The values of --value-format that also say how a value is printed."""


class MorePrintOptions(Options):
    """How records are printed, in rarer cases."""

    panel = "Output"
    folded = EVERY

    meta: Annotated[
        bool,
        typer.Option("--meta", help="Print time, topic, partition, offset and key before each value, between tabs."),
    ] = False
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        typer.Option("--color", help="Colours of --pretty (default: on a terminal)."),
    ] = None
    unbuffered: Annotated[bool, typer.Option("-u", help="Flush after every record.")] = False
    value_format: ValueFormat = None
    raw: Annotated[bool, typer.Option("--raw", help="Do not escape control bytes on a terminal.")] = False


class PrintOptions(MorePrintOptions, DelimiterOptions, ZoneOptions):
    """How records are printed."""

    panel = "Output"

    pretty: Annotated[bool, typer.Option("--pretty", help="Print for reading: time, key and JSON in colour.")] = False
    template: Annotated[
        str | None, typer.Option("-f", metavar="FORMAT", help="A template: %k %s %p %o %T{iso} and more.")
    ] = None
    json: Annotated[
        bool, KcliOption("-J", "--json", help="A line of JSON for each record, decoded.", also=("--decoded",))
    ] = False
    envelope: Annotated[bool, typer.Option("--envelope", help="Byte-exact JSON, for produce --input envelope.")] = False

    @property
    def as_json(self) -> bool:
        """Whether a line of JSON is printed for each record."""
        return bool(self.json or self.envelope)


class TargetOptions(Options):
    """Another cluster to write to."""

    panel = "Destination"

    to_profile: Annotated[
        str | None, typer.Option("--to-profile", metavar="NAME", help="Profile of DST's cluster.")
    ] = None
    to_bootstrap: Annotated[
        str | None,
        typer.Option(
            "--to-bootstrap", "--to-bootstrap-server", metavar="HOST:PORT,…", help="Address of DST's cluster."
        ),
    ] = None
    to_properties: Annotated[
        list[str],
        typer.Option(
            "--to-X",
            "--to-property",
            metavar="KEY=VALUE",
            help="A property for DST's cluster and producer. Repeatable.",
        ),
    ]
