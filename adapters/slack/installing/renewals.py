"""Tokens that run out, renewed in time, on whichever host comes to it first."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

from adapters.slack.installing.grants import REFRESH, Granter
from rag_core.conversation.installation import Installation
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import StorageError, UpstreamError
from rag_core.ports import InstallationStore

log = logging.getLogger(__name__)


class Renewals:
    """A renewal's word is good once, so its answer is never lost while we live."""

    def __init__(self, store: InstallationStore, granter: Granter, *, before: float) -> None:
        self._store = store
        self._granter = granter
        self._before = timedelta(seconds=before)
        self._hurried: set[TenantId] = set()
        self._unsaved: dict[TenantId, Installation] = {}

    def hurry(self, tenant: TenantId) -> None:
        """Slack says that the token has run out already."""
        self._hurried.add(tenant)

    async def due(self, stored: Sequence[Installation]) -> AsyncIterator[Installation]:
        """Those that have another token now."""
        for installation in stored:
            if self._is_due(installation):
                renewed = await self._renewed(installation)
                if renewed is not None:
                    self._hurried.discard(renewed.tenant)
                    yield renewed

    def _is_due(self, installation: Installation) -> bool:
        ends = installation.expires_at
        soon = ends is not None and ends - datetime.now(UTC) < self._before
        return REFRESH in installation.tokens and (
            soon or installation.tenant in self._hurried or installation.tenant in self._unsaved
        )

    async def _renewed(self, installation: Installation) -> Installation | None:
        tenant = installation.tenant
        renewed = self._unsaved.get(tenant)
        if renewed is None:
            newest = await self._store.get(Platform.SLACK, tenant)
            if newest is None or newest.tokens != installation.tokens:
                return newest  # removed, or renewed by another host
            try:
                renewed = await self._granter.renewed(newest)
            except UpstreamError as error:
                about = {"tenant": tenant, "cause": str(error)}
                log.warning("a token was not renewed; it is tried again", extra=about)
                return None
        self._unsaved[tenant] = renewed
        try:
            await self._store.save(renewed)
        except StorageError as error:
            about = {"tenant": tenant, "cause": str(error)}
            log.error("a renewed token is not stored yet", extra=about)
        else:
            del self._unsaved[tenant]
            log.info("a token was renewed", extra={"tenant": tenant})
        return renewed
