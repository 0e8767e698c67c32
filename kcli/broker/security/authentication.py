"""SASL on a connection: SaslHandshake, then the mechanism's messages, before any other request, and again before the
session ends (KIP-368)."""

from __future__ import annotations

import asyncio
from os import urandom

from kcli import codes
from kcli.broker.connection.handshake import OtherForm
from kcli.errors import AuthError, Closed, ConnectError, KcliError
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateRequest
from kcli.proto.messages.sasl_handshake import SaslHandshakeRequest
from kcli.tasks import retrieve
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.broker.security.access import Access
    from kcli.broker.security.secured import SecuredConnection
    from kcli.proto.messages.sasl_authenticate import SaslAuthenticateResponse
    from kcli.proto.messages.sasl_handshake import SaslHandshakeResponse
    from kcli.proto.sasl import Mechanism

HANDSHAKE, AUTHENTICATE = 17, 36
MOST_STEPS = 20
FOR_EVER = float("inf")
SOONEST = 1.0  # seconds: before that, brokers treat another handshake as an error
MARGIN = 1.0  # seconds before the end, so that earlier writes get through, including those without response (acks=0)
EARLIEST, SPREAD = 0.85, 0.10  # fractions of the session lifetime, so that connections do not all renew at once


async def introduce(connection: SecuredConnection, access: Access, host: str, seconds: float, again: float) -> None:
    """Authenticate a new connection within `seconds`, and again before the session ends, within `again` seconds each
    time. Raises like `authenticate`, and LoginFailed if the client was logged in before."""
    until = await access.logins.attempt(lambda: authenticate(connection, access, host, seconds))
    if until < FOR_EVER:

        async def renew() -> float:
            one_of_many = access.logins.begin()
            try:
                return await access.logins.attempt(lambda: authenticate(connection, access, host, again))
            finally:
                if one_of_many:
                    access.logins.end()

        connection.renewal = Renewal(connection, renew, until)


async def authenticate(connection: SecuredConnection, access: Access, host: str, seconds: float) -> float:
    """Authenticate within this many seconds. Returns the end of the session (loop time), or FOR_EVER. Raises AuthError
    (final), ConnectError, OtherForm."""
    assert access.sasl is not None
    try:
        access.may_speak(connection.loopback)
        async with asyncio.timeout(seconds):
            mechanism = await access.mechanism(host)
            old = AUTHENTICATE not in connection.versions
            await _handshake(connection, mechanism.name, 0 if old else 1, seconds)
            return await _exchange(connection, access, mechanism, seconds, old)
    except TimeoutError:
        raise ConnectError(f"{connection.name} did not finish the authentication within {seconds:.1f} s") from None
    except AuthError as problem:
        if str(problem).startswith(connection.name):
            raise
        raise type(problem)(f"{connection.name}: {problem}") from problem


async def _handshake(connection: SecuredConnection, mechanism: str, version: int, seconds: float) -> None:
    """Agree on the mechanism."""
    if connection.versions and HANDSHAKE not in connection.versions:
        raise AuthError(f"{connection.name} does not support SASL: use security.protocol=PLAINTEXT or SSL")
    answer: SaslHandshakeResponse = await connection.exchange(
        SaslHandshakeRequest(mechanism=mechanism), version, seconds
    )
    code = codes.of(answer.error_code)
    if code is codes.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(printable(mechanism) for mechanism in answer.mechanisms) or "none"
        raise AuthError(f"{connection.name} does not offer {mechanism}; it offers {offered}: set sasl.mechanism")
    if code is codes.ILLEGAL_SASL_STATE:
        raise AuthError(
            f"{connection.name} does not authenticate on this port: use security.protocol=PLAINTEXT or SSL, or another "
            "port"
        )
    if code:
        raise AuthError(f"{connection.name} refused the SASL handshake: {code.text} ({code.name})")


async def _exchange(
    connection: SecuredConnection, access: Access, mechanism: Mechanism, seconds: float, old: bool
) -> float:
    """Exchange the mechanism's messages. The session is measured from when the last one was sent: the broker started
    later, and the response may have waited before we read it."""
    version = min(connection.versions.get(AUTHENTICATE, (0, 0))[1], SaslAuthenticateRequest.versions.last)
    token: bytes | None = await _step(mechanism, None)
    for _ in range(MOST_STEPS):
        assert token is not None
        sent = asyncio.get_running_loop().time()
        if old:
            challenge, lifetime = await connection.exchange_raw(token, seconds), 0
        else:
            answer: SaslAuthenticateResponse = await connection.exchange(
                SaslAuthenticateRequest(auth_bytes=token), version, seconds
            )
            if answer.error_code:
                raise _refusal(connection, access, mechanism, answer)
            challenge, lifetime = answer.auth_bytes, answer.session_lifetime_ms
        token = await _step(mechanism, challenge)
        if token is None:
            return sent + lifetime / 1000 if lifetime > 0 else FOR_EVER
    raise AuthError(f"{connection.name} did not complete the SASL {mechanism.name} exchange")


async def _step(mechanism: Mechanism, challenge: bytes | None) -> bytes | None:
    if not mechanism.blocking:
        return mechanism.first() if challenge is None else mechanism.step(bytes(challenge))
    from kcli.tasks import in_daemon_thread

    if challenge is None:
        return await in_daemon_thread("sasl", mechanism.first)
    return await in_daemon_thread("sasl", mechanism.step, bytes(challenge))


def _refusal(
    connection: SecuredConnection, access: Access, mechanism: Mechanism, answer: SaslAuthenticateResponse
) -> Exception:
    assert access.sasl is not None
    code = codes.of(answer.error_code)
    access.refused()
    if code is codes.SASL_AUTHENTICATION_FAILED and access.other_form():
        return OtherForm(f"{connection.name} refused the password as it was typed")
    message = printable(answer.error_message or "")
    refusal = getattr(mechanism, "refusal", "")
    reason = f"{message or code.text}{f' {refusal}' if refusal and refusal not in message else ''} ({code.name})"
    if code.retriable:
        return ConnectError(f"{connection.name}: {mechanism.name}: {reason}")
    who = f" of {access.sasl.username}" if access.sasl.username else ""
    return AuthError(f"{connection.name} refused the authentication{who} ({mechanism.name}): {reason}")


# Re-authentication (KIP-368): before its session ends, a connection authenticates again on the same connection.
#
# Nothing else may be written or in flight meanwhile: new requests are held, responses in flight are awaited, the
# handshake is done, and the held requests are sent. Nothing is lost; callers only wait briefly. The first request after
# the renewal is due starts it, so an idle connection does nothing; even after its session ended, a broker still accepts
# the handshake, though nothing else.
class Renewal:
    """The renewal of one connection. `authenticate` does it and returns the end of the next session (loop time); the
    current one lasts `until`."""

    def __init__(
        self, connection: SecuredConnection, authenticate: Callable[[], Awaitable[float]], until: float
    ) -> None:
        self._connection = connection
        self._authenticate = authenticate
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self.count = 0
        self.at = 0.0
        self._schedule(until)

    def _schedule(self, until: float) -> None:
        now = self._loop.time()
        part = EARLIEST + SPREAD * urandom(1)[0] / 255
        self.at = now + max(SOONEST, min((until - now) * part, until - now - MARGIN))

    def begin(self) -> None:
        """Hold new requests and renew the session, which is due."""
        if self._task is None:
            self._connection.hold()
            self._task = self._loop.create_task(self._run(), name=f"re-authenticate {self._connection.name}")
            self._task.add_done_callback(retrieve)

    async def _run(self) -> None:
        try:
            await self._connection.drained()
            self._schedule(await self._authenticate())
            self.count += 1
        except Closed:
            return  # the client was closed meanwhile
        except Exception as problem:  # noqa: BLE001 whatever it is, this connection is over, and the next one will tell
            text = str(problem) if isinstance(problem, KcliError) else f"re-authentication failed: {problem!r}"
            self._connection.close(ConnectError(text))
        finally:
            self._task = None
            self._connection.release()
