"""Is everything in place? One examination for the command line and for admins in a chat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from adapters.platform import ExaminesItself
from adapters.steward import Finding
from bot.door import own_folder
from bot.examination.books import of_books, of_closed_books
from bot.examination.look import Check, side_by_side
from bot.examination.machine import of_machine
from bot.examination.models import of_models
from bot.examination.staff_answers import of_staff_answers
from bot.examination.stores import of_stores
from bot.examination.usage import of_usage
from bot.services import Services
from bot.settings import Settings
from rag_core.books.policy import Place
from rag_core.conversation.key import TenantId


class Doctor:
    """Asks machine, database, index, models and platforms for something small, side by side.

    Without services it looks at what the settings name, where a house cannot be opened."""

    def __init__(
        self,
        settings: Settings,
        services: Services | None = None,
        platforms: Sequence[ExaminesItself] = (),
        tokens: Sequence[Check] = (),
    ) -> None:
        self._settings = settings
        self._services = services
        self._platforms = platforms
        self._tokens = tokens

    async def everything(self) -> Sequence[Finding]:
        """For who keeps the machine: the house, its tokens, and each platform's own words."""
        checks = [*self._house(None), *self._tokens, *map(own_words, self._platforms)]
        return once_each(await side_by_side(checks))

    async def for_admins(
        self, platform: ExaminesItself | None, place: Place, *, category_id: str = ""
    ) -> Sequence[Finding]:
        """For admins of one server or workspace, who see nothing of the others, and of the books
        what they see from where they ask."""
        own = [] if platform is None else [own_words(platform, tenant=place.tenant)]
        return await side_by_side([*self._house(place, category_id), *own])

    def _house(self, within: Place | None, category_id: str = "") -> Sequence[Check]:
        """What every platform stands on."""
        settings, services = self._settings, self._services
        folder = own_folder(settings.data_dir)
        embedder = services.embedder if services else None
        checks = [
            *of_machine(settings, folder),
            *of_stores(settings, folder),
            *of_models(settings, folder, embedder),
        ]
        if services is not None:
            checks += [*of_books(services, within, category_id), *of_usage(services, within)]
        if services is not None and within is None:  # admins are not told what is kept from them
            checks += [of_closed_books(services), of_staff_answers(services)]
        return checks


def own_words(platform: ExaminesItself, *, tenant: TenantId | None = None) -> Check:
    """What an open platform says of itself, everywhere or in one server or workspace."""
    name, look = platform.platform.value, partial(platform.findings, tenant=tenant)
    return Check(name=name, look=look, advice="Look for the reason in the log.")


def once_each(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Of two findings of one name the later one: an open platform knows more than its token."""
    return list({found.name: found for found in findings}.values())
