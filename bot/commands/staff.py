"""footnote staff: the answers of the staff that were kept; sharing and withdrawing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from adapters.staff_answers import WITHDRAWN
from adapters.web.routes.staff_answers import staff_document
from bot.commands.lists import own_database
from bot.output import print_json, terminal
from bot.reach import reach
from bot.settings import read_settings
from rag_core.storage.staff_answers import StaffAnswers


async def list_staff_answers(*, as_json: bool) -> int:
    async with own_database() as database:
        documents = [staff_document(each) for each in await StaffAnswers(database).all()]
    if as_json:
        print_json({"staff_answers": documents})
        return 0
    for one in documents:
        terminal().print(
            f"{one['book_id']}: {one['question'] or 'kept without a question'}\n"
            f"  {one['author']}, {one['said_at'][:10]}, until {one['expires_at'][:10]}:"
            f" {one['text']}\n  {one['id']}  {one['link'] or ''}\n  {found_in(one)}",
            soft_wrap=True,
        )
    if not documents:
        terminal().print("No answers of the staff are kept yet.")
    return 0


def found_in(document: dict[str, Any]) -> str:
    """Where readers find it, in a line."""
    if document["platform"] == "web":
        return "found wherever the book is read"
    places = [f"{document['platform']}:{document['tenant']}", *document["shared_with"]]
    return f"found in {', '.join(places)}"


async def share_staff_answer(answer_id: UUID, places: Sequence[str], *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        wanted = {"places": list(places)}
        shared = await house.put(f"/staff-answers/{answer_id}/sharing", wanted)
    if as_json:
        print_json(shared)
    else:
        terminal().print(f"This answer is {found_in(shared)}.", soft_wrap=True)
    return 0


async def withdraw_staff_answer(answer_id: UUID, *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        withdrawn = await house.delete(f"/staff-answers/{answer_id}")
    if as_json:
        print_json(withdrawn)
    else:
        terminal().print(WITHDRAWN)
    return 0
