"""Kafka error codes: number, name, whether retriable, what to discard before a retry, and a sentence for people.

One table instead of a class per code. Numbers, names and retriability are those of Apache Kafka 4.4
(org.apache.kafka.common.protocol.Errors). The sentences are kcli's: they suggest a remedy where one is known, and are
worded to follow "name: ". `forget` names the cached fact that the error disproves.
"""

from __future__ import annotations


class ErrorCode:
    """A row of the table. `forget` is "leader", "coordinator" or ""."""

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
        """True for an error, so that `if code:` reads naturally."""
        return self.number != 0


def _final(number: int, text: str) -> ErrorCode:
    """Return a row for an error that a retry cannot fix. Its name is set from the variable at the end of this
    module."""
    return ErrorCode(number, "", False, "", text)


def _retry(number: int, text: str) -> ErrorCode:
    """Return a row for an error that a retry can fix."""
    return ErrorCode(number, "", True, "", text)


def _leader(number: int, text: str) -> ErrorCode:
    """Return a row for an error that a retry can fix after looking up the partition's leader again."""
    return ErrorCode(number, "", True, "leader", text)


def _coordinator(number: int, text: str) -> ErrorCode:
    """Return a row for an error that a retry can fix after looking up the coordinator again."""
    return ErrorCode(number, "", True, "coordinator", text)


def of(number: int) -> ErrorCode:
    """Return the row of a number; an unknown number is kept and is not retriable."""
    row = _TABLE.get(number)  # NONE is false, so `or` would not work here
    return ErrorCode(number, f"UNKNOWN({number})", False, "", f"unknown error code {number}") if row is None else row


UNKNOWN_SERVER_ERROR = _final(-1, "the broker failed while doing this; its log shows why")
NONE = _final(0, "no error")
OFFSET_OUT_OF_RANGE = _final(1, "the offset does not exist: deleted by retention or truncation, or not written yet")
CORRUPT_MESSAGE = _retry(2, "the record is damaged, too large, or has no key although the topic is compacted")
UNKNOWN_TOPIC_OR_PARTITION = _leader(3, "this topic or partition does not exist")
INVALID_FETCH_SIZE = _final(4, "invalid fetch size")
LEADER_NOT_AVAILABLE = _leader(5, "the partition currently has no leader; an election is in progress")
NOT_LEADER_OR_FOLLOWER = _leader(6, "this broker does not lead the partition, or holds no replica of it")
REQUEST_TIMED_OUT = _retry(7, "the brokers did not finish in time")
BROKER_NOT_AVAILABLE = _final(8, "that broker is down")
REPLICA_NOT_AVAILABLE = _leader(9, "that replica is down or unknown")
MESSAGE_TOO_LARGE = _final(10, "a record or batch is larger than the topic allows (max.message.bytes)")
STALE_CONTROLLER_EPOCH = _final(11, "another broker has become the controller")
OFFSET_METADATA_TOO_LARGE = _final(12, "the note stored with the commit is too long (offset.metadata.max.bytes)")
NETWORK_EXCEPTION = _leader(13, "the broker closed the connection before it responded")
COORDINATOR_LOAD_IN_PROGRESS = _retry(14, "the group's coordinator is still reading its state")
COORDINATOR_NOT_AVAILABLE = _coordinator(15, "the group's coordinator is not up yet")
NOT_COORDINATOR = _coordinator(16, "the group or transaction is coordinated by another broker")
INVALID_TOPIC_EXCEPTION = _final(
    17, "invalid topic name; allowed are letters, digits, dot, dash and underscore, at most 249"
)
RECORD_LIST_TOO_LARGE = _final(18, "the batch is larger than a log segment of the topic (segment.bytes)")
NOT_ENOUGH_REPLICAS = _retry(
    19, "too few replicas are in sync to accept this (min.insync.replicas); nothing was written"
)
NOT_ENOUGH_REPLICAS_AFTER_APPEND = _retry(20, "it was written, but too few replicas have it (min.insync.replicas)")
INVALID_REQUIRED_ACKS = _final(21, "acks must be all, 1 or 0")
ILLEGAL_GENERATION = _final(22, "this membership belongs to an earlier generation of the group")
INCONSISTENT_GROUP_PROTOCOL = _final(
    23, "the members of the group have no assignor or protocol in common; make their settings agree"
)
INVALID_GROUP_ID = _final(24, "invalid group name")
UNKNOWN_MEMBER_ID = _final(25, "the group does not know this member: it was removed, or it left")
INVALID_SESSION_TIMEOUT = _final(
    26, "the broker refuses this session timeout; it must lie within group.min and group.max.session.timeout.ms"
)
REBALANCE_IN_PROGRESS = _final(27, "the group is rebalancing; members join again")
INVALID_COMMIT_OFFSET_SIZE = _final(28, "the commit is too large for the broker")
TOPIC_AUTHORIZATION_FAILED = _final(29, "not authorized for this topic")
GROUP_AUTHORIZATION_FAILED = _final(30, "not authorized for this group")
CLUSTER_AUTHORIZATION_FAILED = _final(31, "not authorized for this cluster")
INVALID_TIMESTAMP = _final(
    32, "the timestamp is too far from the broker's clock (message.timestamp.before and .after.max.ms)"
)
UNSUPPORTED_SASL_MECHANISM = _final(
    33, "the broker does not offer this SASL mechanism; see the listener's sasl.enabled.mechanisms"
)
ILLEGAL_SASL_STATE = _final(34, "this request is not allowed during authentication")
UNSUPPORTED_VERSION = _final(35, "the broker does not support this version of the request")
TOPIC_ALREADY_EXISTS = _final(36, "a topic with this name already exists")
INVALID_PARTITIONS = _final(37, "a topic cannot have this number of partitions")
INVALID_REPLICATION_FACTOR = _final(
    38, "there are too few brokers for this many replicas, or the number is not positive"
)
INVALID_REPLICA_ASSIGNMENT = _final(39, "the replicas are not distributed in a way the broker accepts")
INVALID_CONFIG = _final(40, "a setting is unknown or has a value it cannot have")
NOT_CONTROLLER = _retry(41, "this broker is not the controller")
INVALID_REQUEST = _final(42, "the broker considers the request malformed; its log shows why")
UNSUPPORTED_FOR_MESSAGE_FORMAT = _final(43, "the topic's old record format cannot do this")
POLICY_VIOLATION = _final(44, "a policy of the cluster forbids this")
OUT_OF_ORDER_SEQUENCE_NUMBER = _final(
    45, "batches of an idempotent producer arrived with a gap; earlier ones are lost or late"
)
DUPLICATE_SEQUENCE_NUMBER = _final(46, "the broker has this batch already")
INVALID_PRODUCER_EPOCH = _final(47, "a newer instance of this producer took over")
INVALID_TXN_STATE = _final(48, "the transaction is in a state that does not allow this")
INVALID_PRODUCER_ID_MAPPING = _final(49, "the producer id no longer belongs to this transactional id")
INVALID_TRANSACTION_TIMEOUT = _final(50, "the transaction timeout exceeds the broker's transaction.max.timeout.ms")
CONCURRENT_TRANSACTIONS = _retry(51, "another operation on the same transaction is not finished")
TRANSACTION_COORDINATOR_FENCED = _final(52, "another broker now coordinates this transaction")
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = _final(53, "not authorized for this transactional id")
SECURITY_DISABLED = _final(54, "the cluster has no authorizer, so there are no ACLs")
OPERATION_NOT_ATTEMPTED = _final(55, "not tried, because something else in the same request failed")
KAFKA_STORAGE_ERROR = _leader(56, "the broker cannot read or write its disk")
LOG_DIR_NOT_FOUND = _final(57, "the broker has no such log directory")
SASL_AUTHENTICATION_FAILED = _final(58, "user, password or token is wrong")
UNKNOWN_PRODUCER_ID = _final(59, "the broker forgot this producer; its records may have expired")
REASSIGNMENT_IN_PROGRESS = _final(60, "the partition's replicas are being moved already")
DELEGATION_TOKEN_AUTH_DISABLED = _final(61, "the cluster does not use delegation tokens")
DELEGATION_TOKEN_NOT_FOUND = _final(62, "unknown delegation token")
DELEGATION_TOKEN_OWNER_MISMATCH = _final(63, "the delegation token belongs to another principal")
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = _final(
    64, "delegation tokens need a TLS or SASL connection that was not itself made with a token"
)
DELEGATION_TOKEN_AUTHORIZATION_FAILED = _final(65, "not authorized for this delegation token")
DELEGATION_TOKEN_EXPIRED = _final(66, "the delegation token has expired; get a new one")
INVALID_PRINCIPAL_TYPE = _final(67, "a principal of this kind is not supported; use User:NAME")
NON_EMPTY_GROUP = _final(68, "the group still has members; stop them first")
GROUP_ID_NOT_FOUND = _final(69, "the group does not exist")
FETCH_SESSION_ID_NOT_FOUND = _retry(70, "the broker dropped the fetch session; a new one is started")
INVALID_FETCH_SESSION_EPOCH = _retry(71, "the fetch session is out of sync; a new one is started")
LISTENER_NOT_FOUND = _leader(72, "the leader lacks the listener that this client uses; compare the brokers' listeners")
TOPIC_DELETION_DISABLED = _final(73, "the cluster does not allow topics to be deleted (delete.topic.enable)")
FENCED_LEADER_EPOCH = _leader(74, "kcli's information about the partition's leader is outdated")
UNKNOWN_LEADER_EPOCH = _leader(75, "the broker does not know the partition's newest leader yet")
UNSUPPORTED_COMPRESSION_TYPE = _final(76, "this version of the request cannot carry the partition's compression codec")
STALE_BROKER_EPOCH = _final(77, "that broker has restarted in the meantime")
OFFSET_NOT_AVAILABLE = _leader(78, "the new leader does not know its end offset yet")
MEMBER_ID_REQUIRED = _final(79, "the coordinator assigned a member id; join again with it")
PREFERRED_LEADER_NOT_AVAILABLE = _leader(80, "the preferred leader is down")
GROUP_MAX_SIZE_REACHED = _final(81, "the group is full (group.max.size)")
FENCED_INSTANCE_ID = _final(82, "another member uses the same group.instance.id and took over")
ELIGIBLE_LEADERS_NOT_AVAILABLE = _leader(83, "no replica can become leader")
ELECTION_NOT_NEEDED = _leader(84, "no election is needed: the partition already has the right leader")
NO_REASSIGNMENT_IN_PROGRESS = _final(85, "no replica of the partition is being moved")
GROUP_SUBSCRIBED_TO_TOPIC = _final(86, "the group is currently reading this topic; stop it first")
INVALID_RECORD = _final(
    87, "the broker refuses the record: a key is missing, or a timestamp or format does not fit the topic"
)
UNSTABLE_OFFSET_COMMIT = _retry(88, "a transaction has offsets of this partition pending; wait until it ends")
THROTTLING_QUOTA_EXCEEDED = _retry(89, "a quota was used up; wait and try again")
PRODUCER_FENCED = _final(90, "a newer producer with the same transactional id took over")
RESOURCE_NOT_FOUND = _final(91, "the resource named in the request does not exist")
DUPLICATE_RESOURCE = _final(92, "the request names the same thing twice")
UNACCEPTABLE_CREDENTIAL = _final(93, "the password or its number of iterations is not accepted")
INCONSISTENT_VOTER_SET = _final(94, "the controllers do not agree on the set of voters")
INVALID_UPDATE_VERSION = _final(95, "the version of the update is not the next one")
FEATURE_UPDATE_FAILED = _final(96, "the feature could not be set; the controller's log shows why")
PRINCIPAL_DESERIALIZATION_FAILURE = _final(
    97, "the brokers do not understand each other's principals; check their inter-broker security"
)
SNAPSHOT_NOT_FOUND = _final(98, "unknown snapshot")
POSITION_OUT_OF_RANGE = _final(99, "the position is outside the snapshot")
UNKNOWN_TOPIC_ID = _leader(100, "this broker does not know a topic with this id: it was deleted, or is new")
DUPLICATE_BROKER_REGISTRATION = _final(101, "another broker uses this node id")
BROKER_ID_NOT_REGISTERED = _final(102, "no broker is registered with this node id")
INCONSISTENT_TOPIC_ID = _leader(103, "the topic was deleted and created again: its id changed")
INCONSISTENT_CLUSTER_ID = _final(104, "the request is for another cluster; compare the bootstrap addresses")
TRANSACTIONAL_ID_NOT_FOUND = _final(105, "unknown transactional id")
FETCH_SESSION_TOPIC_ID_ERROR = _retry(106, "the fetch session mixes two topics with one name; a new one is started")
INELIGIBLE_REPLICA = _final(107, "the request names a replica that is not eligible to be in sync")
NEW_LEADER_ELECTED = _final(108, "the change was made, and the leader changed too")
OFFSET_MOVED_TO_TIERED_STORAGE = _final(109, "the offset is in tiered storage, which this request cannot read")
FENCED_MEMBER_EPOCH = _final(110, "the group continued without this member; it joins again without partitions")
UNRELEASED_INSTANCE_ID = _final(111, "the previous member with this group.instance.id has not left yet")
UNSUPPORTED_ASSIGNOR = _final(112, "the group coordinator does not have this assignor")
STALE_MEMBER_EPOCH = _final(113, "the member is behind the group's state; it retries after the next heartbeat")
MISMATCHED_ENDPOINT_TYPE = _final(
    114, "this is a broker's request sent to a controller, or the reverse; check the port"
)
UNSUPPORTED_ENDPOINT_TYPE = _final(115, "this kind of listener is not supported")
UNKNOWN_CONTROLLER_ID = _final(116, "no controller has this id")
UNKNOWN_SUBSCRIPTION_ID = _final(117, "the broker no longer knows this telemetry subscription")
TELEMETRY_TOO_LARGE = _final(118, "the telemetry is larger than the broker accepts")
INVALID_REGISTRATION = _final(119, "the controller refuses the broker's registration; its log shows why")
TRANSACTION_ABORTABLE = _final(
    120, "the transaction failed and can only be aborted; the producer continues with a new one"
)
INVALID_RECORD_STATE = _final(121, "the record cannot be acknowledged now: its lock ran out, or it was settled before")
SHARE_SESSION_NOT_FOUND = _retry(122, "the broker dropped the share session; a new one is started")
INVALID_SHARE_SESSION_EPOCH = _retry(123, "the share session is out of sync; a new one is started")
FENCED_STATE_EPOCH = _final(124, "the share group's state was taken over by another coordinator")
INVALID_VOTER_KEY = _final(125, "the voter's key does not match the contacted controller")
DUPLICATE_VOTER = _final(126, "that controller is already a voter")
VOTER_NOT_FOUND = _final(127, "that controller is not a voter")
INVALID_REGULAR_EXPRESSION = _final(128, "the broker cannot read this regular expression; it must use RE2 syntax")
REBOOTSTRAP_REQUIRED = _final(129, "the client must start over from the bootstrap addresses")
STREAMS_INVALID_TOPOLOGY = _final(130, "the broker considers the streams topology invalid")
STREAMS_INVALID_TOPOLOGY_EPOCH = _final(131, "the streams topology has an invalid epoch")
STREAMS_TOPOLOGY_FENCED = _final(132, "a newer streams topology took over")
SHARE_SESSION_LIMIT_REACHED = _retry(133, "the broker has no room for another share session")
GROUP_DELETION_FAILED = _final(134, "the broker could not remove all that it stores about the group")
STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = _final(135, "the broker could not store the description of the topology")
CONTROLLER_ID_NOT_REGISTERED = _final(136, "no controller is registered with this node id")


def _named(rows: dict[str, object]) -> dict[int, ErrorCode]:
    """Return the rows by number, each named after its variable."""
    table = {}
    for name, row in rows.items():
        if isinstance(row, ErrorCode):
            row.name = name
            table[row.number] = row
    return table


_TABLE = _named(globals())
