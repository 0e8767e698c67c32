"""`kcli pipeline run FILE`: run a file as if its settings were options of `sql`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import PipelineOptions
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.spec import Spec
from kcli.cli.commands.pipeline.sql import Querying, start
from kcli.cli.documents.input_file import read_text
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.errors import UsageError
from kcli.system.files import TEXT

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class RunOptions(PipelineOptions):
    check: Annotated[bool, typer.Option("--check", help="Only check the file and report mistakes.")] = False


@command(
    "pipeline run",
    help="Run a pipeline from a file: source, SQL, sink, mode.",
    words="FILE",
    examples="""
kcli pipeline run big-orders.yaml
kcli pipeline run big-orders.yaml --check
kcli pipeline run big-orders.yaml --batch --dry-run
LEAST=500 kcli pipeline run big-orders.yaml --continuous""",
)
def run(options: RunOptions) -> int:
    """FILE is YAML: a source, SQL steps and a sink. ${NAME} is an environment variable, ${NAME:-else} has a default. Do
    not put passwords into the file: name a profile.

    \b
        name: big-orders
        profile: prod
        mode: once                     # batch, once or continuous
        source:
          topic: orders
          value-format: json
        steps:
          - name: big
            sql: SELECT key, value FROM orders WHERE value.total > ${LEAST:-100}
        sink:
          topic: big-orders            # or files: DIR and format: parquet; or print: ndjson

    Options on the command line override the file."""
    if len(options.words) != 1:
        raise UsageError("missing file: kcli pipeline run FILE.yaml")
    spec = Spec(options.words[0], read_text(options.words[0], TEXT))
    merged = spec.options(options)
    frame = Frame(merged, "run")
    job = Querying(frame, merged, spec.steps, spec.each(merged))
    job.name = "run"
    if options.check:
        if not frame.quiet:
            complain(f"{options.words[0]}: no mistakes found; its source and sink were not checked")
        return 0
    return start(frame, job)
