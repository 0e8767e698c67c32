"""The last rungs: what the cluster says of itself, and what it lets us do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from shlex import quote
from typing import Any

from kcli import codes
from kcli.backoff import Backoff, repeat
from kcli.broker.connection.handshake import API_VERSIONS, WITH_IDENTITY
from kcli.cli.commands.doctor.checks import Checks
from kcli.cli.commands.doctor.steps import Fault
from kcli.errors import BrokerError, KcliError, TooOld, UnsupportedVersion
from kcli.proto.messages.find_coordinator import FindCoordinatorResponse
from kcli.proto.messages.metadata import MetadataResponse, MetadataResponseTopic
from kcli.proto.schema import Request

UNTOLD = -(2**31)
BROKER = 4
"""Brokers, as DescribeConfigs numbers kinds of resources."""
DEAD = (
    5  # up to this version DescribeGroups tells of a group that is not there yet: it is dead, and we may this and that
)
AGAIN = 0.2  # seconds between two questions for a coordinator


async def ask(checks: Checks, request: Request[Any], most: int | None = None) -> Any:
    """The broker's answer. Raises KcliError."""
    from kcli.broker.connection.versions import pick, too_old

    assert checks.connection is not None
    version = pick(type(request), checks.versions, checks.name, most)
    try:
        return await (await checks.connection.ask(request, version, checks.seconds))
    except TooOld as problem:
        raise too_old(type(request), version, checks.name) from problem


async def metadata(checks: Checks) -> MetadataResponse:
    """The cluster's brokers. Raises Fault."""
    from kcli.cli.commands.doctor.diagnose import offered, protocol, trimmed
    from kcli.proto.messages.metadata import MetadataRequest

    try:
        answer: MetadataResponse = await ask(checks, MetadataRequest(topics=[], allow_auto_topic_creation=False))
    except KcliError as problem:
        sasl = checks.access is not None and checks.access.sasl is not None
        mechanisms = [] if sasl else await offered(checks)
        if mechanisms:
            raise Fault(
                "sasl-wanted",
                f"this listener requires SASL authentication; it offers {', '.join(mechanisms)}",
                sasl_protocol=protocol(checks, True),
            ) from problem
        raise Fault("metadata", trimmed(checks, problem)) from problem
    if answer.error_code:
        code = codes.of(answer.error_code)
        raise Fault("metadata", f"{code.text} ({code.name})")
    if not answer.brokers:
        raise Fault("no-brokers", "the cluster names no brokers")
    return answer


async def check_identity(checks: Checks, cluster_id: str | None) -> str:
    """Check that the address leads to the broker that advertises it. Returns why that is unknown, "" if it is known.

    From Kafka 4.4 on the broker checks it (KIP-1242). Older brokers name their cluster in Metadata, and refuse to
    describe the configs of another broker. Raises Fault.
    """
    from kcli.proto.messages.api_versions import ApiVersionsResponse, versions_request

    assert checks.broker is not None
    if checks.versions.get(API_VERSIONS, (0, 0))[1] < WITH_IDENTITY:
        return await _check_old_identity(checks, cluster_id)
    try:
        answer: ApiVersionsResponse = await ask(checks, versions_request(cluster_id, checks.broker))
    except KcliError as problem:
        return f"kcli cannot tell which broker responds there: {problem}"
    code = codes.of(answer.error_code)
    if code is codes.REBOOTSTRAP_REQUIRED:
        await _check_old_identity(checks, cluster_id)  # which knows more about who it is
        raise Fault("wrong-broker", f"another broker responds there, not broker {checks.broker}")
    return f"kcli cannot tell which broker responds there: {code.text} ({code.name})" if code else ""


async def _check_old_identity(checks: Checks, cluster_id: str | None) -> str:
    from kcli.proto.messages.describe_configs import (
        DescribeConfigsRequest,
        DescribeConfigsResource,
        DescribeConfigsResponse,
    )
    from kcli.proto.messages.metadata import MetadataRequest

    resource = DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(checks.broker), configuration_keys=["broker.id"]
    )
    try:
        met: MetadataResponse = await ask(checks, MetadataRequest(topics=[], allow_auto_topic_creation=False))
        if None not in (cluster_id, met.cluster_id) and met.cluster_id != cluster_id:
            raise Fault("wrong-broker", f"a broker of cluster {met.cluster_id} responds there, not of {cluster_id}")
        described: DescribeConfigsResponse = await ask(checks, DescribeConfigsRequest(resources=[resource]))
    except KcliError as problem:
        return f"kcli cannot tell which broker responds there: {problem}"
    if not described.results:
        return "kcli cannot tell which broker responds there: its response does not contain it"
    row = described.results[0]
    code = codes.of(row.error_code)
    if code is codes.INVALID_REQUEST:
        found = re.search(r"expected (\d+)", row.error_message or "")
        who = f"broker {found[1]}" if found else "another broker"
        raise Fault("wrong-broker", f"{who} responds there, not broker {checks.broker}")
    return f"kcli cannot tell which broker responds there: {BrokerError(code, api=32)}" if code else ""


async def cluster_rights(checks: Checks) -> str:
    """What we may do to the cluster itself."""
    from kcli.proto.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

    try:
        answer: DescribeClusterResponse = await ask(
            checks, DescribeClusterRequest(include_cluster_authorized_operations=True)
        )
    except KcliError:
        return "cluster: the broker does not report them"
    return f"cluster: {operations(answer.cluster_authorized_operations, 'cluster')}"


async def topic_rights(checks: Checks) -> str:
    """How many topics are to be seen, and with how many of them we may do what."""
    topics = [topic for topic in await _topics(checks, None) if not topic.is_internal]
    if not topics:
        return "topics: none, or none that you may describe"
    allowed = [topic.topic_authorized_operations for topic in topics if topic.topic_authorized_operations != UNTOLD]
    counts = {name: sum(bits >> bit & 1 for bits in allowed) for name, bit in _bits("topic").items()}
    if not allowed:
        return f"topics: {len(topics)} visible"
    same = len(set(allowed)) == 1
    may = operations(allowed[0], "topic") if same else ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"topics: {len(topics)} visible{', each' if same and len(topics) > 1 else ''}: {may}"


async def one_topic(checks: Checks, name: str, user: str) -> str:
    """What we may do with a topic. Raises Fault when it is neither to be read nor to be written."""
    topic = next((topic for topic in await _topics(checks, [name]) if topic.name == name), None)
    if topic is None:
        raise Fault("metadata", f"topic {name}: the broker's response does not contain it")
    code = codes.of(topic.error_code)
    acl = f"--operation read --operation write --topic {name}"
    if code is codes.TOPIC_AUTHORIZATION_FAILED:
        raise Fault("not-authorized", f"not authorized: DESCRIBE on topic {name} ({code.name})", user=user, acl=acl)
    if code is codes.UNKNOWN_TOPIC_OR_PARTITION:
        raise Fault("no-topic", f"topic {name} does not exist, or you may not describe it")
    allowed = topic.topic_authorized_operations
    if not may(allowed, "read") and not may(allowed, "write"):
        raise Fault("not-authorized", f"topic {name}: {operations(allowed, 'topic')}", user=user, acl=acl)
    return f"topic {name}: {operations(allowed, 'topic')}"


async def one_group(checks: Checks, name: str, user: str) -> str:
    """What we may do with a group; its coordinator is asked. Raises Fault when it may not be read in."""
    at = await _coordinator(checks, name, user)
    try:
        allowed = await _at(checks, at, lambda there: _group_bits(there, name))
    except KcliError as problem:
        raise Fault("metadata", f"group {name}: {problem}") from problem
    coordinates = f"broker {at.node_id} coordinates it"
    if not may(allowed, "read"):
        acl = f"--operation read --group {quote(name)}"
        raise Fault("not-authorized", f"group {name}: {operations(allowed, 'group')}", user=user, acl=acl)
    return f"group {name}: {operations(allowed, 'group')}; {coordinates}"


async def _coordinator(checks: Checks, name: str, user: str) -> FindCoordinatorResponse:
    from kcli.proto.messages.find_coordinator import FindCoordinatorRequest

    answer: FindCoordinatorResponse

    async def answered() -> bool:
        nonlocal answer
        try:
            answer = await ask(checks, FindCoordinatorRequest(key=name, key_type=0), most=3)
        except KcliError as problem:
            raise Fault("metadata", f"group {name}: {problem}") from problem
        return not codes.of(answer.error_code).retriable  # the first group of a cluster is waited for

    await repeat(answered, Backoff(AGAIN, AGAIN), asyncio.get_running_loop().time() + checks.seconds)
    code = codes.of(answer.error_code)
    if code is codes.GROUP_AUTHORIZATION_FAILED:
        acl = f"--operation read --group {quote(name)}"
        raise Fault("not-authorized", f"not authorized: DESCRIBE on group {name} ({code.name})", user=user, acl=acl)
    if code:
        raise Fault("metadata", f"group {name}: {code.text} ({code.name})")
    return answer


async def _at(checks: Checks, at: FindCoordinatorResponse, work: Callable[[Checks], Awaitable[int]]) -> int:
    """`work` on the way to another broker; UNTOLD when it cannot be reached, for which there is a row of its own."""
    from kcli.model import Address

    there = Checks(Address(at.host, at.port), checks.settings, checks.access, checks.seconds, at.node_id)
    try:
        await there.run()
        return UNTOLD if there.failed is not None else await work(there)
    finally:
        there.close()


async def _group_bits(checks: Checks, name: str) -> int:
    from kcli.proto.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

    asked = DescribeGroupsRequest(groups=[name], include_authorized_operations=True)
    bits = UNTOLD

    async def answered() -> bool:
        nonlocal bits
        try:
            answer: DescribeGroupsResponse = await ask(checks, asked, most=DEAD)
        except (TooOld, UnsupportedVersion):  # before Kafka 2.3 (KIP-430)
            return True
        group = answer.groups[0] if answer.groups else None
        if group is not None and not group.error_code:
            bits = group.authorized_operations
        return group is None or not codes.of(group.error_code).retriable  # a new coordinator loads its groups first

    await repeat(answered, Backoff(AGAIN, AGAIN), asyncio.get_running_loop().time() + checks.seconds)
    return bits


async def _topics(checks: Checks, names: list[str] | None) -> list[MetadataResponseTopic]:
    from kcli.cli.commands.doctor.diagnose import trimmed
    from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

    asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False, include_topic_authorized_operations=True)
    try:
        try:
            answer: MetadataResponse = await ask(checks, request)
        except TooOld:  # before Kafka 2.3 (KIP-430)
            request.include_topic_authorized_operations = False
            answer = await ask(checks, request)
    except KcliError as problem:
        raise Fault("metadata", trimmed(checks, problem)) from problem
    return list(answer.topics)


def operations(bits: int, kind: str) -> str:
    """What the bits say may be done with a topic, a group or the cluster, and what may not (KIP-430)."""
    if bits == UNTOLD:
        return "the broker does not report permissions"
    known = _bits(kind)
    granted = [name for name, bit in known.items() if bits >> bit & 1]
    refused = [name for name, bit in known.items() if not bits >> bit & 1]
    if not refused:
        return f"everything ({', '.join(granted)})"
    return f"{', '.join(granted) or 'nothing'}; not {', '.join(refused)}"


def may(bits: int, operation: str) -> bool:
    """Whether it may be done; taken for granted where the broker does not report."""
    from kcli.acls import OPERATIONS

    return bits == UNTOLD or bool(bits >> OPERATIONS[operation] & 1)


def _bits(kind: str) -> dict[str, int]:
    """Each operation of a kind of resource under the name that kafka-acls has for it, and its bit."""
    from kcli.acls import OPERATIONS, POSSIBLE

    return {
        "".join(word.title() for word in operation.split("-")): OPERATIONS[operation] for operation in POSSIBLE[kind]
    }
