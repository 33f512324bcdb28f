"""Greetings, thanks and questions about the bot: what needs no document to be answered."""

from __future__ import annotations

import re
from enum import StrEnum
from unicodedata import combining, normalize

from rag_core.agent.phrases import Phrases


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


GREETINGS = listed(
    """
    hi hiya hey hello howdy yo greetings good morning afternoon evening day hallo moin servus
    guten morgen tag abend hola buenos dias buenas tardes noches bonjour bonsoir salut coucou"""
)
HALVES = frozenset({"good", "guten", "buenos", "day", "tag"})
"""What greets only with the word beside it."""
THANKS = listed(
    """
    thanks thank thx ty cheers danke dankeschon dankeschoen vielen dank gracias merci great
    perfect awesome got helps helped helpful super prima perfecto parfait ok okay cool nice"""
)
ADDRESSED = listed(
    """
    there all everyone everybody folks team bot footnote again zusammen a todos tout le monde
    how are you doing today"""
)
WITH_THANKS = listed(
    """
    many you very much so a lot bunch again bot footnote that this was it for your the help
    answer sehr vielmals schon muchas mucho beaucoup"""
)
YOU = listed(
    """
    you your yourself u footnote du dich dir dein deine sie tu te ti usted tus vous votre vos
    toi t"""
)
"""Whom somebody speaks to who asks about the bot; Spanish verbs say it alone."""
SPANISH_YOU = listed(
    """
    eres puedes haces funcionas sirves sabes llamas ayudarme hizo creo"""
)
ABOUT = listed(
    """
    who what are is can could do does did how use work works made make built build created wrote
    trained developed a an the ai bot chatbot human robot real person machine model language llm
    which name called help me us with for to ask questions about introduce tell s re so even or
    oder ou o wer was bist kannst kann ich tun alles wie funktionierst funktioniert hat gemacht
    gebaut entwickelt erstellt eine ein ki mensch maschine roboter heisst hilfe helfen mir
    fragen quien que puedes hacer eres como funcionas te hizo creo una ia un robot humano ayuda
    llamas para sirves puedo preguntar preguntarte ayudarme qui es une etes est peux pouvez
    faire fonctionnes fonctionnez fait cree comment appelles appelez robot humain puis demander
    aide moi m l sert sers"""
)
BARE_HELP = frozenset({"help", "hilfe", "ayuda", "aide"})
LONGEST_ABOUT = 10
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
    words = plain_words(message)
    if not words:
        return None
    if is_greeting(words):
        return SmallTalk.GREETING
    if any(word in THANKS for word in words) and (THANKS | WITH_THANKS).issuperset(words):
        return SmallTalk.THANKS
    greeted = next((n for n, word in enumerate(words) if word not in GREETINGS | ADDRESSED), 0)
    if is_about_bot(words) or (words[0] in GREETINGS and is_about_bot(words[greeted:])):
        return SmallTalk.ABOUT
    return None


def is_greeting(words: list[str]) -> bool:
    is_half = len(words) == 1 and words[0] in HALVES
    return not is_half and words[0] in GREETINGS and (GREETINGS | ADDRESSED).issuperset(words)


def is_about_bot(words: list[str]) -> bool:
    """Whether nothing is spoken of but whom one speaks to: who that is, and what it can do."""
    if len(words) > LONGEST_ABOUT or not words:
        return False
    if len(words) == 1:
        return words[0] in BARE_HELP
    speaks_to = not (YOU | SPANISH_YOU).isdisjoint(words)
    return speaks_to and (ABOUT | YOU | SPANISH_YOU).issuperset(words)


def plain_words(message: str) -> list[str]:
    """The words in small letters without accents; apostrophes part them."""
    bare = "".join(c for c in normalize("NFKD", message.lower()) if not combining(c))
    return re.findall(r"[^\W_]+", bare.replace("ß", "ss"))


def is_too_short(message: str) -> bool:
    """Whether there is too little in a message to search for."""
    return sum(character.isalnum() for character in message) < SHORTEST_SEARCH
