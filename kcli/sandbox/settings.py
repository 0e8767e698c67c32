"""Settings of a sandbox, frozen. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kcli.errors import UsageError
from kcli.sandbox.access.tls import ServerTls
from kcli.values import Frozen, field

LOOPBACK = ("localhost", "::1")
KAFKA_VERSIONS = ("4.4", "4.3")
MIGRATION_POLICIES = ("bidirectional", "upgrade", "downgrade", "disabled")


class SandboxSettings(Frozen):
    """The settings of a sandbox, all with defaults: one broker in memory on a free loopback port."""

    # brokers
    kafka_version: str = "4.4"  # the Kafka version to emulate: or 4.3
    brokers: int = 1
    host: str = "127.0.0.1"
    port: int = 0  # of the first broker, followed by the others; 0: free ones
    anywhere: bool = False  # allow a host that is not loopback
    advertised: str | None = None  # the host in metadata; None: `host`
    racks: Sequence[str | None] = ()  # of the brokers in turn
    disks: int = 1  # log directories of each broker
    connections: int | None = None  # limit for all brokers together; None: half of the process's limit of open files

    # topics and records
    # created at the start unless they exist: number of partitions by name
    topics: Mapping[str, int] = field(factory=dict)
    auto_create: bool = True  # create unknown topics on demand
    partitions: int = 1  # default for topics
    data: Path | None = None  # a directory; None: memory only
    # limit of records in bytes without `data`; beyond it they are refused with POLICY_VIOLATION
    memory: int = 4 * 1024**3

    # other services
    registry: bool = False  # a schema registry, on the same host
    registry_port: int = 0  # 0: a free one

    # behaviour of brokers
    telemetry: bool = False  # accept metrics that clients push (KIP-714): `sandbox.cluster.telemetry.pushes`
    rebalance_delay: float = 0.05  # group.initial.rebalance.delay
    migration_policy: str = "bidirectional"  # group.consumer.migration.policy: or upgrade, downgrade, disabled
    features: Mapping[str, int] | None = None  # finalized levels, as in {"transaction.version": 1}

    # security
    tls: ServerTls | None = None  # speak TLS only (`kcli.sandbox.access.tls.make_certificates` makes some)
    sasl: Mapping[str, str] | None = None  # require SASL: passwords by name
    mechanisms: Sequence[str] | None = None  # of SASL; None: PLAIN, SCRAM, OAUTHBEARER
    session_lifetime: float | None = None  # until clients must authenticate again (KIP-368); None: never
    super_users: Sequence[str] | None = None  # such as User:admin; ACLs bind all others; None: no ACL is enforced
    everyone: bool = False  # allow.everyone.if.no.acl.found

    # faults and notices
    control: bool = False  # let clients that can read its configs order faults (`kcli.sandbox.faults.control`)
    tell: Callable[[str], None] | None = None  # called with sentences about clients, each kind at most once a minute

    def check(self) -> None:
        """Raises UsageError for a host that is not loopback without `anywhere`, zero brokers or disks, an unknown
        version of Kafka or an unknown migration policy."""
        if not (self.anywhere or self.host in LOOPBACK or self.host.startswith("127.")):
            raise UsageError(f"the sandbox has no security and listens on loopback only; {self.host} is not")
        if self.brokers < 1 or self.disks < 1:
            raise UsageError("a sandbox has at least one broker, and a broker one disk")
        if self.kafka_version not in KAFKA_VERSIONS:
            known = ", ".join(KAFKA_VERSIONS)
            raise UsageError(f"the sandbox does not emulate Kafka {self.kafka_version} (known: {known})")
        if self.migration_policy not in MIGRATION_POLICIES:
            known = ", ".join(MIGRATION_POLICIES)
            raise UsageError(f"unknown migration policy {self.migration_policy} (known: {known})")

    @property
    def advertised_host(self) -> str:
        """The advertised host."""
        return self.advertised or self.host

    @property
    def place(self) -> str:
        """The folder of the records, in the form of a log directory; `/memory` without `data`."""
        return str(self.data) if self.data is not None else "/memory"

    def rack(self, number: int) -> str | None:
        """The rack of the broker with this number, counted from 0."""
        return self.racks[number % len(self.racks)] if self.racks else None

    def directories(self, node_id: int) -> list[str]:
        """The log directories of a broker, as it describes them; with `data` one folder holds all of them."""
        first = f"{self.place}/{node_id}"
        return [first, *(f"{first}-{number}" for number in range(2, self.disks + 1))]
