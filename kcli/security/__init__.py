"""Settings of a secured connection: TLS, SASL, or both. Values only; `kcli/broker` uses them.

Imported only if a connection is secured. Hidden values are `Secret`s.
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
    """TLS settings of a client. Files are given by path; a `_pem` setting holds the PEM text and overrides the file.

    The two stores are Java's, of type PEM, PKCS12 or JKS; "" means detected by file name and first bytes.
    """

    ca: str = ""  # PEM file or folder; "" without ca_pem and truststore: the system's authorities
    ca_pem: str = ""
    truststore: str = ""
    truststore_type: str = ""
    truststore_password: Secret | None = None
    certificate: str = ""  # PEM file: ours, then its chain; may contain the key, too
    certificate_pem: str = ""
    key: str = ""  # PEM file
    key_pem: Secret | None = None
    key_password: Secret | None = None
    keystore: str = ""
    keystore_type: str = ""
    keystore_password: Secret | None = None
    verify: bool = True  # whether to verify the certificate chain
    verify_host: bool = True  # whether to verify the host name in the certificate
    minimum: str = "TLSv1.2"  # or TLSv1.3
    maximum: str = ""  # "" or one of these
    ciphers: str = ""  # OpenSSL's names, separated by colons, for TLS 1.2
    server_name: str = ""  # for SNI and verification, instead of the broker's host name (tunnels)

    @property
    def client_certificate(self) -> str:
        """The file of our certificate, for messages; "" without one."""
        return self.keystore or self.certificate or ("of ssl.certificate.pem" if self.certificate_pem else "")

    def warnings(self, whose: str) -> list[str]:
        """Return a warning for each disabled check; `whose` certificates it would verify (`brokers'`)."""
        if not self.verify:
            return [
                f"the {whose} certificates are not checked: anyone on the network path can read and change everything"
            ]
        if not self.verify_host:
            return [
                f"the name in the {whose} certificates is not checked: any certificate of the authority is accepted"
            ]
        return []


class Assertion(Frozen):
    """A JWT that authenticates the client (RFC 7523): read from `file`, or signed with a private key for each request.
    Times are in seconds."""

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
    unique_id: bool = False  # include the claim jti


class OAuth(Frozen):
    """The source of a token: `token` itself, a `token_file` read each time, the output of a `token_command` (list of
    words), the result of a `token_function` (a plain function, called in a thread), or an OIDC `token_endpoint`.

    The endpoint is called with client credentials (the id and either the secret or an assertion), or with the grant
    `jwt_bearer`, which needs only the assertion (KIP-1139).
    """

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
    ca: str = ""  # PEM file of the endpoint's authorities; "": the system's
    proxy: str = ""  # to the endpoint; "": from the environment
    timeout: float = 10.0


class Kerberos(Frozen):
    """GSSAPI. Without a keytab, the ticket from `kinit` is used."""

    service: str = "kafka"
    principal: str = ""
    keytab: str = ""
    hostname: str = ""  # in the service principal, instead of the broker's host name


class Aws(Frozen):
    """AWS_MSK_IAM. Without keys, they come from the environment or (with botocore) from profiles, roles or instance
    metadata."""

    region: str = ""  # "": from the broker's host name, else AWS_REGION
    access_key: str = ""
    secret_key: Secret | None = None
    session_token: Secret | None = None
    profile: str = ""


class Sasl(Frozen):
    """SASL credentials of the client. `username` and `password` are for PLAIN and SCRAM."""

    mechanism: str = "PLAIN"
    username: str = ""
    password: Secret | None = None
    delegation_token: bool = False  # SCRAM: username and password are the id and HMAC of a token (KIP-48)
    max_iterations: int = MOST_ITERATIONS  # SCRAM: upper limit for the broker's iteration count
    allow_insecure: bool = False  # PLAIN and OAUTHBEARER without TLS to hosts other than loopback
    oauth: OAuth | None = None
    kerberos: Kerberos | None = None
    aws: Aws | None = None


class Security(Frozen):
    """The security protocol: PLAINTEXT without either, SSL with tls, SASL_PLAINTEXT with sasl, SASL_SSL with both."""

    tls: Tls | None = None
    sasl: Sasl | None = None

    @property
    def protocol(self) -> str:
        """Kafka's name of the protocol."""
        if self.sasl is None:
            return "PLAINTEXT" if self.tls is None else "SSL"
        return "SASL_PLAINTEXT" if self.tls is None else "SASL_SSL"

    def warnings(self) -> list[str]:
        """Warnings about unsafe settings, one sentence each, to be reported once per run."""
        found = [] if self.tls is None else self.tls.warnings("brokers'")
        if self.tls is None and self.sasl is not None and self.sasl.allow_insecure:
            found.append("credentials go over the network where others can read them (allow.insecure.auth)")
        return found


SECRET_FIELDS = {
    f.name for kind in (Tls, Sasl, OAuth, Assertion, Aws) for f in kind.__fields__ if "Secret" in f.annotation
}
