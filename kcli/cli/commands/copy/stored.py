"""What copy and redrive select: filters see keys and values decoded by a registry; what is written is as stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.consume.selection import Selection
from kcli.cli.parsing.groups import DECODED_FORMATS
from kcli.cli.parsing.option import Options, flag
from kcli.cli.parsing.record_groups import CommittedSelectionOptions, FilterOptions, SchemaOptions

if TYPE_CHECKING:
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch


class RawOptions(Options):
    """Whether filters decode."""

    panel = "Schemas"

    raw_value = flag("--raw-value", help="Filters see what is stored, even if the profile names a registry.")


class StoredOptions(CommittedSelectionOptions, FilterOptions, RawOptions):
    """Which records are taken; a command that has such an option declares its own `schema_registry`."""

    schema_registry: str | None


class StoredSelection(Selection):
    """Batches that a filter keeps are handed out as they are stored. Raises UsageError."""

    def __init__(self, options: StoredOptions, command: str, topics: list[str], *, literal: bool = False) -> None:
        super().__init__(options, command, topics, filters=options, schemas=_schemas(options), literal=literal)
        seen = () if self.keep is None else self.keep.sees
        if not seen:
            self.decoding = None  # a filter of headers asks no registry
        if self.decoding is not None:
            self.decoding.seen, self.decoding.kinds = "filtered", seen
            self.decoding.must_answer = True  # else what is not looked up would be taken for done

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
    return SchemaOptions(schema_registry=options.schema_registry)
