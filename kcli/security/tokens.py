"""OAuth tokens from the settings, a file, a command, or an OIDC token endpoint (KIP-768).

All connections share a token until four fifths of its lifetime are over; concurrent callers share one request. Raises
AuthError if no token can be obtained, ConnectError if the endpoint cannot be reached.
"""

from __future__ import annotations

import asyncio
import time

from kcli.errors import AuthError, UsageError
from kcli.redact import remember
from kcli.system import files
from kcli.tasks import in_daemon_thread, retrieve, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.security import OAuth

SOURCES = ("token", "token_file", "token_command", "token_function", "token_endpoint")
USED = 0.8  # fraction of a token's lifetime
MARGIN = 2.0  # remaining seconds that a token needs to be sent


class Tokens:
    """The source of a client's tokens. Raises UsageError if the settings name no source, or several."""

    def __init__(self, oauth: OAuth | None) -> None:
        named = [] if oauth is None else [name for name in SOURCES if getattr(oauth, name)]
        if oauth is None or len(named) != 1:
            what = "requires one of" if not named else "requires exactly one of"
            raise UsageError(f"sasl.mechanism=OAUTHBEARER {what} a token, a token file, a token command, a token URL")
        if oauth.token_endpoint:
            from kcli.security.oidc import check_endpoint

            check_endpoint(oauth)
        self._oauth = oauth
        self._token = ""
        self._until = 0.0  # wall-clock time, as in the token itself
        self._under_way: asyncio.Task[str] | None = None

    async def token(self) -> str:
        """Return a valid token."""
        if self._token and time.time() < self._until:
            return self._token
        if self._under_way is None:
            self._under_way = asyncio.get_running_loop().create_task(self._fetch(), name="fetch a token")
            self._under_way.add_done_callback(self._fetched)
        return await share(self._under_way)

    def _fetched(self, task: asyncio.Task[str]) -> None:
        self._under_way = None
        retrieve(task)

    def forget(self) -> None:
        """Discard the token, so that the next call gets a new one."""
        self._token = ""

    async def _fetch(self) -> str:
        if self._oauth.token_endpoint:
            from kcli.security.oidc import ask

            token, lifetime = await ask(self._oauth)
        else:
            token, lifetime = await in_daemon_thread("token", obtain, self._oauth), None
        remember(token)
        now = time.time()
        ends = expiry(token)
        if lifetime is None and ends is not None:
            lifetime = ends - now
        if ends is not None and ends < now + MARGIN:
            raise AuthError(f"the OAuth token expired {max(0.0, now - ends):.0f} s ago: get a new one")
        if lifetime is not None:  # a token without a known lifetime is requested each time
            self._token, self._until = token, now + USED * lifetime
        return token


def obtain(oauth: OAuth) -> str:
    """Return the token from the settings, a file, a command or a function. Blocks, so it must run outside the loop's
    thread."""
    if oauth.token is not None:
        return oauth.token.reveal().strip()
    if oauth.token_file:
        try:
            return files.read(oauth.token_file, files.SECRET).decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "is not a token"
            raise AuthError(f"the token file {oauth.token_file}: {reason}") from None
    if oauth.token_function is not None:
        return _returned(oauth.token_function)
    return _printed(oauth.token_command, oauth.timeout)


def _returned(function: Callable[[], str]) -> str:
    """Return the result of the program's function."""
    try:
        token = function()
    except Exception as problem:
        raise AuthError(f"the token function raised {type(problem).__name__}: {problem}") from problem
    if not isinstance(token, str) or not token.strip().isascii() or not token.strip():
        raise AuthError(f"the token function did not return a token, but a value of type {type(token).__name__}")
    return token.strip()


def _printed(words: tuple[str, ...], seconds: float) -> str:
    """Return the output of a command. Its stderr is ours."""
    import subprocess

    from kcli.security.child import environment

    try:
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=seconds, env=environment(), check=False
        )
    except subprocess.TimeoutExpired:
        raise AuthError(f"the token command {words[0]} did not end within {seconds:g} s") from None
    except OSError as problem:
        raise AuthError(f"the token command {words[0]} cannot be run: {problem.strerror}") from None
    if done.returncode:
        raise AuthError(f"the token command {words[0]} failed with exit code {done.returncode}")
    token = done.stdout.decode("ascii", "replace").strip()
    if not token:
        raise AuthError(f"the token command {words[0]} printed nothing")
    return token


def expiry(token: str) -> float | None:
    """Return when a token expires, in seconds since 1970, if it is a JWT with that claim."""
    import json
    from base64 import urlsafe_b64decode

    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
