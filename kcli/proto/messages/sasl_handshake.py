"""SaslHandshake (API key 17): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Int16, Request, Response, at


class SaslHandshakeRequest(Request["SaslHandshakeResponse"], key=17, versions="0-1"):
    """Choose the SASL mechanism."""

    mechanism: str = ""


class SaslHandshakeResponse(Response, key=17, versions="0-1"):
    """The answer to SaslHandshakeRequest."""

    error_code: Int16 = 0
    mechanisms: list[str] = at(factory=list)
