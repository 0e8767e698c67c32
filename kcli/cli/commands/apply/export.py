"""`kcli export`: a cluster as a file that `kcli apply` takes."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING

from kcli.cli.commands.apply.opened import SchemasOptions, both
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions, PatternOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.signals import run_to_end
from kcli.declared.export import Export
from kcli.declared.schema import SECTIONS
from kcli.declared.writing import text_of
from kcli.errors import UsageError
from kcli.text.names import Names

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.parsing.shared import Internal


class ExportOptions(PatternOptions, SchemasOptions, ConnectionOptions):
    only: Annotated[
        list[str],
        typer.Option(
            "--only",
            metavar="SECTION",
            help="Only this section: topics, configs, users, quotas, acls or schemas. Repeatable.",
        ),
    ]
    match: Annotated[
        list[str],
        typer.Option(
            "--match", metavar="PATTERN", help="The same as a NAME that is an argument. Repeatable.", hidden=True
        ),
    ]
    format: Annotated[Literal["yaml", "toml", "json"] | None, typer.Option("--format", help="Default yaml.")] = None
    internal: Internal = False


@command(
    "export",
    words="NAME",
    examples="""
kcli export > cluster.yaml
kcli export 'orders*' 'group/*' --only topics --only configs --format toml
kcli export -b old:9092 | kcli apply - -b new:9092 --execute""",
)
def export(options: ExportOptions) -> int:
    """Print topics, configs, users, quotas, ACLs and, if a registry is set, schemas as a file for `kcli apply`.
    Applying it to the same cluster changes nothing. Passwords cannot be read: users get the name of an environment
    variable, secret configs are omitted. Not exported: records, offsets and Kafka's internal resources. NAME selects
    resources by name: orders, orders-*, ^RE, group/billing, User:a*.
    """
    only = options.only or list(SECTIONS)
    for name in only:
        if name not in SECTIONS:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(name, SECTIONS) or f"; known: {', '.join(SECTIONS)}"
            raise UsageError(f"--only {name}: unknown section{near}")
    if options.match:
        say(options, f"--match was replaced by an argument: kcli export {quote(options.match[0])}")
    names = Names([*options.words, *options.match], literal=options.literal)
    exported = run_to_end(_read(Connection(options), options, names, only))
    empty = len(exported.document) == 1  # its schema
    if not (empty and exported.unmatched):
        _print(text_of(exported.document, options.format or "yaml"))
    for remark in exported.remarks:
        say(options, remark)
    for about, error in exported.failed.items():
        complain(f"{about}: {error}" if about not in str(error) else str(error))
    for pattern in exported.unmatched:
        why = f"{pattern}: no resource matches; write a name, a glob such as 'orders-*', or '^RE'"
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


async def _read(connection: Connection, options: ExportOptions, names: Names, only: list[str]) -> Export:
    async with both(options)(connection, connection.client()) as (cluster, registry):
        if registry is None and options.only and "schemas" in only:
            raise UsageError("--only schemas: no registry is set; add --schema-registry URL")
        exported = Export(cluster, names=names, internal=options.internal, registry=registry)
        await exported.read(only)
        return exported
