"""`kcli config import`: other tools' clusters as profiles, shown as TOML, written only where one asks for it."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING

from kcli.cli.commands.config.importing.foreign import PLACES, guess, place, read
from kcli.cli.commands.config.importing.readers import ForeignCluster
from kcli.cli.commands.config.options import RemarkOptions
from kcli.cli.commands.config.writing.file import anchor, named_files, write
from kcli.cli.commands.config.writing.toml import secrets_of, text_of
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.config.profiles import user_file
from kcli.config.properties.merged import Properties
from kcli.errors import UsageError
from kcli.text.escape import put

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class ImportOptions(RemarkOptions):
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Name of the profile.")] = None
    only: Annotated[list[str], typer.Option("--only", metavar="NAME", help="Only this cluster. Repeatable.")]
    write: Annotated[bool, typer.Option("--write", help="Add them to config.toml, with their secrets.")] = False
    to: Annotated[
        str | None, typer.Option("--to", metavar="FILE", help="With --write: another file, such as .kcli.toml.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace profiles of the same names.")] = False
    reveal: Annotated[bool, typer.Option("--reveal", help="Print secrets too.")] = False


@command(
    "config import",
    help="Import clusters of kcat, kaf, kafkactl, kcl or rpk.",
    words="kcat|kaf|kafkactl|kcl|rpk|properties [FILE]",
    examples="""
kcli config import kaf                               # from ~/.kaf/config
kcli config import client.properties --name prod
kcli config import kafkactl --only prod --write""",
)
def run(options: ImportOptions) -> int:
    """Print the clusters of another tool's configuration as profiles. --write adds them to config.toml."""
    kind, path = _source(options.words)
    name = options.name or (os.path.splitext(os.path.basename(path))[0] if kind == "properties" else kind)
    clusters = read(kind, path, name)
    wanted = options.only
    if wanted:
        _known(wanted, clusters, path)
        clusters = [cluster for cluster in clusters if cluster.name in wanted]
    if options.name:
        if len(clusters) > 1:
            raise UsageError(f"--name {name}: {path} has {len(clusters)} clusters; name one of them with --only")
        clusters[0].name = name
    for cluster in clusters:
        if kind != "properties":
            check_literal(cluster, path)
        anchor(cluster, os.path.dirname(path))
        _remark(cluster, kind, quiet=options.quiet)
    if options.write:
        target = options.to or user_file()
        replaced = write(target, clusters, force=options.force)
        if not options.quiet:
            names = ", ".join(cluster.name for cluster in clusters)
            complain(f"{names} written to {target}{f'; the previous file is {target}~' if replaced else ''}")
        return 0
    put("\n".join(text_of(cluster, reveal=options.reveal) for cluster in clusters))
    sys.stdout.flush()
    hidden = sum(len(secrets_of(cluster)) for cluster in clusters)
    if hidden and not options.reveal and not options.quiet:
        complain(f"{hidden} secret{'s are' if hidden > 1 else ' is'} hidden: --reveal shows them, --write keeps them")
    return 0


def _source(words: list[str]) -> tuple[str, str]:
    """(tool, file)."""
    kinds = ", ".join(PLACES)
    if not words or len(words) > 2:
        raise UsageError(f"missing argument: the tool, and its file if it is elsewhere: {kinds}")
    if len(words) == 1 and words[0] not in PLACES and os.path.isfile(words[0]):
        return guess(words[0]), words[0]
    kind = words[0]
    if kind not in PLACES:
        from kcli.text.suggest import did_you_mean

        if len(words) == 1 and ("." in kind or os.sep in kind):
            raise UsageError(f"{kind}: no such file")
        raise UsageError(f"unknown tool {kind}{did_you_mean(kind, PLACES) or f'; known: {kinds}'}")
    return kind, words[1] if len(words) == 2 else place(kind)


def check_literal(cluster: ForeignCluster, path: str) -> None:
    """Raises UsageError for a text that a profile would look up or run: other tools send it as it is."""
    for key, value in cluster.properties.items():
        if value.startswith("${") and value.endswith("}"):
            raise UsageError(
                f"{path}: {cluster.name}: {key} contains ${{…}}, which a profile would look up or run: replace it, or "
                f"exclude the cluster with --only"
            )


def _known(wanted: list[str], clusters: list[ForeignCluster], path: str) -> None:
    names = [cluster.name for cluster in clusters]
    for name in wanted:
        if name not in names:
            from kcli.text.suggest import did_you_mean

            raise UsageError(f"--only {name}: {path} has {', '.join(names)}{did_you_mean(name, names)}")


def _remark(cluster: ForeignCluster, kind: str, *, quiet: bool) -> None:
    """What could not be taken over, and what would not work as it is."""
    remarks = [f"{cluster.name}: omitted: {', '.join(cluster.left_out)}"] if cluster.left_out else []
    if not cluster.bootstrap:
        remarks.append(
            f"{cluster.name}: no servers are set: add bootstrap, or use -b with --profile {quote(cluster.name)}"
        )
    try:
        properties = Properties(looking=False)
        for key, value in cluster.properties.items():
            properties.put(key, value, cluster.name)
        properties.security()
    except UsageError as problem:
        remarks.append(str(problem))
    remarks += [
        f"{cluster.name}: {key}: {file} is relative to the working directory" for key, file in named_files(cluster)
    ]
    if cluster.current:
        default = f'default_profile = "{cluster.name}"'
        remarks.append(f"{kind} uses it now: --profile {quote(cluster.name)}, or {default}")
    for remark in [] if quiet else remarks:
        complain(remark)
