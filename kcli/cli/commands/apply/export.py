"""`kcli export`: a cluster as a file that `kcli apply` takes."""

from __future__ import annotations

import asyncio
import sys

from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions, internal
from kcli.cli.parsing.option import choice, texts
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.connection import Connection
from kcli.declared.export import Export
from kcli.declared.schema import SECTIONS
from kcli.declared.writing import text_of
from kcli.errors import UsageError
from kcli.settings import ClientSettings


class ExportOptions(ConnectionOptions):
    only = texts(
        "--only", metavar="SECTION", help="Only this section: topics, configs, users, quotas or acls. Repeatable."
    )
    match = texts(
        "--match",
        metavar="PATTERN",
        help="Only what is named so, as a scope names it: orders-*, ^REGEX, group/billing, User:a*. Repeatable.",
    )
    format = choice("--format", of=("yaml", "toml", "json"), help="Default yaml.")
    internal = internal()


@command(
    "export",
    examples="""
kcli export > cluster.yaml
kcli export --only topics --match 'orders*' --format toml
kcli export -b old:9092 | kcli apply - -b new:9092 --execute""",
)
def export(options: ExportOptions) -> int:
    """Print topics, configs, users, quotas and ACLs as a file for `kcli apply`. To apply it to the same cluster changes
    nothing. Passwords cannot be read: users get the name of an environment variable, secret configs are left out.
    Not exported: records, offsets, and what is Kafka's own.
    """
    only = options.only or list(SECTIONS)
    for name in only:
        if name not in SECTIONS:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(name, SECTIONS) or f"; there are {', '.join(SECTIONS)}"
            raise UsageError(f"--only {name}: there is no such section{near}")
    settings = Connection(options).client()
    exported = asyncio.run(_read(settings, options, only))
    empty = len(exported.document) == 1  # its schema
    if not (empty and exported.unmatched):
        _print(text_of(exported.document, options.format or "yaml"))
    for remark in exported.remarks:
        say(options, remark)
    for about, error in exported.failed.items():
        complain(f"{about}: {error}" if about not in str(error) else str(error))
    for pattern in exported.unmatched:
        why = f"--match {pattern}: nothing is named so; a name, a pattern such as orders-*, or ^REGEX"
        if empty:
            complain(why)
        else:
            say(options, why)
    counts = [plural(len(exported.document[name]), name[:-1]) for name in SECTIONS if exported.document.get(name)]
    if options.verbose:
        say(options, f"exported: {', '.join(counts) or 'nothing'}")
    return 1 if exported.failed or (empty and exported.unmatched) else 0


def _print(text: str) -> None:
    if sys.stdout.isatty():
        from kcli.text.escape import visible

        text = visible(text, keep="\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


async def _read(settings: ClientSettings, options: ExportOptions, only: list[str]) -> Export:
    from kcli.client import Client

    async with Client(settings) as client:
        exported = Export(client.cluster, match=options.match, internal=options.internal)
        await exported.read(only)
        return exported
