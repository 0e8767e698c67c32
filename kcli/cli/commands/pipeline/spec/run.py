"""`kcli pipeline run FILE`: what a file says, as if it had been said on a line of `sql`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.drive import say
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.spec.spec import Spec
from kcli.cli.commands.pipeline.sql import Querying, read_file, start
from kcli.cli.parsing.command import Legacy
from kcli.errors import UsageError

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

MODES = ("batch", "once", "continuous")


def run(values: Values) -> int:
    """Read, check, and do. Returns the exit code."""
    words = values["words"] or []
    if len(words) != 1:
        raise UsageError("which file? kcli pipeline run FILE.yaml")
    spec = Spec(words[0], read_file(words[0]))
    frame = Frame(merged(values, spec), "run")
    job = Querying(frame, spec.steps, {topic: shaped(said) for topic, said in spec.each.items()})
    job.name = "run"
    if values["check"]:
        if not frame.quiet:
            say(f"{words[0]}: nothing is wrong with it; what it reads and writes was not looked at")
        return 0
    return start(frame, job)


def shaped(said: Values) -> Values:
    """One value for an option that can be repeated is a list of one."""
    from kcli.cli.commands.pipeline.query_options import SQL

    several = {one.name for one in SQL.options if one.multiple}
    return {name: [value] if name in several and isinstance(value, str) else value for name, value in said.items()}


def merged(values: Values, spec: Spec) -> Values:
    """The options of `sql`: this line's where it says them, else the file's, else none."""
    from kcli.cli.commands.pipeline.query_options import SQL

    found = Legacy(SQL.defaults() | values | {"words": []})
    usual = SQL.defaults()
    line_mode = any(values[mode] for mode in MODES)
    for name, value in shaped(spec.common).items():
        if line_mode and name in MODES:
            continue
        if found.get(name) == usual.get(name):
            found[name] = value
        elif isinstance(value, list):
            found[name] = [*value, *found[name]]
    if line_mode and not values["continuous"]:  # what the file says for another mode
        alone = ("trigger", "checkpoint", "max_per_batch", "commit_group", "watermark", "output_mode")
        for name in alone if values["batch"] else ("trigger",):
            found[name] = values.get(name)
    return found
