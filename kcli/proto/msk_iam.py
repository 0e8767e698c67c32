"""AWS_MSK_IAM: a request to `kafka-cluster:Connect`, presigned with AWS Signature Version 4, as JSON. No I/O, no clock:
the time is given."""

from __future__ import annotations

import hmac
from hashlib import sha256
from urllib.parse import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE = "kafka-cluster"
ALGORITHM = "AWS4-HMAC-SHA256"
LIFETIME = 900  # seconds
NO_BODY = sha256(b"").hexdigest()


def payload(
    host: str, region: str, access_key: str, secret_key: str, session_token: str, stamp: str, agent: str = "kcli"
) -> bytes:
    """The message. `stamp` is the time as `20201022T010203Z`, UTC."""
    import json

    signed = presign(host, region, access_key, secret_key, session_token, stamp)
    shown = {"version": "2020_10_22", "host": host, "user-agent": agent, "action": signed["Action"]}
    shown |= {name.lower(): value for name, value in signed.items() if name != "Action"}
    return json.dumps(shown, separators=(",", ":")).encode()


def presign(host: str, region: str, access_key: str, secret_key: str, session_token: str, stamp: str) -> dict[str, str]:
    """The query of the presigned request, its signature included."""
    scope = f"{stamp[:8]}/{region}/{SERVICE}/aws4_request"
    query = {
        "Action": f"{SERVICE}:Connect",
        "X-Amz-Algorithm": ALGORITHM,
        "X-Amz-Credential": f"{access_key}/{scope}",
        "X-Amz-Date": stamp,
        "X-Amz-Expires": str(LIFETIME),
        "X-Amz-SignedHeaders": "host",
    }
    if session_token:
        query["X-Amz-Security-Token"] = session_token
    canonical = "\n".join(("GET", "/", _canonical(query), f"host:{host}", "", "host", NO_BODY))
    text = "\n".join((ALGORITHM, stamp, scope, sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{secret_key}".encode()
    for part in (stamp[:8], region, SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return {**query, "X-Amz-Signature": hmac.digest(key, text.encode(), "sha256").hex()}


def _canonical(query: Mapping[str, str]) -> str:
    return "&".join(f"{quote(name, safe='-_.~')}={quote(query[name], safe='-_.~')}" for name in sorted(query))
