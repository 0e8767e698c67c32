""""""

from __future__ import annotations

_WORDS = """
ack_when_committed: respond when the new voters are committed, otherwise when the leader has written them
acknowledge_types: one per record: 0 gap, 1 accept, 2 release, 3 reject, 4 renew
acks: 0 no response, 1 stored by the leader, -1 stored by all in-sync replicas
acquisition_lock_timeout_ms: how long acquired records are locked, ms
allow_auto_topic_creation: whether the request may create the topics
allow_downgrade: whether the level may be lowered (version 0)
allow_replication_factor_change: whether the number of replicas may change
api_key: number of the API
assignment: bytes in the group's own protocol; null for none
auth_bytes: the token of the SASL mechanism
authorized_operations: bit field of the operations that the client is allowed
base_offset: offset of the first record
batch_index: index of the record in the batch, from 0
batch_size: preferred number of records per batch of acquired records
broker_id: node id of the broker
cluster_authorized_operations: bit field of the operations on the cluster that the client is allowed
cluster_id: id of the cluster; null if it is not checked
committed: true commits, false aborts
committed_leader_epoch: leader epoch of the last record read, -1 unknown
committed_metadata: any text stored with the offset
committed_offset: the next offset to be read
config_operation: 0 set, 1 delete, 2 append, 3 subtract
config_source: 1 topic, 2 broker, 3 all brokers, 4 server.properties, 5 default, 6 logger, 7 client-metrics, 8 group
config_type: 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password
configuration_keys: names of configs; null for all
controller_id: node id of the controller, -1 unknown
coordinator_epoch: epoch of the transaction coordinator
count: total number of partitions after the change
current_leader_epoch: the leader epoch that the client knows, -1 for none; older and newer ones are refused
current_txn_start_offset: start offset of the open transaction, -1 for none
cursor: where to continue; null for the beginning
diverging_epoch: where the reader's log ends and a different one starts
duration_filter: only transactions open for longer, ms; -1 for all
election_type: 0 the preferred replica, 1 any live replica (unclean)
enable2_pc: whether two-phase commit is requested
endpoint_type: 1 brokers, 2 controllers
entity_name: name of the user, client id or address; null for the default
entity_type: user, client-id or ip
error_code: 0 is no error; for the names: kcli raw --explain
error_message: message of the broker; null for none
expiry_time_period_ms: ms from now until it expires, -1 to expire it immediately
expiry_timestamp: when it expires, ms since the epoch
expiry_timestamp_ms: when it expires, ms since the epoch
fetch_offset: the next offset to be read
finalized_features_epoch: counts the changes of features, -1 unknown
first_offset: first offset of the range
forgotten_topics_data: partitions to remove from the fetch session
generation_id: generation of a classic group, -1 for none
generation_id_or_member_epoch: generation of a classic member or epoch of another member, -1 from outside the group
group_instance_id: name of a static member; null for none
heartbeat_interval_ms: how often to send heartbeats, ms
high_watermark: first offset that not all in-sync replicas have
hmac: the secret of a delegation token
host_filter: host of the ACL; null for any
index: number of the partition
instance_id: name of a static member; null for none
is_fenced: registered, but not serving clients now
is_future_key: being moved from another directory of the broker
isolation_level: 0 read uncommitted, 1 read committed
issue_timestamp: when it was created, ms since the epoch
issue_timestamp_ms: when it was created, ms since the epoch
isr_nodes: node ids of the replicas that are in sync
keep_prepared_txn: whether a prepared transaction is kept
key_type: 0 group, 1 transactional id, 2 share group (key group:topicId:partition)
last_caught_up_timestamp: ms since the epoch, -1 unknown
last_fetch_timestamp: ms since the epoch, -1 unknown
last_fetched_epoch: leader epoch of the last record read, -1 for none
last_offset: last offset of the range (inclusive)
last_sequence: sequence number of the last record, -1 for none
last_stable_offset: first offset of an open transaction, else the high watermark
last_timestamp: of the last record or marker, ms since the epoch
leader_epoch: epoch of the leader, -1 unknown
leader_id: node id of the leader, -1 for none
log_append_time_ms: when it was appended, ms; -1 if the record's own timestamp is used
log_start_offset: first offset that still exists
match_type: 0 this name, 1 the default, 2 any name
max_bytes: upper limit of the response, bytes
max_lifetime_ms: how long it can be renewed, ms; -1 the broker's default
max_version_level: the new level; 0 disables the feature
max_wait_ms: how long the broker may wait for min_bytes, ms
mechanism: of SASL the name; of SCRAM 1 SHA-256, 2 SHA-512
member_epoch: 0 joins, -1 leaves, -2 leaves temporarily (static)
member_id: id of the member; "" before it has received one
metadata: any text stored with an offset; bytes in the group's own protocol
min_bytes: the broker waits for at least this many bytes
name: of a topic, config, … depending on its parent
num_partitions: number of partitions; -1 the broker's default
offset: of a record; of a log, the next one to be written
offset_lag: number of offsets behind
offline_replicas: node ids of replicas that are down
operation: of an ACL: 2 all, 3 read, 4 write, 5 create, 6 delete, 7 alter, 8 describe, 9 cluster action, \
10 describe configs, 11 alter configs, 12 idempotent write, 13 create tokens, 14 describe tokens, 15 two-phase commit
partition_index: number of the partition
partition_indexes: numbers of partitions
partition_max_bytes: upper limit for this partition, bytes
pattern_type: 3 this name, 4 names with this prefix; in filters 1 any, 2 all that match
pattern_type_filter: 1 any, 2 all that match the name, 3 literal, 4 prefixed
permission_type: 2 deny, 3 allow; in filters also 1 any
preferred_read_replica: node id of the replica to read from, -1 the leader
principal: such as User:alice
principal_filter: such as User:alice; null for any
producer_epoch: epoch of the producer, -1 for none
producer_id: id of the producer, -1 for none
producer_id_filters: only of these producers; empty for all
protocol_type: "consumer" for consumers
rack: the broker's rack; null if unknown
rack_id: the client's rack
read_only: can only be changed in a file
rebalance_timeout_ms: how long members may take to rejoin, ms
records: batches of records, base64
remove: true removes the quota, and the value is ignored
renew_period_ms: new lifetime from now on, ms; -1 the broker's default
replica_id: -1 for clients, the node id of a follower
replica_nodes: node ids of all replicas
replicas: node ids; null cancels a reassignment
replication_factor: number of replicas; -1 the broker's default
require_stable: only offsets that no open transaction can change
resource_name_filter: name of the resource; null for any
resource_type: of ACLs 2 topic, 3 group, 4 cluster, 5 transactional id, 6 token, 7 user; of configs 2 topic, 4 broker, \
8 logger, 16 client-metrics, 32 group
resource_type_filter: 1 any, 2 topic, 3 group, 4 cluster, 5 transactional id, 6 token, 7 user
resource_types: 2 topic, 4 broker, 8 logger, 16 client-metrics, 32 group; empty for all
retention_time_ms: how long the offset is kept, ms; -1 the broker's default
session_epoch: 0 starts a fetch session, -1 uses none, otherwise it increases
session_id: 0 for a new fetch session or none
session_lifetime_ms: ms until the client must authenticate again, 0 never
session_timeout_ms: ms without a heartbeat after which a member is removed
share_acquire_mode: 0 whole batches, 1 no more than max_records
share_session_epoch: 0 starts a share session, -1 ends it, otherwise it increases
start_offset: first offset of the window
state_filters: only in these states; empty for all
states_filter: only groups in these states; empty for all
principal_name: the part after User:
principal_type: User
reason: text for the broker's log; null for none
salt: random bytes, base64
salted_password: result of SCRAM from password and salt, base64
iterations: rounds of SCRAM, at least 4096
skip_assignment: whether the leader can skip the assignment
response_partition_limit: maximum number of partitions in the response
include_fenced_brokers: include brokers that are not serving clients now
is_renew_ack: whether locks are renewed
min_version_level: the lowest level in force
group_state: Stable, Empty, …
group_type: classic, consumer, share, streams
member_assignment: bytes of the group's own protocol
member_metadata: bytes of the group's own protocol
end_offset: the first offset after the epoch
max_records: maximum number of records
subscribed_topic_regex: regular expression (RE2); null if unchanged
replica_directory_id: id of its metadata directory, in base64
source: same values as config_source
delivery_count: number of times it was delivered
zk_migration_ready: of KRaft controllers before 4.0
strict: only entities with exactly these parts
throttle_time_ms: how long the broker makes the client wait because of a quota, ms
timeout_ms: how long the broker may take, ms
timestamp: ms since the epoch; in requests: -1 end, -2 start, -3 largest timestamp, -4 local start, -5 tiered end
topic_authorized_operations: bit field of the operations on the topic that the client is allowed
topic_id: id of the topic, in base64; zeros for none
topics: null often means all, [] none
transaction_result: true commits, false aborts
transaction_start_time_ms: ms since the epoch, -1 for none
transaction_timeout_ms: ms after which the coordinator aborts the transaction
transaction_version: 0 and 1 the old protocol, 2 the protocol of KIP-890
transactional_id: null if the producer has none
transactional_id_pattern: regular expression (RE2) for whole ids; null or "" for all
types_filter: only groups of these types; empty for all
upgrade_type: 1 upgrade, 2 downgrade without loss, 3 downgrade with loss
usable_bytes: free space on the volume, -1 unknown
total_bytes: the size of the volume, -1 unknown
validate_only: only validate; nothing is changed
value: of a config or quota; null for none
verify_only: only check whether the partition is in the transaction
voter_directory_id: id of its metadata directory, in base64
voter_id: node id of the controller
"""


def meaning_of(name: str) -> str:
    """The meaning of a field by our name of it, "" where the name says it all."""
    if not _known:
        for line in _WORDS.strip().splitlines():
            field, _, words = line.partition(": ")
            _known[field] = words
    return _known.get(name, "")


_known: dict[str, str] = {}
