"""`kcli copy 'orders-*' 'copy-*'`: each topic that matches, one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kcli.cli.commands.copy.outcome import SHAPE
from kcli.cli.commands.copy.plan import CopyOptions, Plan
from kcli.cli.commands.copy.survey import PLAN_SHAPE
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.runtime.names import names_of, topic_names
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.cli.runtime.views import view_of
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.text.names import is_pattern

Copy = Callable[[Plan, Stop], Awaitable[int]]
"""Copies one topic; returns the exit code."""

STAR = "*"


def by_pattern(options: CopyOptions) -> bool:
    """Is SRC a pattern?"""
    return len(options.words) == 2 and not options.literal and is_pattern(options.words[0])


async def copy_several(options: CopyOptions, copy: Copy, stop: Stop) -> int:
    """Copy each topic that matches. What fails is reported, the others are copied; the exit code is that of the first
    failure. Raises UsageError before anything is copied."""
    plans = await _plans(options, stop)
    if not plans:
        return INTERRUPTED
    document = Document(shape=PLAN_SHAPE if options.dry_run else SHAPE, view=view_of(options))
    code = 0
    for plan in plans:
        plan.document = document
        try:
            done = await copy(plan, stop)
        except KcliError as problem:
            done = problem.exit_code
            document.fail(problem, plan.source)
            complain(f"{plan.source} → {plan.destination}: {problem}")
        code = code or done
        if stop.asked:
            break
    if plans[0].format is not None or options.dry_run:
        write(document, plans[0].format or "table")
    return code


async def _plans(options: CopyOptions, stop: Stop) -> list[Plan]:
    """A copy for each topic. Raises UsageError where a topic has no destination of its own."""
    source, destination = options.words
    if options.follow:
        raise UsageError(f"--follow copies one topic; {source} is a pattern (--literal: a name)")
    names = names_of(options, [source])
    connection = Plan(options.replace(words=[source, destination.replace(STAR, "")], literal=True)).connection
    async with Client(connection.client()) as client:
        topics = await stop.unless(topic_names(client.cluster, names)) or []
    if len(topics) > 1 and STAR not in destination:
        raise UsageError(
            f"{source}: {len(topics)} topics match, but DST is a single topic: put * in place of the name, such "
            f"as 'copy-*' or '*'"
        )
    return [Plan(options.replace(words=[topic, destination.replace(STAR, topic)], literal=True)) for topic in topics]
