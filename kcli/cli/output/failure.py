"""What a command that streams or counts prints when it fails and JSON is wanted: the same as all other commands do,
the document with its errors, or a line `{"error": …}`. Usage errors are a sentence only, as everywhere."""

from __future__ import annotations

import os

from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.shape import Shape


UNTITLED = ("table", "plain", "ndjson")
"""Formats that print nothing where there are no rows."""
SENTENCES = 10
"""The number of errors that are printed on stderr; the document has all."""


def complain_of(document: Document) -> None:
    """Print the first errors of a document to stderr."""
    from kcli.cli.output.messages import complain

    for problem in document.errors[:SENTENCES]:
        complain(str(problem["message"]))
    left = len(document.errors) - SENTENCES
    if left > 0:
        complain(f"and {left} more error{'s' * (left > 1)}; --format json prints all of them")


def complain_of_nothing(document: Document, format: str) -> None:
    """Say on a terminal that there are no rows: an empty answer looks like none."""
    from kcli.cli.output.messages import complain

    sentence = document.empty or document.shape.empty
    if sentence and format in UNTITLED and not any(document.rows.values()) and not document.errors and os.isatty(2):
        complain(sentence)


class OutputFailed(KcliError):
    """The output takes no more, no error either."""


def with_document(work: Callable[[], int], shape: Shape | None, format: str | None) -> int:
    """The exit code of `work`; where it raises, the empty document of its shape with the error is printed; a command
    that prints lines has none. Raises what it raises."""
    try:
        return work()
    except (UsageError, OutputFailed):
        raise
    except KcliError as error:
        if format not in (None, "table"):
            print_errors([error], shape, format)
        raise


def with_line(work: Callable[[], int], json: bool) -> int:
    """The exit code of `work`; where it raises, a line with the error ends the records. Raises what it raises."""
    return with_document(work, None, "ndjson" if json else None)


def print_errors(errors: Iterable[KcliError], shape: Shape | None = None, format: str = "ndjson") -> None:
    """Print errors after the lines of a command, or the empty document of a shape with them."""
    from kcli.cli.output.messages import discard
    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.render import write
    from kcli.cli.output.tables.shape import Section, Shape

    document = Document(shape=shape or Shape(sections=(Section(),)))
    for error in errors:
        document.fail(error)
    try:
        write(document, format)
    except BrokenPipeError:
        discard(1)  # its reader left; the exit code still tells
