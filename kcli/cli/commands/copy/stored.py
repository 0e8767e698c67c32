"""What copy and redrive select: filters see keys and values decoded by a registry; what is written is as stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.consume.selection import Selection
from kcli.cli.output.messages import complain
from kcli.cli.parsing.groups import DECODED_FORMATS
from kcli.cli.parsing.option import Options
from kcli.cli.parsing.record_groups import FilterOptions, OrderedOptions, SchemaOptions, SelectionOptions
from kcli.copying.positions import Positions

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.model import Cluster, TopicPartition
    from kcli.proto.batch import Batch


class RawOptions(Options):
    """Whether filters decode, and what becomes of what they cannot."""

    panel = "Schemas"

    raw_value: Annotated[
        bool, typer.Option("--raw-value", help="Filters see the stored bytes, even if the profile names a registry.")
    ] = False
    fail_on_undecoded: Annotated[
        bool,
        typer.Option("--fail-on-undecoded", help="Exit 1 if a filter saw a key or value that could not be decoded."),
    ] = False


class StoredOptions(SelectionOptions, OrderedOptions, FilterOptions, RawOptions):
    """Which records are taken; a command that has such an option declares its own `schema_registry`."""

    if TYPE_CHECKING:
        schema_registry: str | None


class StoredSelection(Selection):
    """Batches that a filter keeps are handed out as they are stored. Raises UsageError."""

    def __init__(self, options: StoredOptions, command: str, topics: list[str], *, literal: bool = False) -> None:
        super().__init__(options, command, topics, filters=options, schemas=_schemas(options), literal=literal)
        seen = () if self.keep is None else self.keep.sees
        if not seen:
            self.decoding = None  # a filter of headers asks no registry
        if self.decoding is not None:
            self.decoding.kinds = seen
            self.decoding.must_answer = True  # else what is not looked up would be taken for done

    @property
    def decoded_by(self) -> str:
        """The registry by which filters decode, without its login; "" for none. Names of saved progress have it: what
        the schemas of one registry select, those of another may not."""
        registry = None if self.decoding is None else self.decoding.registry
        return "" if registry is None else registry.name

    async def say_start(self, cluster: Cluster, undecoded: str) -> None:
        """Nothing is stored for this line; say so where there is progress under `undecoded`, its name without a
        registry: records may go a second time."""
        if not self.decoded_by or self.connection.quiet or not await Positions(cluster, undecoded).read():
            return
        complain(
            f"filters now see what {self.decoded_by} decodes, so this run starts over; --group {undecoded} resumes "
            f"where the last run without decoding stopped"
        )

    def kept(self, batch: Batch, at: TopicPartition) -> Batch | None:
        kept = super().kept(batch, at)
        if kept is None or self.decoding is None:
            return kept
        from kcli.serde.schemas.decoded_batch import stored

        return stored(kept)


def _schemas(options: StoredOptions) -> SchemaOptions | None:
    """How filters see records; None where they look at neither keys nor values, or another option says it."""
    looking = options.where or options.grep or options.key_grep or options.only_keys
    if not looking or options.raw_value or options.value_format in DECODED_FORMATS:
        return None
    return SchemaOptions(schema_registry=options.schema_registry, fail_on_undecoded=options.fail_on_undecoded)
