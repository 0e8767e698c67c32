"""AWS credentials and signatures for AWS_MSK_IAM: from the settings, from the environment, or by botocore if it is
installed (profiles, roles, instance metadata)."""

from __future__ import annotations

import hmac
import os
from hashlib import sha256
from time import gmtime, strftime
from urllib.parse import quote

from kcli.errors import AuthError
from kcli.proto.sasl import Announced
from kcli.security import Aws
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE = "kafka-cluster"
ALGORITHM = "AWS4-HMAC-SHA256"
LIFETIME = 900  # seconds
NO_BODY = sha256(b"").hexdigest()


def announce(aws: Aws | None, host: str) -> Announced:
    """Start an exchange with the broker at `host`, signed now. Raises AuthError without credentials or region."""
    aws = aws or Aws()
    access_key, secret_key, token = _credentials(aws, os.environ)
    region = aws.region or region_of(host) or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise AuthError(f"AWS_MSK_IAM: the host name {host} does not contain the region: set AWS_REGION")
    stamp = strftime("%Y%m%dT%H%M%SZ", gmtime())
    return Announced("AWS_MSK_IAM", payload(host, region, access_key, secret_key, token, stamp))


def region_of(host: str) -> str:
    """Return the region in the name of an MSK broker (b-1.name.x.c2.kafka.eu-west-1.amazonaws.com, and serverless
    ones)."""
    parts = host.rstrip(".").lower().split(".")
    for at, part in enumerate(parts[:-2]):
        if part in ("kafka", "kafka-serverless") and parts[at + 2] == "amazonaws":
            return parts[at + 1]
    return ""


def _credentials(aws: Aws, environment: Mapping[str, str]) -> tuple[str, str, str]:
    if aws.access_key and aws.secret_key is not None:
        return aws.access_key, aws.secret_key.reveal(), aws.session_token.reveal() if aws.session_token else ""
    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    if key and secret and not aws.profile:
        return key, secret, environment.get("AWS_SESSION_TOKEN", "")
    return _by_botocore(aws.profile)


def _by_botocore(profile: str) -> tuple[str, str, str]:
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ImportError:
        raise AuthError(
            "AWS_MSK_IAM: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set; for profiles and roles, install "
            "botocore (pip install 'kcli-kafka[aws]')"
        ) from None
    try:
        credentials = Session(profile=profile or None).get_credentials()
        held = credentials.get_frozen_credentials() if credentials is not None else None
    except BotoCoreError as problem:
        raise AuthError(f"AWS_MSK_IAM: no credentials: {printable(str(problem))}") from None
    if held is None or not held.access_key:
        raise AuthError("AWS_MSK_IAM: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile")
    return held.access_key, held.secret_key, held.token or ""


def payload(
    host: str, region: str, access_key: str, secret_key: str, session_token: str, stamp: str, agent: str = "kcli"
) -> bytes:
    """Return the signed message. `stamp` is the time as `20201022T010203Z`, UTC."""
    import json

    signed = presign(host, region, access_key, secret_key, session_token, stamp)
    shown = {"version": "2020_10_22", "host": host, "user-agent": agent, "action": signed["Action"]}
    shown |= {name.lower(): value for name, value in signed.items() if name != "Action"}
    return json.dumps(shown, separators=(",", ":")).encode()


def presign(host: str, region: str, access_key: str, secret_key: str, session_token: str, stamp: str) -> dict[str, str]:
    """Return the query of the presigned request, including its signature."""
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
