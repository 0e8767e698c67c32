"""Kafka's error codes: number, name, whether trying again can help, what to forget first, and the sentence for people.

One table, no class per code. The numbers, names and retriability are those of Apache Kafka 4.3
(org.apache.kafka.common.protocol.Errors); the sentences are kcli's, say what to do where that is known, and fit behind
"name: ". `forget` says which cached fact the error proves wrong (C4, C15).
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
    -1, "UNKNOWN_SERVER_ERROR", False, "", "the broker failed while doing this; its log says why"
)
NONE = ErrorCode(0, "NONE", False, "", "no error")
OFFSET_OUT_OF_RANGE = ErrorCode(
    1,
    "OFFSET_OUT_OF_RANGE",
    False,
    "",
    "there is no such offset: retention or truncation took it, or nobody has written it yet",
)
CORRUPT_MESSAGE = ErrorCode(
    2, "CORRUPT_MESSAGE", True, "", "the record is damaged, too large, or has no key although the topic is compacted"
)
UNKNOWN_TOPIC_OR_PARTITION = ErrorCode(
    3,
    "UNKNOWN_TOPIC_OR_PARTITION",
    True,
    "leader",
    "this topic or partition does not exist; `kcli topics list` shows what does",
)
INVALID_FETCH_SIZE = ErrorCode(4, "INVALID_FETCH_SIZE", False, "", "a fetch cannot have this size")
LEADER_NOT_AVAILABLE = ErrorCode(
    5, "LEADER_NOT_AVAILABLE", True, "leader", "the partition has no leader at the moment; an election is under way"
)
NOT_LEADER_OR_FOLLOWER = ErrorCode(
    6, "NOT_LEADER_OR_FOLLOWER", True, "leader", "this broker does not lead the partition, or holds no replica of it"
)
REQUEST_TIMED_OUT = ErrorCode(7, "REQUEST_TIMED_OUT", True, "", "the brokers did not finish in time")
BROKER_NOT_AVAILABLE = ErrorCode(8, "BROKER_NOT_AVAILABLE", False, "", "that broker is down")
REPLICA_NOT_AVAILABLE = ErrorCode(9, "REPLICA_NOT_AVAILABLE", True, "leader", "that replica is down or not known here")
MESSAGE_TOO_LARGE = ErrorCode(
    10, "MESSAGE_TOO_LARGE", False, "", "a record or batch is larger than the topic takes (max.message.bytes)"
)
STALE_CONTROLLER_EPOCH = ErrorCode(
    11, "STALE_CONTROLLER_EPOCH", False, "", "another broker became the controller meanwhile"
)
OFFSET_METADATA_TOO_LARGE = ErrorCode(
    12,
    "OFFSET_METADATA_TOO_LARGE",
    False,
    "",
    "the note stored with the commit is too long (offset.metadata.max.bytes)",
)
NETWORK_EXCEPTION = ErrorCode(13, "NETWORK_EXCEPTION", True, "leader", "the broker hung up before it answered")
COORDINATOR_LOAD_IN_PROGRESS = ErrorCode(
    14, "COORDINATOR_LOAD_IN_PROGRESS", True, "", "the group's coordinator is still reading its state"
)
COORDINATOR_NOT_AVAILABLE = ErrorCode(
    15, "COORDINATOR_NOT_AVAILABLE", True, "coordinator", "the group's coordinator is not up yet"
)
NOT_COORDINATOR = ErrorCode(
    16, "NOT_COORDINATOR", True, "coordinator", "the group or transaction is coordinated by another broker"
)
INVALID_TOPIC_EXCEPTION = ErrorCode(
    17,
    "INVALID_TOPIC_EXCEPTION",
    False,
    "",
    "not a name that a topic may have: letters, digits, dot, dash and underscore, at most 249",
)
RECORD_LIST_TOO_LARGE = ErrorCode(
    18, "RECORD_LIST_TOO_LARGE", False, "", "the batch is larger than a log segment of the topic (segment.bytes)"
)
NOT_ENOUGH_REPLICAS = ErrorCode(
    19,
    "NOT_ENOUGH_REPLICAS",
    True,
    "",
    "too few replicas are in sync to accept this (min.insync.replicas); nothing was written",
)
NOT_ENOUGH_REPLICAS_AFTER_APPEND = ErrorCode(
    20,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    True,
    "",
    "it is written, but too few replicas have it (min.insync.replicas)",
)
INVALID_REQUIRED_ACKS = ErrorCode(
    21, "INVALID_REQUIRED_ACKS", False, "", "acks is all, 1 or 0; the broker takes nothing else"
)
ILLEGAL_GENERATION = ErrorCode(
    22, "ILLEGAL_GENERATION", False, "", "the group has moved on: this membership is of an earlier generation"
)
INCONSISTENT_GROUP_PROTOCOL = ErrorCode(
    23,
    "INCONSISTENT_GROUP_PROTOCOL",
    False,
    "",
    "the members of the group have no assignor or protocol in common; make their settings agree",
)
INVALID_GROUP_ID = ErrorCode(24, "INVALID_GROUP_ID", False, "", "not a name that a group may have")
UNKNOWN_MEMBER_ID = ErrorCode(
    25, "UNKNOWN_MEMBER_ID", False, "", "the group does not know this member: it was removed, or it left"
)
INVALID_SESSION_TIMEOUT = ErrorCode(
    26,
    "INVALID_SESSION_TIMEOUT",
    False,
    "",
    "the broker refuses this session timeout; it must lie within group.min and group.max.session.timeout.ms",
)
REBALANCE_IN_PROGRESS = ErrorCode(
    27, "REBALANCE_IN_PROGRESS", False, "", "the group is rebalancing; members join again"
)
INVALID_COMMIT_OFFSET_SIZE = ErrorCode(
    28, "INVALID_COMMIT_OFFSET_SIZE", False, "", "the commit is too large for the broker"
)
TOPIC_AUTHORIZATION_FAILED = ErrorCode(
    29, "TOPIC_AUTHORIZATION_FAILED", False, "", "you may not do this with this topic; ask for an ACL"
)
GROUP_AUTHORIZATION_FAILED = ErrorCode(
    30, "GROUP_AUTHORIZATION_FAILED", False, "", "you may not use this group; ask for an ACL"
)
CLUSTER_AUTHORIZATION_FAILED = ErrorCode(
    31, "CLUSTER_AUTHORIZATION_FAILED", False, "", "you may not do this with this cluster; ask for an ACL"
)
INVALID_TIMESTAMP = ErrorCode(
    32,
    "INVALID_TIMESTAMP",
    False,
    "",
    "the timestamp is too far from the broker's clock (message.timestamp.before and .after.max.ms)",
)
UNSUPPORTED_SASL_MECHANISM = ErrorCode(
    33,
    "UNSUPPORTED_SASL_MECHANISM",
    False,
    "",
    "the broker does not offer this SASL mechanism; the listener's sasl.enabled.mechanisms says which",
)
ILLEGAL_SASL_STATE = ErrorCode(34, "ILLEGAL_SASL_STATE", False, "", "this is out of turn while a client authenticates")
UNSUPPORTED_VERSION = ErrorCode(
    35, "UNSUPPORTED_VERSION", False, "", "the broker speaks no version of this request that was asked for"
)
TOPIC_ALREADY_EXISTS = ErrorCode(
    36, "TOPIC_ALREADY_EXISTS", False, "", "there is a topic of this name already; --if-not-exists accepts that"
)
INVALID_PARTITIONS = ErrorCode(37, "INVALID_PARTITIONS", False, "", "a topic cannot have this number of partitions")
INVALID_REPLICATION_FACTOR = ErrorCode(
    38,
    "INVALID_REPLICATION_FACTOR",
    False,
    "",
    "there are not that many brokers to hold replicas, or the number is not positive",
)
INVALID_REPLICA_ASSIGNMENT = ErrorCode(
    39, "INVALID_REPLICA_ASSIGNMENT", False, "", "the replicas are not distributed in a way the broker accepts"
)
INVALID_CONFIG = ErrorCode(40, "INVALID_CONFIG", False, "", "a setting is unknown or has a value it cannot have")
NOT_CONTROLLER = ErrorCode(41, "NOT_CONTROLLER", True, "", "this broker is not the controller")
INVALID_REQUEST = ErrorCode(
    42, "INVALID_REQUEST", False, "", "the broker finds the request malformed; its log says why"
)
UNSUPPORTED_FOR_MESSAGE_FORMAT = ErrorCode(
    43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", False, "", "the topic's old record format cannot do this"
)
POLICY_VIOLATION = ErrorCode(44, "POLICY_VIOLATION", False, "", "a policy of the cluster forbids this")
OUT_OF_ORDER_SEQUENCE_NUMBER = ErrorCode(
    45,
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    False,
    "",
    "batches of an idempotent producer arrived with a gap; earlier ones are lost or late",
)
DUPLICATE_SEQUENCE_NUMBER = ErrorCode(46, "DUPLICATE_SEQUENCE_NUMBER", False, "", "the broker has this batch already")
INVALID_PRODUCER_EPOCH = ErrorCode(
    47, "INVALID_PRODUCER_EPOCH", False, "", "a newer instance of this producer took over"
)
INVALID_TXN_STATE = ErrorCode(
    48, "INVALID_TXN_STATE", False, "", "the transaction is in a state that does not allow this"
)
INVALID_PRODUCER_ID_MAPPING = ErrorCode(
    49, "INVALID_PRODUCER_ID_MAPPING", False, "", "the producer id does not belong to this transactional id any more"
)
INVALID_TRANSACTION_TIMEOUT = ErrorCode(
    50,
    "INVALID_TRANSACTION_TIMEOUT",
    False,
    "",
    "the transaction timeout exceeds the broker's transaction.max.timeout.ms",
)
CONCURRENT_TRANSACTIONS = ErrorCode(
    51, "CONCURRENT_TRANSACTIONS", True, "", "another operation on the same transaction is not finished"
)
TRANSACTION_COORDINATOR_FENCED = ErrorCode(
    52, "TRANSACTION_COORDINATOR_FENCED", False, "", "another broker coordinates this transaction by now"
)
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = ErrorCode(
    53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", False, "", "you may not use this transactional id; ask for an ACL"
)
SECURITY_DISABLED = ErrorCode(54, "SECURITY_DISABLED", False, "", "the cluster has no authorizer, so there are no ACLs")
OPERATION_NOT_ATTEMPTED = ErrorCode(
    55, "OPERATION_NOT_ATTEMPTED", False, "", "not tried, because something else in the same request failed"
)
KAFKA_STORAGE_ERROR = ErrorCode(56, "KAFKA_STORAGE_ERROR", True, "leader", "the broker cannot read or write its disk")
LOG_DIR_NOT_FOUND = ErrorCode(57, "LOG_DIR_NOT_FOUND", False, "", "the broker has no such log directory")
SASL_AUTHENTICATION_FAILED = ErrorCode(58, "SASL_AUTHENTICATION_FAILED", False, "", "user, password or token is wrong")
UNKNOWN_PRODUCER_ID = ErrorCode(
    59, "UNKNOWN_PRODUCER_ID", False, "", "the broker forgot this producer; its records may have expired"
)
REASSIGNMENT_IN_PROGRESS = ErrorCode(
    60, "REASSIGNMENT_IN_PROGRESS", False, "", "the partition's replicas are being moved already"
)
DELEGATION_TOKEN_AUTH_DISABLED = ErrorCode(
    61, "DELEGATION_TOKEN_AUTH_DISABLED", False, "", "the cluster does not use delegation tokens"
)
DELEGATION_TOKEN_NOT_FOUND = ErrorCode(62, "DELEGATION_TOKEN_NOT_FOUND", False, "", "there is no such delegation token")
DELEGATION_TOKEN_OWNER_MISMATCH = ErrorCode(
    63, "DELEGATION_TOKEN_OWNER_MISMATCH", False, "", "the delegation token belongs to somebody else"
)
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = ErrorCode(
    64,
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
    False,
    "",
    "delegation tokens need a TLS or SASL connection that was not itself made with a token",
)
DELEGATION_TOKEN_AUTHORIZATION_FAILED = ErrorCode(
    65, "DELEGATION_TOKEN_AUTHORIZATION_FAILED", False, "", "you may not use this delegation token"
)
DELEGATION_TOKEN_EXPIRED = ErrorCode(
    66, "DELEGATION_TOKEN_EXPIRED", False, "", "the delegation token has expired; get a new one"
)
INVALID_PRINCIPAL_TYPE = ErrorCode(
    67, "INVALID_PRINCIPAL_TYPE", False, "", "a principal of this kind is not supported; use User:NAME"
)
NON_EMPTY_GROUP = ErrorCode(68, "NON_EMPTY_GROUP", False, "", "the group still has members; stop them first")
GROUP_ID_NOT_FOUND = ErrorCode(69, "GROUP_ID_NOT_FOUND", False, "", "there is no such group")
FETCH_SESSION_ID_NOT_FOUND = ErrorCode(
    70, "FETCH_SESSION_ID_NOT_FOUND", True, "", "the broker dropped the fetch session; a new one begins"
)
INVALID_FETCH_SESSION_EPOCH = ErrorCode(
    71, "INVALID_FETCH_SESSION_EPOCH", True, "", "the fetch session is out of step; a new one begins"
)
LISTENER_NOT_FOUND = ErrorCode(
    72,
    "LISTENER_NOT_FOUND",
    True,
    "leader",
    "the leader does not have the listener this client came in by; compare the brokers' listeners",
)
TOPIC_DELETION_DISABLED = ErrorCode(
    73, "TOPIC_DELETION_DISABLED", False, "", "the cluster does not allow topics to be deleted (delete.topic.enable)"
)
FENCED_LEADER_EPOCH = ErrorCode(
    74, "FENCED_LEADER_EPOCH", True, "leader", "what we know of the partition's leader is outdated"
)
UNKNOWN_LEADER_EPOCH = ErrorCode(
    75, "UNKNOWN_LEADER_EPOCH", True, "leader", "the broker does not know of the partition's newest leader yet"
)
UNSUPPORTED_COMPRESSION_TYPE = ErrorCode(
    76,
    "UNSUPPORTED_COMPRESSION_TYPE",
    False,
    "",
    "this version of the request cannot carry the partition's compression codec",
)
STALE_BROKER_EPOCH = ErrorCode(77, "STALE_BROKER_EPOCH", False, "", "that broker was restarted meanwhile")
OFFSET_NOT_AVAILABLE = ErrorCode(
    78, "OFFSET_NOT_AVAILABLE", True, "leader", "the new leader does not know its end offset yet"
)
MEMBER_ID_REQUIRED = ErrorCode(
    79, "MEMBER_ID_REQUIRED", False, "", "the coordinator hands out a member id first; join again with it"
)
PREFERRED_LEADER_NOT_AVAILABLE = ErrorCode(
    80, "PREFERRED_LEADER_NOT_AVAILABLE", True, "leader", "the preferred leader is down"
)
GROUP_MAX_SIZE_REACHED = ErrorCode(81, "GROUP_MAX_SIZE_REACHED", False, "", "the group is full (group.max.size)")
FENCED_INSTANCE_ID = ErrorCode(
    82, "FENCED_INSTANCE_ID", False, "", "another member uses the same group.instance.id and took over"
)
ELIGIBLE_LEADERS_NOT_AVAILABLE = ErrorCode(
    83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", True, "leader", "no replica may become leader"
)
ELECTION_NOT_NEEDED = ErrorCode(
    84, "ELECTION_NOT_NEEDED", True, "leader", "the partition has the leader it should have"
)
NO_REASSIGNMENT_IN_PROGRESS = ErrorCode(
    85, "NO_REASSIGNMENT_IN_PROGRESS", False, "", "no replica of the partition is being moved"
)
GROUP_SUBSCRIBED_TO_TOPIC = ErrorCode(
    86, "GROUP_SUBSCRIBED_TO_TOPIC", False, "", "the group reads this topic at the moment; stop it first"
)
INVALID_RECORD = ErrorCode(
    87,
    "INVALID_RECORD",
    False,
    "",
    "the broker refuses the record: a key is missing, or a timestamp or format does not fit the topic",
)
UNSTABLE_OFFSET_COMMIT = ErrorCode(
    88, "UNSTABLE_OFFSET_COMMIT", True, "", "a transaction has offsets of this partition pending; wait until it ends"
)
THROTTLING_QUOTA_EXCEEDED = ErrorCode(
    89, "THROTTLING_QUOTA_EXCEEDED", True, "", "a quota was used up; wait and try again"
)
PRODUCER_FENCED = ErrorCode(
    90, "PRODUCER_FENCED", False, "", "a newer producer with the same transactional id took over"
)
RESOURCE_NOT_FOUND = ErrorCode(91, "RESOURCE_NOT_FOUND", False, "", "what the request names does not exist")
DUPLICATE_RESOURCE = ErrorCode(92, "DUPLICATE_RESOURCE", False, "", "the request names the same thing twice")
UNACCEPTABLE_CREDENTIAL = ErrorCode(
    93, "UNACCEPTABLE_CREDENTIAL", False, "", "the password or its number of iterations is not acceptable"
)
INCONSISTENT_VOTER_SET = ErrorCode(94, "INCONSISTENT_VOTER_SET", False, "", "the controllers do not agree on who votes")
INVALID_UPDATE_VERSION = ErrorCode(
    95, "INVALID_UPDATE_VERSION", False, "", "the version of the update is not the next one"
)
FEATURE_UPDATE_FAILED = ErrorCode(
    96, "FEATURE_UPDATE_FAILED", False, "", "the feature could not be set; the controller's log says why"
)
PRINCIPAL_DESERIALIZATION_FAILURE = ErrorCode(
    97,
    "PRINCIPAL_DESERIALIZATION_FAILURE",
    False,
    "",
    "the brokers do not understand each other's principals; check their inter-broker security",
)
SNAPSHOT_NOT_FOUND = ErrorCode(98, "SNAPSHOT_NOT_FOUND", False, "", "there is no such snapshot")
POSITION_OUT_OF_RANGE = ErrorCode(99, "POSITION_OUT_OF_RANGE", False, "", "the position is outside the snapshot")
UNKNOWN_TOPIC_ID = ErrorCode(
    100, "UNKNOWN_TOPIC_ID", True, "leader", "this broker knows no topic with this id: it was deleted, or is new"
)
DUPLICATE_BROKER_REGISTRATION = ErrorCode(
    101, "DUPLICATE_BROKER_REGISTRATION", False, "", "another broker uses this node id"
)
BROKER_ID_NOT_REGISTERED = ErrorCode(
    102, "BROKER_ID_NOT_REGISTERED", False, "", "no broker is registered with this node id"
)
INCONSISTENT_TOPIC_ID = ErrorCode(
    103, "INCONSISTENT_TOPIC_ID", True, "leader", "the topic was deleted and made anew: its id changed"
)
INCONSISTENT_CLUSTER_ID = ErrorCode(
    104, "INCONSISTENT_CLUSTER_ID", False, "", "the request is for another cluster; compare the bootstrap addresses"
)
TRANSACTIONAL_ID_NOT_FOUND = ErrorCode(
    105, "TRANSACTIONAL_ID_NOT_FOUND", False, "", "there is no such transactional id"
)
FETCH_SESSION_TOPIC_ID_ERROR = ErrorCode(
    106, "FETCH_SESSION_TOPIC_ID_ERROR", True, "", "the fetch session mixes two topics of one name; a new one begins"
)
INELIGIBLE_REPLICA = ErrorCode(
    107, "INELIGIBLE_REPLICA", False, "", "a replica that is not fit to be in sync was named"
)
NEW_LEADER_ELECTED = ErrorCode(108, "NEW_LEADER_ELECTED", False, "", "the change was made, and the leader changed too")
OFFSET_MOVED_TO_TIERED_STORAGE = ErrorCode(
    109,
    "OFFSET_MOVED_TO_TIERED_STORAGE",
    False,
    "",
    "the offset lies in tiered storage, where this request does not reach",
)
FENCED_MEMBER_EPOCH = ErrorCode(
    110, "FENCED_MEMBER_EPOCH", False, "", "the group moved on without this member; it joins again with nothing"
)
UNRELEASED_INSTANCE_ID = ErrorCode(
    111, "UNRELEASED_INSTANCE_ID", False, "", "the previous member with this group.instance.id has not left yet"
)
UNSUPPORTED_ASSIGNOR = ErrorCode(112, "UNSUPPORTED_ASSIGNOR", False, "", "the group's coordinator has no such assignor")
STALE_MEMBER_EPOCH = ErrorCode(
    113,
    "STALE_MEMBER_EPOCH",
    False,
    "",
    "the member is behind the group's state; it tries again after the next heartbeat",
)
MISMATCHED_ENDPOINT_TYPE = ErrorCode(
    114,
    "MISMATCHED_ENDPOINT_TYPE",
    False,
    "",
    "this is a broker's request sent to a controller, or the reverse; check the port",
)
UNSUPPORTED_ENDPOINT_TYPE = ErrorCode(
    115, "UNSUPPORTED_ENDPOINT_TYPE", False, "", "this kind of listener is not supported"
)
UNKNOWN_CONTROLLER_ID = ErrorCode(116, "UNKNOWN_CONTROLLER_ID", False, "", "no controller has this id")
UNKNOWN_SUBSCRIPTION_ID = ErrorCode(
    117, "UNKNOWN_SUBSCRIPTION_ID", False, "", "the broker does not know this telemetry subscription any more"
)
TELEMETRY_TOO_LARGE = ErrorCode(118, "TELEMETRY_TOO_LARGE", False, "", "the telemetry is more than the broker takes")
INVALID_REGISTRATION = ErrorCode(
    119, "INVALID_REGISTRATION", False, "", "the controller refuses the broker's registration; its log says why"
)
TRANSACTION_ABORTABLE = ErrorCode(
    120,
    "TRANSACTION_ABORTABLE",
    False,
    "",
    "the transaction failed and can only be aborted; the producer goes on with a new one",
)
INVALID_RECORD_STATE = ErrorCode(
    121,
    "INVALID_RECORD_STATE",
    False,
    "",
    "the record cannot be acknowledged now: its lock ran out, or it was settled before",
)
SHARE_SESSION_NOT_FOUND = ErrorCode(
    122, "SHARE_SESSION_NOT_FOUND", True, "", "the broker dropped the share session; a new one begins"
)
INVALID_SHARE_SESSION_EPOCH = ErrorCode(
    123, "INVALID_SHARE_SESSION_EPOCH", True, "", "the share session is out of step; a new one begins"
)
FENCED_STATE_EPOCH = ErrorCode(
    124, "FENCED_STATE_EPOCH", False, "", "the share group's state was taken over by another coordinator"
)
INVALID_VOTER_KEY = ErrorCode(
    125, "INVALID_VOTER_KEY", False, "", "the voter's key is not that of the controller asked"
)
DUPLICATE_VOTER = ErrorCode(126, "DUPLICATE_VOTER", False, "", "that controller votes already")
VOTER_NOT_FOUND = ErrorCode(127, "VOTER_NOT_FOUND", False, "", "that controller does not vote")
INVALID_REGULAR_EXPRESSION = ErrorCode(
    128, "INVALID_REGULAR_EXPRESSION", False, "", "the broker cannot read this regular expression; it is RE2's kind"
)
REBOOTSTRAP_REQUIRED = ErrorCode(
    129, "REBOOTSTRAP_REQUIRED", False, "", "the client must start over from the bootstrap addresses"
)
STREAMS_INVALID_TOPOLOGY = ErrorCode(
    130, "STREAMS_INVALID_TOPOLOGY", False, "", "the streams topology makes no sense to the broker"
)
STREAMS_INVALID_TOPOLOGY_EPOCH = ErrorCode(
    131, "STREAMS_INVALID_TOPOLOGY_EPOCH", False, "", "the streams topology has an impossible epoch"
)
STREAMS_TOPOLOGY_FENCED = ErrorCode(132, "STREAMS_TOPOLOGY_FENCED", False, "", "a newer streams topology took over")
SHARE_SESSION_LIMIT_REACHED = ErrorCode(
    133, "SHARE_SESSION_LIMIT_REACHED", True, "", "the broker has no room for another share session"
)

_TABLE = {row.number: row for row in list(globals().values()) if isinstance(row, ErrorCode)}
