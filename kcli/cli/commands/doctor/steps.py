"""What the doctor finds: steps, faults, and the sentence that says how to fix each fault."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column
from kcli.values import Value

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"

FIXES = {
    "name": "check the spelling, the resolver (`getent hosts {host}`), /etc/hosts and the VPN, or use an address "
    "that this machine can resolve",
    "refused": "check the port number, and whether the broker is running",
    "dead": "check the address, the VPN and the firewall: packets are lost",
    "unreachable": "check this machine's network and routes",
    "http": "this is the port of a web server (a REST proxy, a registry?): use a broker's listener",
    "tls-wanted": "set security.protocol=SSL, or SASL_SSL if the listener requires SASL",
    "plaintext": "set security.protocol=PLAINTEXT or SASL_PLAINTEXT, or use the broker's TLS listener",
    "sasl-wanted": "set security.protocol={sasl_protocol} and sasl.mechanism to one of them",
    "sasl-unwanted": "set security.protocol={plain_protocol}, or use the broker's SASL listener",
    "silent": "check that it is a Kafka listener, and whether the broker hangs",
    "closed": "check that it is a Kafka listener; its log shows why it closes the connection",
    "no-kafka": "use the port of a Kafka listener",
    "too-old": "use Kafka 2.1 or newer: this broker does not support the requests of kcli",
    "controller": "use the port of a broker; `kcli cluster quorum --bootstrap-controller` queries controllers",
    "tls-expired": "renew the broker's certificate; if it is not expired, this machine's clock is wrong",
    "tls-early": "check this machine's clock; if it is right, the broker's certificate is not valid yet",
    "tls-expires": "renew the broker's certificate in time",
    "tls-name": "connect with one of these names, or have {host} added to the certificate; through a tunnel, keep "
    "the name and use --broker-map",
    "tls-authority": "set the authority that signed it: ssl.ca.location=FILE (PEM)",
    "tls-client": "the broker requires a client certificate: set one that it trusts, and its "
    "key (ssl.keystore.location, or "
    "ssl.certificate.location and ssl.key.location)",
    "tls": "read the broker's log about the TLS handshake",
    "mechanism": "set sasl.mechanism to one of them",
    "password": "check sasl.username and sasl.password, and that the user exists for this mechanism",
    "token": "check the source of the token: `kcli config show` shows it",
    "insecure": "set security.protocol=SASL_SSL, or, only on a trusted network, allow.insecure.auth=true",
    "sasl": "read the broker's log about the authentication",
    "wrong-broker": "correct the tunnel, the load balancer or --broker-map: produce and consume would fail there",
    "metadata": "read the broker's log",
    "no-brokers": "wait until a broker has registered: the cluster is starting, or cut off from its controller",
    "not-authorized": "add an ACL: kcli acls add --allow {user} {acl}",
    "no-topic": "check the name: kcli topics list",
}
ADVERTISED = (
    "clients connect to the advertised.listeners of brokers: change them, or map the address: "
    "--broker-map {address}=HOST:PORT"
)
LOOPBACK = (
    "the broker advertises an address of its own machine: set its advertised.listeners to an address that clients "
    "can reach, or --broker-map {address}={host}:{port}"
)
NOT_CONNECTING = ("not-authorized", "no-topic", "too-old", "metadata", "no-brokers", "no-rights")
"""Faults behind a working connection: exit code 1, and not 5."""


class StepRow(Row, section="steps"):
    step: str = column("config, DNS, TCP, TLS, ApiVersions, SASL, metadata, advertised, rights.", rank=1)
    address: str | None = column("Address that the step checks.")
    broker: int | None = column("Broker that advertises the address.", sparse=True)
    status: str = column("ok, warning, failed, or skipped after a failed step.", unit="word", rank=1)
    time_ms: float | None = column("How long it took, in milliseconds.", rank=3)
    result: str = column("The finding.", rank=1, unit="sentence")
    fault: str | None = column("Name of the fault, for programs.", table=False, rank=1)
    fix: str | None = column("Suggested fix.", table=False, unit="sentence")


class Check(Value):
    """One of the checks. `milliseconds` is None where nothing was tried."""

    step: str = ""
    address: str = ""
    broker: int | None = None
    status: str = OK
    milliseconds: float | None = None
    result: str = ""
    fault: str | None = None
    fix: str | None = None

    def fail(self, fault: Fault, status: str = FAILED) -> None:
        """It does not hold, or only just (WARNING)."""
        self.status, self.result, self.fault, self.fix = status, fault.result, fault.fault, fault.fix

    def row(self) -> StepRow:
        """As a row of the shape."""
        return StepRow.of(
            self,
            address=self.address or None,
            time_ms=None if self.milliseconds is None else round(self.milliseconds, 1),
        )


class Fault(Exception):
    """What is wrong; `fault` is a key of `FIXES`, `about` fills its sentence."""

    def __init__(self, fault: str, result: str, **about: str) -> None:
        super().__init__(result)
        self.fault = fault
        self.result = result
        self.about = about

    @property
    def fix(self) -> str:
        return FIXES[self.fault].format_map(_Filled(self.about))


class _Filled(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key.upper()


def exit_code(steps: list[Check]) -> int:
    """0 when nothing failed, 2 for the configuration, 5 for a connection, 1 for what lies behind one."""
    faults = [step.fault or "" for step in steps if step.status == FAILED]
    if not faults:
        return 0
    if "config" in faults:
        return 2
    return 1 if all(fault in NOT_CONNECTING for fault in faults) else 5
