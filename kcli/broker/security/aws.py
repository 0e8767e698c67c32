"""AWS credentials for AWS_MSK_IAM: from the settings, from the environment, or by botocore if it is installed
(profiles, roles, instance metadata). The signature is in `kcli/proto/msk_iam.py`."""

from __future__ import annotations

import os
from time import gmtime, strftime

from kcli.errors import AuthError
from kcli.proto.msk_iam import payload
from kcli.proto.sasl import Announced
from kcli.security import Aws
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def announce(aws: Aws | None, host: str) -> Announced:
    """The exchange with the broker at `host`, signed now. Raises AuthError without credentials or region."""
    aws = aws or Aws()
    access_key, secret_key, token = _credentials(aws, os.environ)
    region = aws.region or region_of(host) or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise AuthError(f"AWS_MSK_IAM: the region is not in the name {host}: set AWS_REGION")
    stamp = strftime("%Y%m%dT%H%M%SZ", gmtime())
    return Announced("AWS_MSK_IAM", payload(host, region, access_key, secret_key, token, stamp))


def region_of(host: str) -> str:
    """The region in the name of an MSK broker (b-1.name.x.c2.kafka.eu-west-1.amazonaws.com, and serverless ones)."""
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
            "AWS_MSK_IAM: there are no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for profiles and roles install "
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
