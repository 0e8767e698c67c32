"""Faults to order: what a broker may do wrong, said before it happens (engine.md I). All of them run out (`times`)
or are taken back (`clear`). APIs are named as Kafka names them: "Produce", "Fetch", "JoinGroup"."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages import REQUESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode
    from kcli.sandbox.sandbox import Sandbox

FOREVER = 1 << 30
KEYS = {name: key for key, (_, name) in REQUESTS.items()}


class Conduct:
    """How the connection treats one request: made from the faults that match it."""

    __slots__ = ("close_before", "correlation_shift", "cut_after", "delay", "raw", "silent", "throttle_ms")

    def __init__(self) -> None:
        self.delay = 0.0  # seconds before it is looked at
        self.close_before = False  # close without acting
        self.silent = False  # act, never answer
        self.cut_after: int | None = None  # act, send so many bytes of the answer, close
        self.correlation_shift = 0
        self.throttle_ms = 0
        self.raw: bytes | None = None  # these bytes instead of the answer


class _Planned:
    """One fault, and how often it is still to happen."""

    __slots__ = ("broker", "key", "kind", "partition", "times", "topic", "value")

    def __init__(
        self, kind: str, key: int | None, value: object, times: int, broker: int | None,
        topic: str | None = None, partition: int | None = None,
    ) -> None:  # fmt: skip
        self.kind, self.key, self.value, self.times, self.broker = kind, key, value, times, broker
        self.topic, self.partition = topic, partition

    def take(self) -> object:
        self.times -= 1
        return self.value


class Faults:
    """The scripted faults of one sandbox, in the order they were asked for."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._planned: list[_Planned] = []

    def clear(self) -> None:
        """Take back everything that has not happened yet."""
        self._planned.clear()

    @property
    def pending(self) -> int:
        """How many faults are still to happen."""
        return sum(planned.times for planned in self._planned)

    def _plan(self, kind: str, api: str | None, value: object, times: int, broker: int | None, topic: str | None = None,
              partition: int | None = None) -> None:  # fmt: skip
        if api is not None and api not in KEYS:
            raise ValueError(f"no API is called {api}; there are {', '.join(sorted(KEYS))}")
        key = None if api is None else KEYS[api]
        self._planned.append(_Planned(kind, key, value, times, broker, topic, partition))

    # -- answers with an error ------------------------------------------------------------------------------------

    def error(self, api: str, code: ErrorCode, *, times: int = 1, topic: str | None = None,
              partition: int | None = None, broker: int | None = None) -> None:  # fmt: skip
        """The next `times` answers of `api` carry `code`: for a topic, a partition, or the first one asked about.
        Errors for the same thing stack: they happen in the order they were asked for."""
        self._plan("error", api, code, times, broker, topic, partition)

    def absent(self, topic: str, *, times: int = 1, broker: int | None = None) -> None:
        """Metadata leaves `topic` out of its next answers, as a broker that has not heard of it (C6)."""
        self._plan("absent", "Metadata", True, times, broker, topic)

    # -- the connection -------------------------------------------------------------------------------------------

    def delay(self, api: str, seconds: float, *, times: int = 1, broker: int | None = None) -> None:
        """Act and answer only after `seconds`."""
        self._plan("delay", api, seconds, times, broker)

    def never_answer(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Act, and stay silent; later answers on that connection wait for ever too, as behind a hung broker."""
        self._plan("silent", api, True, times, broker)

    def close_before(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Close the connection when the request comes, without acting on it."""
        self._plan("close", api, True, times, broker)

    def lose_answer(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Act (append, commit, join), then close instead of answering: append-then-drop."""
        self._plan("cut", api, 0, times, broker)

    def cut_answer(self, api: str, after: int, *, times: int = 1, broker: int | None = None) -> None:
        """Send `after` bytes of the answer, then close: half a frame."""
        self._plan("cut", api, after, times, broker)

    def wrong_correlation_id(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        self._plan("correlation", api, 1000, times, broker)

    def throttle(self, api: str, milliseconds: int, *, times: int = 1, broker: int | None = None) -> None:
        """Answer at once with throttle_time_ms; a good client then waits (B25)."""
        self._plan("throttle", api, milliseconds, times, broker)

    def answer_with(self, api: str, raw: bytes, *, times: int = 1, broker: int | None = None) -> None:
        """Send these bytes instead of an answer: "HTTP/1.1 400", a TLS alert, a frame size of -1 or 2 GiB."""
        self._plan("raw", api, raw, times, broker)

    def refuse(self, *, times: int = 1, broker: int | None = None) -> None:
        """Accept the next connections and close them at once."""
        self._plan("refuse", None, True, times, broker)

    def drop_connections(self, broker: int | None = None) -> None:
        """Close the connections that are open now."""
        for one in self._sandbox.brokers:
            if broker in (None, one.node_id):
                one.drop_links()

    # -- data -----------------------------------------------------------------------------------------------------

    def corrupt(self, topic: str, partition: int | None = None, *, times: int = 1) -> None:
        """The next fetched records of a partition fail their checksum; what is stored stays whole."""
        self._plan("corrupt", "Fetch", True, times, None, topic, partition)

    def forget_producers(self, topic: str, partition: int) -> None:
        """The partition loses its producers' state: UNKNOWN_PRODUCER_ID for their next batch."""
        self._sandbox.topics.partition(topic, partition).producers.forget()

    def truncate(self, topic: str, partition: int, offset: int) -> None:
        """Lose acknowledged records from `offset` on in a new leader epoch: unclean leader election (C9)."""
        found = self._sandbox.topics.partition(topic, partition)
        found.log.truncate(offset)
        found.leader_epoch += 1
        found.wake()

    def recreate(self, topic: str) -> None:
        """Delete the topic and make it again: same name, same partitions, new id (C8)."""
        topics = self._sandbox.topics
        old = topics.by_name[topic]
        self._sandbox.delete_topic(old)
        topics.create(topic, len(old.partitions), configs=old.configs, assignments=[p.replicas for p in old.partitions])

    # -- leaders, coordinators, brokers ---------------------------------------------------------------------------

    def move_leader(self, topic: str, partition: int, to: int, *, hint: bool = True) -> None:
        """Broker `to` leads from now on, in a new epoch. The old one answers NOT_LEADER_OR_FOLLOWER, and with `hint`
        says who leads now (KIP-951)."""
        found = self._sandbox.topics.partition(topic, partition)
        found.leader, found.leader_epoch, found.hints = to, found.leader_epoch + 1, hint
        if to not in found.replicas:
            found.replicas.append(to)
        found.wake()

    def no_leader(self, topic: str, partition: int) -> None:
        """Nobody leads the partition until `move_leader`."""
        found = self._sandbox.topics.partition(topic, partition)
        found.leader, found.leader_epoch, found.hints = -1, found.leader_epoch + 1, False
        found.wake()

    def rewind_epoch(self, topic: str, partition: int, epoch: int) -> None:
        """Metadata tells an older leader epoch from now on (C5)."""
        self._sandbox.topics.partition(topic, partition).leader_epoch = epoch

    def move_coordinator(self, group: str, to: int) -> None:
        """Broker `to` coordinates the group; the others answer NOT_COORDINATOR. Nothing of the group is lost."""
        self._sandbox.coordinators[group] = to

    def loading(self, *, times: int = 1) -> None:
        """The group coordinator is still loading: the next answers of its APIs are COORDINATOR_LOAD_IN_PROGRESS."""
        for api in ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "OffsetFetch"):
            self.error(api, codes.COORDINATOR_LOAD_IN_PROGRESS, times=times)

    def rebalance(self, group: str) -> None:
        """Start a rebalance of the group now."""
        self._sandbox.groups.disturb(group)

    def expel(self, group: str, member_id: str) -> None:
        """The coordinator forgets a member, as after its session timeout."""
        self._sandbox.groups.expel(group, member_id)

    def forget_sessions(self) -> None:
        """All fetch sessions are evicted: FETCH_SESSION_ID_NOT_FOUND (KIP-227)."""
        for one in self._sandbox.brokers:
            one.sessions.clear()

    async def stop_broker(self, node_id: int, *, elect: bool = True) -> None:
        """The broker dies: its port closes, its connections break. With `elect` others lead its partitions."""
        await self._sandbox.stop_broker(node_id, elect=elect)

    async def start_broker(self, node_id: int) -> None:
        """It comes back, on the same port."""
        await self._sandbox.start_broker(node_id)

    # -- what the broker asks -------------------------------------------------------------------------------------

    def code(self, api: int, broker: int, topic: str | None = None, partition: int | None = None) -> ErrorCode | None:
        """The error ordered for this, used up; None for none."""
        return self._take("error", api, broker, topic, partition)  # type: ignore[return-value]

    def take(
        self, kind: str, api: int | None, broker: int, topic: str | None = None, partition: int | None = None
    ) -> bool:
        """Whether such a fault was ordered; it is used up."""
        return self._take(kind, api, broker, topic, partition) is not None

    def _take(self, kind: str, api: int | None, broker: int, topic: str | None, partition: int | None) -> object | None:
        for planned in self._planned:
            if (
                planned.kind == kind
                and planned.key == api
                and planned.times > 0
                and planned.broker in (None, broker)
                and planned.topic in (None, topic)
                and planned.partition in (None, partition)
            ):
                value = planned.take()
                if planned.times == 0:
                    self._planned.remove(planned)
                return value
        return None

    def conduct(self, api: int, broker: int) -> Conduct | None:
        """How to treat the request that has come; None for honestly."""
        if not self._planned:
            return None
        conduct = Conduct()
        conduct.delay = float(self._take("delay", api, broker, None, None) or 0.0)  # type: ignore[arg-type]
        conduct.close_before = self.take("close", api, broker)
        conduct.silent = self.take("silent", api, broker)
        cut = self._take("cut", api, broker, None, None)
        conduct.cut_after = None if cut is None else int(cut)  # type: ignore[call-overload]
        conduct.correlation_shift = int(self._take("correlation", api, broker, None, None) or 0)  # type: ignore[call-overload]
        conduct.throttle_ms = int(self._take("throttle", api, broker, None, None) or 0)  # type: ignore[call-overload]
        conduct.raw = self._take("raw", api, broker, None, None)  # type: ignore[assignment]
        return conduct
