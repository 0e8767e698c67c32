"""An OIDC provider on loopback: client credentials in, RS256 tokens out, and the keys to check them with."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCE, ISSUER = "kafka", "tests"


def b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def unsecured(sub: str, seconds: float = 300) -> str:
    """A token that nobody signed, as Kafka's default validator takes it."""
    now = time.time()
    head, body = {"alg": "none"}, {"sub": sub, "iat": now, "exp": now + seconds}
    return f"{b64(json.dumps(head).encode())}.{b64(json.dumps(body).encode())}."


class Idp:
    """`with Idp({"client": "secret"}) as idp:` answers at `idp.token_url` and `idp.jwks_url`. `asked` are the forms
    that came; `keys` verify the assertions of a client (RFC 7523); `roles` of a client are in its tokens; `lifetime` is
    of tokens, in seconds; `answers` come first (status, body, headers)."""

    def __init__(
        self, clients: dict[str, str], lifetime: float = 300, roles: dict[str, list[str]] | None = None
    ) -> None:
        self.clients = clients
        self.roles = roles or {}
        self.lifetime = lifetime
        self.keys: dict[str, rsa.RSAPublicKey | ec.EllipticCurvePublicKey] = {}
        self.asked: list[dict[str, str]] = []
        self.answers: list[tuple[int, bytes, dict[str, str]]] = []
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.token_url, self.jwks_url = f"{self.url}/token", f"{self.url}/jwks"

    def token(self, sub: str, seconds: float | None = None) -> str:
        now = time.time()
        claims = {
            "sub": sub, "aud": AUDIENCE, "iss": ISSUER, "iat": int(now), "scope": "kafka",
            "exp": int(now + (self.lifetime if seconds is None else seconds)),
        }  # fmt: skip
        if sub in self.roles:
            claims["groups"] = self.roles[sub]
        signed = f"{b64(json.dumps({'alg': 'RS256', 'kid': 'k1'}).encode())}.{b64(json.dumps(claims).encode())}"
        return f"{signed}.{b64(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    def _jwks(self) -> bytes:
        numbers = self._key.public_key().public_numbers()
        key = {
            "kty": "RSA", "kid": "k1", "alg": "RS256", "use": "sig",
            "n": b64(numbers.n.to_bytes(256, "big")), "e": b64(numbers.e.to_bytes(3, "big")),
        }  # fmt: skip
        return json.dumps({"keys": [key]}).encode()

    def _grant(self, authorization: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        client, _, secret = b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if not client:  # both ways are of RFC 6749 2.3.1
            client, secret = form.get("client_id", ""), form.pop("client_secret", "")
        if (jwt := form.get("client_assertion") or form.get("assertion")) is not None:
            client, secret = self._asserted(jwt)
        self.asked.append(form | {"client": client})
        if self.answers:
            return self.answers.pop(0)
        if self.clients.get(client) != secret or form.get("grant_type") not in ("client_credentials", JWT_BEARER):
            return 401, b'{"error":"invalid_client","error_description":"no such client\\u001b[31m"}', {}
        answer = {"access_token": self.token(client), "token_type": "Bearer", "expires_in": self.lifetime}
        return 200, json.dumps(answer).encode(), {}

    def _asserted(self, jwt: str) -> tuple[str, str]:
        """The client that an assertion names, and its secret if the signature and the times are right."""
        signed, _, signature = jwt.rpartition(".")
        header, claims = (json.loads(urlsafe_b64decode(part + "==")) for part in signed.split("."))
        client, made = claims.get("sub", ""), urlsafe_b64decode(signature + "==")
        key = self.keys.get(client)
        try:
            if isinstance(key, rsa.RSAPublicKey) and header["alg"] == "RS256":
                key.verify(made, signed.encode(), padding.PKCS1v15(), hashes.SHA256())
            elif isinstance(key, ec.EllipticCurvePublicKey) and header["alg"] == "ES256":
                numbers = (int.from_bytes(made[:32], "big"), int.from_bytes(made[32:], "big"))
                key.verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(hashes.SHA256()))
            else:
                return client, ""
        except InvalidSignature:
            return client, ""
        good = claims["aud"] == self.token_url and claims["nbf"] <= claims["iat"] <= time.time() < claims["exp"]
        return client, self.clients.get(client, "") if good else ""

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        idp = self

        class Handler(BaseHTTPRequestHandler):
            def _say(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                self._say(200, idp._jwks(), {})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self._say(*idp._grant(self.headers.get("Authorization", ""), body))

            def log_message(self, format: str, *_: Any) -> None:
                """Nobody reads it."""

        return Handler

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
