"""What can happen to leaders, coordinators, groups and whole brokers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kcli import codes
from kcli.sandbox.cluster.brokers import GROUP, Brokers
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.faults.planned import Planned
from kcli.sandbox.groups.groups import Groups
from kcli.sandbox.wire.share_sessions import ShareSessions

GROUP_APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "OffsetFetch")


class ClusterFaults:
    """Faults of the cluster as a whole. `groups` makes the group coordinator when it is first needed; the
    `share_sessions` are by node id."""

    def __init__(
        self,
        planned: Planned,
        brokers: Brokers,
        topics: Topics,
        groups: Callable[[], Groups],
        share_sessions: dict[int, ShareSessions],
    ) -> None:
        self._planned = planned
        self._brokers = brokers
        self._topics = topics
        self._groups = groups
        self._share_sessions = share_sessions

    # -- leaders --------------------------------------------------------------------------------------------------

    def move_leader(self, topic: str, partition: int, to: int, *, hint: bool = True) -> None:
        """Broker `to` leads from now on, in a new epoch. The old one answers NOT_LEADER_OR_FOLLOWER, and with `hint`
        names the new leader (KIP-951)."""
        target = self._topics.partition(topic, partition)
        target.led_by.add(to)
        target.leader, target.leader_epoch, target.hints = to, target.leader_epoch + 1, hint
        if to not in target.replicas:
            target.replicas.append(to)
        target.wake()

    def no_leader(self, topic: str, partition: int) -> None:
        """The partition has no leader until `move_leader`."""
        target = self._topics.partition(topic, partition)
        target.leader, target.leader_epoch, target.hints = -1, target.leader_epoch + 1, False
        target.wake()

    def rewind_epoch(self, topic: str, partition: int, epoch: int) -> None:
        """Metadata tells an older leader epoch from now on (C5)."""
        self._topics.partition(topic, partition).leader_epoch = epoch

    def absent(self, topic: str, *, times: int = 1, broker: int | None = None) -> None:
        """The next Metadata answers do not contain `topic`, as those of a broker with old metadata (C6)."""
        self._planned.plan("absent", "Metadata", times=times, broker=broker, topic=topic)

    def stale_metadata(self, broker: int) -> None:
        """This broker keeps answering with the leaders and epochs of this moment, until `clear` (C5)."""
        self._planned.stale[broker] = {
            (topic.name, each.index): (each.leader, each.leader_epoch)
            for topic in self._topics.by_name.values()
            for each in topic.partitions
        }

    def prefer_replica(self, topic: str, partition: int, replica: int, *, times: int = 1) -> None:
        """The leader's next fetch answers send readers to broker `replica` (KIP-392). What it then says wrongly is
        ordered with `error(..., broker=replica)` (C12, C13)."""
        self._topics.partition(topic, partition)
        self._planned.plan("prefer", "Fetch", replica, times=times, topic=topic, partition=partition)

    # -- coordinators and groups ----------------------------------------------------------------------------------

    def move_coordinator(self, group: str, to: int) -> None:
        """Broker `to` coordinates the group; the others answer NOT_COORDINATOR. Nothing of the group is lost."""
        self._brokers.moved[GROUP][group] = to

    def loading(self, apis: Sequence[str] = GROUP_APIS, *, times: int = 1) -> None:
        """A coordinator is still loading: the next answers of its APIs are COORDINATOR_LOAD_IN_PROGRESS."""
        for api in apis:
            self._planned.plan("error", api, codes.COORDINATOR_LOAD_IN_PROGRESS, times=times)

    def rebalance(self, group: str) -> None:
        """Start a rebalance of the group now."""
        self._groups().disturb(group)

    def expel(self, group: str, member_id: str) -> None:
        """The coordinator forgets a member, as after its session timeout."""
        self._groups().expel(group, member_id)

    def forget_sessions(self) -> None:
        """All fetch sessions are evicted: FETCH_SESSION_ID_NOT_FOUND (KIP-227)."""
        for broker in self._brokers:
            broker.sessions.clear()

    def forget_share_sessions(self) -> None:
        """All share sessions are evicted, and what their members had is free: SHARE_SESSION_NOT_FOUND (KIP-932)."""
        for sessions in self._share_sessions.values():
            for key in list(sessions.open):
                sessions.end(*key)

    def expire_locks(self, group: str) -> None:
        """The locks of all records that members of the share group have run out now."""
        share_group = self._groups().shared(group)
        for share_partition in list(share_group.partitions.values()) if share_group is not None else ():
            share_partition.expire(everything=True)

    # -- brokers --------------------------------------------------------------------------------------------------

    async def stop_broker(self, node_id: int, *, elect: bool = True) -> None:
        """The broker dies: its port closes, its connections break. With `elect` the next living replica leads its
        partitions; one without a living replica is offline until the broker returns. Raises UsageError for a broker
        that does not exist."""
        await self._brokers.node(node_id).stop()
        living = [broker.node_id for broker in self._brokers.living()]
        for topic in self._topics.by_name.values():
            for partition in topic.partitions:
                heirs = [node for node in partition.replicas if node in living]
                if partition.leader == node_id and elect and heirs:
                    self.move_leader(topic.name, partition.index, heirs[0])
                partition.wake()

    async def start_broker(self, node_id: int) -> None:
        """It comes back, on the same port. Raises UsageError for a broker that does not exist."""
        await self._brokers.node(node_id).start()
