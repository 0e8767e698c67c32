"""Requests to AWS, signed (SigV4) by botocore. It finds the credentials too: of the environment, a profile, a role."""

from __future__ import annotations

import os

from kcli.errors import AuthError, UsageError
from kcli.redact import remember
from kcli.tasks import in_daemon_thread
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.security.http import Origin

SIGNED = ("Content-Type", "X-Amz-Target")
MISSING = "requests to AWS Glue are signed by botocore: pip install 'kcli-kafka[aws]'"


class AwsCredentials:
    """Of one service in one region, "" for that of the environment. Raises UsageError without botocore or region."""

    def __init__(self, service: str, region: str) -> None:
        try:
            from botocore.session import Session
        except ImportError:
            raise UsageError(MISSING) from None
        self._service = service
        self._region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
        if not self._region:
            raise UsageError("the region of AWS Glue is not known: set schema.registry.glue.region, or AWS_REGION")
        self._session = Session()
        self._name = ""

    async def headers(self, origin: Origin, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]:
        """What the signature needs besides these headers. Raises AuthError without credentials."""
        given = {name: headers[name] for name in SIGNED if name in headers}
        return await in_daemon_thread("aws", self._signed, f"{origin.url}/", given, body or b"")

    def _signed(self, url: str, headers: dict[str, str], body: bytes) -> dict[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        try:
            held = self._session.get_credentials()
            found = held.get_frozen_credentials() if held is not None else None
        except BotoCoreError as problem:
            raise AuthError(f"the credentials of AWS: {printable(str(problem))}") from None
        if found is None:
            raise AuthError("there are no credentials of AWS: set AWS_ACCESS_KEY_ID, or AWS_PROFILE")
        for secret in (found.secret_key, found.token):
            if secret:
                remember(secret)
        self._name = f"the AWS access key {printable(found.access_key)} ({held.method})"
        request = AWSRequest("POST", url, headers=headers, data=body)
        SigV4Auth(found, self._service, self._region).add_auth(request)
        return dict(request.headers.items())

    def name(self, origin: Origin) -> str:
        """For messages: the id of the key, which is no secret, and where botocore found it."""
        return self._name

    def refused(self) -> bool:
        """botocore renews what expires by itself."""
        return False
