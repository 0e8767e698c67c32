"""Batches into bytes: plain values, a template or lines of JSON. One call per batch, none per record."""

from __future__ import annotations

from kcli.cli.output import text
from kcli.cli.parsing.record_groups import PRINTED
from kcli.errors import DecodeError, UsageError
from kcli.proto import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.output.records.pretty import Pretty
    from kcli.cli.output.records.template import Program, SchemaTokens, StoredTokens
    from kcli.cli.parsing.record_groups import PrintOptions
    from kcli.cli.runtime.schemas.decoding import Decoding
    from kcli.proto.batch import Batch
    from kcli.proto.buffer import Buffer

LARGE = 16 * 1024
"""Bytes of a value, on average over a batch, from which a slice costs less than a copy."""


class Printer:
    """How records are printed. `terminal` means that hostile bytes must be shown, not sent; `view` that a terminal
    gets the records laid out for reading where no option says otherwise; `several`, that it names their topics."""

    def __init__(
        self,
        options: PrintOptions,
        *,
        terminal: bool,
        view: bool = False,
        several: bool = False,
        decoding: Decoding | None = None,
    ) -> None:
        self._json: bool = options.as_json
        self._exact: bool = options.envelope
        self._terminal = terminal and not options.raw
        self._null = b"NULL" if options.nulls else b""
        self._delimiter = text.delimiter(options.delimiter, "-D", b"\n") or b"\n"
        self._program: Program | None = None
        self._scratch = bytearray()
        self._schemas: SchemaTokens | None = None
        if decoding is not None and decoding.labelled and not self._json:
            from kcli.cli.output.records.template import SchemaTokens

            self._schemas = SchemaTokens(terminal=self._terminal)
        self._stored: StoredTokens | None = None
        if decoding is not None and options.template is not None:
            from kcli.cli.output.records.template import StoredTokens

            self._stored = StoredTokens()
        _refuse(options)
        self._pretty: Pretty | None = None
        if options.pretty or (view and self._terminal and not _shaped(options)):
            from kcli.cli.output.records.pretty import Pretty

            self._pretty = Pretty(
                terminal=terminal,
                color=options.color,
                value_format=options.value_format or "auto",
                several=several,
            )
        elif not self._json:
            self._program = self._compile(options)

    def _compile(self, options: PrintOptions) -> Program | None:
        key_delimiter = text.delimiter(options.key_delimiter, "-K")
        value_format = options.value_format if options.value_format in PRINTED else None
        shaped = options.template is not None or key_delimiter is not None or options.meta or value_format
        if not shaped and not self._terminal:
            return None
        from kcli.cli.output.records import template

        if options.template is not None:
            program = template.compile_template(
                options.template,
                null=self._null,
                terminal=self._terminal,
                schemas=self._schemas,
                bytes_of=self._stored,
            )
            if all(isinstance(item, bytes) for item in program):
                raise UsageError(
                    f"-f {options.template}: has no token, such as %s for the value; see `kcli help format`"
                )
            return program
        return template.columns(
            key_delimiter,
            self._delimiter,
            meta=options.meta,
            value_format=value_format,
            null=self._null,
            terminal=self._terminal,
        )

    def put_many(self, out: bytearray, batches: list[Batch]) -> tuple[int, int]:
        """Append all of the first batches in one go, as far as that can be done: plain values of batches that are
        neither compressed nor broken. Returns how many records that were, and how many batches."""
        if self._json or self._program is not None or self._pretty is not None:
            return 0, 0
        return core.write_many(batches, out, self._delimiter, self._null)

    def slices(self, batches: list[Batch]) -> tuple[list[Buffer], int, int]:
        """The first batches as pieces of what was fetched, as far as they are plain values worth it: the pieces, how
        many records, how many batches."""
        if self._json or self._program is not None or self._pretty is not None:
            return [], 0, 0
        return slices(batches, self._delimiter, self._null)

    def put(self, out: bytearray, batch: Batch, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        """Append a batch's records, at most `limit` (-1: all). Returns how many, and the offset after the last."""
        if self._json:
            if not self._terminal:
                return self._put_json(out, batch, topic, partition, limit)
            from kcli.text.escape import visible_json

            self._scratch.clear()
            written = self._put_json(self._scratch, batch, topic, partition, limit)
            out += visible_json(bytes(self._scratch))
            return written
        if self._pretty is not None:
            return self._pretty.put(out, batch, topic, partition, limit)
        if self._program is None:
            return batch.write_values(out, self._delimiter, limit, self._null)
        for tokens in (self._schemas, self._stored):
            if tokens is not None:
                tokens.batch = batch
        return batch.write_format(out, self._program, topic.encode(), partition, limit)

    def _put_json(self, out: bytearray, batch: Batch, topic: str, partition: int, limit: int) -> tuple[int, int]:
        write = batch.write_json if self._exact else batch.write_readable
        return write(out, topic, partition, limit)


def _shaped(options: PrintOptions) -> bool:
    """Whether an option says how records are printed."""
    shape = (options.template, options.delimiter, options.key_delimiter, options.as_json, options.nulls, options.meta)
    return any(given not in (None, False) for given in shape)


def _refuse(options: PrintOptions) -> None:
    """Raises UsageError for options that do not go together."""
    if options.json and options.envelope:
        raise UsageError("-J and --envelope cannot be combined")
    if options.as_json and options.template is not None:
        raise UsageError(f"{'-J' if options.json else '--envelope'} and -f cannot be combined")
    if options.meta and (options.as_json or options.template is not None):
        raise UsageError("--meta adds columns to plain values; with -J they are included, with -f use %T %t %p %o")
    if options.pretty and (_shaped(options) or options.raw):
        raise UsageError(
            "--pretty prints a fixed view, so it cannot be combined with -f, -J, -K, -D, -Z, --meta or --raw"
        )


def slices(batches: Sequence[Batch], delimiter: bytes, null: bytes) -> tuple[list[Buffer], int, int]:
    """The values of the first batches, each with the delimiter, as pieces to be written one after the other; how many
    records they are, and how many batches. It ends before a batch that is broken, still compressed, or of small values.
    """
    pieces: list[Buffer] = []
    records = 0
    for done, batch in enumerate(batches):
        if batch.compressed or batch.body_end - batch.body_start < batch.count * LARGE:
            return pieces, records, done
        try:
            columns = batch.columns()
        except DecodeError:
            return pieces, records, done
        data = memoryview(columns.data)
        for start, length in zip(columns.value_starts, columns.value_lengths, strict=True):
            pieces += (null if length < 0 else data[start : start + length]), delimiter
        records += len(columns)
    return pieces, records, len(batches)
