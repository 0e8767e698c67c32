"""What a command line of `kcli redrive` says: its options, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from kcli.changes.change import Said
from kcli.cli.commands.consume.selection import EARLIEST, given_filters
from kcli.cli.commands.copy.resume import ResumeOptions, rate_of
from kcli.cli.commands.copy.stored import StoredOptions, StoredSelection
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.question import can_ask
from kcli.cli.runtime.views import view_of
from kcli.copying.redrive import Rules
from kcli.copying.sent import Sent
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.serde.origin import Origins
from kcli.settings import ProducerSettings

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.parsing.shared import RecordLimit, Repartition


class FilterSchemaOptions(Options):
    """The registry by which filters see keys and values."""

    panel = "Schemas"

    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry", metavar="URL", help="Filters see keys and values decoded by this registry's schemas."
        ),
    ] = None


class RedriveOptions(NamedTopics, StoredOptions, FilterSchemaOptions, ResumeOptions, ChangeOptions):
    expect = None
    count: RecordLimit = None
    topic_headers: Annotated[
        list[str],
        typer.Option("--topic-header", metavar="NAME", help="A header that names the original topic. Repeatable."),
    ]
    partition_headers: Annotated[
        list[str],
        typer.Option(
            "--partition-header",
            metavar="NAME",
            help="A header with its partition: digits, or int32 in bytes. Repeatable.",
        ),
    ]
    to: Annotated[
        str | None, typer.Option("--to", metavar="TOPIC", help="Topic for records without such a header.")
    ] = None
    missing: Annotated[
        Literal["fail", "skip"] | None,
        typer.Option("--missing", help="Records without such a header: fail (default), or skip them."),
    ] = None
    on_error: Annotated[
        Literal["stop", "skip"] | None,
        typer.Option(
            "--on-error",
            help="If a record fails: stop before it (default), or skip it and exit 1 at the end.",
        ),
    ] = None
    keep_headers: Annotated[bool, typer.Option("--keep-headers", help="Keep the headers about the error.")] = False
    max_attempts: Annotated[
        int | None, typer.Option("--max-attempts", min=1, help="Skip records already redriven N times (default 3).")
    ] = None
    repartition: Repartition = False
    now: Annotated[bool, typer.Option("--now", help="Send with the current time instead of the record's.")] = False
    group: Annotated[
        str | None,
        typer.Option(
            "-g",
            "--group",
            metavar="NAME",
            help="Name under which progress is stored in the cluster (default kcli-redrive.DLQ).",
        ),
    ] = None


class Plan(StoredSelection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: RedriveOptions) -> None:
        if len(options.words) != 1:
            raise UsageError("missing argument: kcli redrive DLQ")
        super().__init__(options, "redrive", options.words)
        (self.dlq,) = self.topics
        Said(execute=options.execute, yes=options.yes, terminal=can_ask()).check()
        self.execute = (options.execute or options.yes) and not options.dry_run
        self.dry_run = options.dry_run
        self.limit = -1 if options.count is None else options.count
        self.rate = rate_of(options.rate)
        self.resume = not options.no_resume
        self.restart = options.restart
        self.format = "json" if options.json else options.format or "table"
        self.view = view_of(options)
        self.exactly_once = options.exactly_once
        self._check(options)
        self.undecoded_group = "" if options.group else self._name(options, "")
        """The name without a registry; "" where --group gives the name."""
        self.group = options.group or self._name(options, self.decoded_by)
        self.before: dict[TopicPartition, Sent] = {}
        """What earlier redrives sent, which is left out."""
        self.rules = Rules(
            dlq=self.dlq,
            origins=Origins(options.topic_headers, options.partition_headers),
            to=options.to,
            skip_missing=options.missing == "skip",
            keep_headers=options.keep_headers,
            max_attempts=options.max_attempts or 3,
            repartition=options.repartition,
            now=options.now,
            skip=options.on_error == "skip",
        )
        changes = self.connection.properties.producer
        self.producer = ProducerSettings(**changes).for_command(max_block_given="max_block" in changes)
        if self.exactly_once:
            self.producer = self.producer.replace(transactional_id=options.transactional_id or self.group)

    def _check(self, options: RedriveOptions) -> None:
        if options.to == self.dlq:
            raise UsageError(f"--to {self.dlq}: this is the dead-letter topic itself")
        if self.range.stored:
            raise UsageError("-o stored: a redrive resumes by itself; --restart starts from the beginning")
        if self.exactly_once and (not self.resume or options.on_error == "skip"):
            raise UsageError(
                "--exactly-once cannot be combined with --no-resume or --on-error skip: it stores "
                "positions with the records"
            )
        if options.transactional_id and not self.exactly_once:
            raise UsageError("--transactional-id requires --exactly-once")

    def _name(self, options: RedriveOptions, decoded_by: str) -> str:
        """Filters and beginnings have a progress of their own: records that one filter drops, another may select."""
        name = f"kcli-redrive.{self.dlq}"
        filters: list[tuple[str, object]] = [
            (option, given) for option, given in given_filters(options).items() if given
        ]
        if self.range.start not in (None, EARLIEST) or self.range.starts or self.range.until_time:
            filters.append(("offset", options.offset))
        if decoded_by:
            filters.append(("schemas", decoded_by))
        if not filters:
            return name
        return f"{name}.{crc32(repr(filters).encode('utf-8', 'surrogateescape')):08x}"
