"""What every administration command does around its work: connect, collect, print, tell the shell the truth.

`work` gets the Cluster and the Document to fill. Whatever went wrong stands in the document (also in JSON) and as
sentences on stderr; one failed item of many is exit code 1 (cli.md 8).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

from kcli.cli.connection import Connection
from kcli.cli.main import complain
from kcli.cli.nearest import did_you_mean
from kcli.cli.render import Document, write
from kcli.cli.shapes import shape
from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from kcli.model import Cluster
    from kcli.settings import ClientSettings

Format: TypeAlias = Literal["table", "json", "ndjson", "yaml", "csv", "tsv", "plain"]

Isolation: TypeAlias = Literal["read_uncommitted", "read_committed"]

FORMAT = typer.Option("table", "--format", help="table, json, ndjson, yaml, csv, tsv or plain (values only).")
JSON = typer.Option(False, "-J", "--json", help="Short for --format json.")
ISOLATION = typer.Option(
    "read_uncommitted", "--isolation", help="Which end lag is measured to: high watermark, or last stable offset."
)
EXECUTE = typer.Option(False, "--execute", help="Do it. Without, the plan is shown and you are asked on a terminal.")
DRY_RUN = typer.Option(False, "--dry-run", help="Only show what would be done.")

Work: TypeAlias = "Callable[[Cluster, Document], Awaitable[int | None]]"


def answer(connection: Connection, name: str, format: Format, json: bool, work: Work) -> int:
    """Run `work` and print its document; the exit code, which `work` may raise to 3 for an assertion."""
    chosen = "json" if json else format
    document = Document(shape=shape(name))
    code: int | None = None
    try:
        settings = connection.client()
        code = asyncio.run(_connected(settings, work, document))
    except UsageError:
        raise
    except KcliError as error:
        document.fail(error)
        code = error.exit_code
    if code is None:
        code = 1 if document.errors else 0
    if chosen != "table" or document.rows:
        write(document, chosen)
    for problem in document.errors:
        complain(problem["message"])
    return code


async def _connected(settings: ClientSettings, work: Work, document: Document) -> int | None:
    from kcli.client import Client

    async with Client(settings) as client:
        return await work(client.cluster, document)


def say(connection: Connection, sentence: str) -> None:
    """A remark on stderr, unless -q."""
    if not connection.quiet:
        complain(sentence)


def missing(document: Document, about: str, error: KcliError, names: Iterable[str]) -> None:
    """Put "does not exist" with the nearest name into the document."""
    document.fail(KcliError(f"{error}{did_you_mean(about, names)}"), about)
    document.errors[-1]["error"] = type(error).__name__


def confirm(connection: Connection, document: Document, format: str, execute: bool, phrase: str) -> bool:
    """May it be done? --execute says so, or a person who typed `phrase` under the plan. Raises UsageError where
    neither is possible: a script that forgot --execute must not look as if it had worked."""
    if execute:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        error = UsageError("nothing was done: add --execute to do it, or --dry-run to see the plan only")
        document.fail(error)
        write(document, format)
        raise error
    write(document, "table")
    sys.stderr.write(f"Type {phrase!r} to do this: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() == phrase:
        return True
    complain("nothing was done")
    return False


def plural(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
