"""What a command line of `kcli produce` says: its options, and what they mean."""

from __future__ import annotations

from kcli.cli.output.text import argument_bytes, check_level, codec, delimiter, headers
from kcli.cli.parsing.groups import ConnectionOptions, OverwriteOptions
from kcli.cli.parsing.record_groups import DelimiterOptions, TopicOptions
from kcli.cli.runtime.connection import Connection
from kcli.errors import UsageError
from kcli.settings import ProducerSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.commands.produce.input.line_template import LineTemplate
    from kcli.cli.commands.produce.rate_limit import RateLimit
    from kcli.cli.parsing.shared import Compression, KcliOption
    from kcli.cli.runtime.schemas.encoding import Encoding


class ProduceOptions(TopicOptions, DelimiterOptions, ConnectionOptions, OverwriteOptions):
    values: Annotated[
        list[str], KcliOption("--value", metavar="TEXT", help="A record's value. Repeatable.", empty=True)
    ]
    tombstones: Annotated[
        list[str],
        KcliOption("--tombstone", metavar="KEY", help="A record with this key and no value. Repeatable.", empty=True),
    ]
    repeat: Annotated[
        int | None,
        typer.Option(
            "--repeat",
            min=1,
            help="Send --value and --tombstone N times, with {{seq}}, {{uuid}} and {{now}} filled in.",
        ),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate", metavar="RATE", help="At most this many records per second (500), or per minute (30/m)."
        ),
    ] = None
    whole: Annotated[bool, typer.Option("--whole", help="Each FILE (or stdin) is one record.")] = False
    input: Annotated[
        Literal["lines", "json", "envelope", "json-values", "kcat"] | None,
        typer.Option(
            "--input",
            help="lines (default), output of consume -J or --envelope (json), of --envelope only (envelope), JSON "
            "values or an array of them, or output of kcat -J.",
        ),
    ] = None
    template: Annotated[
        str | None,
        typer.Option(
            "-f", metavar="FORMAT", help="The form of a line: %s value, %k key, %h{NAME} header, %T time, %p."
        ),
    ] = None
    value_format: Annotated[
        Literal["plain", "msgpack"] | None,
        typer.Option("--value-format", help="msgpack: read values as JSON, and store them as msgpack."),
    ] = None
    value_schema: Annotated[
        str | None,
        typer.Option(
            "--value-schema",
            metavar="SPEC",
            help="Values are JSON, encoded with a schema: topic[@VERSION], SUBJECT[@VERSION], id:N, file:PATH, "
            "from-record.",
        ),
    ] = None
    key_schema: Annotated[str | None, typer.Option("--key-schema", metavar="SPEC", help="The same for keys.")] = None
    schema_registry: Annotated[
        str | None, typer.Option("--schema-registry", metavar="URL", help="Where the schemas are.")
    ] = None
    schema_in: Annotated[
        Literal["frame", "header"] | None,
        typer.Option(
            "--schema-in", help="Put the schema's id in front of the payload (default), or its GUID into a header."
        ),
    ] = None
    value_subject: Annotated[
        str | None,
        typer.Option(
            "--value-subject",
            metavar="SUBJECT",
            help="The subject of values: topic (default), record, topic-record, associated, or a name.",
        ),
    ] = None
    key_subject: Annotated[str | None, typer.Option("--key-subject", metavar="SUBJECT", help="The same for keys.")] = (
        None
    )
    register: Annotated[
        bool, typer.Option("--register", help="Register the file of --value-schema or --key-schema.")
    ] = False
    avro_json: Annotated[
        bool,
        typer.Option("--avro-json", help="Read Avro's own JSON: unions name their branch, bytes are strings."),
    ] = False
    without_rules: Annotated[
        bool,
        typer.Option("--without-rules", help="Skip the schema's rules. Encryption rules still reject the record."),
    ] = False
    no_schema_cache: Annotated[
        bool, typer.Option("--no-schema-cache", help="Neither use nor keep schemas in the cache folder.", hidden=True)
    ] = False
    no_unpack: Annotated[bool, typer.Option("--no-unpack", help="Do not unpack gzip or zstd input.")] = False
    key: Annotated[
        str | None, KcliOption("-k", "--key", metavar="KEY", help="Default key for records without one.", empty=True)
    ] = None
    key_from: Annotated[
        str | None,
        typer.Option(
            "--key-from",
            metavar="FIELD",
            help="Take the key of each record from a field of its JSON value, such as user.id.",
        ),
    ] = None
    headers: Annotated[
        list[str],
        typer.Option(
            "-H", "--header", metavar="NAME=VALUE", help="A header of every record; NAME alone is null. Repeatable."
        ),
    ]
    partition: Annotated[
        int | None, typer.Option("-p", "--partition", min=-1, help="The partition; -1 chooses it by key (default).")
    ] = None
    compression: Compression = None
    wait_for_topic: Annotated[
        bool, typer.Option("--wait-for-topic", help="Wait for a topic that does not exist yet, up to max.block.ms.")
    ] = False
    acks: Annotated[
        Literal["all", "-1", "1", "0"] | None, typer.Option("--acks", help="Required acknowledgements (default: all).")
    ] = None
    timestamp: Annotated[
        str | None, typer.Option("--timestamp", metavar="TIME", help="Timestamp for every record (default: now).")
    ] = None
    transactional_id: Annotated[
        str | None,
        typer.Option(
            "--transactional-id",
            metavar="ID",
            help="Send all input in one transaction: committed at the end, aborted on an error or Ctrl-C.",
        ),
    ] = None
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="With --transactional-id: a transaction for every N records.")
    ] = None
    on_error: Annotated[
        Literal["stop", "skip"] | None,
        typer.Option("--on-error", help="On malformed input: stop (default), or skip it and exit 1 at the end."),
    ] = None
    report: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="Write a JSON line per settled batch.")
    ] = None


class Plan:
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: ProduceOptions) -> None:
        self.connection = Connection(options)
        self.topic, self.paths = _topic_and_files(options)
        self.values: list[bytes] = [argument_bytes(value) for value in options.values]
        self.tombstones: list[bytes] = [argument_bytes(key) for key in options.tombstones]
        self.given = bool(self.values or self.tombstones)
        self.repeat: int = options.repeat or 1
        self.fill: bool = options.repeat is not None
        self.unpack: bool = not options.no_unpack
        self.msgpack: bool = options.value_format == "msgpack"
        self.encoding = self._encoding(options)
        self.whole: bool = options.whole
        self.input: str = options.input or "lines"
        self.delimiter = delimiter(options.delimiter, "-D", b"\n") or b"\n"
        self.key_delimiter = delimiter(options.key_delimiter, "-K")
        self.key = None if options.key is None else argument_bytes(options.key)
        self.key_from: str | None = options.key_from
        self.headers = headers(options.headers)
        self.nulls: bool = options.nulls
        self.partition: int | None = None if options.partition in (None, -1) else options.partition
        self.by_key: bool = options.partition == -1
        self.timestamp = _timestamp(options.timestamp)
        self.skip: bool = options.on_error == "skip"
        self.report: str | None = options.report
        self.force: bool = options.force
        self.batch: int = options.batch or 0  # records of a transaction, 0 for all of them
        self.rate_limit = _rate_limit(options.rate)
        self.template = _template(options.template, self.delimiter)
        as_given = self.template is None and not self.msgpack and self.encoding is None and self.key_from is None
        self.plain = self.input == "lines" and as_given
        self.by_rows = self._needs_rows()
        self.settings = self._settings(options)
        self._check(options)
        if not self.connection.quiet:
            self._warn()

    def _needs_rows(self) -> bool:
        """Whether records are made one by one: the record core splits plain lines only."""
        return (
            not self.plain
            or bool(self.headers)
            or len(self.delimiter) > 1
            or (self.key is not None and self.key_delimiter is not None)
        )

    def _encoding(self, options: ProduceOptions) -> Encoding | None:
        """By which schemas keys and values are written; None where no option names one."""
        if options.value_schema is None and options.key_schema is None:
            if options.schema_registry is not None or options.register or options.schema_in:
                raise UsageError("--schema-registry, --register and --schema-in need --value-schema or --key-schema")
            others = {
                "avro-json": options.avro_json,
                "without-rules": options.without_rules,
                "no-schema-cache": options.no_schema_cache,
                "value-subject": options.value_subject is not None,
                "key-subject": options.key_subject is not None,
            }
            for name, said in others.items():
                if said:
                    raise UsageError(f"--{name} requires --value-schema or --key-schema")
            return None
        if self.msgpack:
            raise UsageError("--value-format msgpack and --value-schema cannot be combined")
        from kcli.cli.runtime.schemas.encoding import Encoding

        given = {"key": options.key_schema, "value": options.value_schema}
        specs = {kind: spec for kind, spec in given.items() if spec is not None}
        registry = self.connection.registry(options.schema_registry)
        if registry is not None and options.no_schema_cache:
            registry = registry.replace(disk=False)
        in_header = options.schema_in == "header"
        if "from-record" in specs.values() and options.input != "json":
            raise UsageError("--value-schema from-record reads the lines of consume -J: add --input json")
        return Encoding(
            specs,
            registry,
            register=options.register,
            in_header=in_header,
            without_rules=options.without_rules,
            avro_json=options.avro_json,
            subjects={"key": options.key_subject, "value": options.value_subject},
        )

    def _settings(self, options: ProduceOptions) -> ProducerSettings:
        changes = dict(self.connection.properties.producer)
        if options.compression is not None:
            changes["compression"], changes["compression_level"] = codec(options.compression)
        if options.acks is not None:
            changes["acks"] = {"all": -1, "-1": -1, "1": 1, "0": 0}[options.acks]
        if options.transactional_id is not None:
            changes["transactional_id"] = options.transactional_id
        if changes.get("acks", -1) != -1:
            if changes.get("idempotence"):
                raise UsageError("enable.idempotence=true needs acks=all")
            changes["idempotence"] = False
        settings = ProducerSettings(**changes).for_command(
            max_block_given="max_block" in changes, wait_for_topic=options.wait_for_topic
        )
        level = settings.compression_level
        if level is not None:
            check_level(settings.compression, level, f"compression.level={level}")
        return settings

    def _check(self, options: ProduceOptions) -> None:
        if self.given and (self.paths or self.whole or self.input != "lines" or self.template is not None):
            given = "--value" if self.values else "--tombstone"
            raise UsageError(f"{given} cannot be combined with files, --whole, --input or -f")
        if self.key_from is not None and (options.key is not None or self.key_delimiter is not None):
            raise UsageError("--key-from takes keys from values, so it cannot be combined with -k or -K")
        if options.key is not None and not self.fill:
            _check_key(options.key)
        if self.fill and not self.given:
            raise UsageError("--repeat needs --value or --tombstone")
        if self.fill:
            from kcli.cli.commands.produce.filling import check_places

            check_places(*self.values, *self.tombstones, self.key, *(value for _, value in self.headers))
        if self.template is not None and (options.key_delimiter or options.whole or self.input != "lines"):
            raise UsageError("-f describes the whole line, so it cannot be combined with -K, --whole or --input")
        if self.input != "lines":
            refused = {
                "-D": options.delimiter,
                "-K": options.key_delimiter,
                "-k": options.key if self.input != "json-values" else None,
                "--whole": options.whole,
            }
            for name, value in refused.items():
                if value:
                    raise UsageError(f"{name} cannot be combined with --input {self.input}")
        if self.batch and self.settings.transactional_id is None:
            raise UsageError("--batch sets the size of a transaction, so it needs --transactional-id")
        if self.whole and self.key_delimiter:
            raise UsageError("--whole cannot be combined with -K, because it does not split input")

    def _warn(self) -> None:
        """`-H NAME:VALUE` is how rpk and kaf write a header; here it is a name without a value. {{seq}} is text until
        it is filled in."""
        if self.given and not self.fill and any(b"{{" in data for data in (*self.values, *self.tombstones)):
            from kcli.cli.commands.produce.filling import has_places
            from kcli.cli.output.messages import complain

            if any(has_places(data) for data in (*self.values, *self.tombstones)):
                complain("{{seq}}, {{uuid}} and {{now}} are sent as text; --repeat 1 fills them in")
        for name, value in self.headers:
            if value is None and ":" in name:
                from kcli.cli.output.messages import complain

                better = name.replace(":", "=", 1)
                complain(f"-H {name}: a header without a value; write -H {better} to give it one")


def _topic_and_files(options: ProduceOptions) -> tuple[str, list[str]]:
    """The topic, by -t or by the first word, and the files. Raises UsageError."""
    words = list(options.words)
    if len(options.topics) > 1:
        raise UsageError("produce writes to only one topic")
    if options.topics:
        return options.topics[0], words
    if not words:
        raise UsageError("missing topic: kcli produce TOPIC")
    return words[0], words[1:]


def _check_key(key: str) -> None:
    """Raises UsageError for a field of the value, which -k does not fill in."""
    _, opened, rest = key.partition("{{")
    name, closed, _ = rest.partition("}}")
    if opened and closed and name.strip() not in ("seq", "uuid", "now"):
        field = name.strip().removeprefix("value.")
        raise UsageError(f"-k {key}: -k sets one key for all records; use --key-from {field}")


def _rate_limit(given: str | None) -> RateLimit | None:
    if given is None:
        return None
    from kcli.cli.commands.produce.rate_limit import RateLimit

    return RateLimit(given)


def _template(given: str | None, delimiter: bytes) -> LineTemplate | None:
    if given is None:
        return None
    from kcli.cli.commands.produce.input.line_template import LineTemplate

    return LineTemplate(given, delimiter)


def _timestamp(given: str | None) -> int | None:
    """Milliseconds. Raises UsageError."""
    if given is None:
        return None
    from time import time as now_in_seconds

    from kcli.grammar.offsets import TIMES, read_time

    moment = read_time(given, int(now_in_seconds() * 1000))
    if moment is None:
        raise UsageError(f"--timestamp {given}: expected a time: {TIMES}")
    return moment
