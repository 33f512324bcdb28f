"""Greetings, thanks and questions about the bot: what needs no document to be answered."""

from __future__ import annotations

import re
from enum import StrEnum

from rag_core.agent.phrases import Phrases

GREETING = re.compile(
    r"(?:hi|hiya|hey|hello|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|hallo|moin"
    r"|servus|guten (?:morgen|tag|abend)|hola|buenos d[ií]as|buenas (?:tardes|noches)|buenas"
    r"|bonjour|bonsoir|salut|coucou)"
    r"(?: (?:there|all|everyone|everybody|folks|team|bot|footnote|again|zusammen|a todos"
    r"|tout le monde))?(?:,? how are you(?: doing)?(?: today)?)?"
)
THANKS = re.compile(
    r"(?:(?:ok|okay|great|cool|perfect|nice|super),? )?"
    r"(?:many thanks|thanks|thank you|thx|ty|cheers|danke(?:sch[öo]n)?|vielen dank|gracias"
    r"|muchas gracias|merci(?: beaucoup)?)"
    r"(?: (?:a lot|a bunch|so much|very much|again|bot|footnote|sehr|vielmals|for (?:your|the)"
    r" (?:help|answer)|that helps|that helped))?(?:,? (?:that|this) (?:helps|helped|was helpful))?"
    r"|(?:great|perfect|awesome|got it|that helps|that helped|super|prima|perfecto|parfait)"
)
ABOUT = re.compile(
    r"(?:who|what) are you|who (?:made|built|created) you|what (?:can|do) you do"
    r"|what can i ask(?: you)?(?: about)?|how do(?: i)? (?:use you|you work)|are you (?:a bot|human"
    r"|an ai|a robot|real)|what(?:'s| is) your name|help|introduce yourself"
    r"|(?:tell me )?what (?:you can do|you are)|how can you help(?: me)?|what is footnote"
    r"|wer bist du|was bist du|was kannst du(?: tun)?|wie funktionierst du|hilfe"
    r"|qui[eé]n eres|qu[eé] puedes hacer|ayuda|qui es[- ]tu|qui [êe]tes[- ]vous"
    r"|que peux[- ]tu faire|que pouvez[- ]vous faire|aide"
)
SHORTEST_SEARCH = 3


class SmallTalk(StrEnum):
    """What somebody says who asks nothing of the documents."""

    GREETING = "greeting"
    THANKS = "thanks"
    ABOUT = "about"

    def reply(self, phrases: Phrases) -> str:
        return str(getattr(phrases, self.value))


def small_talk(message: str) -> SmallTalk | None:
    """What kind of small talk a message is; None for everything that may be a question."""
    plain = " ".join(re.sub(r"[^\w\s',-]+", " ", message.lower().replace("’", "'")).split())
    plain = plain.strip(" ,'-")
    rules = (
        (SmallTalk.GREETING, GREETING),
        (SmallTalk.THANKS, THANKS),
        (SmallTalk.ABOUT, ABOUT),
    )
    for kind, rule in rules:
        if rule.fullmatch(plain):
            return kind
    return small_talk_after_greeting(plain)


def small_talk_after_greeting(plain: str) -> SmallTalk | None:
    """`Hi, who are you?` is small talk too; `Hi, how do I deploy?` is not."""
    greeting = GREETING.match(plain)
    if not greeting or not re.match(r"[\s,]", plain[greeting.end() :]):
        return None
    rest = plain[greeting.end() :].strip(" ,'-")
    return SmallTalk.ABOUT if ABOUT.fullmatch(rest) else None


def is_too_short(message: str) -> bool:
    """Whether there is too little in a message to search for."""
    return sum(character.isalnum() for character in message) < SHORTEST_SEARCH
