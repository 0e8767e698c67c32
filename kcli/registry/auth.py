"""How kcli shows itself to a registry: a login or a token, and how that is called in messages."""

from __future__ import annotations

from kcli.errors import AuthError, ConnectError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.registry.settings import RegistrySettings
    from kcli.security.http import Origin
    from kcli.security.tokens import Tokens


class Credentials:
    """Of one registry. A token is kept as `kcli/security/tokens.py` keeps it."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._from = settings.credentials
        self._extra = dict(settings.headers)
        self._tokens: Tokens | None = None
        if settings.oauth is not None:
            from kcli.security.tokens import Tokens

            self._tokens = Tokens(settings.oauth)

    async def headers(self, origin: Origin, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]:
        """More headers for a request to one of the configured addresses. Raises AuthError, ConnectError where no token
        comes."""
        if self._tokens is not None:
            token = await self._token(self._tokens)
            if not token or any(not "!" <= letter <= "~" for letter in token):
                raise AuthError(f"{self._from}: the token is empty, or has spaces, line ends or other odd characters")
            return {"Authorization": f"Bearer {token}", **self._extra}
        return origin.basic()

    async def _token(self, tokens: Tokens) -> str:
        try:
            return await tokens.token()
        except ConnectError as problem:  # AuthError too
            raise type(problem)(f"{self._from}: {problem}") from None

    def name(self, origin: Origin) -> str:
        """For messages, "" where we show nothing."""
        if self._tokens is not None:
            return f"the token of {self._from}"
        return f"the user {origin.user} of {self._from}" if origin.user else ""

    def refused(self) -> bool:
        """After a refusal: whether another token can be had."""
        if self._tokens is None:
            return False
        self._tokens.forget()
        return True
