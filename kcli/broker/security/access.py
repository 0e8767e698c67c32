"""State shared by all secured connections of a client: TLS context, tokens, credentials."""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff
from kcli.errors import AuthError, LoginFailed, TlsError, UsageError
from kcli.security import MECHANISMS
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from ssl import SSLContext
    from typing import TypeVar

    from kcli.broker.security.secured import SecuredConnection
    from kcli.errors import ConnectError
    from kcli.proto.sasl import Mechanism
    from kcli.security import Sasl, Security
    from kcli.security.tokens import Tokens

    T = TypeVar("T")
    Failed = Callable[[str, AuthError | None], None]

READABLE = ("PLAIN", "OAUTHBEARER")
"""Mechanisms that send reusable credentials."""
LOG = Log("broker")
FIRST, LONGEST = 1.0, 60.0  # seconds between failed logins


class Access:
    """Created once per client. Raises UsageError for settings that cannot work: a missing file, a mechanism without a
    user name, an unknown mechanism."""

    def __init__(self, security: Security) -> None:
        self.sasl: Sasl | None = security.sasl
        self.tls = security.tls
        self.context: SSLContext | None = None
        self._tokens: Tokens | None = None
        self._prepared = False
        self.logins = Logins()
        if self.tls is not None:
            from kcli.security.tls import client_context

            self.context = client_context(self.tls)
        if self.sasl is not None:
            self._check(self.sasl)

    def _check(self, sasl: Sasl) -> None:
        if sasl.mechanism not in MECHANISMS:
            raise UsageError(f"sasl.mechanism {sasl.mechanism} is not one of {', '.join(MECHANISMS)}")
        if sasl.mechanism == "PLAIN" or sasl.mechanism.startswith("SCRAM-"):
            missing = "sasl.username" if not sasl.username else "sasl.password" if sasl.password is None else ""
            if missing:
                raise UsageError(f"sasl.mechanism={sasl.mechanism} requires {missing}")
        if sasl.mechanism == "OAUTHBEARER":
            from kcli.security.tokens import Tokens

            self._tokens = Tokens(sasl.oauth)
        if sasl.mechanism == "AWS_MSK_IAM" and self.tls is None:
            raise UsageError("sasl.mechanism=AWS_MSK_IAM works only over TLS: use security.protocol=SASL_SSL")

    def server_name(self, host: str) -> str:
        """Return the name for SNI and certificate verification."""
        return self.tls.server_name or host if self.tls is not None else host

    async def secure(self, connection: SecuredConnection, host: str, seconds: float) -> None:
        """Start TLS on a new TCP connection, if configured. Raises ConnectError, TlsError."""
        if self.context is None:
            return
        from kcli.security.tls import secure

        server, name = self.server_name(host), connection.name
        connection.secured(await secure(connection.wire, connection, self.context, server, seconds, name))

    def fault(self, connection: SecuredConnection, host: str) -> ConnectError | None:
        """Return the TLS error that may have ended a connection: in TLS 1.3 the server rejects our certificate after
        the handshake is complete on our side."""
        if self.context is None or connection.cause is None or not connection.hung_up:
            return None
        from kcli.security.tls_faults import explain

        error = explain(connection.cause, connection.name, self.server_name(host))
        return error if isinstance(error, TlsError) else None

    def may_speak(self, loopback: bool) -> None:
        """Raise Unsafe if others could read our credentials. Metadata can name any host."""
        sasl = self.sasl
        if sasl is None or self.tls is not None or loopback or sasl.allow_insecure or sasl.mechanism not in READABLE:
            return
        what = "password" if sasl.mechanism == "PLAIN" else "token"
        raise Unsafe(
            f"{sasl.mechanism} would send the {what} unencrypted, so that others can read it: "
            "use security.protocol=SASL_SSL, or set allow.insecure.auth=true"
        )

    async def mechanism(self, host: str) -> Mechanism:
        """Start a new exchange with the broker at `host`. Raises AuthError, ConnectError (no token)."""
        sasl = self.sasl
        assert sasl is not None
        if self._tokens is not None:
            from kcli.proto.sasl import OAuthBearer

            return OAuthBearer(await self._tokens.token(), sasl.oauth.extensions if sasl.oauth is not None else ())
        if sasl.mechanism == "AWS_MSK_IAM":
            from kcli.broker.security.aws import announce
            from kcli.tasks import in_daemon_thread

            return await in_daemon_thread("aws", announce, sasl.aws, host)
        if sasl.mechanism == "GSSAPI":
            from kcli.broker.security.kerberos import Gssapi
            from kcli.tasks import in_daemon_thread

            return await in_daemon_thread("kerberos", Gssapi, sasl.kerberos, host)
        return self._with_password(sasl)

    def _with_password(self, sasl: Sasl) -> Mechanism:
        assert sasl.password is not None
        username, password = sasl.username, sasl.password.reveal()
        if sasl.mechanism == "PLAIN":
            from kcli.proto.sasl import Plain

            return Plain(username, password)
        from kcli.proto.scram import ScramClient

        if self._prepared:
            username, password = _prepared(username), _prepared(password)
        return ScramClient(
            sasl.mechanism, username, password, tokenauth=sasl.delegation_token, most=sasl.max_iterations
        )

    def other_form(self) -> bool:
        """Whether to try another form of the password after a rejection. Kafka's own tools store it as typed, others
        prepare it first (SASLprep, RFC 4013); for most passwords both are the same."""
        sasl = self.sasl
        if sasl is None or self._prepared or not sasl.mechanism.startswith("SCRAM-") or sasl.password is None:
            return False
        self._prepared = (_prepared(sasl.username), _prepared(sasl.password.reveal())) != (
            sasl.username,
            sasl.password.reveal(),
        )
        return self._prepared

    def refused(self) -> None:
        """The broker rejected the credentials: a cached token is not used again."""
        if self._tokens is not None:
            self._tokens.forget()


def _prepared(text: str) -> str:
    if text.isascii():
        return text
    from kcli.proto.saslprep import saslprep

    try:
        return saslprep(text)
    except ValueError:  # it has no prepared form, so it is used as it is
        return text


# Logins of a client that was logged in before, where a failure may be temporary.
#
# The pauses grow from 1 to 60 s, and one connection at a time tries for the whole client, so that accounts are not
# locked. The first login of a client is not included: it fails at once.
class Unsafe(AuthError):
    """The login would expose the credentials. Retrying does not help."""


class Logins:
    """`on_failure` is called with a sentence after each failure; after `patience` seconds of failures also with the
    error that ends consumers."""

    def __init__(self) -> None:
        self.patience = 300.0
        self.on_failure: Failed | None = None
        self._known = False  # whether the client was ever logged in
        self._pauses = Backoff(FIRST, LONGEST)
        self._problem = ""  # error of the last login; "" after a success
        self._since = 0.0
        self._not_before = 0.0
        self._trying = False

    def begin(self) -> bool:
        """Call this before a connection that will log in. Returns True for the connection that tries again, which then
        has to call `end`. Raises LoginFailed while another one tries, or during the pause."""
        if not self._problem:
            return False
        if self._trying or asyncio.get_running_loop().time() < self._not_before:
            raise LoginFailed(self._problem)
        self._trying = True
        return True

    def end(self) -> None:
        """The connection that tried again has succeeded or failed."""
        self._trying = False

    async def attempt(self, login: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a login. Raises LoginFailed for an AuthError that may be temporary."""
        try:
            done = await login()
        except Unsafe:
            raise
        except AuthError as problem:
            if not self._known:
                raise
            raise self._failed(problem) from problem
        if self._problem:
            LOG.warning("the login succeeded again")
        self._known, self._problem = True, ""
        self._pauses.reset()
        return done

    def _failed(self, problem: AuthError) -> LoginFailed:
        now = asyncio.get_running_loop().time()
        if self._problem and now < self._not_before:
            return LoginFailed(self._problem)  # it began before the failure that started the pause
        if not self._problem:
            self._since = now
        ends = self._since + self.patience
        final = AuthError(f"{problem}; the logins have failed for {now - self._since:.0f} s") if now >= ends else None
        pause = self._pauses.next()
        if final is None:
            pause = min(pause, max(FIRST, ends - now))
        self._not_before = now + pause
        self._problem = f"{problem}; kcli tries to log in again in {pause:.1f} s"
        LOG.warning("%s", self._problem)
        if self.on_failure is not None:
            self.on_failure(self._problem, final)
        return LoginFailed(self._problem)
