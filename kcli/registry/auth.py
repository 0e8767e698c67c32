"""Registry authentication: a login or a token, and its name in messages."""

from __future__ import annotations

from kcli.errors import AuthError, ConnectError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.registry.settings import RegistrySettings
    from kcli.security.http import Origin
    from kcli.security.tokens import Tokens


class Credentials:
    """The credentials for one registry. Tokens are cached by `kcli/security/tokens.py`."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._from = settings.credentials
        self._extra = dict(settings.headers)
        self._tokens: Tokens | None = None
        if settings.oauth is not None:
            from kcli.security.tokens import Tokens

            self._tokens = Tokens(settings.oauth)

    async def headers(self, origin: Origin, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]:
        """Return additional headers for a request to a configured address. Raises AuthError, and ConnectError if no
        token can be obtained."""
        if self._tokens is not None:
            token = await self._token(self._tokens)
            if not token or any(not "!" <= letter <= "~" for letter in token):
                raise AuthError(f"{self._from}: the token is empty, or has spaces, line ends or other odd characters")
            return {"Authorization": f"Bearer {token}", **self._extra}
        return origin.basic()

    async def _token(self, tokens: Tokens) -> str:
        try:
            return await tokens.token()
        except ConnectError as problem:  # includes AuthError
            raise type(problem)(f"{self._from}: {problem}") from None

    def name(self, origin: Origin) -> str:
        """Name for messages, "" without credentials."""
        if self._tokens is not None:
            return f"the token of {self._from}"
        return f"the user {origin.user} of {self._from}" if origin.user else ""

    def refused(self) -> bool:
        """After a rejection: return whether another token may be available."""
        if self._tokens is None:
            return False
        self._tokens.forget()
        return True
