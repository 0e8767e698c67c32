"""DST: the topic that records are copied to, created like SRC if that is wanted."""

from __future__ import annotations

from contextlib import AsyncExitStack

from kcli.admin.configs import topic_configs
from kcli.admin.topics.topics import NewTopic, create_topics, describe_topics, wait_for_topics
from kcli.asking.ask import ask_anyone
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.consume.selection import partitions
from kcli.cli.commands.copy.plan import Plan, Span
from kcli.cli.output.messages import complain
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster
from kcli.proto.messages.metadata import MetadataRequest
from kcli.text.suggest import did_you_mean


async def find_target(plan: Plan, source: Client, target: Client) -> None:
    """DST is there, made if that is wanted, and the copy has its name."""
    topic = (await describe_topics(target.cluster, [plan.destination])).get(plan.destination)
    if isinstance(topic, TopicMissing):
        await partitions(source.cluster, plan.source)
        if not plan.options.create:
            near = did_you_mean(plan.destination, await describe_topics(target.cluster, internal=False))
            raise KcliError(
                f"{plan.destination}: this topic does not exist; --create creates it like {plan.source}{near}"
            )
        await _create(plan, source, target)
    await _name_progress(plan, target.cluster)


async def find_progress(plan: Plan, source: Client) -> None:
    """The copy has its name, for one that is only planned. A DST that does not exist has no progress."""
    if plan.options.group or plan.options.restart or not plan.resume:
        return
    async with AsyncExitStack() as opened:
        target = await opened.enter_async_context(Client(plan.target.client())) if plan.elsewhere else source
        topic = (await describe_topics(target.cluster, [plan.destination])).get(plan.destination)
        if isinstance(topic, TopicMissing):
            plan.resume = False
        else:
            await _name_progress(plan, target.cluster)


async def _name_progress(plan: Plan, target: Cluster) -> None:
    await partitions(target, plan.destination)
    plan.name_for(await cluster_id(target), target.topic_id(plan.destination))


async def check_partitions(plan: Plan, target: Client, span: Span) -> None:
    """DST has the partitions that are wanted. Raises UsageError that says what would help."""
    there = len(await partitions(target.cluster, plan.destination))
    most = max((at.partition for at, (start, end) in span.items() if start < end or plan.follow), default=0)
    if most >= there and not plan.options.repartition:
        raise UsageError(
            f"{plan.destination} has no partition {most}: its partitions are 0-{there - 1}; "
            "--repartition assigns new ones"
        )


async def _create(plan: Plan, source: Client, target: Client) -> None:
    sentence = await make_like(source, plan.source, target, plan.destination)
    if plan.talkative:
        complain(sentence)


async def make_like(source: Client, topic: str, target: Client, name: str) -> str:
    """A topic of `name` with the partitions and configs of `topic`; what was done, as a sentence. Raises KcliError."""
    configs = (await topic_configs(source.cluster, [topic]))[topic]
    if isinstance(configs, KcliError):
        raise configs
    count = len(await source.cluster.partitions(topic))
    wanted = {key: value for key, value in configs.items() if value is not None}
    created = (await create_topics(target.cluster, [NewTopic(topic=name, partitions=count, configs=wanted)]))[name]
    if isinstance(created, KcliError):
        raise created
    await wait_for_topics(target.cluster, [name])
    shown = "".join(f", {key}={value}" for key, value in wanted.items())
    return f"created topic {name} with {count} partition{'s' if count != 1 else ''}{shown}"


async def cluster_id(cluster: Cluster) -> str | None:
    """What the cluster calls itself, None for one that says nothing."""
    return (await ask_anyone(cluster, MetadataRequest(topics=[], allow_auto_topic_creation=False))).cluster_id
