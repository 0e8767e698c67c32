"""Batches into bytes: plain values, a template or envelopes. One call per batch, none per record."""

from __future__ import annotations

from kcli.cli.output import text
from kcli.errors import UsageError
from kcli.proto import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.records.template import Program
    from kcli.cli.parsing.record_groups import PrintOptions
    from kcli.proto.batch import Batch


class Printer:
    """How records are printed. `terminal` means that hostile bytes must be shown, not sent."""

    def __init__(self, options: PrintOptions, *, terminal: bool) -> None:
        self._json: bool = options.json
        self._terminal = terminal and not options.raw
        self._null = b"NULL" if options.nulls else b""
        self._delimiter = text.delimiter(options.delimiter, "-D", b"\n") or b"\n"
        self._program: Program | None = None
        self._scratch = bytearray()
        if self._json and options.template is not None:
            raise UsageError("-J and -f are two ways to print; take one")
        if not self._json:
            self._program = self._compile(options)

    def _compile(self, options: PrintOptions) -> Program | None:
        key_delimiter = text.delimiter(options.key_delimiter, "-K")
        if options.template is None and key_delimiter is None and not self._terminal:
            return None
        from kcli.cli.output.records import template

        if options.template is not None:
            return template.compile_template(options.template, null=self._null, terminal=self._terminal)
        if key_delimiter is not None:
            return template.keyed(key_delimiter, self._delimiter, null=self._null, terminal=self._terminal)
        return (*template.compile_template("%s", null=self._null, terminal=True), self._delimiter)

    def put_many(self, out: bytearray, batches: list[Batch]) -> tuple[int, int]:
        """Append all of the first batches in one go, as far as that can be done: plain values of batches that are
        neither compressed nor broken. Returns how many records that were, and how many batches."""
        if self._json or self._program is not None:
            return 0, 0
        return core.write_many(batches, out, self._delimiter, self._null)

    def put(self, out: bytearray, batch: Batch, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        """Append a batch's records, at most `limit` (-1: all). Returns how many, and the offset after the last."""
        if self._json:
            if not self._terminal:
                return batch.write_json(out, topic, partition, limit)
            from kcli.text.escape import visible_json

            self._scratch.clear()
            written = batch.write_json(self._scratch, topic, partition, limit)
            out += visible_json(bytes(self._scratch))
            return written
        if self._program is None:
            return batch.write_values(out, self._delimiter, limit, self._null)
        return batch.write_format(out, self._program, topic.encode(), partition, limit)
