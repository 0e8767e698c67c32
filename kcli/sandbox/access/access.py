"""The sandbox's access control: ACLs, SCRAM users and delegation tokens, each imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kcli.sandbox.access.acls import Acls, Authorizer
from kcli.sandbox.access.delegation_tokens import DelegationTokens
from kcli.sandbox.access.scram_users import ScramUsers
from kcli.sandbox.log.recovery import State

Note = Callable[[str, dict[str, Any]], None]


class Access:
    """`note` records a change in the journal; `passwords` are the initial ones of SCRAM users; `authorizer` is set if
    ACLs are enforced."""

    def __init__(
        self, note: Note, passwords: Mapping[str, str], super_users: Sequence[str] | None, everyone: bool
    ) -> None:
        self._note = note
        self._passwords = dict(passwords)
        self._acls: Acls | None = None
        self._scram: ScramUsers | None = None
        self._tokens: DelegationTokens | None = None
        self.authorizer: Authorizer | None = None
        if super_users is not None:
            from kcli.sandbox.access.acls import Authorizer

            self.authorizer = Authorizer(self.acls, super_users, everyone)

    @property
    def acls(self) -> Acls:
        if self._acls is None:
            from kcli.sandbox.access.acls import Acls

            self._acls = Acls(self._note)
        return self._acls

    @property
    def scram(self) -> ScramUsers:
        if self._scram is None:
            from kcli.sandbox.access.scram_users import ScramUsers

            self._scram = ScramUsers(self._passwords, self._note)
        return self._scram

    @property
    def tokens(self) -> DelegationTokens:
        if self._tokens is None:
            from kcli.sandbox.access.delegation_tokens import DelegationTokens

            self._tokens = DelegationTokens(self._note)
        return self._tokens

    def restore(self, state: State) -> None:
        """Restore the state from the journal."""
        if state.acls:
            self.acls.restore(state.acls.values())
        if state.scram:
            self.scram.restore(state.scram.values())
        if state.tokens:
            self.tokens.restore(state.tokens.values())
