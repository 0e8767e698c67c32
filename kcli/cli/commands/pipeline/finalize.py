"""`kcli pipeline finalize`: the files of batches that were cut short, planned and then taken away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.main import complain
from kcli.cli.runtime.answer import confirm, excluding, format_of, plural
from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values


def run(values: Values) -> int:
    """Plan, and with --execute do. Returns the exit code: 1 where a file of a whole batch is missing."""
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape
    from kcli.pipeline.jobs.files.finalize import look, remove

    words = values["words"] or []
    if not words:
        raise UsageError("finalize which folder? kcli pipeline finalize DIR")
    excluding(values)
    found = {word: look(Path(word)) for word in words}
    made = Document(shape=shape("pipeline.finalize"))
    rows = made.rows["folders"] = [
        {
            "folder": word,
            "committed": one.committed,
            "orphans": len(one.orphans),
            "bytes": sum(one.sizes.values()),
            "missing": len(one.missing),
            "result": "planned" if one.orphans else "nothing to do",
        }
        for word, one in found.items()
    ]
    made.rows["orphans"] = [
        {"path": str(path), "bytes": one.sizes[path]} for one in found.values() for path in one.orphans
    ]
    for word, one in found.items():
        if one.missing:
            made.fail(
                KcliError(f"{word}: {plural(len(one.missing), 'file')} of whole batches gone: {one.missing[0]}"), word
            )
    code = 1 if made.errors else 0
    if made.rows["orphans"] and not values["dry_run"]:
        if not confirm(values, made, "remove"):
            complain(made.errors[-1]["message"])
            return 1
        for row, one in zip(rows, found.values(), strict=True):
            remove(one)
            row["result"] = "removed" if one.orphans else "nothing to do"
    write(made, format_of(values))
    for problem in made.errors:
        complain(problem["message"])
    return code
