"""`kcli registry decode`."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from kcli.cli.commands.registry.payload.texts import FORMS, RAW, content_of, payloads_of
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.parsing.record_groups import SchemaOptions
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.schemas.decoding import Decoding
from kcli.cli.runtime.signals import run_to_end
from kcli.errors import UsageError
from kcli.serde.schemas.single import one_row

if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.parsing.shared import KcliOption
    from kcli.serde.schemas.decoder import Field

NO_SCHEMA = "no schema is set; add --schema-registry URL, or --value-schema file:PATH"


class DecodeOptions(SchemaOptions, ConnectionOptions):
    input: Annotated[
        str | None,
        KcliOption(
            "--input", choices=FORMS, help="Format of the payloads: raw (default), or one per line in hex or base64."
        ),
    ] = None
    key_schema = None  # a payload is the same under both names
    no_schema_cache = raw_value = fail_on_undecoded = fail_on_invalid = False


@command(
    "registry decode",
    help="Print payloads as JSON by their schemas.",
    words="FILE",
    examples="""
kcli registry decode payload.bin
echo 00000000070e046869 | kcli registry decode --input hex
kcli registry decode --input base64 --value-schema file:note.avsc < payloads.txt""",
)
def decode(options: DecodeOptions) -> int:
    """Read payloads from a FILE or stdin and print each as a line of JSON. The frame of a payload says which schema of
    the registry to use; for payloads without a frame, give --value-schema. If a payload cannot be decoded, kcli prints
    the reason instead, and the exit code is 1.
    """
    payloads = payloads_of(content_of(options.words), options.input or RAW)
    return run_to_end(_decoded(options, payloads))


async def _decoded(options: DecodeOptions, payloads: list[bytes]) -> int:
    from kcli.client import Client

    connection = Connection(options)
    registry = connection.registry(options.schema_registry)
    if registry is None and options.value_schema is None:
        raise UsageError(NO_SCHEMA)
    decoding = Decoding(options, registry)
    failed = 0
    async with Client(connection.client(), registry=registry) as client:
        field = decoding.field("value", client)
        assert field is not None
        for number, payload in enumerate(payloads, 1):
            line = await _line(field, payload)
            if line is None:
                failed += 1
                where = f"payload {number}: " if len(payloads) > 1 else ""
                complain(f"{where}not decoded: {_reason(field)}")
                continue
            sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
    return 1 if failed else 0


async def _line(field: Field, payload: bytes) -> bytes | None:
    """The JSON of a payload, None where it cannot be decoded; `undecoded` of the field has the reason."""
    field.undecoded.reasons.clear()
    spans = await field.decode(one_row(payload), "", 0)
    if spans is None or field.undecoded.total:
        return None
    ends = array("i", bytes(spans.ends))
    return bytes(spans.data)[ends[0] : ends[1]]


def _reason(field: Field) -> str:
    return next(iter(field.undecoded.reasons), "it has no frame; give the schema with --value-schema")
