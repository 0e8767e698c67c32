"""What a command line of `kcli copy` says: its options, and what they mean."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kcli.cli.commands.consume.selection import given_filters
from kcli.cli.commands.copy.registries import SchemasOptions, registries
from kcli.cli.commands.copy.resume import ResumeOptions, rate_of
from kcli.cli.commands.copy.stored import StoredOptions, StoredSelection
from kcli.cli.output.tables.document import Document
from kcli.cli.output.text import codec
from kcli.cli.parsing.groups import AppliedOptions, NamedTopics, OutputOptions, PatternOptions
from kcli.cli.parsing.record_groups import TargetOptions
from kcli.cli.runtime.connection import connection_of
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.settings import ProducerSettings

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption, RecordLimit, Repartition

Span = dict[TopicPartition, tuple[int, int]]
"""[start, stop) of each partition."""


class CopyOptions(
    NamedTopics,
    PatternOptions,
    StoredOptions,
    TargetOptions,
    SchemasOptions,
    ResumeOptions,
    AppliedOptions,
    OutputOptions,
):
    follow: Annotated[bool, typer.Option("--follow", help="Continue with new records until Ctrl-C.")] = False
    count: RecordLimit = None
    repartition: Repartition = False
    compression: Annotated[
        str | None,
        KcliOption(
            "-z",
            "--compression",
            metavar="CODEC[:LEVEL]",
            help="Recompress. Without it batches stay unchanged.",
            also=("--compression-codec",),
        ),
    ] = None
    create: Annotated[
        bool, typer.Option("--create", help="Create DST with the partitions and configs of SRC if it does not exist.")
    ] = False
    group: Annotated[
        str | None,
        typer.Option(
            "-g",
            "--group",
            metavar="NAME",
            help="Name under which progress is stored in the source cluster (default: derived from the copy).",
        ),
    ] = None
    store_every: Annotated[
        int | None,
        typer.Option(
            "--commit-interval-ms",
            metavar="MS",
            min=1,
            help="How often progress is stored and transactions are committed (default 5000).",
        ),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count the records, by partition and time; publish nothing.")
    ] = False


class Plan(StoredSelection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: CopyOptions) -> None:
        if len(options.words) != 2:
            raise UsageError("missing arguments: kcli copy SRC DST")
        self.source, self.destination = options.words
        super().__init__(options, "copy", [self.source], literal=options.literal)
        self.document: Document | None = None  # of several copies; else each prints its own
        self.options = options
        self.elsewhere = bool(options.to_profile or options.to_bootstrap)
        self.format = "json" if options.json else options.format
        self.follow = options.follow
        self._check_range()
        self.limit = options.count
        self.rate = rate_of(options.rate)
        self.exactly_once = options.exactly_once
        self.every = (options.store_every or 5000) / 1000
        self.resume = not options.no_resume
        self.group = options.group or f"kcli-copy.{self.source}.{self.destination}"  # named fully by `name_for`
        self.undecoded_group = ""  # the name without a registry; "" where --group gives the name
        self._check_transaction()
        self.target = (
            connection_of(options.to_profile, options.to_bootstrap, options.to_properties)
            if self.elsewhere
            else self.connection
        )
        self.producer = self._producer()
        self.registries = registries(options, self.connection, self.target)

    def _check_range(self) -> None:
        if not self.elsewhere and self.source == self.destination:
            raise UsageError("SRC and DST are the same topic: the copy would read its own records forever")
        if self.range.stored:
            raise UsageError("-o stored: a copy resumes by itself; --restart copies from the beginning")
        dry_run = self.options.dry_run
        self.options.check_dry_run(dry_run)
        if self.follow and (self.range.stop is not None or dry_run):
            raise UsageError(f"--follow has no end; {'--dry-run' if dry_run else 'the range'} has one")

    def _check_transaction(self) -> None:
        if self.exactly_once and self.elsewhere:
            raise UsageError("--exactly-once works only within one cluster")
        if self.exactly_once and not self.resume:
            raise UsageError("--exactly-once cannot be combined with --no-resume: it stores progress with the records")
        if self.options.transactional_id and not self.exactly_once:
            raise UsageError("--transactional-id requires --exactly-once")

    def _producer(self) -> ProducerSettings:
        options = self.options
        changes = self.target.properties.producer
        settings = ProducerSettings(**changes).for_command(max_block_given="max_block" in changes)
        if not self.elsewhere and options.to_properties:
            raise UsageError("--to-X sets properties of DST's cluster: add --to-profile or --to-bootstrap")
        if self.keep is None and not options.repartition and options.compression is None:
            self.settings = self.settings.replace(decompress=False)  # batches are copied as they came
        if options.compression is not None:
            name, level = codec(options.compression)
            settings = settings.replace(compression=name, compression_level=level)
        if self.exactly_once:
            settings = settings.replace(transactional_id=options.transactional_id or self.group)
            if self.every >= settings.transaction_timeout:
                raise UsageError("--commit-interval-ms: a transaction would take longer than transaction.timeout.ms")
        elif settings.transactional_id is not None:
            raise UsageError("transactional.id: use --exactly-once")
        return settings

    def name_for(self, cluster: str | None, topic: bytes) -> None:
        """Without --group the positions are of this copy alone: another cluster, another DST though of the same name,
        another range or filter is another copy."""
        if self.options.group:
            return
        from hashlib import sha256

        options = self.options
        named = (options.offset, self.settings.isolation, options.repartition, *given_filters(options).values())
        what = [cluster or "", topic.hex(), *map(str, named)]
        names = [
            f"{self.group}.{sha256(chr(0).join(some).encode()).hexdigest()[:8]}"
            for some in (what, [*what, f"decoded by {self.decoded_by}"])
        ]
        self.undecoded_group = names[0]
        self.group = names[1 if self.decoded_by else 0]
        if self.exactly_once and not options.transactional_id:
            self.producer = self.producer.replace(transactional_id=self.group)

    @property
    def moves(self) -> bool:
        """Whether the start is counted from the end (`-o -5`): once a copy is whole, the next one is another."""
        starts = (self.range.start, *self.range.starts.values())
        return any(start is not None and start.kind == "relative" for start in starts) and not self.follow

    @property
    def talkative(self) -> bool:
        """Whether success is reported: on a terminal, or with -v."""
        return not self.connection.quiet and (self.connection.verbose or sys.stderr.isatty())
