"""What the owner of a data folder asks of the house through the private door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adapters.platform import ChatPlatform
from adapters.steward import Finding
from bot.backup import write_backup
from bot.doctor import Doctor
from bot.wiring import Services


class Owner:
    """Examines the open house, and copies it."""

    def __init__(self, services: Services, platforms: Sequence[ChatPlatform] = ()) -> None:
        self._services = services
        self._doctor = Doctor(services, platforms)

    async def examine(self) -> Sequence[Finding]:
        return await self._doctor.everything()

    async def backup(self, file: Path) -> Mapping[str, Any]:
        services = self._services
        return asdict(
            await write_backup(file, database=services.settings.database, index=services.vectors)
        )
