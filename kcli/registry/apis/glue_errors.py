"""What AWS Glue's refusals mean, by the name of the exception in its answer."""

from __future__ import annotations

from kcli.errors import AuthError, KcliError
from kcli.registry.errors import Forbidden, NotFound, RegistryError, error_of, harmless
from kcli.security.http import Unavailable
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.security.http import Answer

NO_SUBJECT, NO_SCHEMA = 40401, 40403
SIGNATURE = frozenset(
    "UnrecognizedClientException InvalidSignatureException ExpiredTokenException InvalidClientTokenId "
    "MissingAuthenticationTokenException IncompleteSignature SignatureDoesNotMatch AuthFailure".split()
)
DENIED = ("AccessDeniedException", "AccessDenied")
LATER = frozenset(
    "ThrottlingException Throttling InternalServiceException OperationTimeoutException InternalFailure "
    "ConcurrentModificationException ServiceUnavailable".split()
)


def glue_error(answer: Answer, about: str, origin: str, credentials: str) -> KcliError:
    """As `error_of`."""
    name, words = _said(answer)
    said = f": {words}" if words else ""
    if not name:
        return error_of(answer, about, origin, credentials)
    if name in SIGNATURE:
        return AuthError(f"{origin} refused {credentials or 'the credentials of AWS'} ({name}){said}")
    if name in DENIED:
        return Forbidden(f"{about}: {origin} does not allow it to {credentials or 'the credentials of AWS'}{said}")
    if name in LATER:
        return Unavailable(f"{origin}: {name}{said}", status=answer.status)
    if name == "EntityNotFoundException":
        return NotFound(f"{about}: AWS Glue has none{said}", answer.status, NO_SUBJECT)
    return RegistryError(f"{about}: AWS Glue answered {name}{said}", answer.status)


def _said(answer: Answer) -> tuple[str, str]:
    """The name of the exception and its words, "" for an answer that is none of Glue's."""
    try:
        document = read_object(answer.body[: 64 * 1024].decode("utf-8", "replace"))
        name = document.text("__type").rpartition("#")[2]
        words = next((document.text(field) for field in ("Message", "message") if document.has(field)), "")
    except (ValueError, RecursionError):
        return "", ""
    return harmless(name, 80), harmless(words)
