"""`client.admin`: the administration API.

A method for several items returns `Results`: the value of each, or the KcliError with which it failed.
"""

from __future__ import annotations

from kcli.admin.results import Results
from kcli.asking.coordinators import Coordinators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    from kcli.admin.cluster.cluster import ClusterDescription
    from kcli.admin.configs import Config, Operation, Resource
    from kcli.admin.groups.rows import Described, Listed
    from kcli.admin.topics.topics import Created, NewTopic, Topic
    from kcli.asking.offsets import LogOffset
    from kcli.errors import KcliError
    from kcli.model import Cluster, OffsetAndMetadata, TopicPartition

    Item = TypeVar("Item")


class Admin:
    """The admin client, which inspects and changes one cluster. Methods raise KcliError if the whole request failed."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def describe_cluster(self) -> ClusterDescription:
        """Return the cluster id, controller and brokers."""
        from kcli.admin.cluster.cluster import describe_cluster

        return await describe_cluster(self._cluster)

    # -- topics -----------------------------------------------------------------------------------------------------

    async def topics(self, names: Iterable[str] | None = None, *, internal: bool = False) -> Results[str, Topic]:
        """Describe the named topics, or all; Kafka's own only with `internal`. TopicMissing for an unknown name."""
        from kcli.admin.topics.topics import describe_topics

        return Results(await describe_topics(self._cluster, names, internal=internal))

    async def create_topics(self, topics: Iterable[NewTopic], *, dry_run: bool = False) -> Results[str, Created]:
        """Create topics and wait until every broker knows them; with `dry_run` the controller only validates the
        request. Raises DeadlineExceeded if a broker does not know them within 30 s."""
        from kcli.admin.topics.topics import create_topics, wait_for_topics
        from kcli.errors import KcliError

        outcomes = await create_topics(self._cluster, topics, dry_run=dry_run)
        if not dry_run:
            created = [name for name, outcome in outcomes.items() if not isinstance(outcome, KcliError)]
            await wait_for_topics(self._cluster, created)
        return Results(outcomes)

    async def delete_topics(self, names: Iterable[str]) -> Results[str, bool]:
        """Delete topics. TopicMissing for an unknown name."""
        from kcli.admin.topics.topics import delete_topics

        return Results(await delete_topics(self._cluster, names))

    async def create_partitions(self, counts: Mapping[str, int], *, dry_run: bool = False) -> Results[str, bool]:
        """Increase each topic to that number of partitions. With `dry_run` the controller only validates the
        request."""
        from kcli.admin.topics.delete_records import grow_topics

        return _done(await grow_topics(self._cluster, counts, dry_run=dry_run))

    async def delete_records(self, before: Mapping[TopicPartition, int]) -> Results[TopicPartition, int]:
        """Delete the records before each offset; return where each log starts now."""
        from kcli.admin.topics.delete_records import delete_records

        return Results(await delete_records(self._cluster, before))

    async def list_offsets(
        self, wanted: Mapping[TopicPartition, int], isolation: str = "read_uncommitted"
    ) -> Results[TopicPartition, LogOffset]:
        """Return the offset of each partition at a time in ms since the epoch; -1 means the end, -2 the start, -3 the
        record with the largest timestamp. With isolation read_committed the end is the last stable offset."""
        from kcli.asking.offsets import list_offsets

        return Results(await list_offsets(self._cluster, wanted, isolation))

    # -- groups -----------------------------------------------------------------------------------------------------

    async def groups(self) -> list[Listed]:
        """List all groups of every type, sorted by name. Raises KcliError if a broker did not list its groups."""
        from kcli.admin.groups.groups import list_groups

        listed, failed = await list_groups(self._cluster)
        for error in failed.values():
            raise error
        return listed

    async def describe_groups(self, names: Iterable[str]) -> Results[str, Described]:
        """Return state, members and assignments. GroupMissing for an unknown name."""
        from kcli.admin.groups.groups import find_groups

        wanted = list(names)
        return Results((await find_groups(Coordinators(self._cluster), wanted))[0] if wanted else {})

    async def delete_groups(self, names: Iterable[str]) -> Results[str, bool]:
        """Delete groups without members. GroupInUse or GroupMissing for those that could not be deleted."""
        from kcli.admin.groups.groups import delete_groups

        return Results(await delete_groups(Coordinators(self._cluster), names))

    async def remove_members(self, group: str, member_ids: Iterable[str] | None = None) -> Results[str, bool]:
        """Remove these members, or all, from a classic or consumer group. MemberMissing for an unknown id. A member
        that is still running joins again. Raises GroupMissing, and NotRemovable for other types."""
        from kcli.admin.groups.members import remove_by_id

        described = (await self.describe_groups([group]))[group]
        return Results(await remove_by_id(Coordinators(self._cluster), described, member_ids))

    async def committed(self, groups: Iterable[str]) -> Results[str, Results[TopicPartition, OffsetAndMetadata]]:
        """Return all committed offsets of each group; a group that does not exist has none."""
        from kcli.admin.groups.commits import committed_offsets
        from kcli.errors import KcliError

        found = await committed_offsets(Coordinators(self._cluster), groups)
        return Results({group: one if isinstance(one, KcliError) else Results(one) for group, one in found.items()})

    async def commit(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]
    ) -> Results[TopicPartition, bool]:
        """Commit offsets for a group without members. Errors: UNKNOWN_MEMBER_ID if it has members, UnknownOutcome
        without a response."""
        from kcli.admin.groups.commits import write_commits
        from kcli.model import OffsetAndMetadata

        given = {at: OffsetAndMetadata(to) if isinstance(to, int) else to for at, to in offsets.items()}
        return Results(await write_commits(Coordinators(self._cluster), group, given))

    async def delete_commits(self, group: str, partitions: Iterable[TopicPartition]) -> Results[TopicPartition, bool]:
        """Delete committed offsets of a group. GROUP_SUBSCRIBED_TO_TOPIC if a member reads the topic."""
        from kcli.admin.groups.commits import delete_commits

        return Results(await delete_commits(Coordinators(self._cluster), group, partitions))

    # -- configs ----------------------------------------------------------------------------------------------------

    async def describe_configs(
        self, resources: Iterable[Resource], names: Sequence[str] = ()
    ) -> Results[Resource, list[Config]]:
        """Return the configs of topics, brokers, loggers, groups or client metrics: all, or only `names`."""
        from kcli.admin.configs import describe_configs

        return Results(await describe_configs(self._cluster, resources, names=names))

    async def alter_configs(
        self, changes: Mapping[Resource, Sequence[Operation]], *, dry_run: bool = False
    ) -> Results[Resource, bool]:
        """Set, delete, append or subtract configs; each resource changes as a whole or not at all. With `dry_run` the
        broker only validates."""
        from kcli.admin.configs import alter_configs

        return _done(await alter_configs(self._cluster, changes, dry_run=dry_run))


def _done(outcomes: Mapping[Item, KcliError | None]) -> Results[Item, bool]:
    """Return True for the items without an error."""
    return Results({item: True if error is None else error for item, error in outcomes.items()})
