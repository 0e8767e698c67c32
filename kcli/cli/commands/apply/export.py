"""`kcli export`: a cluster as a file that `kcli apply` takes."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from kcli.cli.main import complain
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.connection import Connection
from kcli.declared.export import Export
from kcli.declared.schema import SECTIONS
from kcli.declared.writing import text_of
from kcli.errors import UsageError
from kcli.settings import ClientSettings

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values


def export(values: Values) -> int:
    """`kcli export`. What could not be read is told and is exit code 1; the rest is printed. A pattern that fits
    nothing is a note, and exit code 1 only where nothing else was found."""
    only = values["only"] or list(SECTIONS)
    for name in only:
        if name not in SECTIONS:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(name, SECTIONS) or f"; there are {', '.join(SECTIONS)}"
            raise UsageError(f"--only {name}: there is no such section{near}")
    settings = Connection(values).client()
    found = asyncio.run(_read(settings, values, only))
    empty = len(found.document) == 1  # its schema
    if not (empty and found.unmatched):
        _print(text_of(found.document, values["format"] or "yaml"))
    for remark in found.remarks:
        say(values, remark)
    for about, error in found.failed.items():
        complain(f"{about}: {error}" if about not in str(error) else str(error))
    for one in found.unmatched:
        why = f"--match {one}: nothing is named so; a name, a pattern such as orders-*, or ^REGEX"
        if empty:
            complain(why)
        else:
            say(values, why)
    counts = [plural(len(found.document[one]), one[:-1]) for one in SECTIONS if found.document.get(one)]
    if values["verbose"]:
        say(values, f"exported: {', '.join(counts) or 'nothing'}")
    return 1 if found.failed or (empty and found.unmatched) else 0


def _print(text: str) -> None:
    if sys.stdout.isatty():
        from kcli.text.escape import visible

        text = visible(text, keep="\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


async def _read(settings: ClientSettings, values: Values, only: list[str]) -> Export:
    from kcli.client import Client

    async with Client(settings) as client:
        found = Export(client.cluster, match=values["match"], internal=values["internal"])
        await found.read(only)
        return found
