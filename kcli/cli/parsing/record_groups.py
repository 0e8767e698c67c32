"""Options that commands about records share: where to read, which records, how they are printed, where to write.

The commands of the hot path (consume, tail, count, produce) declare theirs with these classes: nothing here imports
what they do not have anyway.
"""

from __future__ import annotations

from kcli.cli.parsing.groups import DECODED_FORMATS, ConnectionOptions, ZoneOptions, value_format
from kcli.cli.parsing.option import EVERY, Options, choice, flag, integer, text, texts, these


def offset_range(help: str) -> list[str]:
    """The offsets, or times, between which records are read."""
    return texts("-o", "--offset", metavar="OFFSET", help=help)


def record_limit() -> int | None:
    return integer("-c", "-n", "--count", "--max-messages", least=0, help="Stop after N records.")


def repartition() -> bool:
    return flag("--repartition", help="Choose new partitions, by key.")


def compression(help: str = "none, gzip, snappy, lz4 or zstd.") -> str | None:
    """The codec of records that are sent, with its level."""
    return text("-z", "--compression", also=("--compression-codec",), metavar="CODEC[:LEVEL]", help=help)


class TopicOptions(Options):
    """The topics, beside those that are arguments."""

    panel = "Names"
    folded = EVERY

    topics = texts("-t", "--topic", metavar="TOPIC", help="The topic, instead of an argument.", also=("--topics",))


class SelectionOptions(ConnectionOptions):
    """Which cluster, partitions and offsets are read, and how much of open transactions."""

    folded = these("isolation")

    partitions = text("-p", "--partition", metavar="N,N-N", help="Only these partitions, such as 0,3-5.")
    offset = offset_range("Start, or START:STOP: 5, -10, 5:9, @-1h, end.")
    isolation = choice(
        "--isolation",
        also=("--isolation-level",),
        of=("read_committed", "read_uncommitted"),
        help="Default: read_committed.",
    )


class OrderedOptions(Options):
    """How far a range of timestamps is read."""

    folded = EVERY

    ordered = flag(
        "--ordered", help="Timestamps ascend in each partition: stop at the first one that is past the range."
    )


class TimeOptions(Options):
    """Between which times records are read."""

    start = text("--start", metavar="TIME", help="Records from here on: 09:00, -1h, today, earliest.")
    end = text("--end", metavar="TIME", help="Only records before this time.")


class FilterOptions(Options):
    """Which records are filtered out."""

    panel = "Filters"
    folded = EVERY

    grep = texts("--grep", metavar="RE", help="Only values that match this expression. Repeatable.")
    only_keys = texts("--key", metavar="KEY", help="Only records with this key. Repeatable (any matches).", empty=True)
    key_grep = texts("--key-grep", metavar="RE", help="Only keys that match this expression.")
    only_headers = texts("--header", metavar="NAME[=VALUE]", help="Only records with this header. Repeatable.")
    where = texts(
        "--where", metavar="CONDITION", help="Only records that fulfil this condition, such as 'value.user.id == 42'."
    )
    value_format = value_format()
    skip_corrupt = flag("--skip-corrupt", help="Skip corrupt batches and report them (default: exit 1 at the first).")


class SchemaOptions(Options):
    """How keys and values are decoded by the schemas of a registry."""

    panel = "Schemas"
    folded = EVERY

    schema_registry = text(
        "--schema-registry", metavar="URL", help="Decode keys and values by the schemas of this registry."
    )
    value_schema = text(
        "--value-schema",
        metavar="SPEC",
        help="The schema of values: file:PATH, id:N, SUBJECT[@VERSION], topic[@VERSION]; of Protobuf with #MESSAGE.",
    )
    key_schema = text("--key-schema", metavar="SPEC", help="The schema of keys, in the same forms.")
    value_subject = text(
        "--value-subject",
        metavar="SUBJECT",
        help="The subject of values: topic (default), record, topic-record, associated, or a name.",
        hidden=True,
    )
    key_subject = text("--key-subject", metavar="SUBJECT", help="The subject of keys, in the same words.", hidden=True)
    key_format = choice(
        "--key-format",
        of=DECODED_FORMATS,
        help="Decode keys of this format, as --value-format does values.",
        hidden=True,
    )
    no_schema_cache = flag("--no-schema-cache", help="Neither use nor keep schemas in the cache folder.", hidden=True)
    raw_value = flag("--raw-value", help="Do not decode, even if the profile names a registry.")
    without_rules = flag("--without-rules", help="Run no rules for reading of a schema.")
    logical = choice("--logical", of=("text", "raw"), help="Dates, times and decimals as text (default), or as stored.")
    avro_json = flag("--avro-json", help="Avro's own JSON: unions name their branch, bytes are strings.")
    proto_names = choice(
        "--proto-names",
        of=("file", "json"),
        help="Protobuf's fields as in the file (default), or in lowerCamelCase.",
    )
    validate = flag("--validate", help="Hold values with a JSON schema against it.")
    fail_on_invalid = flag(
        "--fail-on-invalid", help="As --validate, and exit 1 if a value does not fit its JSON schema."
    )
    fail_on_undecoded = flag("--fail-on-undecoded", help="Exit 1 if a key or value could not be decoded.")


class DelimiterOptions(Options):
    """What parts records, and keys from values, in a text that is read or printed."""

    panel = "Text"
    folded = EVERY

    delimiter = text("-D", metavar="DELIM", help=r"Delimiter after records: \n (default), \0, \t, \xNN, or text.")
    key_delimiter = text("-K", metavar="DELIM", help="Delimiter between key and value.")
    nulls = flag("-Z", "--null", help="Send empty as null; print null as NULL.")


PRINTED = ("auto", "msgpack")
"""The values of --value-format that also say how a value is printed."""


class MorePrintOptions(Options):
    """How records are printed, in rarer cases."""

    panel = "Output"
    folded = EVERY

    meta = flag("--meta", help="Print time, topic, partition, offset and key before each value, between tabs.")
    color = choice("--color", of=("auto", "always", "never"), help="Colours of --pretty (default: on a terminal).")
    unbuffered = flag("-u", help="Flush after every record.")
    value_format = value_format()
    raw = flag("--raw", help="Do not escape control bytes on a terminal.")


class PrintOptions(MorePrintOptions, DelimiterOptions, ZoneOptions):
    """How records are printed."""

    panel = "Output"

    pretty = flag("--pretty", help="Print for reading: time, key and JSON in colour.")
    template = text("-f", metavar="FORMAT", help="A template: %k %s %p %o %T{iso} and more.")
    json = flag("-J", "--json", help="A line of JSON for each record, decoded.", also=("--decoded",))
    envelope = flag("--envelope", help="Byte-exact JSON, for produce --input envelope.")

    @property
    def as_json(self) -> bool:
        """Whether a line of JSON is printed for each record."""
        return bool(self.json or self.envelope)


class TargetOptions(Options):
    """Another cluster to write to."""

    panel = "Destination"

    to_profile = text("--to-profile", metavar="NAME", help="Profile of DST's cluster.")
    to_bootstrap = text(
        "--to-bootstrap", "--to-bootstrap-server", metavar="HOST:PORT,…", help="Address of DST's cluster."
    )
    to_properties = texts(
        "--to-X",
        "--to-property",
        metavar="KEY=VALUE",
        help="A property for DST's cluster and producer. Repeatable.",
    )
