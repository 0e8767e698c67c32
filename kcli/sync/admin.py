"""Synchronous administration. Signatures and docstrings match `Admin` (tests/sync/test_sync.py checks this)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kcli.admin.admin import Admin
    from kcli.admin.cluster.cluster import ClusterDescription
    from kcli.admin.configs import Config, Operation, Resource
    from kcli.admin.groups.rows import Described, Listed
    from kcli.admin.results import Results
    from kcli.admin.topics.topics import Created, NewTopic, Topic
    from kcli.asking.offsets import LogOffset
    from kcli.model import OffsetAndMetadata, TopicPartition
    from kcli.sync.loop_thread import LoopThread


class SyncAdmin:
    """The `admin` of a SyncClient, which inspects and changes the cluster."""

    def __init__(self, thread: LoopThread, admin: Admin) -> None:
        self._thread = thread
        self._admin = admin

    def describe_cluster(self) -> ClusterDescription:
        """Return the cluster id, controller and brokers."""
        return self._thread.run(self._admin.describe_cluster())

    def topics(self, names: Iterable[str] | None = None, *, internal: bool = False) -> Results[str, Topic]:
        """Describe the named topics, or all; Kafka's own only with `internal`. TopicMissing for an unknown name."""
        return self._thread.run(self._admin.topics(names, internal=internal))

    def create_topics(self, topics: Iterable[NewTopic], *, dry_run: bool = False) -> Results[str, Created]:
        """Create topics and wait until every broker knows them; with `dry_run` the controller only validates the
        request. Raises DeadlineExceeded if a broker does not know them within 30 s."""
        return self._thread.run(self._admin.create_topics(topics, dry_run=dry_run))

    def delete_topics(self, names: Iterable[str]) -> Results[str, bool]:
        """Delete topics. TopicMissing for an unknown name."""
        return self._thread.run(self._admin.delete_topics(names))

    def create_partitions(self, counts: Mapping[str, int], *, dry_run: bool = False) -> Results[str, bool]:
        """Increase each topic to that number of partitions. With `dry_run` the controller only validates the
        request."""
        return self._thread.run(self._admin.create_partitions(counts, dry_run=dry_run))

    def delete_records(self, before: Mapping[TopicPartition, int]) -> Results[TopicPartition, int]:
        """Delete the records before each offset; return where each log starts now."""
        return self._thread.run(self._admin.delete_records(before))

    def list_offsets(
        self, wanted: Mapping[TopicPartition, int], isolation: str = "read_uncommitted"
    ) -> Results[TopicPartition, LogOffset]:
        """Return the offset of each partition at a time in ms since the epoch; -1 means the end, -2 the start, -3 the
        record with the largest timestamp. With isolation read_committed the end is the last stable offset."""
        return self._thread.run(self._admin.list_offsets(wanted, isolation))

    def groups(self) -> list[Listed]:
        """List all groups of every type, sorted by name. Raises KcliError if a broker did not list its groups."""
        return self._thread.run(self._admin.groups())

    def describe_groups(self, names: Iterable[str]) -> Results[str, Described]:
        """Return state, members and assignments. GroupMissing for an unknown name."""
        return self._thread.run(self._admin.describe_groups(names))

    def delete_groups(self, names: Iterable[str]) -> Results[str, bool]:
        """Delete groups without members. GroupInUse or GroupMissing for those that could not be deleted."""
        return self._thread.run(self._admin.delete_groups(names))

    def remove_members(self, group: str, member_ids: Iterable[str] | None = None) -> Results[str, bool]:
        """Remove these members, or all, from a classic or consumer group. MemberMissing for an unknown id. A member
        that is still running joins again. Raises GroupMissing, and NotRemovable for other types."""
        return self._thread.run(self._admin.remove_members(group, member_ids))

    def committed(self, groups: Iterable[str]) -> Results[str, Results[TopicPartition, OffsetAndMetadata]]:
        """Return all committed offsets of each group; a group that does not exist has none."""
        return self._thread.run(self._admin.committed(groups))

    def commit(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]
    ) -> Results[TopicPartition, bool]:
        """Commit offsets for a group without members. Errors: UNKNOWN_MEMBER_ID if it has members, UnknownOutcome
        without a response."""
        return self._thread.run(self._admin.commit(group, offsets))

    def delete_commits(self, group: str, partitions: Iterable[TopicPartition]) -> Results[TopicPartition, bool]:
        """Delete committed offsets of a group. GROUP_SUBSCRIBED_TO_TOPIC if a member reads the topic."""
        return self._thread.run(self._admin.delete_commits(group, partitions))

    def describe_configs(
        self, resources: Iterable[Resource], names: Sequence[str] = ()
    ) -> Results[Resource, list[Config]]:
        """Return the configs of topics, brokers, loggers, groups or client metrics: all, or only `names`."""
        return self._thread.run(self._admin.describe_configs(resources, names))

    def alter_configs(
        self, changes: Mapping[Resource, Sequence[Operation]], *, dry_run: bool = False
    ) -> Results[Resource, bool]:
        """Set, delete, append or subtract configs; each resource changes as a whole or not at all. With `dry_run` the
        broker only validates."""
        return self._thread.run(self._admin.alter_configs(changes, dry_run=dry_run))
