"""`kcli consume --share-group`: records that are ours alone for a while, acknowledged after they were written.

What was not written is given back: by `-n`, by a reader of the output that left, by Ctrl-C. A lock that would run out
while the output is blocked is renewed where the broker can; a record whose lock ran out is not written.
"""

from __future__ import annotations

from kcli import codes
from kcli.admin.groups.kinds import EARLIEST, LATEST, RESET, ShareStart, share_offsets, share_reset
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import PATIENCE
from kcli.cli.commands.consume.selection import partitions
from kcli.cli.commands.consume.share.plan import SharePlan
from kcli.cli.commands.consume.share.reading import ShareReading
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output import text
from kcli.cli.output.failure import with_line
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.cli.runtime.signals import run as run_loop
from kcli.consumer.share.settings import ShareSettings
from kcli.errors import BrokerError, KcliError
from kcli.proto.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.plan import ConsumeOptions
    from kcli.consumer.share.ranges import Outcome
    from kcli.model import Cluster, TopicPartition

FAILED_ASSERTION = 3  # exit code
LEAVE = 5.0  # seconds to give back and leave after Ctrl-C
SENTENCES = 5
GROUP, SET = 32, 0


def consume_share_group(options: ConsumeOptions, group: str) -> int:
    """Consume as a member of a share group. Returns the exit code."""
    plan = SharePlan(options, group)
    return with_line(lambda: run_loop(lambda stop: _consume(plan, stop)), options.as_json)


async def _consume(plan: SharePlan, stop: Stop) -> int:
    from kcli.cli.output.messages import complain

    sink = Sink(stop=stop)
    try:
        async with plan.client() as client:
            for topic in plan.topics:
                await partitions(client.cluster, topic)
            if plan.from_beginning:
                await start_at_beginning(client.cluster, plan)
            elif not plan.connection.quiet:
                await say_start_at_end(client.cluster, plan)
            share = ShareSettings(group=plan.group, explicit=True, exact=plan.limit >= 0)
            async with client.share_consumer(plan.settings, share) as consumer:
                if not plan.connection.quiet:
                    consumer.on_notice = complain
                reading = ShareReading(plan, consumer, sink)
                if plan.decoding is not None:
                    plan.decoding.attach(reading, client)
                await stop.unless(consumer.subscribe(plan.topics))
                await reading.everything(stop)
                if plan.connection.verbose:
                    from kcli.cli.output.metrics import say_consumer

                    say_consumer(client.metrics, consumer.metrics)
                if stop.asked:
                    await consumer.close(LEAVE)
    finally:
        sink.close()
    return _verdict(plan, reading, stop)


def _verdict(plan: SharePlan, reading: ShareReading, stop: Stop) -> int:
    from kcli.cli.output.messages import complain

    plan.say_skipped()
    if plan.connection.verbose:
        complain(f"{text.records(reading.written)} written")
    if reading.expired and not plan.connection.quiet:
        complain(
            f"{text.records(reading.expired)} not written: their locks had expired, so the group delivers them again"
        )
    if reading.refused:
        raise KcliError(_said(reading.refused, plan.kind))
    if stop.asked and (plan.bounded or reading.sink.buffer):
        complain(f"interrupted: {text.records(reading.written)} written")
        return INTERRUPTED
    if plan.to_end and not reading.written and not plan.from_beginning and not plan.connection.quiet:
        complain(f"{plan.group} has no records now")
    if plan.fail_if_none and not reading.written:
        complain("no record matched (--fail-if-none)")
        return FAILED_ASSERTION
    return plan.exit_code


def _said(refused: list[Outcome], kind: str) -> str:
    """Which records were written and will or may be given again."""
    places = [
        f"{outcome.topic}[{outcome.partition}] offset {outcome.first}"
        + (f" to {outcome.last}" if outcome.last > outcome.first else "")
        + (": unknown, " if outcome.unknown else ": ")
        + str(outcome.error).removeprefix(f"{outcome.topic} partition {outcome.partition}: ")
        for outcome in refused[:SENTENCES]
    ]
    if len(refused) > SENTENCES:
        places.append(f"and {len(refused) - SENTENCES} more")
    sure = [outcome.records for outcome in refused if not outcome.unknown]
    maybe = [outcome.records for outcome in refused if outcome.unknown]
    parts = [f"{text.records(sum(sure))} written and not {kind}ed, to be delivered again"] if sure else []
    parts += [f"{text.records(sum(maybe))} written, unknown whether {kind}ed"] if maybe else []
    return f"{' and '.join(parts)}: {'; '.join(places)}"


async def say_start_at_end(cluster: Cluster, plan: SharePlan) -> None:
    """Say which topics the group has not read yet and starts at the end."""
    from kcli.cli.output.messages import complain

    known = await _starts(cluster, plan.group)
    if isinstance(known, KcliError):
        return  # joining the group says what is wrong
    fresh = [topic for topic in plan.topics if topic not in _begun(known)]
    if fresh and (await share_reset(cluster, [plan.group]))[plan.group] == LATEST:
        complain(
            f"{plan.group} has not read {', '.join(fresh)} before and starts at the end; --from-beginning starts at "
            "the beginning"
        )


async def _starts(cluster: Cluster, group: str) -> dict[TopicPartition, ShareStart | KcliError] | KcliError:
    """The start of each partition that the group has read; of a group that does not exist, none."""
    known = (await share_offsets(Coordinators(cluster), [group], patience=PATIENCE))[group]
    if isinstance(known, BrokerError) and known.code is codes.GROUP_ID_NOT_FOUND:
        return {}
    return known


def _begun(known: dict[TopicPartition, ShareStart | KcliError]) -> set[str]:
    return {at.topic for at, where in known.items() if isinstance(where, ShareStart) and where.start is not None}


async def start_at_beginning(cluster: Cluster, plan: SharePlan) -> None:
    """Have the group begin at the start of the logs that it has not begun to read. Raises BrokerError."""
    from kcli.cli.output.messages import complain

    known = await _starts(cluster, plan.group)
    begun = _begun(known) if isinstance(known, dict) else set()
    already = sorted(begun.intersection(plan.topics))
    if already and not plan.connection.quiet:
        complain(
            f"{plan.group} has already started to read {', '.join(already)}: --from-beginning does not move it back"
        )
    if begun.issuperset(plan.topics):
        return
    config = AlterableConfig(name=RESET, config_operation=SET, value=EARLIEST)
    resource = AlterConfigsResource(resource_type=GROUP, resource_name=plan.group, configs=[config])
    answer = await (await cluster.controller()).ask(IncrementalAlterConfigsRequest(resources=[resource]))
    for row in answer.responses:
        if row.error_code:
            raise BrokerError(codes.of(row.error_code), plan.group, row.error_message or None)
    if not plan.connection.quiet:
        complain(f"{plan.group}: {RESET}={EARLIEST} is set, and stays set: it is a config of the group")
