"""`kcli raw` against a real Apache Kafka: every API that only reads, in every version that both speak."""

from __future__ import annotations

import json

from kcli.broker.guard import READING
from kcli.cli.commands.raw.body import request_of
from kcli.cli.commands.raw.raw import explained
from kcli.client import Client
from kcli.errors import KcliError
from kcli.proto.as_json import to_json
from kcli.proto.messages import request_type
from kcli.settings import ClientSettings, parse_bootstrap
from tests.kafka.cluster import Kafka
from tests.programs import kcli

LOGGING_IN = (17, 36)
BODIES: dict[str, dict[str, object]] = {
    "Fetch": {"maxWaitMs": 1, "minBytes": 0, "sessionEpoch": -1},
    "ListOffsets": {"replicaId": -1},
    "DescribeAcls": {
        "resourceTypeFilter": 1, "patternTypeFilter": 1, "operation": 1, "permissionType": 1,
        "resourceNameFilter": None, "principalFilter": None, "hostFilter": None,
    },
    "DescribeConfigs": {"resources": [{"resourceType": 4, "resourceName": "1", "configurationKeys": ["log.dirs"]}]},
    "DescribeQuorum": {"topics": [{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}]},
}  # fmt: skip
"""Where a body of defaults makes no sense; fields that a version does not carry are left out."""
REFUSED = {
    "SECURITY_DISABLED", "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "INVALID_REQUEST", "INVALID_GROUP_ID",
    "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE",
}  # fmt: skip
"""What this broker may say to a body of defaults: it has no authorizer, no tokens, and no group is named."""


async def test_every_api_that_reads_is_asked_in_every_version(kafka: Kafka) -> None:
    asked, wrong = 0, []
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))) as client:
        broker = await client.cluster.node(1)
        offered = await broker.versions()
        for key, name in READING.items():
            kind = request_type(key)
            if kind is None or key not in offered or key in LOGGING_IN:
                continue
            low, high = max(offered[key][0], kind.versions.first), min(offered[key][1], kind.versions.last)
            for version in range(low, high + 1):
                carried = to_json(kind(), version)
                body = {field: value for field, value in BODIES.get(name, {}).items() if field in carried}
                try:
                    answer = await broker.ask(request_of(kind, version, body), max_version=version)
                except KcliError as problem:
                    wrong.append((name, version, str(problem)))
                    continue
                failed: list[str] = []
                explained(json.loads(json.dumps(to_json(answer, version))), failed)
                wrong += [(name, version, one) for one in failed if not any(code in one for code in REFUSED)]
                asked += 1
    assert not wrong, "\n".join(map(str, wrong))
    assert asked > 100


def test_a_topic_is_made_and_deleted_by_raw_requests(kafka: Kafka) -> None:
    body = '{"topics": [{"name": "rawly", "numPartitions": 3, "replicationFactor": 1}], "timeoutMs": 5000}'
    for version in ("2", "7"):
        done = kcli(
            "raw", "CreateTopics", body, "--api-version", version, "--broker", "controller", "-b", kafka.bootstrap
        )
        assert done.code == 0, done.err
        told = kafka.tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", kafka.bootstrap, "--describe",
                          "--topic", "rawly")  # fmt: skip
        assert "PartitionCount: 3" in told
        again = kcli("raw", "19", body, "--explain", "-b", kafka.bootstrap)
        assert again.code == 1
        assert json.loads(again.out)["topics"][0]["errorName"] == "TOPIC_ALREADY_EXISTS"
        names = '{"topicNames": ["rawly"], "timeoutMs": 5000}'
        gone = kcli("raw", "DeleteTopics", names, "--api-version", "5", "-b", kafka.bootstrap)
        assert gone.code == 0, gone.err
