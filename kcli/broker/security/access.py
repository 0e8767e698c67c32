"""What all secured connections of a client share: the TLS context, the tokens, the credentials."""

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
"""Mechanisms that send what would let others in."""
LOG = Log("broker")
FIRST, LONGEST = 1.0, 60.0  # seconds between two logins that fail


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
                raise UsageError(f"sasl.mechanism={sasl.mechanism} wants {missing}")
        if sasl.mechanism == "OAUTHBEARER":
            from kcli.security.tokens import Tokens

            self._tokens = Tokens(sasl.oauth)
        if sasl.mechanism == "AWS_MSK_IAM" and self.tls is None:
            raise UsageError("sasl.mechanism=AWS_MSK_IAM works over TLS only: use security.protocol=SASL_SSL")

    def server_name(self, host: str) -> str:
        """The name to verify and to ask for."""
        return self.tls.server_name or host if self.tls is not None else host

    async def secure(self, connection: SecuredConnection, host: str, seconds: float) -> None:
        """TLS on a new TCP connection, if we speak it. Raises ConnectError, TlsError."""
        if self.context is None:
            return
        from kcli.security.tls import secure

        server, name = self.server_name(host), connection.name
        connection.secured(await secure(connection.wire, connection, self.context, server, seconds, name))

    def fault(self, connection: SecuredConnection, host: str) -> ConnectError | None:
        """What TLS has to do with the end of a connection: in TLS 1.3 our certificate is refused when we think that all
        is well."""
        if self.context is None or connection.cause is None or not connection.hung_up:
            return None
        from kcli.security.tls_faults import explain

        error = explain(connection.cause, connection.name, self.server_name(host))
        return error if isinstance(error, TlsError) else None

    def may_speak(self, loopback: bool) -> None:
        """Raises Unsafe when others could read what lets us in: any host may be named in metadata."""
        sasl = self.sasl
        if sasl is None or self.tls is not None or loopback or sasl.allow_insecure or sasl.mechanism not in READABLE:
            return
        what = "password" if sasl.mechanism == "PLAIN" else "token"
        raise Unsafe(
            f"{sasl.mechanism} would send the {what} where others can read it: "
            "use security.protocol=SASL_SSL, or set allow.insecure.auth=true"
        )

    async def mechanism(self, host: str) -> Mechanism:
        """A new exchange with the broker at `host`. Raises AuthError, ConnectError (no token came)."""
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
        """After a refusal: whether there is another form of the same password to try. Kafka's own tools store it as it
        was typed, others prepare it first (SASLprep, RFC 4013); for most passwords that is the same."""
        sasl = self.sasl
        if sasl is None or self._prepared or not sasl.mechanism.startswith("SCRAM-") or sasl.password is None:
            return False
        self._prepared = (_prepared(sasl.username), _prepared(sasl.password.reveal())) != (
            sasl.username,
            sasl.password.reveal(),
        )
        return self._prepared

    def refused(self) -> None:
        """The broker does not take it: a token that is kept is not used again."""
        if self._tokens is not None:
            self._tokens.forget()


def _prepared(text: str) -> str:
    if text.isascii():
        return text
    from kcli.proto.saslprep import saslprep

    try:
        return saslprep(text)
    except ValueError:  # it has no prepared form: then it is what it is
        return text


# The logins of a client that was logged in before: a failure may be over in a moment.
#
# The pauses grow from 1 to 60 s, and one connection at a time tries for the whole client, so that accounts are not
# locked. The first login of a client is not covered: it fails at once.
class Unsafe(AuthError):
    """The login would show the credentials to others. No later try changes that."""


class Logins:
    """`on_failure` is called with a sentence after each failure; after `patience` seconds of failures also with the
    error that ends consumers."""

    def __init__(self) -> None:
        self.patience = 300.0
        self.on_failure: Failed | None = None
        self._known = False  # whether the client was ever logged in
        self._pauses = Backoff(FIRST, LONGEST)
        self._problem = ""  # of the last login; "" where it succeeded
        self._since = 0.0
        self._not_before = 0.0
        self._trying = False

    def begin(self) -> bool:
        """Before a connection that will log in: True where it is the one that tries again, and `end` has to be called.
        Raises LoginFailed while that is another one, or the pause is not over."""
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
        """The result of a login. Raises LoginFailed for an AuthError that may be over in a moment."""
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
            return LoginFailed(self._problem)  # it began before the failure that the pause is for
        if not self._problem:
            self._since = now
        ends = self._since + self.patience
        final = AuthError(f"{problem}; the logins have failed for {now - self._since:.0f} s") if now >= ends else None
        pause = self._pauses.next()
        if final is None:
            pause = min(pause, max(FIRST, ends - now))
        self._not_before = now + pause
        self._problem = f"{problem}; the login is tried again in {pause:.1f} s"
        LOG.warning("%s", self._problem)
        if self.on_failure is not None:
            self.on_failure(self._problem, final)
        return LoginFailed(self._problem)
