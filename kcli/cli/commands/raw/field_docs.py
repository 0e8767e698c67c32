""""""

from __future__ import annotations

_WORDS = """
ack_when_committed: answer when the new voters are committed, else when the leader wrote them down
acknowledge_types: one for each record: 0 gap, 1 accept, 2 release, 3 reject, 4 renew
acks: 0 no answer, 1 stored by the leader, -1 stored by all in-sync replicas
acquisition_lock_timeout_ms: for how long acquired records are locked, ms
allow_auto_topic_creation: whether asking may create the topics
allow_downgrade: whether the level may go down (version 0)
allow_replication_factor_change: whether the number of replicas may change
api_key: number of the API
assignment: bytes of the group's own protocol; null is none
auth_bytes: the token of the SASL mechanism
authorized_operations: bits of what one may do with it
base_offset: offset of the first record
batch_index: which record of the batch it is, from 0
batch_size: records that a batch of acquired ones should have
broker_id: node id of the broker
cluster_authorized_operations: bits of what one may do with the cluster
cluster_id: id of the cluster; null where it is not checked
committed: true commits, false aborts
committed_leader_epoch: leader epoch of the last record read, -1 unknown
committed_metadata: any text that is kept beside the offset
committed_offset: the next offset to be read
config_operation: 0 set, 1 delete, 2 append, 3 subtract
config_source: 1 topic, 2 broker, 3 all brokers, 4 server.properties, 5 default, 6 logger, 7 client-metrics, 8 group
config_type: 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password
configuration_keys: names of configs; null is all
controller_id: node id of the controller, -1 unknown
coordinator_epoch: epoch of the transaction coordinator
count: total number of partitions afterwards
current_leader_epoch: the leader epoch one knows, -1 for none: older and newer ones are refused
current_txn_start_offset: where the open transaction begins, -1 for none
cursor: where to continue; null is the beginning
diverging_epoch: where the reader's history ends and another one begins
duration_filter: only transactions that run longer, ms; -1 all
election_type: 0 the preferred replica, 1 any replica that lives (unclean)
enable2_pc: whether two-phase commit is wanted
endpoint_type: 1 brokers, 2 controllers
entity_name: name of the user, client id or address; null is the default
entity_type: user, client-id or ip
error_code: 0 is no error; the names: kcli raw --explain
error_message: the broker's own words; null for none
expiry_time_period_ms: ms from now until it ends, -1 at once
expiry_timestamp: when it ends, ms since the epoch
expiry_timestamp_ms: when it ends, ms since the epoch
fetch_offset: the next offset to be read
finalized_features_epoch: counts the changes of features, -1 unknown
first_offset: first offset of the range
forgotten_topics_data: partitions to remove from the fetch session
generation_id: generation of a classic group, -1 for none
generation_id_or_member_epoch: generation of a classic member or epoch of another, -1 from outside of the group
group_instance_id: name of a static member; null for none
heartbeat_interval_ms: how often to send heartbeats, ms
high_watermark: first offset that not all in-sync replicas have
hmac: the secret of a delegation token
host_filter: host of the ACL; null any
index: number of the partition
instance_id: name of a static member; null for none
is_fenced: registered, but serves no clients now
is_future_key: on its way from another directory of the broker
isolation_level: 0 read uncommitted, 1 read committed
issue_timestamp: when it was made, ms since the epoch
issue_timestamp_ms: when it was made, ms since the epoch
isr_nodes: node ids of the replicas that are in sync
keep_prepared_txn: whether a prepared transaction stays
key_type: 0 group, 1 transactional id, 2 share group (key group:topicId:partition)
last_caught_up_timestamp: ms since the epoch, -1 unknown
last_fetch_timestamp: ms since the epoch, -1 unknown
last_fetched_epoch: leader epoch of the last record read, -1 for none
last_offset: last offset of the range, which is part of it
last_sequence: sequence number of the last record, -1 for none
last_stable_offset: first offset of an open transaction, else the high watermark
last_timestamp: of the last record or marker, ms since the epoch
leader_epoch: epoch of the leader, -1 unknown
leader_id: node id of the leader, -1 for none
log_append_time_ms: when it was appended, ms; -1 where the record's own time counts
log_start_offset: first offset that is still there
match_type: 0 this name, 1 the default, 2 any name
max_bytes: upper limit of the answer, bytes
max_lifetime_ms: how long it can be renewed, ms; -1 the broker's default
max_version_level: the new level; 0 disables the feature
max_wait_ms: how long the broker may wait for min_bytes, ms
mechanism: of SASL by name; of SCRAM 1 SHA-256, 2 SHA-512
member_epoch: 0 joins, -1 leaves, -2 leaves for a while (static)
member_id: id of the member; "" before it has one
metadata: any text kept beside an offset; bytes of the group's own protocol
min_bytes: the broker waits for at least this many bytes
name: of a topic, config, … depending on its parent
num_partitions: how many; -1 the broker's default
offset: of a record; of a log the next one to be written
offset_lag: by how many offsets it is behind
offline_replicas: node ids of replicas that are down
operation: of an ACL: 2 all, 3 read, 4 write, 5 create, 6 delete, 7 alter, 8 describe, 9 cluster action, \
10 describe configs, 11 alter configs, 12 idempotent write, 13 create tokens, 14 describe tokens, 15 two-phase commit
partition_index: number of the partition
partition_indexes: numbers of partitions
partition_max_bytes: upper limit for this partition, bytes
pattern_type: 3 this name, 4 names that begin so; in filters 1 any, 2 whatever matches
pattern_type_filter: 1 any, 2 whatever matches the name, 3 literal, 4 prefixed
permission_type: 2 deny, 3 allow; in filters 1 any
preferred_read_replica: node id of the replica to read from, -1 the leader
principal: as User:alice
principal_filter: as User:alice; null any
producer_epoch: epoch of the producer, -1 for none
producer_id: id of the producer, -1 for none
producer_id_filters: only of these producers; empty is all
protocol_type: consumer for consumers
rack: the broker's rack; null unknown
rack_id: the client's rack
read_only: it can only be changed in a file
rebalance_timeout_ms: how long members may take to join again, ms
records: batches of records, base64
remove: true takes the quota away, and the value counts for nothing
renew_period_ms: new lifetime from now on, ms; -1 the broker's default
replica_id: -1 for clients, the node id of a follower
replica_nodes: node ids of all replicas
replicas: node ids; null cancels a reassignment
replication_factor: how many replicas; -1 the broker's default
require_stable: only offsets that no open transaction may change
resource_name_filter: name of the resource; null any
resource_type: of ACLs 2 topic, 3 group, 4 cluster, 5 transactional id, 6 token, 7 user; of configs 2 topic, 4 broker, \
8 logger, 16 client-metrics, 32 group
resource_type_filter: 1 any, 2 topic, 3 group, 4 cluster, 5 transactional id, 6 token, 7 user
resource_types: 2 topic, 4 broker, 8 logger, 16 client-metrics, 32 group; empty is all
retention_time_ms: how long the offset is kept, ms; -1 the broker's default
session_epoch: 0 begins a fetch session, -1 is without one, else it counts on
session_id: 0 for a new fetch session or none
session_lifetime_ms: ms until one has to authenticate again, 0 never
session_timeout_ms: ms without a heartbeat after which a member is out
share_acquire_mode: 0 whole batches, 1 no more than max_records
share_session_epoch: 0 begins a share session, -1 ends it, else it counts on
start_offset: first offset of the window
state_filters: only in these states; empty is all
states_filter: only groups in these states; empty is all
principal_name: the part behind User:
principal_type: User
reason: words for the broker's log; null for none
salt: random bytes, base64
salted_password: what SCRAM derives from password and salt, base64
iterations: rounds of SCRAM, 4096 at least
skip_assignment: whether the leader need not assign
response_partition_limit: maximum number of partitions in the answer
include_fenced_brokers: also brokers that serve no clients now
is_renew_ack: whether locks are renewed
min_version_level: the lowest level in force
group_state: Stable, Empty, …
group_type: classic, consumer, share, streams
member_assignment: bytes of the group's own protocol
member_metadata: bytes of the group's own protocol
end_offset: the first offset behind the epoch
max_records: maximum number of records
subscribed_topic_regex: regular expression (RE2); null unchanged
replica_directory_id: id of its metadata directory, in base64
source: as config_source
delivery_count: how often it was handed out
zk_migration_ready: of KRaft controllers before 4.0
strict: only entities with exactly the parts named
throttle_time_ms: how long the broker makes one wait because of a quota, ms
timeout_ms: how long the broker may take, ms
timestamp: ms since the epoch; asked for: -1 end, -2 start, -3 largest timestamp, -4 local start, -5 tiered end
topic_authorized_operations: bits of what one may do with the topic
topic_id: id of the topic, in base64; zeros for none
topics: null is often all, [] none
transaction_result: true commits, false aborts
transaction_start_time_ms: ms since the epoch, -1 for none
transaction_timeout_ms: ms after which the coordinator aborts
transaction_version: 0 and 1 the old protocol, 2 that of KIP-890
transactional_id: null where the producer has none
transactional_id_pattern: regular expression (RE2) for whole ids; null or "" all
types_filter: only groups of these types; empty is all
upgrade_type: 1 upgrade, 2 downgrade without loss, 3 downgrade with loss
usable_bytes: what is left on the volume, -1 unknown
total_bytes: the size of the volume, -1 unknown
validate_only: only check it, and change nothing
value: of a config or quota; null for none
verify_only: only ask whether the partition is in the transaction
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
