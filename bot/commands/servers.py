"""footnote servers: which Discord servers and Slack workspaces are served."""

from __future__ import annotations

from typing import Any

from adapters.web.documents.values import tenant_document
from bot.admissions import CHATS, every_tenant, named_in, platform_of
from bot.commands.lists import minute, own_database
from bot.output import notices, print_json, terminal
from bot.reach import reach
from bot.settings import Settings, read_settings
from rag_core.conversation.key import TenantId
from rag_core.storage.tenants import Tenants

NOBODY_YET = "No server or workspace was met yet: the first one is allowed."


async def list_servers(*, as_json: bool) -> int:
    settings = read_settings()
    async with own_database() as database:
        known = await every_tenant(settings, Tenants(database))
    documents = [tenant_document(each) for each in known]
    if as_json:
        print_json({"servers": documents})
        return 0
    for document in documents:
        terminal().print(told(document), soft_wrap=True)
    if not documents:
        terminal().print(NOBODY_YET)
    for sentence in decided_by_settings(settings):
        notices().print(sentence, soft_wrap=True)
    return 0


async def decide(server: str, trust: str, *, as_json: bool) -> int:
    """The running bot does it, and holds to it at once; without one, a house opened for it."""
    platform_of(TenantId(server))  # a wrong id needs no house
    async with reach(read_settings()) as house:
        document = await house.post("/servers", {"id": server, "trust": trust})
    if as_json:
        print_json(document)
    else:
        terminal().print(told(document), soft_wrap=True)
    return 0


def told(document: dict[str, Any]) -> str:
    name = f" {document['name']}" if document["name"] else ""
    place = f"{document['platform']} {document['id']}{name}"
    return f"{place}: {document['state']} since {minute(document['since'])}"


def decided_by_settings(settings: Settings) -> list[str]:
    named = [named_in(settings, platform) for platform in CHATS]
    return [f"{each.variable} decides: {', '.join(sorted(each.ids))}." for each in named if each]
