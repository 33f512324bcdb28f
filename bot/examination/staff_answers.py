"""Whether kept answers of the staff are found where they were kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adapters.steward import Finding
from bot.examination.look import Check, in_place, warning
from bot.output import counted
from bot.services import Services
from rag_core.books.policy import ANY_TENANT
from rag_core.conversation.key import TenantId

NAME = "staff answers"
SHOWN = 3


def of_staff_answers(services: Services) -> Check:
    """They are found only for books that the operator bound: an answer without such a binding in
    its server or workspace waits in vain."""

    async def look() -> Sequence[Finding]:
        policies = await services.stores.policies.all()
        bound = {
            (place.platform, place.tenant, book_id)
            for place, policy in policies.items()
            for book_id in policy.operator_books
        }

        def is_bound(platform: str, tenant: TenantId, book_id: str) -> bool:
            return bool({(platform, tenant, book_id), (platform, ANY_TENANT, book_id)} & bound)

        kept = await services.stores.staff_answers.all()
        unbound = Counter(
            (*answer.place, answer.book_id)
            for answer in kept
            if not answer.is_written_down and not is_bound(*answer.place, answer.book_id)
        )
        if not unbound:
            return [in_place(NAME, f"{counted(len(kept), 'answer')} kept.")]
        places = "; ".join(
            f"{count} in {platform} {tenant} for {book_id}"
            for (platform, tenant, book_id), count in unbound.most_common(SHOWN)
        )
        detail = f"Kept, and not found there, because you did not bind the book: {places}."
        platform, tenant, book_id = unbound.most_common(1)[0][0]
        return [warning(NAME, detail, f"footnote books bind {platform} {tenant} {book_id}")]

    return Check(name=NAME, look=look, advice="Start the database.")
