"""The last rungs: what the cluster says of itself, and what it lets us do."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.cli.doctor_steps import Fault
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.cli.doctor_ladder import Ladder
    from kcli.proto.messages.metadata import MetadataResponse, MetadataResponseTopic
    from kcli.proto.schema import Request

OPERATIONS = {
    3: "Read", 4: "Write", 5: "Create", 6: "Delete", 7: "Alter", 8: "Describe", 9: "ClusterAction",
    10: "DescribeConfigs", 11: "AlterConfigs", 12: "IdempotentWrite",
}  # fmt: skip
UNTOLD = -(2**31)
READ, WRITE = 3, 4
AGAIN = 0.2  # seconds between two questions for a coordinator


async def ask(ladder: Ladder, request: Request[Any], most: int | None = None) -> Any:
    """The broker's answer. Raises KcliError."""
    from kcli.broker.versions import pick

    assert ladder.connection is not None
    version = pick(type(request), ladder.versions, ladder.name, most)
    return await (await ladder.connection.ask(request, version, ladder.seconds))


async def metadata(ladder: Ladder) -> MetadataResponse:
    """The cluster's brokers. Raises Fault."""
    from kcli.cli.doctor_looks import offered, protocol, trimmed
    from kcli.proto.messages.metadata import MetadataRequest

    try:
        answer: MetadataResponse = await ask(ladder, MetadataRequest(topics=[], allow_auto_topic_creation=False))
    except KcliError as problem:
        sasl = ladder.access is not None and ladder.access.sasl is not None
        found = [] if sasl else await offered(ladder)
        if found:
            raise Fault(
                "sasl-wanted", f"this listener wants to know who you are; it offers {', '.join(found)}",
                sasl_protocol=protocol(ladder, True),
            ) from problem  # fmt: skip
        raise Fault("metadata", trimmed(ladder, problem)) from problem
    if answer.error_code:
        code = codes.of(answer.error_code)
        raise Fault("metadata", f"{code.text} ({code.name})")
    if not answer.brokers:
        raise Fault("no-brokers", "the cluster names no brokers")
    return answer


async def cluster_rights(ladder: Ladder) -> str:
    """What we may do to the cluster itself."""
    from kcli.proto.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

    try:
        answer: DescribeClusterResponse = await ask(
            ladder, DescribeClusterRequest(include_cluster_authorized_operations=True)
        )
    except KcliError:
        return "cluster: the broker does not tell"
    return f"cluster: {operations(answer.cluster_authorized_operations)}"


async def topic_rights(ladder: Ladder) -> str:
    """How many topics are to be seen, read and written."""
    found = [topic for topic in await _topics(ladder, None) if not topic.is_internal]
    if not found:
        return "topics: there are none, or none that may be seen"
    told = [topic for topic in found if topic.topic_authorized_operations != UNTOLD]
    read, write = (sum(bool(topic.topic_authorized_operations >> bit & 1) for topic in told) for bit in (READ, WRITE))
    return f"topics: {len(found)} to be seen" + (f", {read} to be read, {write} to be written" if told else "")


async def one_topic(ladder: Ladder, name: str, user: str) -> str:
    """What we may do with a topic. Raises Fault when it is neither to be read nor to be written."""
    (topic,) = await _topics(ladder, [name])
    code = codes.of(topic.error_code)
    acl = f"--operation Read --operation Write --topic {name}"
    if code is codes.TOPIC_AUTHORIZATION_FAILED:
        raise Fault("not-authorized", f"topic {name}: {code.text} ({code.name})", user=user, acl=acl)
    if code is codes.UNKNOWN_TOPIC_OR_PARTITION:
        raise Fault("no-topic", f"topic {name} does not exist, or may not be seen")
    allowed = topic.topic_authorized_operations
    if allowed != UNTOLD and not allowed >> READ & 1 and not allowed >> WRITE & 1:
        raise Fault("not-authorized", f"topic {name}: {operations(allowed)}", user=user, acl=acl)
    return f"topic {name}: {operations(allowed)}"


async def one_group(ladder: Ladder, name: str, user: str) -> str:
    """What we may do with a group; its coordinator is asked. Raises Fault."""
    from kcli.proto.messages.find_coordinator import FindCoordinatorRequest

    loop = asyncio.get_running_loop()
    end = loop.time() + ladder.seconds
    while True:
        try:
            answer = await ask(ladder, FindCoordinatorRequest(key=name, key_type=0), most=3)
        except KcliError as problem:
            raise Fault("metadata", f"group {name}: {problem}") from problem
        code = codes.of(answer.error_code)
        if not code.retriable or loop.time() > end:  # the first group of a cluster is waited for
            break
        await asyncio.sleep(AGAIN)
    if code is codes.GROUP_AUTHORIZATION_FAILED:
        acl = f"--operation Read --group {name}"
        raise Fault("not-authorized", f"group {name}: {code.text} ({code.name})", user=user, acl=acl)
    if code:
        raise Fault("metadata", f"group {name}: {code.text} ({code.name})")
    return f"group {name}: to be described; broker {answer.node_id} coordinates it"


async def _topics(ladder: Ladder, names: list[str] | None) -> list[MetadataResponseTopic]:
    from kcli.cli.doctor_looks import trimmed
    from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

    asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    try:
        answer: MetadataResponse = await ask(
            ladder,
            MetadataRequest(topics=asked, allow_auto_topic_creation=False, include_topic_authorized_operations=True),
        )
    except KcliError as problem:
        raise Fault("metadata", trimmed(ladder, problem)) from problem
    return list(answer.topics)


def operations(bits: int) -> str:
    """The names in a bit field of AclOperation."""
    if bits == UNTOLD:
        return "the broker does not tell what may be done"
    return ", ".join(name for bit, name in OPERATIONS.items() if bits >> bit & 1) or "nothing"
