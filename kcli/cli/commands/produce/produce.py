"""`kcli produce`: lines, files, values or envelopes in; exit 0 only if every record was acknowledged (R1)."""

from __future__ import annotations

from kcli.cli.commands.produce.plan import Plan, ProduceOptions
from kcli.cli.commands.produce.sending import Sending, say, send
from kcli.cli.parsing.command import command
from kcli.cli.runtime.signals import Stop, run, tell_outages


@command(
    "produce",
    words="TOPIC [FILE]...",
    examples="""
kcli produce orders < orders.txt
kcli produce orders -K : -z zstd < keyed.txt        # key:value, compressed
kcli produce orders -k k -H source=shell --value v  # one record
kcli produce orders --transactional-id load-1 < f   # all of it or nothing
kcli produce orders --transactional-id load-1 --batch 1000 < f
kcli consume orders -e -J | kcli produce copy --input json""",
)
def produce(options: ProduceOptions) -> int:
    """Read stdin, or the FILEs, a record a line. Exit 0 only if every record was acknowledged."""
    plan = Plan(options)
    return run(lambda stop: _produce(plan, stop))


async def _produce(plan: Plan, stop: Stop) -> int:
    from kcli.client import Client

    report = None
    if plan.report is not None:
        from kcli.cli.output.report import Report

        report = Report(plan.report)
    try:
        async with Client(plan.connection.client()) as client:
            tell_outages(client.cluster, quiet=plan.connection.quiet)
            producer = client.producer(plan.settings)
            await producer.start()
            try:
                if plan.settings.transactional_id is not None:
                    from kcli.cli.commands.produce import transactions

                    sending = transactions.TransactionalSending(plan, producer, report, client.cluster)
                    code = await transactions.send(sending, stop)
                else:
                    code = await send(Sending(plan, producer, report, client.cluster), stop)
            finally:
                await producer.close(0)
    finally:
        if report is not None:
            report.close()
    if report is None or report.problem is None:
        return code
    say(str(report.problem))
    return code or report.problem.exit_code
