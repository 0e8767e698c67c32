"""One look of a watch as a document, as text and as sentences on stderr."""

from __future__ import annotations

from kcli.cli.commands.lag.rows import SHAPES, fill, stamp
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.lag.plan import Plan
    from kcli.lag.watch import Look


class News:
    """The sentences of the look before: those that still hold are not printed again."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def of(self, sentences: list[str]) -> list[str]:
        """Those that were not among the last ones."""
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._before]
        self._before = set(sentences)
        return new


def complain_of(plan: Plan, look: Look, news: News) -> None:
    """Print what could not be read, and what happened, to stderr."""
    wrong = [str(error) if about in str(error) else f"{about}: {error}" for about, error in look.failed.items()]
    wrong += [f"broker {node} did not list its groups: {error}" for node, error in look.brokers.items()]
    for sentence in news.of(wrong):
        complain(sentence)
    if plan.options.quiet or not plan.watch:
        return
    for event in look.events:
        complain(f"{stamp(event.time)} {event.group}: {event.text}")


def document_of(plan: Plan, look: Look) -> Document:
    document = Document(shape=SHAPES[plan.level], view=plan.view)
    fill(document, look, plan.level)
    for about, error in look.failed.items():
        document.fail(error, about)
    return document


def text_of(plan: Plan, look: Look, *, first: bool) -> str:
    """One look as text for a pipe: a document a line for json, rows for the others, a head only once."""
    document = document_of(plan, look)
    if plan.format == "json":
        from json import dumps

        from kcli.cli.output.tables.render import whole

        return dumps(whole(document), ensure_ascii=False, separators=(",", ":")) + "\n"
    text = render(document, plan.format)
    if plan.format in ("csv", "csv-safe", "tsv") and not first:
        return text.partition("\n")[2]
    if plan.format == "table" and not first:
        return "\n" + text
    return text
