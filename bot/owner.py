"""What the owner of a data folder asks of the house through the private door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adapters.platform import ChatPlatform
from adapters.steward import Finding
from bot.admissions import admissions_for, platform_of
from bot.backup import write_backup
from bot.doctor import Doctor
from bot.examination.tokens import of_tokens
from bot.examination.web_door import web_door
from bot.opening import page_address, sign_in_link
from bot.services import Services
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant, Trust


class Owner:
    """Examines the open house, and copies it."""

    def __init__(
        self,
        services: Services,
        platforms: Sequence[ChatPlatform] = (),
        *,
        listens_on: tuple[str, int] | None = None,
        local_key: str | None = None,
    ) -> None:
        """`listens_on` is where the web door is, if it is open."""
        self._services = services
        self._listens_on = listens_on
        self._local_key = local_key
        tokens = of_tokens(services.settings, services.stores.installations)
        self._doctor = Doctor(services.settings, services, platforms, tokens=tokens)

    async def examine(self) -> Sequence[Finding]:
        found = await self._doctor.everything()
        if self._listens_on is None:
            return found
        return [web_door(self._services.settings, self._listens_on), *found]

    async def page(self) -> Mapping[str, Any]:
        if self._listens_on is None:  # a command's own door: there is no page
            return {"address": None, "link": None}
        address = page_address(*self._listens_on)
        return {"address": address, "link": sign_in_link(address, self._local_key)}

    async def forget(
        self, platform: Platform, *, user: str | None, tenant: str | None
    ) -> Mapping[str, Any]:
        forgetting, count = self._services.forgetting, 0
        if user is not None:
            count += await forgetting.person(platform=platform, asker_id=user)
        if tenant is not None:
            count += await forgetting.tenant(platform=platform, tenant=TenantId(tenant))
        return {"platform": platform.value, "questions": count}

    async def decide(self, tenant: TenantId, trust: Trust) -> KnownTenant:
        settings, store = self._services.settings, self._services.stores.tenants
        return await admissions_for(platform_of(tenant), settings, store).decide(tenant, trust)

    async def backup(self, file: Path) -> Mapping[str, Any]:
        services = self._services
        return asdict(
            await write_backup(file, database=services.settings.database, index=services.vectors)
        )
