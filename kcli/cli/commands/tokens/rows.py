"""Delegation tokens as rows; the HMAC, which proves one, is in none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.users.tokens import Token
from kcli.cli.output.timestamps import known

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row


def token_row(token: Token) -> Row:
    """A token without what proves it."""
    return {
        "token_id": token.id,
        "owner": token.owner,
        "issued": known(token.issued, "seconds"),
        "expires": known(token.expires, "seconds"),
        "max_time": known(token.max_time, "seconds"),
        "requester": token.requester,
        "renewers": token.renewers,
    }
