"""footnote books bind · unbind · bindings · remove: who reads what, and what goes."""

from __future__ import annotations

from typing import Any

from bot.commands.lists import own_database
from bot.output import counted, print_json, terminal
from bot.reach import reach
from bot.settings import read_settings
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.storage.policies import Policies

WHEREVER = "wherever it is"
PLACE = frozenset({"platform", "tenant", "channel_id", "book_ids", "bound_by_operator"})


async def bind(
    platform: str, channel: str, books: list[str], *, tenant: str | None, as_json: bool
) -> int:
    wanted = {"platform": platform, "channel_id": channel, "book_ids": books, "tenant": tenant}
    async with reach(read_settings()) as house:
        document = await house.post("/shelves/bindings", wanted)
    if as_json:
        print_json(document)
    else:
        for binding in document["bindings"]:
            terminal().print(told(binding), soft_wrap=True)
    return 0


def told(binding: dict[str, Any]) -> str:
    where = binding["channel_id"] or "every channel"
    place = f"{binding['platform']} {where} ({binding['tenant'] or WHEREVER})"
    return f"{place} reads {', '.join(binding['book_ids']) or 'the default book'}."


async def remove(book_id: str, *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        document = await house.delete(f"/shelves/books/{book_id}")
    if as_json:
        print_json(document)
    else:
        terminal().print(
            f"{book_id} is gone, with {counted(document['files'], 'file')} and"
            f" {counted(document['chunks'], 'passage')}.",
            soft_wrap=True,
        )
    return 0


async def list_bindings(*, as_json: bool) -> int:
    """Every place that has words of its own, and what they are."""
    async with own_database() as database:
        said = await Policies(database).all()
    documents = [policy_document(place, policy) for place, policy in said.items()]
    if as_json:
        print_json({"bindings": documents})
    for document in () if as_json else documents:
        terminal().print(
            f"{told(document)}{chosen_in_chat(document)}{further(document)}", soft_wrap=True
        )
    if not documents and not as_json:
        terminal().print("No place is bound: all read the default book.")
    return 0


def policy_document(place: Place, policy: ChannelPolicy) -> dict[str, Any]:
    return {
        "platform": place.platform.value,
        "tenant": place.tenant,
        "channel_id": place.channel_id,
        "book_ids": list(policy.books),
        "modules": list(policy.modules),
        "hint_only": policy.hint_only,
        "auto_answer": policy.auto_answer,
        "released_at": policy.released_at.isoformat() if policy.released_at else None,
        "hardware_tier": policy.reader.hardware_tier,
        "proficiency_levels": list(policy.reader.proficiency_levels),
        "tone": policy.tone,
        "bound_by_operator": list(policy.operator_books),
    }


def chosen_in_chat(document: dict[str, Any]) -> str:
    """Whose choice the books are, where it is not the operator's."""
    bound = set(document["book_ids"]) <= set(document["bound_by_operator"])
    return "" if bound else " Chosen there, not by you."


def further(document: dict[str, Any]) -> str:
    """What else was said for a place, in a line."""
    named = {n: v for n, v in document.items() if n not in PLACE and v not in (None, [])}
    said = "; ".join(f"{name} {value}" for name, value in named.items())
    return f" {said}." if said else ""
