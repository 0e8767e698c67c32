"""How to connect to a secured cluster: TLS, SASL, or both. Values only; `kcli/broker` acts on them.

Imported only if a connection is to be secured. A value that must be hidden is a `Secret`.
"""

from __future__ import annotations

from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.secret import Secret

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM", "GSSAPI")
MOST_ITERATIONS = 1_000_000


class Tls(Frozen):
    """TLS of a client. A file is named by its path; a `_pem` holds the text itself and goes before the file.

    The two stores are Java's: type PEM, PKCS12 or JKS, "" for what the file's name and first bytes say.
    """

    ca: str = ""  # PEM file or folder of authorities; "" with no ca_pem and no truststore: the system's
    ca_pem: str = ""
    truststore: str = ""
    truststore_type: str = ""
    truststore_password: Secret | None = None
    certificate: str = ""  # PEM file: ours, then the ones that lead to the authority; the key may be in it too
    certificate_pem: str = ""
    key: str = ""  # PEM file
    key_pem: Secret | None = None
    key_password: Secret | None = None
    keystore: str = ""
    keystore_type: str = ""
    keystore_password: Secret | None = None
    verify: bool = True  # the certificate against the authorities
    verify_host: bool = True  # the name in it against the name we asked for
    minimum: str = "TLSv1.2"  # or TLSv1.3
    maximum: str = ""  # "" or one of them
    ciphers: str = ""  # OpenSSL's names with colons, for TLS 1.2
    server_name: str = ""  # for SNI and verification, instead of the broker's host name (tunnels)

    @property
    def client_certificate(self) -> str:
        """The file of our certificate, for messages; "" without one."""
        return self.keystore or self.certificate or ("of ssl.certificate.pem" if self.certificate_pem else "")

    def warnings(self, whose: str) -> list[str]:
        """Return a sentence for a check that is switched off; `whose` certificates it would check (`brokers'`)."""
        if not self.verify:
            return [f"the {whose} certificates are not checked: anybody in between can read and change everything"]
        if not self.verify_host:
            return [f"the name in the {whose} certificates is not checked: any certificate of the authority does"]
        return []


class Assertion(Frozen):
    """A JWT by which the client authenticates (RFC 7523): the one in `file`, or a new one for each request, signed
    with a private key. Times are in seconds."""

    file: str = ""
    key_file: str = ""  # PEM
    key_pem: Secret | None = None
    passphrase: Secret | None = None
    algorithm: str = "RS256"  # or ES256
    template_file: str = ""  # JSON with "header" and "payload": further claims
    audience: str = ""
    issuer: str = ""
    subject: str = ""
    expires: float = 300.0
    not_before: float = 60.0  # before now
    unique_id: bool = False  # the claim jti


class OAuth(Frozen):
    """Where a token comes from: `token` itself, a `token_file` read each time, a `token_command` (words) that prints
    one each time, a `token_function` that returns one each time (a plain function, called in a thread), or an OIDC
    `token_endpoint`. That is asked with client credentials, the id and the secret or an
    assertion, or with the grant `jwt_bearer`, for which the assertion is all (KIP-1139)."""

    token: Secret | None = None
    token_file: str = ""
    token_command: tuple[str, ...] = ()
    token_function: Callable[[], str] | None = None
    token_endpoint: str = ""  # https; http only on loopback
    client_id: str = ""
    client_secret: Secret | None = None
    grant: str = "client_credentials"  # or jwt_bearer
    assertion: Assertion | None = None
    scope: str = ""
    extensions: tuple[tuple[str, str], ...] = ()  # KIP-342
    ca: str = ""  # PEM file of authorities for the endpoint, "" the system's
    proxy: str = ""  # to the endpoint; "": as the environment says
    timeout: float = 10.0


class Kerberos(Frozen):
    """GSSAPI. Without a keytab the ticket of `kinit` is used."""

    service: str = "kafka"
    principal: str = ""
    keytab: str = ""
    hostname: str = ""  # of the service principal, instead of the broker's host name


class Aws(Frozen):
    """AWS_MSK_IAM. Without keys: the environment, then (with botocore) profiles, roles and instance metadata."""

    region: str = ""  # "" is taken from the broker's host name, else from AWS_REGION
    access_key: str = ""
    secret_key: Secret | None = None
    session_token: Secret | None = None
    profile: str = ""


class Sasl(Frozen):
    """The client's credentials. `username` and `password` are for PLAIN and SCRAM."""

    mechanism: str = "PLAIN"
    username: str = ""
    password: Secret | None = None
    delegation_token: bool = False  # SCRAM: username and password are a token's id and HMAC (KIP-48)
    max_iterations: int = MOST_ITERATIONS  # SCRAM: what a broker may make us compute
    allow_insecure: bool = False  # PLAIN and OAUTHBEARER without TLS to a host that is not loopback
    oauth: OAuth | None = None
    kerberos: Kerberos | None = None
    aws: Aws | None = None


class Security(Frozen):
    """security.protocol: neither is PLAINTEXT, tls is SSL, sasl is SASL_PLAINTEXT, both are SASL_SSL."""

    tls: Tls | None = None
    sasl: Sasl | None = None

    @property
    def protocol(self) -> str:
        """Kafka's name of it."""
        if self.sasl is None:
            return "PLAINTEXT" if self.tls is None else "SSL"
        return "SASL_PLAINTEXT" if self.tls is None else "SASL_SSL"

    def warnings(self) -> list[str]:
        """Settings that are less safe than they could be, one sentence each, to be reported once per run."""
        found = [] if self.tls is None else self.tls.warnings("brokers'")
        if self.tls is None and self.sasl is not None and self.sasl.allow_insecure:
            found.append("credentials go over the network where others can read them (allow.insecure.auth)")
        return found


SECRET_FIELDS = {
    f.name for kind in (Tls, Sasl, OAuth, Assertion, Aws) for f in kind.__fields__ if "Secret" in f.annotation
}
