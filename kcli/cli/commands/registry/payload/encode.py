"""`kcli registry encode`."""

from __future__ import annotations

import re
import sys

from kcli.cli.commands.registry.opened import FILE
from kcli.cli.commands.registry.payload.texts import FORMS, RAW, content_of, shown
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.schemas.encoding import FROM_RECORD, Encoding
from kcli.cli.runtime.signals import run_to_end
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption


class EncodeOptions(ConnectionOptions):
    value_schema: Annotated[
        str | None,
        typer.Option(
            "--value-schema",
            metavar="SPEC",
            help="The schema: file:PATH (no frame is written), id:N or SUBJECT[@VERSION].",
        ),
    ] = None
    output: Annotated[
        str | None,
        KcliOption(
            "--output", choices=FORMS, help="Format of the payloads: raw (default), or one per line in hex or base64."
        ),
    ] = None
    avro_json: Annotated[
        bool,
        typer.Option("--avro-json", help="Read Avro's own JSON: unions name their branch, bytes are strings."),
    ] = False
    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry", metavar="URL", help="The registry (default: schema.registry.url of the profile)."
        ),
    ] = None


@command(
    "registry encode",
    help="Print JSON as the payloads of a schema.",
    words="FILE",
    examples="""
echo '{"id": 7, "total": 9.5}' | kcli registry encode --value-schema orders-value --output hex
kcli registry encode orders.json --value-schema id:7 > payload.bin
kcli registry encode --value-schema file:order.avsc --output base64 < lines.json""",
)
def encode(options: EncodeOptions) -> int:
    """Read JSON from a FILE or stdin and print it encoded with the schema, in a frame with the schema's id. With hex
    and base64 each line is one value and one payload; with raw, the whole input is one value. A value that does not
    match the schema is an error, and nothing is printed.
    """
    spec, form = options.value_schema, options.output or RAW
    if not spec:
        raise UsageError("missing schema: --value-schema file:PATH, id:N or SUBJECT[@VERSION]")
    if form == RAW and sys.stdout.isatty():
        raise UsageError("raw bytes are not printed to a terminal: add --output hex, or redirect them to a file")
    data = content_of(options.words)
    values = [data] if form == RAW else [line for line in data.splitlines() if line.strip()]
    for payload in run_to_end(_encoded(options, spec, values)):
        sys.stdout.buffer.write(shown(payload, form))
    sys.stdout.buffer.flush()
    return 0


async def _encoded(options: EncodeOptions, spec: str, values: list[bytes]) -> list[bytes]:
    """The payloads. Raises KcliError with the number of the first value that does not fit."""
    from kcli.client import Client

    connection = Connection(options)
    registry = None if spec.startswith(FILE) else connection.registry(options.schema_registry)
    if spec == FROM_RECORD:
        raise UsageError("--value-schema from-record works only in kcli produce --input json")
    if re.fullmatch(r"topic(@\w+)?(#.*)?", spec):
        raise UsageError(f"--value-schema {spec}: a payload has no topic; give the SUBJECT, such as orders-value")
    encoding = Encoding({"value": spec}, registry, register=False, avro_json=options.avro_json)
    async with Client(connection.client(), registry=registry) as client:
        await encoding.prepare("", client)
    encoded = encoding.value
    assert encoded is not None
    made = []
    for number, value in enumerate(values, 1):
        try:
            made.append(encoded(value))
        except ValueError as problem:
            raise KcliError(f"value {number}: {problem}" if len(values) > 1 else f"the value: {problem}") from None
    return made
