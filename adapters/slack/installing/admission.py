"""Lets the app into a workspace: a code becomes a token, which is checked and stored."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from slack_sdk.web.async_client import AsyncWebClient

from adapters.admissions import Admissions
from adapters.slack.calling.calls import client_on, slack_errors
from adapters.slack.calling.team import reason_of
from adapters.slack.config import InstallConfig
from adapters.slack.installing.grants import Grant, Granter, installed
from adapters.slack.installing.workspace import who_is
from adapters.slack.installing.workspaces import Workspaces
from rag_core.conversation.key import TenantId
from rag_core.errors import UpstreamError, UpstreamRejected
from rag_core.ports import InstallationStore

log = logging.getLogger(__name__)

OF_THE_APP = frozenset(
    {
        "bad_client_secret",
        "bad_redirect_uri",
        "invalid_client_id",
        "invalid_scope",
        "oauth_authorization_url_mismatch",
    }
)
"""Refusals that are no matter of who installs, but of who runs this Footnote."""


MEND = {
    "advice": "Correct SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, or the redirect address in the app's"
    " settings."
}


class Declined(Exception):
    """Why a workspace was not let in, in a sentence for who tried."""

    def __init__(self, status: int, sentence: str, *, may_retry: bool = True) -> None:
        super().__init__(sentence)
        self.status = status
        self.may_retry = may_retry


class Admission:
    """What is not wanted after all is given back: no token stays alive that nobody keeps."""

    def __init__(
        self,
        *,
        store: InstallationStore,
        workspaces: Workspaces,
        client: AsyncWebClient,
        config: InstallConfig,
        admissions: Admissions,
    ) -> None:
        self._admissions = admissions
        self._store = store
        self._workspaces = workspaces
        self._client = client
        self._granter = Granter(client, config)

    async def is_first(self, state: str, *, until: datetime) -> bool:
        """Whether nobody has come back with this state before."""
        return await self._store.use_once(f"slack install {state}", until=until)

    async def admit(self, code: str) -> str:
        """The name of the workspace that the app is in now."""
        grant = await self._granted(code)
        own = self._own_client(grant)
        if (sentence := await self._unwanted(grant)) is not None:
            await give_back(own)
            raise Declined(403, sentence, may_retry=grant.for_organisation)
        with slack_errors():
            workspace = await who_is(own)
        if workspace.team_id != grant.team_id:
            await give_back(own)
            raise Declined(502, "Slack's answers do not fit together.")
        await self._workspaces.add(installed(grant, workspace, at=datetime.now(UTC)))
        return grant.name

    async def _granted(self, code: str) -> Grant:
        try:
            return await self._granter.granted(code)
        except UpstreamRejected as error:
            if error.retryable:
                raise
            reason = reason_of(error)
            if reason in OF_THE_APP:
                log.error("slack refuses the app's own settings", extra={"cause": reason, **MEND})
                raise Declined(
                    502,
                    f"Slack does not accept this Footnote's own settings ({reason}). Please tell"
                    " whoever runs it.",
                ) from error
            raise Declined(400, f"Slack no longer takes its own answer ({reason}).") from error

    async def _unwanted(self, grant: Grant) -> str | None:
        if grant.for_organisation:
            return (
                "It was installed for a whole organisation, and Footnote is installed workspace by"
                " workspace: choose one workspace instead of the organisation."
            )
        if not await self._admissions.meet(TenantId(grant.team_id), grant.name):
            return (
                f"The workspace {grant.name} ({grant.team_id}) is not allowed yet. Ask whoever runs"
                f" this Footnote to allow it (footnote servers allow {grant.team_id}), then install"
                " it again."
            )
        return None

    def _own_client(self, grant: Grant) -> AsyncWebClient:
        assert self._client.session is not None
        return client_on(self._client.session, base_url=self._client.base_url, token=grant.access)


async def give_back(client: AsyncWebClient) -> None:
    """Best effort: whoever let us in may also remove the app in Slack."""
    try:
        with slack_errors():
            await client.auth_revoke()
    except UpstreamError as error:
        log.warning("an unwanted token was not given back", extra={"cause": str(error)})
