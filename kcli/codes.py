"""Kafka's error codes: number, name, whether trying again can help, what to forget first, and the sentence for people.

One table, no class per code. The numbers, names and retriability are those of Apache Kafka 4.3
(org.apache.kafka.common.protocol.Errors); `forget` says which cached fact the error proves wrong (C4, C15).
"""

from __future__ import annotations


class ErrorCode:
    """One row of the table. `forget` is "leader", "coordinator" or ""."""

    __slots__ = ("forget", "name", "number", "retriable", "text")

    def __init__(self, number: int, name: str, retriable: bool, forget: str, text: str) -> None:
        self.number = number
        self.name = name
        self.retriable = retriable
        self.forget = forget
        self.text = text

    def __repr__(self) -> str:
        return f"{self.name}({self.number})"

    def __bool__(self) -> bool:
        """True for an error: `if code:` reads as it should."""
        return self.number != 0


def of(number: int) -> ErrorCode:
    """The row of a number; a number nobody knows keeps its number and is not retriable (B13)."""
    row = _TABLE.get(number)  # NONE is false, so no `or` here
    return ErrorCode(number, f"UNKNOWN({number})", False, "", f"unknown error code {number}") if row is None else row


UNKNOWN_SERVER_ERROR = ErrorCode(
    -1,
    "UNKNOWN_SERVER_ERROR",
    False,
    "",
    "the server experienced an unexpected error when processing the request",
)
NONE = ErrorCode(0, "NONE", False, "", "no error")
OFFSET_OUT_OF_RANGE = ErrorCode(
    1,
    "OFFSET_OUT_OF_RANGE",
    False,
    "",
    "the requested offset is not within the range of offsets maintained by the server",
)
CORRUPT_MESSAGE = ErrorCode(
    2,
    "CORRUPT_MESSAGE",
    True,
    "",
    "this message has failed its CRC checksum, exceeds the valid size, has a null key for a compacted "
    "topic, or is otherwise corrupt",
)
UNKNOWN_TOPIC_OR_PARTITION = ErrorCode(
    3,
    "UNKNOWN_TOPIC_OR_PARTITION",
    True,
    "leader",
    "this server does not host this topic-partition",
)
INVALID_FETCH_SIZE = ErrorCode(4, "INVALID_FETCH_SIZE", False, "", "the requested fetch size is invalid")
LEADER_NOT_AVAILABLE = ErrorCode(
    5,
    "LEADER_NOT_AVAILABLE",
    True,
    "leader",
    "there is no leader for this topic-partition as we are in the middle of a leadership election",
)
NOT_LEADER_OR_FOLLOWER = ErrorCode(
    6,
    "NOT_LEADER_OR_FOLLOWER",
    True,
    "leader",
    "for requests intended only for the leader, this error indicates that the broker is not the current "
    "leader. For requests intended for any replica, this error indicates that the broker is not a replica "
    "of the topic partition",
)
REQUEST_TIMED_OUT = ErrorCode(7, "REQUEST_TIMED_OUT", True, "", "the request timed out")
BROKER_NOT_AVAILABLE = ErrorCode(8, "BROKER_NOT_AVAILABLE", False, "", "the broker is not available")
REPLICA_NOT_AVAILABLE = ErrorCode(
    9,
    "REPLICA_NOT_AVAILABLE",
    True,
    "leader",
    "the replica is not available for the requested topic-partition. Produce/Fetch requests and other "
    "requests intended only for the leader or follower return NOT_LEADER_OR_FOLLOWER if the broker is not "
    "a replica of the topic-partition",
)
MESSAGE_TOO_LARGE = ErrorCode(
    10,
    "MESSAGE_TOO_LARGE",
    False,
    "",
    "the request included a message larger than the max message size the server will accept",
)
STALE_CONTROLLER_EPOCH = ErrorCode(11, "STALE_CONTROLLER_EPOCH", False, "", "the controller moved to another broker")
OFFSET_METADATA_TOO_LARGE = ErrorCode(
    12,
    "OFFSET_METADATA_TOO_LARGE",
    False,
    "",
    "the metadata field of the offset request was too large",
)
NETWORK_EXCEPTION = ErrorCode(
    13,
    "NETWORK_EXCEPTION",
    True,
    "leader",
    "the server disconnected before a response was received",
)
COORDINATOR_LOAD_IN_PROGRESS = ErrorCode(
    14,
    "COORDINATOR_LOAD_IN_PROGRESS",
    True,
    "",
    "the coordinator is loading and hence can't process requests",
)
COORDINATOR_NOT_AVAILABLE = ErrorCode(
    15,
    "COORDINATOR_NOT_AVAILABLE",
    True,
    "coordinator",
    "the coordinator is not available",
)
NOT_COORDINATOR = ErrorCode(16, "NOT_COORDINATOR", True, "coordinator", "this is not the correct coordinator")
INVALID_TOPIC_EXCEPTION = ErrorCode(
    17,
    "INVALID_TOPIC_EXCEPTION",
    False,
    "",
    "the request attempted to perform an operation on an invalid topic",
)
RECORD_LIST_TOO_LARGE = ErrorCode(
    18,
    "RECORD_LIST_TOO_LARGE",
    False,
    "",
    "the request included message batch larger than the configured segment size on the server",
)
NOT_ENOUGH_REPLICAS = ErrorCode(
    19,
    "NOT_ENOUGH_REPLICAS",
    True,
    "",
    "messages are rejected since there are fewer in-sync replicas than required",
)
NOT_ENOUGH_REPLICAS_AFTER_APPEND = ErrorCode(
    20,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    True,
    "",
    "messages are written to the log, but to fewer in-sync replicas than required",
)
INVALID_REQUIRED_ACKS = ErrorCode(
    21,
    "INVALID_REQUIRED_ACKS",
    False,
    "",
    "produce request specified an invalid value for required acks",
)
ILLEGAL_GENERATION = ErrorCode(22, "ILLEGAL_GENERATION", False, "", "specified group generation id is not valid")
INCONSISTENT_GROUP_PROTOCOL = ErrorCode(
    23,
    "INCONSISTENT_GROUP_PROTOCOL",
    False,
    "",
    "the group member's supported protocols are incompatible with those of existing members or first "
    "group member tried to join with empty protocol type or empty protocol list",
)
INVALID_GROUP_ID = ErrorCode(24, "INVALID_GROUP_ID", False, "", "the group id is invalid")
UNKNOWN_MEMBER_ID = ErrorCode(25, "UNKNOWN_MEMBER_ID", False, "", "the coordinator is not aware of this member")
INVALID_SESSION_TIMEOUT = ErrorCode(
    26,
    "INVALID_SESSION_TIMEOUT",
    False,
    "",
    "the session timeout is not within the range allowed by the broker (as configured by "
    "group.min.session.timeout.ms and group.max.session.timeout.ms)",
)
REBALANCE_IN_PROGRESS = ErrorCode(
    27,
    "REBALANCE_IN_PROGRESS",
    False,
    "",
    "the group is rebalancing, so a rejoin is needed",
)
INVALID_COMMIT_OFFSET_SIZE = ErrorCode(
    28,
    "INVALID_COMMIT_OFFSET_SIZE",
    False,
    "",
    "the committing offset data size is not valid",
)
TOPIC_AUTHORIZATION_FAILED = ErrorCode(29, "TOPIC_AUTHORIZATION_FAILED", False, "", "topic authorization failed")
GROUP_AUTHORIZATION_FAILED = ErrorCode(30, "GROUP_AUTHORIZATION_FAILED", False, "", "group authorization failed")
CLUSTER_AUTHORIZATION_FAILED = ErrorCode(
    31,
    "CLUSTER_AUTHORIZATION_FAILED",
    False,
    "",
    "cluster authorization failed",
)
INVALID_TIMESTAMP = ErrorCode(
    32,
    "INVALID_TIMESTAMP",
    False,
    "",
    "the timestamp of the message is out of acceptable range",
)
UNSUPPORTED_SASL_MECHANISM = ErrorCode(
    33,
    "UNSUPPORTED_SASL_MECHANISM",
    False,
    "",
    "the broker does not support the requested SASL mechanism",
)
ILLEGAL_SASL_STATE = ErrorCode(
    34,
    "ILLEGAL_SASL_STATE",
    False,
    "",
    "request is not valid given the current SASL state",
)
UNSUPPORTED_VERSION = ErrorCode(35, "UNSUPPORTED_VERSION", False, "", "the version of API is not supported")
TOPIC_ALREADY_EXISTS = ErrorCode(36, "TOPIC_ALREADY_EXISTS", False, "", "topic with this name already exists")
INVALID_PARTITIONS = ErrorCode(37, "INVALID_PARTITIONS", False, "", "number of partitions is below 1")
INVALID_REPLICATION_FACTOR = ErrorCode(
    38,
    "INVALID_REPLICATION_FACTOR",
    False,
    "",
    "replication factor is below 1 or larger than the number of available brokers",
)
INVALID_REPLICA_ASSIGNMENT = ErrorCode(39, "INVALID_REPLICA_ASSIGNMENT", False, "", "replica assignment is invalid")
INVALID_CONFIG = ErrorCode(40, "INVALID_CONFIG", False, "", "configuration is invalid")
NOT_CONTROLLER = ErrorCode(41, "NOT_CONTROLLER", True, "", "this is not the correct controller for this cluster")
INVALID_REQUEST = ErrorCode(
    42,
    "INVALID_REQUEST",
    False,
    "",
    "this most likely occurs because of a request being malformed by the client library or the message "
    "was sent to an incompatible broker. See the broker logs for more details",
)
UNSUPPORTED_FOR_MESSAGE_FORMAT = ErrorCode(
    43,
    "UNSUPPORTED_FOR_MESSAGE_FORMAT",
    False,
    "",
    "the message format version on the broker does not support the request",
)
POLICY_VIOLATION = ErrorCode(
    44,
    "POLICY_VIOLATION",
    False,
    "",
    "request parameters do not satisfy the configured policy",
)
OUT_OF_ORDER_SEQUENCE_NUMBER = ErrorCode(
    45,
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    False,
    "",
    "the broker received an out of order sequence number",
)
DUPLICATE_SEQUENCE_NUMBER = ErrorCode(
    46,
    "DUPLICATE_SEQUENCE_NUMBER",
    False,
    "",
    "the broker received a duplicate sequence number",
)
INVALID_PRODUCER_EPOCH = ErrorCode(
    47,
    "INVALID_PRODUCER_EPOCH",
    False,
    "",
    "producer attempted to produce with an old epoch",
)
INVALID_TXN_STATE = ErrorCode(
    48,
    "INVALID_TXN_STATE",
    False,
    "",
    "the producer attempted a transactional operation in an invalid state",
)
INVALID_PRODUCER_ID_MAPPING = ErrorCode(
    49,
    "INVALID_PRODUCER_ID_MAPPING",
    False,
    "",
    "the producer attempted to use a producer id which is not currently assigned to its transactional id",
)
INVALID_TRANSACTION_TIMEOUT = ErrorCode(
    50,
    "INVALID_TRANSACTION_TIMEOUT",
    False,
    "",
    "the transaction timeout is larger than the maximum value allowed by the broker (as configured by "
    "transaction.max.timeout.ms)",
)
CONCURRENT_TRANSACTIONS = ErrorCode(
    51,
    "CONCURRENT_TRANSACTIONS",
    True,
    "",
    "the producer attempted to update a transaction while another concurrent operation on the same "
    "transaction was ongoing",
)
TRANSACTION_COORDINATOR_FENCED = ErrorCode(
    52,
    "TRANSACTION_COORDINATOR_FENCED",
    False,
    "",
    "indicates that the transaction coordinator sending a WriteTxnMarker is no longer the current "
    "coordinator for a given producer",
)
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = ErrorCode(
    53,
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    False,
    "",
    "transactional Id authorization failed",
)
SECURITY_DISABLED = ErrorCode(54, "SECURITY_DISABLED", False, "", "security features are disabled")
OPERATION_NOT_ATTEMPTED = ErrorCode(
    55,
    "OPERATION_NOT_ATTEMPTED",
    False,
    "",
    "the broker did not attempt to execute this operation. This may happen for batched RPCs where some "
    "operations in the batch failed, causing the broker to respond without trying the rest",
)
KAFKA_STORAGE_ERROR = ErrorCode(
    56,
    "KAFKA_STORAGE_ERROR",
    True,
    "leader",
    "disk error when trying to access log file on the disk",
)
LOG_DIR_NOT_FOUND = ErrorCode(
    57,
    "LOG_DIR_NOT_FOUND",
    False,
    "",
    "the user-specified log directory is not found in the broker config",
)
SASL_AUTHENTICATION_FAILED = ErrorCode(58, "SASL_AUTHENTICATION_FAILED", False, "", "SASL Authentication failed")
UNKNOWN_PRODUCER_ID = ErrorCode(
    59,
    "UNKNOWN_PRODUCER_ID",
    False,
    "",
    "this exception is raised by the broker if it could not locate the producer metadata associated with "
    "the producerId in question. This could happen if, for instance, the producer's records were deleted "
    "because their retention time had elapsed. Once the last records of the producerId are removed, the "
    "producer's metadata is removed from the broker, and future appends by the producer will return this "
    "exception",
)
REASSIGNMENT_IN_PROGRESS = ErrorCode(
    60,
    "REASSIGNMENT_IN_PROGRESS",
    False,
    "",
    "A partition reassignment is in progress",
)
DELEGATION_TOKEN_AUTH_DISABLED = ErrorCode(
    61,
    "DELEGATION_TOKEN_AUTH_DISABLED",
    False,
    "",
    "delegation Token feature is not enabled",
)
DELEGATION_TOKEN_NOT_FOUND = ErrorCode(
    62,
    "DELEGATION_TOKEN_NOT_FOUND",
    False,
    "",
    "delegation Token is not found on server",
)
DELEGATION_TOKEN_OWNER_MISMATCH = ErrorCode(
    63,
    "DELEGATION_TOKEN_OWNER_MISMATCH",
    False,
    "",
    "specified Principal is not valid Owner/Renewer",
)
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = ErrorCode(
    64,
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
    False,
    "",
    "delegation Token requests are not allowed on PLAINTEXT/1-way SSL channels and on delegation token "
    "authenticated channels",
)
DELEGATION_TOKEN_AUTHORIZATION_FAILED = ErrorCode(
    65,
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
    False,
    "",
    "delegation Token authorization failed",
)
DELEGATION_TOKEN_EXPIRED = ErrorCode(66, "DELEGATION_TOKEN_EXPIRED", False, "", "delegation Token is expired")
INVALID_PRINCIPAL_TYPE = ErrorCode(67, "INVALID_PRINCIPAL_TYPE", False, "", "supplied principalType is not supported")
NON_EMPTY_GROUP = ErrorCode(68, "NON_EMPTY_GROUP", False, "", "the group is not empty")
GROUP_ID_NOT_FOUND = ErrorCode(69, "GROUP_ID_NOT_FOUND", False, "", "the group id does not exist")
FETCH_SESSION_ID_NOT_FOUND = ErrorCode(
    70,
    "FETCH_SESSION_ID_NOT_FOUND",
    True,
    "",
    "the fetch session ID was not found",
)
INVALID_FETCH_SESSION_EPOCH = ErrorCode(
    71,
    "INVALID_FETCH_SESSION_EPOCH",
    True,
    "",
    "the fetch session epoch is invalid",
)
LISTENER_NOT_FOUND = ErrorCode(
    72,
    "LISTENER_NOT_FOUND",
    True,
    "leader",
    "there is no listener on the leader broker that matches the listener on which metadata request was processed",
)
TOPIC_DELETION_DISABLED = ErrorCode(73, "TOPIC_DELETION_DISABLED", False, "", "topic deletion is disabled")
FENCED_LEADER_EPOCH = ErrorCode(
    74,
    "FENCED_LEADER_EPOCH",
    True,
    "leader",
    "the leader epoch in the request is older than the epoch on the broker",
)
UNKNOWN_LEADER_EPOCH = ErrorCode(
    75,
    "UNKNOWN_LEADER_EPOCH",
    True,
    "leader",
    "the leader epoch in the request is newer than the epoch on the broker",
)
UNSUPPORTED_COMPRESSION_TYPE = ErrorCode(
    76,
    "UNSUPPORTED_COMPRESSION_TYPE",
    False,
    "",
    "the requesting client does not support the compression type of given partition",
)
STALE_BROKER_EPOCH = ErrorCode(77, "STALE_BROKER_EPOCH", False, "", "broker epoch has changed")
OFFSET_NOT_AVAILABLE = ErrorCode(
    78,
    "OFFSET_NOT_AVAILABLE",
    True,
    "leader",
    "the leader high watermark has not caught up from a recent leader election so the offsets cannot be "
    "guaranteed to be monotonically increasing",
)
MEMBER_ID_REQUIRED = ErrorCode(
    79,
    "MEMBER_ID_REQUIRED",
    False,
    "",
    "the group member needs to have a valid member id before actually entering a consumer group",
)
PREFERRED_LEADER_NOT_AVAILABLE = ErrorCode(
    80,
    "PREFERRED_LEADER_NOT_AVAILABLE",
    True,
    "leader",
    "the preferred leader was not available",
)
GROUP_MAX_SIZE_REACHED = ErrorCode(81, "GROUP_MAX_SIZE_REACHED", False, "", "the group has reached its maximum size")
FENCED_INSTANCE_ID = ErrorCode(
    82,
    "FENCED_INSTANCE_ID",
    False,
    "",
    "the broker rejected this static consumer since another consumer with the same group.instance.id has "
    "registered with a different member.id",
)
ELIGIBLE_LEADERS_NOT_AVAILABLE = ErrorCode(
    83,
    "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    True,
    "leader",
    "eligible topic partition leaders are not available",
)
ELECTION_NOT_NEEDED = ErrorCode(
    84,
    "ELECTION_NOT_NEEDED",
    True,
    "leader",
    "leader election not needed for topic partition",
)
NO_REASSIGNMENT_IN_PROGRESS = ErrorCode(
    85,
    "NO_REASSIGNMENT_IN_PROGRESS",
    False,
    "",
    "no partition reassignment is in progress",
)
GROUP_SUBSCRIBED_TO_TOPIC = ErrorCode(
    86,
    "GROUP_SUBSCRIBED_TO_TOPIC",
    False,
    "",
    "deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it",
)
INVALID_RECORD = ErrorCode(
    87,
    "INVALID_RECORD",
    False,
    "",
    "this record has failed the validation on broker and hence will be rejected",
)
UNSTABLE_OFFSET_COMMIT = ErrorCode(
    88,
    "UNSTABLE_OFFSET_COMMIT",
    True,
    "",
    "there are unstable offsets that need to be cleared",
)
THROTTLING_QUOTA_EXCEEDED = ErrorCode(
    89,
    "THROTTLING_QUOTA_EXCEEDED",
    True,
    "",
    "the throttling quota has been exceeded",
)
PRODUCER_FENCED = ErrorCode(
    90,
    "PRODUCER_FENCED",
    False,
    "",
    "there is a newer producer with the same transactionalId which fences the current one",
)
RESOURCE_NOT_FOUND = ErrorCode(
    91,
    "RESOURCE_NOT_FOUND",
    False,
    "",
    "A request illegally referred to a resource that does not exist",
)
DUPLICATE_RESOURCE = ErrorCode(
    92,
    "DUPLICATE_RESOURCE",
    False,
    "",
    "A request illegally referred to the same resource twice",
)
UNACCEPTABLE_CREDENTIAL = ErrorCode(
    93,
    "UNACCEPTABLE_CREDENTIAL",
    False,
    "",
    "requested credential would not meet criteria for acceptability",
)
INCONSISTENT_VOTER_SET = ErrorCode(
    94,
    "INCONSISTENT_VOTER_SET",
    False,
    "",
    "indicates that the either the sender or recipient of a voter-only request is not one of the expected voters",
)
INVALID_UPDATE_VERSION = ErrorCode(95, "INVALID_UPDATE_VERSION", False, "", "the given update version was invalid")
FEATURE_UPDATE_FAILED = ErrorCode(
    96,
    "FEATURE_UPDATE_FAILED",
    False,
    "",
    "unable to update finalized features due to an unexpected server error",
)
PRINCIPAL_DESERIALIZATION_FAILURE = ErrorCode(
    97,
    "PRINCIPAL_DESERIALIZATION_FAILURE",
    False,
    "",
    "request principal deserialization failed during forwarding. This indicates an internal error on the "
    "broker cluster security setup",
)
SNAPSHOT_NOT_FOUND = ErrorCode(98, "SNAPSHOT_NOT_FOUND", False, "", "requested snapshot was not found")
POSITION_OUT_OF_RANGE = ErrorCode(
    99,
    "POSITION_OUT_OF_RANGE",
    False,
    "",
    "requested position is not greater than or equal to zero, and less than the size of the snapshot",
)
UNKNOWN_TOPIC_ID = ErrorCode(100, "UNKNOWN_TOPIC_ID", True, "leader", "this server does not host this topic ID")
DUPLICATE_BROKER_REGISTRATION = ErrorCode(
    101,
    "DUPLICATE_BROKER_REGISTRATION",
    False,
    "",
    "this broker ID is already in use",
)
BROKER_ID_NOT_REGISTERED = ErrorCode(
    102,
    "BROKER_ID_NOT_REGISTERED",
    False,
    "",
    "the given broker ID was not registered",
)
INCONSISTENT_TOPIC_ID = ErrorCode(
    103,
    "INCONSISTENT_TOPIC_ID",
    True,
    "leader",
    "the log's topic ID did not match the topic ID in the request",
)
INCONSISTENT_CLUSTER_ID = ErrorCode(
    104,
    "INCONSISTENT_CLUSTER_ID",
    False,
    "",
    "the clusterId in the request does not match that found on the server",
)
TRANSACTIONAL_ID_NOT_FOUND = ErrorCode(
    105,
    "TRANSACTIONAL_ID_NOT_FOUND",
    False,
    "",
    "the transactionalId could not be found",
)
FETCH_SESSION_TOPIC_ID_ERROR = ErrorCode(
    106,
    "FETCH_SESSION_TOPIC_ID_ERROR",
    True,
    "",
    "the fetch session encountered inconsistent topic ID usage",
)
INELIGIBLE_REPLICA = ErrorCode(
    107,
    "INELIGIBLE_REPLICA",
    False,
    "",
    "the new ISR contains at least one ineligible replica",
)
NEW_LEADER_ELECTED = ErrorCode(
    108,
    "NEW_LEADER_ELECTED",
    False,
    "",
    "the AlterPartition request successfully updated the partition state but the leader has changed",
)
OFFSET_MOVED_TO_TIERED_STORAGE = ErrorCode(
    109,
    "OFFSET_MOVED_TO_TIERED_STORAGE",
    False,
    "",
    "the requested offset is moved to tiered storage",
)
FENCED_MEMBER_EPOCH = ErrorCode(
    110,
    "FENCED_MEMBER_EPOCH",
    False,
    "",
    "the member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin",
)
UNRELEASED_INSTANCE_ID = ErrorCode(
    111,
    "UNRELEASED_INSTANCE_ID",
    False,
    "",
    "the instance ID is still used by another member in the consumer group. That member must leave first",
)
UNSUPPORTED_ASSIGNOR = ErrorCode(
    112,
    "UNSUPPORTED_ASSIGNOR",
    False,
    "",
    "the assignor or its version range is not supported by the consumer group",
)
STALE_MEMBER_EPOCH = ErrorCode(
    113,
    "STALE_MEMBER_EPOCH",
    False,
    "",
    "the member epoch is stale. The member must retry after receiving its updated member epoch via the "
    "ConsumerGroupHeartbeat API",
)
MISMATCHED_ENDPOINT_TYPE = ErrorCode(
    114,
    "MISMATCHED_ENDPOINT_TYPE",
    False,
    "",
    "the request was sent to an endpoint of the wrong type",
)
UNSUPPORTED_ENDPOINT_TYPE = ErrorCode(
    115,
    "UNSUPPORTED_ENDPOINT_TYPE",
    False,
    "",
    "this endpoint type is not supported yet",
)
UNKNOWN_CONTROLLER_ID = ErrorCode(116, "UNKNOWN_CONTROLLER_ID", False, "", "this controller ID is not known")
UNKNOWN_SUBSCRIPTION_ID = ErrorCode(
    117,
    "UNKNOWN_SUBSCRIPTION_ID",
    False,
    "",
    "client sent a push telemetry request with an invalid or outdated subscription ID",
)
TELEMETRY_TOO_LARGE = ErrorCode(
    118,
    "TELEMETRY_TOO_LARGE",
    False,
    "",
    "client sent a push telemetry request larger than the maximum size the broker will accept",
)
INVALID_REGISTRATION = ErrorCode(
    119,
    "INVALID_REGISTRATION",
    False,
    "",
    "the controller has considered the broker registration to be invalid",
)
TRANSACTION_ABORTABLE = ErrorCode(
    120,
    "TRANSACTION_ABORTABLE",
    False,
    "",
    "the server encountered an error with the transaction. The client can abort the transaction to "
    "continue using this transactional ID",
)
INVALID_RECORD_STATE = ErrorCode(
    121,
    "INVALID_RECORD_STATE",
    False,
    "",
    "the record state is invalid. The acknowledgement of delivery could not be completed",
)
SHARE_SESSION_NOT_FOUND = ErrorCode(122, "SHARE_SESSION_NOT_FOUND", True, "", "the share session was not found")
INVALID_SHARE_SESSION_EPOCH = ErrorCode(
    123,
    "INVALID_SHARE_SESSION_EPOCH",
    True,
    "",
    "the share session epoch is invalid",
)
FENCED_STATE_EPOCH = ErrorCode(
    124,
    "FENCED_STATE_EPOCH",
    False,
    "",
    "the share coordinator rejected the request because the share-group state epoch did not match",
)
INVALID_VOTER_KEY = ErrorCode(
    125,
    "INVALID_VOTER_KEY",
    False,
    "",
    "the voter key doesn't match the receiving replica's key",
)
DUPLICATE_VOTER = ErrorCode(126, "DUPLICATE_VOTER", False, "", "the voter is already part of the set of voters")
VOTER_NOT_FOUND = ErrorCode(127, "VOTER_NOT_FOUND", False, "", "the voter is not part of the set of voters")
INVALID_REGULAR_EXPRESSION = ErrorCode(
    128,
    "INVALID_REGULAR_EXPRESSION",
    False,
    "",
    "the regular expression is not valid",
)
REBOOTSTRAP_REQUIRED = ErrorCode(
    129,
    "REBOOTSTRAP_REQUIRED",
    False,
    "",
    "client metadata is stale. The client should rebootstrap to obtain new metadata",
)
STREAMS_INVALID_TOPOLOGY = ErrorCode(130, "STREAMS_INVALID_TOPOLOGY", False, "", "the supplied topology is invalid")
STREAMS_INVALID_TOPOLOGY_EPOCH = ErrorCode(
    131,
    "STREAMS_INVALID_TOPOLOGY_EPOCH",
    False,
    "",
    "the supplied topology epoch is invalid",
)
STREAMS_TOPOLOGY_FENCED = ErrorCode(
    132,
    "STREAMS_TOPOLOGY_FENCED",
    False,
    "",
    "the supplied topology epoch is outdated",
)
SHARE_SESSION_LIMIT_REACHED = ErrorCode(
    133,
    "SHARE_SESSION_LIMIT_REACHED",
    True,
    "",
    "the limit of share sessions has been reached",
)

_TABLE = {row.number: row for row in list(globals().values()) if isinstance(row, ErrorCode)}
