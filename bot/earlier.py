"""Which threads of each platform others may be led to."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.discord.earlier import opens as opens_on_discord
from adapters.slack.earlier import opens as opens_on_slack
from adapters.web.pages.earlier import opens as opens_on_page
from rag_core.conversation.key import Platform
from rag_core.insight.repeats import Opens, Repeats, RepeatStore
from rag_core.retrieval.retriever import Retriever

OPENS: Mapping[Platform, Opens] = {
    Platform.DISCORD: opens_on_discord,
    Platform.SLACK: opens_on_slack,
    Platform.WEB: opens_on_page,
}
"""The terminal has no threads that anybody could be led to."""


def repeats_of(store: RepeatStore, retriever: Retriever) -> Repeats:
    return Repeats(store=store, meaning=retriever, opens=OPENS)
