"""CreateTopics 2-7. 4 takes -1 for the default counts, 5 answers with the configuration, 7 with the topic id."""

from __future__ import annotations

from collections import Counter

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.proto.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kcli.proto.schema import NO_ID
from kcli.sandbox.cluster.topics import Topic
from kcli.sandbox.configs.broker_configs import ALL
from kcli.sandbox.configs.definitions import ABSENT
from kcli.sandbox.configs.topic_configs import TOPIC_CONFIGS
from kcli.sandbox.wire.request_context import RequestContext, in_turns

DYNAMIC_TOPIC, DYNAMIC_ALL_BROKERS, DEFAULT = 1, 3, 5
MOST_IN_A_REQUEST = 10_000  # partitions, as in Kafka
METADATA = "__cluster_metadata"


async def answer(context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    if request.timeout_ms <= 0:
        late = codes.REQUEST_TIMED_OUT.number
        return CreateTopicsResponse(
            topics=[CreatableTopicResult(name=each.name, error_code=late) for each in request.topics]
        )
    named = Counter(topic.name for topic in request.topics)
    rows = []
    too_many = _partitions(context, request.topics) > MOST_IN_A_REQUEST
    taken = {_metric(name): name for name in context.cluster.topics.by_name}
    defaults = _defaults(context)
    async for asked in in_turns(request.topics):
        if not named[asked.name]:
            continue  # named twice, and told so
        try:
            scripted = context.refused(19, asked.name)
            if scripted is not None:
                raise BrokerError(scripted)
            if too_many:
                words = "Excessively large number of partitions per request."
                raise BrokerError(codes.POLICY_VIOLATION, message=words)
            if named[asked.name] > 1:
                named[asked.name] = 0
                raise BrokerError(codes.INVALID_REQUEST, message="Duplicate topic name.")
            if not context.may("create", "cluster", CLUSTER):
                context.must("create", "topic", asked.name)
            _check_name(asked.name, taken)
            rows.append(_created(context, asked, defaults, request.validate_only))
        except BrokerError as refused:
            rows.append(
                CreatableTopicResult(name=asked.name, error_code=refused.code.number, error_message=str(refused))
            )
    return CreateTopicsResponse(topics=rows)


def _partitions(context: RequestContext, topics: list[CreatableTopic]) -> int:
    """How many the request asks for in all."""
    default = context.cluster.settings.partitions
    counts = (len(topic.assignments) or topic.num_partitions for topic in topics)
    return sum(default if count == -1 else max(count, 0) for count in counts)


def _check_name(name: str, taken: dict[str, str]) -> None:
    """Raises BrokerError for a name that only the quorum may have, or that has the metrics of a topic there is: a dot
    and an underscore are the same in them."""
    if name == METADATA:
        raise BrokerError(codes.INVALID_REQUEST, message=f"Creation of internal topic {METADATA} is prohibited.")
    other = taken.get(_metric(name), name)
    if other != name:
        words = f"Topic '{name}' collides with existing topic: {other}"
        raise BrokerError(codes.INVALID_TOPIC_EXCEPTION, message=words)


def _metric(name: str) -> str:
    return name.replace(".", "_")


def _created(
    context: RequestContext, asked: CreatableTopic, defaults: list[CreatableTopicConfigs], check_only: bool
) -> CreatableTopicResult:
    if asked.assignments and (asked.num_partitions, asked.replication_factor) != (-1, -1):
        words = "A manual partition assignment was specified, but partitions or replication factor is not -1."
        raise BrokerError(codes.INVALID_REQUEST, message=words)
    placed = sorted(asked.assignments, key=lambda assignment: assignment.partition_index)
    if [assignment.partition_index for assignment in placed] != list(range(len(placed))):
        raise BrokerError(codes.INVALID_REPLICA_ASSIGNMENT, message="the partitions are not 0, 1, 2 …")
    absent = ABSENT.get(context.cluster.settings.kafka_version, frozenset())
    for config in asked.configs:
        if config.name in absent:
            raise BrokerError(codes.INVALID_CONFIG, message=f"Unknown topic config name: {config.name}")
    if any(config.value is None for config in asked.configs):
        raise BrokerError(codes.INVALID_CONFIG, message="null value not supported for topic configs")
    partitions = asked.num_partitions if asked.num_partitions != -1 else context.cluster.settings.partitions
    topic = context.cluster.topics.create(
        asked.name,
        partitions,
        replication=asked.replication_factor,
        configs={config.name: config.value or "" for config in asked.configs},
        assignments=[assignment.broker_ids for assignment in placed] or None,
        check_only=check_only,
    )
    count = len(topic.partitions) or len(placed) or partitions
    if topic.partitions or placed:
        copies = len(topic.partitions[0].replicas if topic.partitions else placed[0].broker_ids)
    else:
        copies = context.cluster.topics.copies(asked.replication_factor)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=NO_ID if check_only else topic.id,
        error_message=None,
        num_partitions=count,
        replication_factor=copies,
        configs=_configs(topic, defaults),
    )


def _defaults(context: RequestContext) -> list[CreatableTopicConfigs]:
    """The configs of a topic without overrides."""
    configs = context.cluster.broker_configs
    of_all = configs.by_broker[ALL]
    return [
        CreatableTopicConfigs(
            name=name,
            value=configs.topic_default(name),
            config_source=DYNAMIC_ALL_BROKERS if definition.broker in of_all else DEFAULT,
        )
        for name, definition in TOPIC_CONFIGS.items()
        if name not in ABSENT.get(context.cluster.settings.kafka_version, ())
    ]


def _configs(topic: Topic, defaults: list[CreatableTopicConfigs]) -> list[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(name=row.name, value=topic.config(row.name), config_source=DYNAMIC_TOPIC)
        if row.name in topic.configs
        else row
        for row in defaults
    ]
