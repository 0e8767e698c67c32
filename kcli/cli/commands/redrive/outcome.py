"""What is printed and said at the end of `kcli redrive`."""

from __future__ import annotations

from kcli.cli.commands.redrive.plan import Plan
from kcli.cli.output.messages import complain, sentence
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.output.text import records
from kcli.cli.runtime.change import PLAN_ONLY
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.copying.redrive import Account
from kcli.errors import KcliError


class TotalRow(Row, section="totals", table=False):
    topic: str = column("The dead-letter topic.", rank=1)
    read: int = column("Records read.", unit="count")
    filtered: int = column("Records filtered out.", unit="count")
    group: str = column("Name under which progress is stored in the cluster.", rank=1)
    sent_before: int = column("Records left out because an earlier redrive sent them.", unit="count")


class TargetRow(Row, section="targets"):
    topic: str | None = column("Topic the records go to; null without one.", rank=1)
    records: int = column("Records with this target, or with this reason.", unit="count")
    redriven: int = column("Acknowledged by the target topic; 0 in a plan.", unit="count")
    skipped: int = column("Skipped by --max-attempts or --missing skip.", unit="count", rank=3)
    failed: int = column("Not sent back.", unit="count")
    unknown: int = column("May have been sent back; no response arrived.", unit="count")
    note: str | None = column("Note about the row; null without one.", unit="sentence", rank=1)


SHAPE = shape(
    "redrive",
    "Dead letters by target, redriven or planned, and the number of records read.",
    TotalRow,
    TargetRow,
)


def summary(account: Account, *, planned: bool, unanswered: int = 0) -> str:
    """`12 records read: 9 redriven, 2 skipped, 1 filtered out`. `unanswered`: records on their way
    that no account tells of."""
    counts = [(account.total("records") if planned else account.total("redriven"), "redriven")]
    names = ("skipped", "failed") if planned else ("skipped", "failed", "unknown")
    others = [(account.total(name) + unanswered * (name == "unknown"), name) for name in names]
    if planned:
        counts = [(counts[0][0] - sum(n for n, _ in others), "to be redriven")]
    rest = account.read - account.filtered - account.sent_before - sum(n for n, _ in counts + others)
    others += [(account.filtered, "left out"), (account.sent_before, "sent before"), (rest, "not tried")]
    parts = [f"{n} {name}" for n, name in counts] + [f"{n} {name}" for n, name in others if n]
    return f"{records(account.read)} read: {', '.join(parts)}"


def verdict(plan: Plan, account: Account, problem: KcliError | None, stop: Stop, seconds: float) -> int:
    """Print the targets, and say what became of the records. Returns the exit code."""
    plan.say_skipped()
    _show(plan, account, problem)
    if problem is not None:
        complain(sentence(problem))
    if stop.asked:
        complain(f"interrupted: {summary(account, planned=not plan.execute)}")
        return INTERRUPTED
    if problem is not None or not plan.connection.quiet:
        took = f", in {seconds:.1f} s" if plan.execute else ""
        complain(f"{summary(account, planned=not plan.execute)}{took}")
        if account.sent_before:
            complain(f"earlier redrives sent {account.sent_before} of these records; --restart sends them again")
        if not plan.execute and not plan.dry_run:
            complain(PLAN_ONLY)
    if problem is not None:
        return problem.exit_code
    return 1 if account.total("failed") or account.total("unknown") else plan.exit_code


def _show(plan: Plan, account: Account, problem: KcliError | None) -> None:
    document = Document(shape=SHAPE, view=plan.view)
    document.of(TargetRow)[:] = [
        TargetRow.of(line, topic=topic, note=line.note or None)
        for (topic, _), line in sorted(account.lines.items(), key=lambda item: (item[0][0] is None, str(item[0])))
    ]
    document.of(TotalRow).append(
        TotalRow(
            topic=plan.dlq,
            read=account.read,
            filtered=account.filtered,
            sent_before=account.sent_before,
            group=plan.group,
        )
    )
    plan.left_out.fail(document)
    if problem is not None:
        document.fail(problem)
    write(document, plan.format)
