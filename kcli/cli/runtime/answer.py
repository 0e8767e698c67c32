"""What every administration command does around its work: connect, collect, print, tell the shell the truth.

`work` gets the Cluster, or what else `opened` opens, and the Document to fill. Each failure is in the document (also in
JSON) and as sentences on stderr; one failed item of many is exit code 1.
"""

from __future__ import annotations

from contextlib import asynccontextmanager

from kcli.cli.output.failure import complain_of, complain_of_nothing, with_document
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render, write
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.signals import Interrupted, run_to_end
from kcli.cli.runtime.views import view_of
from kcli.errors import ConnectError, KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
    from contextlib import AbstractAsyncContextManager
    from typing import TypeVar

    from kcli.cli.output.tables.render import Made
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import FormatOptions, OutputOptions, QuietOptions, RefreshOptions
    from kcli.cli.parsing.option import Options
    from kcli.cli.runtime.signals import Stop
    from kcli.model import Cluster
    from kcli.settings import ClientSettings

    Target = TypeVar("Target")
    Work = Callable[[Target, Document], Awaitable[int | None]]
    Opened = Callable[[Connection, ClientSettings], AbstractAsyncContextManager[Target]]
    """How that is reached which a command works on: a cluster, or its schema registry."""


@asynccontextmanager
async def opened_cluster(connection: Connection, settings: ClientSettings) -> AsyncIterator[Cluster]:
    """The cluster of a command line."""
    from kcli.client import Client

    async with Client(settings) as client:
        yield client.cluster


def answer(
    options: OutputOptions,
    shape: Shape,
    work: Work[Target],
    made: Made = render,
    opened: Opened[Target] = opened_cluster,  # type: ignore[assignment]  # the default is that of a Cluster
) -> int:
    """Run `work` and print its document; the exit code, which `work` may raise to 3 for an assertion. `made` is for a
    command with a format of its own."""
    if isinstance(options, ReadOptions) and watches(options):
        return _watched(options, shape, work, made, opened)
    document = Document(shape=shape, view=view_of(options, shape, format_of(options)))
    code: int | None = None
    try:
        connection = Connection(options)
        settings = connection.client()
        document.read_only = settings.profile if settings.guard == "read_only" else ""
        document.protected = settings.profile if settings.guard == "protected" else ""
        code = run_to_end(_connected(opened(connection, settings), work, document))
    except UsageError:
        raise
    except KeyboardInterrupt:
        if document.begun:
            complain("interrupted: requests already sent may have taken effect; check before you repeat them")
        raise
    except Interrupted as error:
        document.rows.clear()  # the plan was shown above the question
        document.fail(error)
        code = error.exit_code
    except KcliError as error:
        document.fail(error)
        code = error.exit_code
    if code is None:
        code = document.exit_code
    if format_of(options) != "table" or document.rows:
        write(document, format_of(options), made=made)
    complain_of(document)
    if not options.quiet:
        complain_of_nothing(document, format_of(options))
    return code


def watches(options: RefreshOptions) -> bool:
    """Whether the rows are refreshed. Raises UsageError for how often without --watch."""
    if not options.watch and (options.interval is not None or options.refreshes is not None):
        raise UsageError("--interval and --refreshes require --watch")
    return options.watch


def _watched(options: ReadOptions, shape: Shape, work: Work[Target], made: Made, opened: Opened[Target]) -> int:
    """The same with --watch."""
    from kcli.cli.runtime.refresh import watch
    from kcli.cli.runtime.signals import run

    format = format_of(options)
    view = view_of(options, shape, format)

    async def whole(stop: Stop) -> int:
        connection = Connection(options)
        async with opened(connection, connection.client()) as target:

            async def once() -> tuple[Document, int]:
                document = Document(shape=shape, view=view)
                code = await work(target, document)
                if not options.quiet:
                    complain_of_nothing(document, format)
                return document, document.exit_code if code is None else code

            return await watch(once, stop, options, format, made)

    return with_document(lambda: run(whole), shape, format)


def format_of(options: FormatOptions) -> str:
    """What `-J` and `--format` say together."""
    return "json" if options.json else options.format or "table"


def words_of(options: Options, what: str) -> list[str]:
    """The command's arguments without repetitions. Raises UsageError where there are none, or an empty one, as of a
    variable that is not set: only a group may be called that."""
    words = list(dict.fromkeys(options.words))
    if not words:
        every = "; '*' is all of them" if what.startswith("TOPIC") else ""
        raise UsageError(f"name at least one {what}{every}")
    if "" in words and not what.startswith("GROUP"):
        raise UsageError(f"'' names no {what}")
    return words


def some_of(words: Iterable[str], known: tuple[str, ...], flag: str) -> set[str]:
    """Those of the `known` words that a line names, whatever their case, in small letters. Raises UsageError for one
    that there is not: it would find nothing, which looks as if nothing were there."""
    folded = {one.lower() for one in known}
    found = {word.lower() for word in words}
    for word in sorted(found - folded):
        from kcli.text.suggest import did_you_mean

        raise UsageError(f"{flag} {word}: expected {', '.join(known)}{did_you_mean(word, known)}")
    return found


async def _connected(opened: AbstractAsyncContextManager[Target], work: Work[Target], document: Document) -> int | None:
    async with opened as target:
        return await work(target, document)


def say(options: QuietOptions, sentence: str) -> None:
    """A remark on stderr, unless -q."""
    if not options.quiet:
        complain(sentence)


async def unlisted(cluster: Cluster, document: Document, failed: dict[int, KcliError]) -> None:
    """Add the errors of coordinators whose groups have no rows; without such an owner, a failure of the connection."""
    nobodys = len(failed) == len(await cluster.nodes()) and all(isinstance(e, ConnectError) for e in failed.values())
    kind = ConnectError if nobodys else KcliError
    for node_id, error in failed.items():
        document.fail(kind(f"broker {node_id} did not list its groups: {error}"), f"broker {node_id}")


def missing(document: Document, about: str, error: KcliError, names: Iterable[str]) -> None:
    """Put "does not exist" with the nearest name into the document."""
    from kcli.text.suggest import did_you_mean

    document.fail(KcliError(f"{error}{did_you_mean(about, names)}"), about)
    document.errors[-1]["error"] = type(error).__name__


async def fail_all(
    document: Document,
    errors: dict[str, KcliError],
    absent: type[KcliError],
    names: Callable[[], Awaitable[Iterable[str]]],
) -> None:
    """Put the errors into the document; those of the kind `absent` with the nearest of `names`, asked for once."""
    known: list[str] | None = None
    for about, error in errors.items():
        if not isinstance(error, absent):
            document.fail(error, about)
            continue
        if known is None:
            known = list(await names())
        missing(document, about, error, known)


def plural(count: int, thing: str) -> str:
    if count != 1:
        thing = f"{thing[:-1]}ies" if thing.endswith("ty") else f"{thing}s"
    return f"{count} {thing}"
