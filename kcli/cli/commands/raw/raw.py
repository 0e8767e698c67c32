"""`kcli raw`: any request as JSON, its answer as JSON; the APIs there are, and their fields."""

from __future__ import annotations

import sys
from json import dumps
from typing import TYPE_CHECKING, Any

from kcli import codes
from kcli.broker.guard import READING
from kcli.cli.commands.raw.body import broker_of, find_api, name_of, place, read_body, request_of
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.signals import run_to_end
from kcli.errors import ConnectError, DeadlineExceeded, KcliError, UsageError
from kcli.model import Broker
from kcli.proto.as_json import to_json
from kcli.proto.schema import Request

if TYPE_CHECKING:
    from typing import Annotated

    import typer

PRODUCE, SASL_AUTHENTICATE = 0, 36
SENTENCES = 10
"""The number of error codes that are printed on stderr; the answer has all."""


class RawOptions(ReadOptions):
    api_version: Annotated[
        int | None,
        typer.Option("--api-version", min=0, help="The version (default: the highest that both sides support)."),
    ] = None
    broker: Annotated[
        str | None,
        typer.Option(
            "--broker",
            metavar="WHICH",
            help="Broker to query: any (default), controller, ID, group:NAME or txn:ID (its coordinator), "
            "leader:TOPIC:N.",
        ),
    ] = None
    list: Annotated[bool, typer.Option("--list", help="Print the APIs: versions of kcli and of the broker.")] = False
    describe: Annotated[bool, typer.Option("--describe", help="Print the fields of an API's request and response.")] = (
        False
    )
    hex: Annotated[bool, typer.Option("--hex", help="Show the bytes of both frames on stderr.")] = False
    explain: Annotated[bool, typer.Option("--explain", help="Add the name of each error code.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the whole request and send nothing.")] = False


@command(
    "raw",
    words="API [BODY]",
    examples="""
kcli raw --list                                  # the APIs, with the versions of kcli and the broker
kcli raw --describe Metadata --api-version 12    # fields, types, defaults
kcli raw Metadata '{"topics": [{"name": "orders"}]}'
kcli raw 60 --broker 2 --api-version 0 --explain
kcli raw DescribeGroups '{"groups": ["billing"]}' --broker group:billing
kcli raw DeleteTopics @delete.json --broker controller --dry-run
kcli raw ListOffsets - --broker leader:orders:0 --hex < body.json""",
)
def run(options: RawOptions) -> int:
    """Send any Kafka protocol request and print the response as JSON. Specify the API by name or key. The body is JSON
    with the field names of Kafka's schemas (or kcli's): an argument, @FILE, or - for stdin; missing fields take the
    schema's defaults, bytes are base64. A profile's protection applies here, too: with read_only, kcli sends no request
    that changes anything.

    Error codes in the response are printed on stderr and set exit code 1.
    """
    words = options.words
    _refuse_version_letter(options)
    _refuse_list_options(options)
    if options.list:
        from kcli.cli.commands.raw.schema import list_apis

        return list_apis(options, options.broker)
    if not words:
        raise UsageError("missing API: kcli raw Metadata, or --list for all of them")
    kind = find_api(words[0])
    if options.describe:
        from kcli.cli.commands.raw.schema import describe

        return describe(options, kind, options.api_version)
    if format_of(options) not in ("table", "json", "ndjson"):
        raise UsageError("responses are JSON: use --format json, or ndjson for one line")
    if len(words) > 2:
        raise UsageError(f"unexpected argument {words[2]!r}: kcli raw API [BODY]; quote the body as one argument")
    if options.hex and kind.api_key == SASL_AUTHENTICATE:
        raise UsageError("--hex does not show SaslAuthenticate: it would print the password of this connection")
    body = read_body(words[1] if len(words) > 1 else None)
    place(options.broker)
    version = options.api_version
    if version is not None and version not in kind.versions:
        raise UsageError(f"{name_of(kind)} has versions {kind.versions} here, not {version}")
    if options.dry_run:
        version = kind.versions.last if version is None else version
        write_json(to_json(request_of(kind, version, body), version), compact=format_of(options) == "ndjson")
        return 0
    return run_to_end(_sent(options, kind, version, body))


def _refuse_list_options(options: RawOptions) -> None:
    """Raises UsageError for an option of lists beside a request."""
    if options.watch and not options.list:
        raise UsageError("--watch refreshes the list: kcli raw --list --watch")
    given = next((name for name in ("columns", "sort", "top") if name in options.given()), None)
    if given and not (options.list or options.describe):
        raise UsageError(f"--{given} requires --list or --describe; responses are printed as JSON")


def _refuse_version_letter(options: RawOptions) -> None:
    """`-v 3`, before or behind the API: no body is a number, and no API's name is a body. Raises UsageError."""
    words = options.words
    if not options.verbose or len(words) < 2:
        return
    version = next((word for word in words if word.isdecimal()), None)
    if version is not None and (words[-1].isdecimal() or words[1][:1].isalpha()):
        raise UsageError(f"-v is --verbose; the version is --api-version {version}")


async def _sent(options: RawOptions, kind: type[Request[Any]], version: int | None, body: Any) -> int:
    from kcli.client import Client

    settings = Connection(options).client()
    if options.hex:
        settings = settings.replace(dump=kind.api_key)
    async with Client(settings) as client:
        broker = await broker_of(client.cluster, options.broker)
        version = await _version(broker, kind, version)
        request = request_of(kind, version, body)
        if options.hex:
            from kcli.broker.connection.tracing import Dumping

            Dumping.armed = True
        if kind.api_key == PRODUCE and getattr(request, "acks", None) == 0:
            await broker.tell(request, max_version=version)
            return 0
        try:
            response = await broker.ask(request, max_version=version)
        except (ConnectError, DeadlineExceeded) as problem:
            if problem.sent and kind.api_key not in READING and not getattr(request, "validate_only", False):
                complain("the request was sent and may have taken effect; check before you repeat it")
            raise
    failed: list[str] = []
    answer = explained(to_json(response, version), failed, put=options.explain)
    write_json(answer, compact=format_of(options) == "ndjson")
    for sentence in failed[:SENTENCES]:
        complain(sentence)
    if len(failed) > SENTENCES:
        complain(f"and {len(failed) - SENTENCES} more error codes")
    return 1 if failed else 0


async def _version(broker: Broker, kind: type[Request[Any]], wanted: int | None) -> int:
    """The version to speak. Raises KcliError where this broker does not speak it."""
    name = name_of(kind)
    offered = (await broker.versions()).get(kind.api_key)
    if offered is None:
        raise KcliError(f"broker {broker.node_id} does not offer {name}; kcli raw --list shows its APIs")
    low, high = offered
    chosen = min(high, kind.versions.last) if wanted is None else wanted
    if not max(low, kind.versions.first) <= chosen <= high:
        raise KcliError(
            f"broker {broker.node_id} supports {name} {low}-{high}, and kcli {kind.versions}; "
            + (f"not {wanted}" if wanted is not None else "there is no common version")
        )
    return chosen


def write_json(thing: Any, *, compact: bool) -> None:
    """Print it, on a terminal with nothing that a terminal would obey. Raises BrokenPipeError."""
    text = dumps(thing, ensure_ascii=False, indent=None if compact else 2, separators=(",", ":") if compact else None)
    data = f"{text}\n".encode("utf-8", "backslashreplace")
    if sys.stdout.isatty():
        from kcli.text.escape import visible_json

        data = visible_json(data)
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode())
    else:
        sys.stdout.flush()
        binary.write(data)
    sys.stdout.flush()


def explained(thing: Any, failed: list[str], *, path: str = "", put: bool = False) -> Any:
    """The answer, with `put` the name of each error code beside it; the codes that are errors go into `failed`, as
    sentences with their path."""
    if isinstance(thing, list):
        return [explained(item, failed, path=f"{path}[{n}]", put=put) for n, item in enumerate(thing)]
    if not isinstance(thing, dict):
        return thing
    explained_: dict[str, object] = {}
    for name, value in thing.items():
        at = f"{path}.{name}" if path else name
        explained_[name] = explained(value, failed, path=at, put=put)
        if name.lower().endswith("errorcode") and isinstance(value, int):
            code = codes.of(value)
            if put:
                explained_[name.removesuffix("Code") + "Name"] = code.name
            if code:
                failed.append(f"{at} {value}: {code.name}: {code.text}")
    return explained_
