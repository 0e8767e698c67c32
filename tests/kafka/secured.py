"""A real Apache Kafka that has every kind of listener: plain, TLS with all that can be wrong, SASL with all mechanisms
that need no KDC, and one whose sessions end soon."""

from __future__ import annotations

from pathlib import Path

from tests.certificates import Authority
from tests.idp import AUDIENCE, ISSUER, Idp
from tests.kafka.cluster import Kafka, Node
from tests.ports import free_ports

USERS = {"admin": "admin-secret", "alice": "alice = secret", "zoe": "pässwörd"}
REAUTH_MS = 3000
LISTENERS = {
    "SSL": "SSL", "MTLS": "SSL", "EXPIRED": "SSL", "STRANGER": "SSL", "SASL": "SASL_PLAINTEXT", "SASLSSL": "SASL_SSL",
    "REAUTH": "SASL_PLAINTEXT", "REAUTHSSL": "SASL_SSL", "OIDC": "SASL_PLAINTEXT",
}  # fmt: skip
HANDLERS = "org.apache.kafka.common.security.oauthbearer"


class SecuredKafka(Kafka):
    """One node. `at(listener)` is the bootstrap of one of LISTENERS or CLIENT; `folder` holds the certificates."""

    def __init__(self, folder: Path, idp: Idp) -> None:
        super().__init__(1)
        self.folder = folder
        self.idp = idp
        self.ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
        self.authority = Authority(folder)
        self.server = self.authority.issue("server")
        self.client = self.authority.issue("client", (), usage="client")
        self.stranger = Authority(folder, "stranger").issue("stranger-client", (), usage="client")
        self.options = [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={idp.jwks_url}"]
        self.format_words = [
            word
            for name in USERS
            for hash_, more in (("256", ""), ("512", ",iterations=8192"))
            for word in ("--add-scram", f'SCRAM-SHA-{hash_}=[name="{name}"{more},password="{USERS[name]}"]')
        ]
        self.settings.update(self._listeners(self.nodes[0]) | self._tls() | self._sasl())

    def at(self, listener: str) -> str:
        return self.bootstrap if listener == "CLIENT" else f"localhost:{self.ports[listener]}"

    def _listeners(self, node: Node) -> dict[str, str]:
        own = {name: f"{name}://localhost:{port}" for name, port in self.ports.items()}
        client, inner = f"CLIENT://127.0.0.1:{node.client_port}", f"INTERNAL://127.0.0.1:{node.internal_port}"
        every = [client, inner, *own.values()]
        kinds = {"CLIENT": "PLAINTEXT", "INTERNAL": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **LISTENERS}
        return {
            "listeners": ",".join([*every, f"CONTROLLER://127.0.0.1:{node.controller_port}"]),
            "advertised.listeners": ",".join(every),
            "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in kinds.items()),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin",
            "allow.everyone.if.no.acl.found": "true",
            "connection.failed.authentication.delay.ms": "100",
        }

    def _tls(self) -> dict[str, str]:
        expired = self.authority.issue("expired", begins=-30, ends=-1)
        other = self.authority.issue("other", ("other.test",))
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.server.both),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.path),
            "listener.name.mtls.ssl.client.auth": "required",
            "listener.name.expired.ssl.keystore.location": str(expired.both),
            "listener.name.stranger.ssl.keystore.location": str(other.both),
        }

    def _sasl(self) -> dict[str, str]:
        users = " ".join(f'user_{name}="{password}"' for name, password in USERS.items() if password.isascii())
        made = {
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            "listener.name.oidc.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.oidc.oauthbearer.sasl.server.callback.handler.class": (
                f"{HANDLERS}.OAuthBearerValidatorCallbackHandler"
            ),
            "listener.name.oidc.oauthbearer.sasl.jaas.config": f"{HANDLERS}.OAuthBearerLoginModule required;",
            "listener.name.oidc.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": self.idp.jwks_url,
            "listener.name.oidc.oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
            "listener.name.oidc.oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
        }
        for name in ("sasl", "saslssl", "reauth", "reauthssl"):
            of = f"listener.name.{name}"
            plain = f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};"
            made[f"{of}.plain.sasl.jaas.config"] = plain
            for kind in ("256", "512"):
                scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
                made[f"{of}.scram-sha-{kind}.sasl.jaas.config"] = scram
            made[f"{of}.oauthbearer.sasl.jaas.config"] = (
                f'{HANDLERS}.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";'
            )
        for mechanism in ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer"):
            for name in ("reauth", "reauthssl"):
                made[f"listener.name.{name}.{mechanism}.connections.max.reauth.ms"] = str(REAUTH_MS)
        return made
