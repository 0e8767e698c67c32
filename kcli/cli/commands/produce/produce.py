"""`kcli produce`: lines, files, values or lines of JSON in; exit 0 only if every record was acknowledged (R1)."""

from __future__ import annotations

import os

from kcli.cli.commands.produce.plan import Plan, ProduceOptions
from kcli.cli.commands.produce.sending import Sending, say, send
from kcli.cli.parsing.command import command
from kcli.cli.runtime.signals import INTERRUPTED, Stop, run, tell_outages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.report import Report
    from kcli.client import Client


@command(
    "produce",
    words="TOPIC [FILE]...",
    examples="""
kcli produce orders < orders.txt
kcli produce orders -K : -z zstd < keyed.txt        # key:value, compressed
kcli produce orders orders.txt.gz --rate 100/s      # unpacked, 100 records per second
kcli produce orders -k k -H source=shell --value v  # one record
kcli produce orders --tombstone ann --tombstone bob # keys without a value
kcli produce orders --repeat 1000 --value '{"id": {{seq}}, "at": "{{now}}"}'
kcli produce orders -f '%k %h{trace} %s' < lines    # key, a header and the value in a line
kcli produce orders --input json-values < list.json # each object of an array is a value
kcli produce orders --key-from id < orders.ndjson   # the key is a field of the value
kcli produce orders --transactional-id load-1 < f   # all records or none
kcli produce orders --transactional-id load-1 --batch 1000 < f
kcli consume orders -e --envelope | kcli produce copy --input envelope""",
)
def produce(options: ProduceOptions) -> int:
    """Read stdin or the FILEs, one record per line. Exit 0 only if every record was acknowledged. On a terminal, kcli
    prompts and shows the partition and offset of each record. Input compressed with gzip or zstd is unpacked.

    With -K, a line without that delimiter is malformed (see --on-error), unless -k gives a default key.

    -f has the tokens of consume -f; each reads the text up to the delimiter after it. With --repeat, {{seq}} counts
    records from 1, {{now}} is the time in UTC, and {{uuid}} is one id per record, the same in value, key and
    headers."""
    plan = Plan(options)
    return run(lambda stop: _produce(plan, stop))


async def _produce(plan: Plan, stop: Stop) -> int:
    from kcli.client import Client

    report = None
    if plan.report is not None:
        from kcli.cli.output.report import Report

        report = Report(plan.report, force=plan.force)
    try:
        registry = None if plan.encoding is None else plan.encoding.registry
        async with Client(plan.connection.client(), registry=registry) as client:
            tell_outages(client.cluster, quiet=plan.connection.quiet)
            if plan.encoding is not None:
                await stop.unless(plan.encoding.prepare(plan.topic, client))
                if stop.asked:
                    return INTERRUPTED
            code = await _send(plan, client, report, stop)
    finally:
        if report is not None:
            report.close()
    if report is None or report.problem is None:
        return code
    say(str(report.problem))
    return code or report.problem.exit_code


async def _send(plan: Plan, client: Client, report: Report | None, stop: Stop) -> int:
    """Send the input with a producer of its own; with -v, print what it counted. Return the exit code."""
    producer = client.producer(plan.settings)
    await producer.start()
    try:
        if plan.settings.transactional_id is not None:
            from kcli.cli.commands.produce import transactions

            transactional = transactions.TransactionalSending(plan, producer, report, client.cluster)
            _watch(transactional)
            return await transactions.send(transactional, stop)
        sending = Sending(plan, producer, report, client.cluster)
        _watch(sending)
        return await send(sending, stop)
    finally:
        await producer.close(0)
        if plan.connection.verbose:
            from kcli.cli.output.metrics import say_producer

            say_producer(client.metrics, producer.metrics)


def _watch(sending: Sending) -> None:
    """A person at a terminal is prompted, and reads where records were stored."""
    if os.isatty(2):
        from kcli.cli.commands.produce.prompt import named, prompt_of

        sending.prompt, sending.named = prompt_of(sending.plan), named(sending.plan)
