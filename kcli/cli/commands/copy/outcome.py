"""The wait at the end of a copy, and its summary."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from kcli.cli.commands.copy.plan import Plan
from kcli.cli.output.messages import complain, sentence
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.output.text import records
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.cli.runtime.views import view_of
from kcli.copying.copier import Tally
from kcli.errors import BrokerError, KcliError, UnknownOutcome


class CopyRow(Row, section="copies"):
    source: str = column("Topic the records came from.", rank=1)
    destination: str = column("Topic they went to.", rank=1)
    read: int = column("Records read.", unit="count")
    copied: int = column("Records acknowledged (with --exactly-once: committed).", unit="count")
    filtered: int = column("Records filtered out.", unit="count")
    failed: int = column("Records that were not published.", unit="count", rank=1)
    unknown: int = column("Records that may have been published; no response arrived.", unit="count", rank=1)
    untouched: int = column("Records whose batch was sent unchanged.", unit="count", rank=3)
    bytes: int = column("Bytes of the fetched batches.", unit="bytes")
    seconds: float = column("How long it took.")
    group: str | None = column("Name under which progress is stored; null with --no-resume.", rank=3)


SHAPE = shape("copy", "Outcome of a copy.", CopyRow)
PATIENCE = 0.5  # seconds of silence after Ctrl-C
FLUSH_AFTER_INTERRUPT = 10.0  # seconds


async def answered(work: Awaitable[None], stop: Stop) -> None:
    """Give what waits for answers some seconds more, and say so. Raises what it raises, TimeoutError when it was
    cancelled then."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        again = "Ctrl-C again" if stop.asked else "Ctrl-C twice"
        complain(f"waiting for responses to the sent records; {again} stops at once")
        done, _ = await asyncio.wait({task}, timeout=FLUSH_AFTER_INTERRUPT)
    if not done:
        task.cancel()
        await asyncio.wait({task})
        raise TimeoutError
    await task


def summary(tally: Tally, unanswered: int = 0) -> str:
    """`12 records read: 9 copied, 3 filtered out`. `unanswered`: records that may be published, without an answer
    yet."""
    parts = [f"{tally.copied} copied"]
    if tally.filtered:
        parts.append(f"{tally.filtered} filtered out")
    parts += [f"{tally.failed} failed"] if tally.failed else []
    unknown, rest = tally.unknown + unanswered, tally.on_the_way - unanswered
    parts += [f"{unknown} unknown"] if unknown else []
    parts += [f"{rest} not sent"] if rest > 0 else []
    return f"{records(tally.read)} read: {', '.join(parts)}"


def verdict(plan: Plan, tally: Tally, problem: KcliError | None, stop: Stop, seconds: float) -> int:
    """Say what became of the copy, and print the document that is asked for. Returns the exit code."""
    plan.say_skipped()
    if problem is not None:
        complain(sentence(problem))
        if isinstance(problem, BrokerError | UnknownOutcome) and plan.resume:
            again = "" if plan.exactly_once else "; records copied after its committed offsets are copied again"
            complain(f"run it again to resume from group {plan.group}{again}")
    if plan.format is not None:
        _show(plan, plan.format, tally, problem, seconds)
    if stop.asked and not plan.follow:
        complain(f"interrupted: {summary(tally)}")
        return INTERRUPTED
    if problem is not None or plan.talkative:
        complain(f"{summary(tally)}, in {seconds:.1f} s")
    return plan.exit_code if problem is None else problem.exit_code


def _show(plan: Plan, format: str, tally: Tally, problem: KcliError | None, seconds: float) -> None:
    document = plan.document or Document(shape=SHAPE, view=view_of(plan.options))
    document.of(CopyRow).append(
        CopyRow.of(
            tally,
            source=plan.source,
            destination=plan.destination,
            seconds=round(seconds, 3),
            group=plan.group if plan.resume else None,
        )
    )
    plan.left_out.fail(document)
    if problem is not None:
        document.fail(problem)
    if plan.document is None:
        write(document, format)
