"""The workspaces that installed the app by themselves, each with its own token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from time import monotonic

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calling.calls import SERVICE, client_on
from adapters.slack.calling.team import Team
from adapters.slack.calling.troubles import Troubles
from adapters.slack.config import InstallConfig, install_address
from adapters.slack.installing.doubts import Doubts
from adapters.slack.installing.grants import ACCESS, REFRESH, Granter, workspace_of
from adapters.slack.installing.renewals import Renewals
from adapters.steward import Finding
from rag_core.conversation.installation import Installation, Unreadable
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError, UpstreamRejected
from rag_core.ports import ForgettingStore, InstallationStore

log = logging.getLogger(__name__)

SHORTEST_LOOK = 1.0
NOT_INSTALLED = "the app is not installed in this workspace"


class Workspaces:
    """Knows every workspace, and forgets one within a minute of its leaving.

    What is stored is the truth: other hosts install and remove too. A workspace whose token is
    refused is left alone; the others never notice."""

    def __init__(
        self,
        *,
        store: InstallationStore,
        client: AsyncWebClient,
        config: InstallConfig,
        post_seconds: float,
        forgetting: ForgettingStore | None = None,
    ) -> None:
        self._store = store
        self._client = client
        self._config = config
        self._forgetting = forgetting if config.forgets else None
        self._post_seconds = post_seconds
        self._teams: dict[str, Team] = {}
        self._stored: dict[str, Installation] = {}
        self._unreadable: Sequence[Unreadable] = ()
        self._loading = asyncio.Lock()
        self._wake = asyncio.Event()
        self._looked_at = 0.0
        self._doubts = Doubts(config, leave=self._leave)
        self._renewals = Renewals(store, Granter(client, config), before=config.renew_before)

    def of(self, team_id: str) -> Team:
        team = self._teams.get(team_id)
        if team is None:
            raise UpstreamRejected(SERVICE, NOT_INSTALLED)
        return team

    async def found(self, team_id: str) -> Team:
        """Looks at most once a second: what was removed may go on asking for a while."""
        if team_id not in self._teams and monotonic() - self._looked_at > SHORTEST_LOOK:
            await self.load()
        return self.of(team_id)

    def all(self) -> Sequence[Team]:
        return list(self._teams.values())

    @property
    def names(self) -> Mapping[TenantId, str]:
        """How people call each workspace."""
        return {TenantId(each.tenant): each.name for each in self._stored.values()}

    @property
    def are_ready(self) -> bool:
        return True

    @property
    def can_answer(self) -> bool:
        """One workspace's missing scope is that workspace's alone."""
        return not self._teams or any(team.can_answer for team in self._teams.values())

    async def known(self) -> None:
        """What is stored says who we are."""

    async def add(self, installation: Installation) -> None:
        """A workspace that has just let the app in, perhaps anew."""
        async with self._loading:
            await self._store.save(installation)
            self._doubts.drop(installation.tenant)
            self._take(installation, anew=True)
        log.info("installed in a workspace", extra={"tenant": installation.tenant})

    async def load(self) -> None:
        """Take over what is stored; StorageError where that cannot be read."""
        async with self._loading:
            self._looked_at = monotonic()
            found = await self._store.all(Platform.SLACK)
            readable = [each for each in found if isinstance(each, Installation)]
            self._unreadable = [each for each in found if isinstance(each, Unreadable)]
            for tenant in self._teams.keys() - {each.tenant for each in readable}:
                self._drop(TenantId(tenant))
            for installation in readable:
                self._take(installation)

    def gone(self, team_id: str, *, uninstalled: bool) -> None:
        if (team := self._teams.get(team_id)) is not None:
            self._doubts.told(TenantId(team_id), team, uninstalled=uninstalled)
            self._wake.set()

    def findings(self, team_id: str | None = None) -> Sequence[Finding]:
        found = [
            finding
            for tenant, team in self._teams.items()
            if team_id in (None, tenant)
            for finding in team.findings()
        ]
        found += [lost(each) for each in self._unreadable if team_id in (None, each.tenant)]
        if team_id is None and not self._teams:
            found.append(nowhere(install_address(self._config)))
        return found

    async def keep(self) -> None:
        """Look after the tokens: what others installed, what was revoked, what runs out."""
        for tenant, team in list(self._teams.items()):
            self._doubts.asked(TenantId(tenant), team)
        while True:
            try:
                await self._doubts.settle()
                await self.load()
                async for renewed in self._renewals.due(list(self._stored.values())):
                    self._take(renewed)
            except FootnoteError as error:
                log.warning("workspaces are not looked after", extra={"cause": str(error)})
            self._wake.clear()
            pause = self._config.doubt_pause if self._doubts else self._config.look_seconds
            try:
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _take(self, installation: Installation, *, anew: bool = False) -> None:
        tenant, before = installation.tenant, self._stored.get(installation.tenant)
        self._stored[tenant] = installation
        team = self._teams.get(tenant)
        if team is None:
            team = self._teams[tenant] = self._made(installation)
        elif anew or before is None or before.tokens != installation.tokens:
            team.renewed(installation.tokens[ACCESS])
        team.renews = REFRESH in installation.tokens
        team.know(workspace_of(installation))

    def _made(self, installation: Installation) -> Team:
        assert self._client.session is not None
        return Team(
            client_on(
                self._client.session,
                base_url=self._client.base_url,
                token=installation.tokens[ACCESS],
            ),
            post_seconds=self._post_seconds,
            troubles=Troubles(
                of=f"{installation.name} ({installation.tenant})",
                new_token=f"Install the app there anew: {install_address(self._config)}",
            ),
            refused=partial(self._refused, installation.tenant),
        )

    def _refused(self, tenant: TenantId, reason: str) -> None:
        """A call was refused for its token: it is renewed, or the workspace has left."""
        team, stored = self._teams.get(tenant), self._stored.get(tenant)
        if team is None or stored is None:
            return
        if team.renews and reason == "token_expired":
            self._renewals.hurry(tenant)
        else:
            self._doubts.asked(tenant, team)
        self._wake.set()

    async def _leave(self, tenant: TenantId, uninstalled: bool) -> None:
        """The tokens go first; what was asked there goes where the settings say so."""
        async with self._loading:
            await self._store.remove(Platform.SLACK, tenant)
            self._drop(tenant)
        if uninstalled and self._forgetting is not None:
            count = await self._forgetting.tenant(platform=Platform.SLACK, tenant=tenant)
            log.info("a workspace is forgotten", extra={"tenant": tenant, "questions": count})

    def _drop(self, tenant: TenantId) -> None:
        self._stored.pop(tenant, None)
        if (team := self._teams.pop(tenant, None)) is not None:
            team.revoked("token_revoked")
            log.info("a workspace has left", extra={"tenant": tenant})


def lost(installation: Unreadable) -> Finding:
    return Finding(
        name=f"slack {installation.name} ({installation.tenant})",
        in_place=False,
        detail="No key in FOOTNOTE_SECRET_KEYS opens the stored tokens of this workspace.",
        advice="Give the key back that they were sealed with, or install the app there anew.",
    )


def nowhere(address: str) -> Finding:
    return Finding(
        name="slack",
        in_place=False,
        detail="No workspace has installed the app yet.",
        advice=f"Open {address} and choose a workspace.",
    )
