"""One refresh of a watch as a document, and as sentences on stderr."""

from __future__ import annotations

from kcli.cli.commands.lag.rows import SHAPES, fill, stamp
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.runtime.answer import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.commands.lag.plan import Plan
    from kcli.cli.output.refreshes import News
    from kcli.lag.figures import Breach
    from kcli.lag.watch import LagSnapshot


def complain_of(plan: Plan, snapshot: LagSnapshot, news: News) -> None:
    """Print what could not be read, and what happened, to stderr."""
    wrong = [str(error) if about in str(error) else f"{about}: {error}" for about, error in snapshot.failed.items()]
    wrong += [f"broker {node} did not list its groups: {error}" for node, error in snapshot.brokers.items()]
    for sentence in news.of(wrong):
        complain(sentence)
    if plan.options.quiet or not plan.watch:
        return
    for event in snapshot.events:
        complain(f"{stamp(event.time)} {event.group}: {event.text}")


def document_of(plan: Plan, snapshot: LagSnapshot, broken: Sequence[Breach] = ()) -> Document:
    """The rows of a refresh, with the limits of an assertion that are broken."""
    document = Document(shape=SHAPES[plan.level], view=plan.view)
    fill(document, snapshot, plan.level)
    for about, error in snapshot.failed.items():
        document.fail(error, about)
    add_breaches(document, broken)
    return document


def add_breaches(document: Document, broken: Sequence[Breach]) -> None:
    """Put broken limits into a document, with the group and the partition."""
    for breach in broken:
        place = {"topic": breach.topic, "partition": breach.partition} if breach.partition >= 0 else {}
        document.breach(breach.group, breach.text, limit=f"--{breach.limit}", **place)


def head_of(snapshot: LagSnapshot) -> str:
    """A line above a refresh."""
    return f"{stamp(snapshot.time)}  {plural(len(snapshot.groups), 'group')}, refreshed in {snapshot.took:.2f} s"
