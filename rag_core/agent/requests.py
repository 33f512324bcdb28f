"""Whether a message asks for something, only acknowledges, or points at what stands beside it."""

from __future__ import annotations

import re

from rag_core.agent.language.words import listed, meant
from rag_core.agent.smalltalk import SmallTalk, small_talk

LONGEST_TALK = 300
"""Characters of a message that may be no more than talk; a longer one says something."""
ANSWER_THIS = "Can you answer this?"
"""What somebody asks who says no more than the bot's name beside a question of others."""
QUESTION_MARK = re.compile(r"[?？](?=[\s\"'”’)\]*_~!]|$)|¿")
"""At the end of a word: an address may have one within."""
ADDRESS = re.compile(r"\b\w+://\S+")
LEAD = (
    r"^\W*(?:(?:hi|hey|hello|hallo|hola|ok|okay|so|and|but|also|well|please|pls|bitte|und|y)\W+)*"
)
QUESTION_WORD = re.compile(
    LEAD + r"(?:how|what|which|who|whom|whose|when|where|why|is|are|can|could|do|does|did|should"
    r"|would|will|has|have"
    r"|wie|was|welche[rsmn]?|wer|wann|wo|warum|wieso|kann|gibt|muss"
    r"|cómo|como|qué|cuál|quién|cuándo|dónde|por qué|puedo"
    r"|comment|quel(?:le)?s?|qui|quand|où|pourquoi|est-ce)\b",
    re.IGNORECASE,
)
"""How questions begin, also where nobody cared to type a question mark."""
REQUEST = re.compile(
    LEAD + r"(?:tell|explain|show|give|describe|list|summari[sz]e|compare|define|remind|help"
    r"|erklär\w*|zeig\w*|nenn\w*|explica\w*|muéstra\w*|dime|explique\w*|montre\w*)\b"
    r"|\bi(?:'m|’m| am| was)? (?:wondering|stuck|confused|lost|looking for|trying to)\b"
    r"|\bi(?:(?:'|’)d| would) (?:like|love)\b"
    r"|\bi (?:need|want|wonder|have an?(?:other)? (?:question|problem|issue))\b"
    r"|\b(?:any|some)(?:one|body) (?:know|help|explain)|\bneed (?:some |your )?help\b|\bhelp me\b"
    r"|\bich (?:brauche|möchte|suche)\b|\bnecesito\b|\bje (?:cherche|voudrais)\b",
    re.IGNORECASE,
)
TROUBLE = re.compile(
    r"\b(?:(?:does|do|did|is|are|was|can|could|wo) ?n(?:o|['’])?t|cannot)"
    r" (?:\w+ ){0,2}?(?:work|start|run|open|close|find|see|get|connect|load|log|compile|build|move"
    r"|boot|install|understand)"
    r"|\b(?:i|we|it)(?: still| always)? (?:get|keep|fail|crash)\w*\b"
    r"|\b(?:gives?|throws?|shows?) (?:me )?(?:an?|this|the) (?:error|exception)\b"
    r"|\b(?:geht|funktioniert|startet) (?:immer noch )?nicht\b|\bno funciona\b",
    re.IGNORECASE,
)
"""How people say that something does not work, which asks for help."""
ACKNOWLEDGING = """
    ok okay k yes yep yeah yup no nope lol haha hm hmm ah oh aha cool nice great good perfect
    super awesome sure right exactly indeed done same here me too got it i see that makes sense
    will do sounds question point idea clue not idk don't know either sorry please never mind
    thanks thank you thx lot so much many again all everyone cheers problem issue following and the
    a helped works ja nein genau keine ahnung danke vale oui non"""
ACKNOWLEDGES = frozenset(ACKNOWLEDGING.split())
"""A message of nothing else neither asks nor answers: `same here`, `no idea, sorry`."""
POINTING = """
    this that these those it above answer answers help explain know knows idea ideas clue thoughts
    see check look solve clarify think assist why thread beantworten helfen das dies weißt hilfe
    esto eso responder ayudar sabes ayuda ça cela répondre aider sais"""
POINTS = frozenset(POINTING.split())
BESIDE = """
    can could would will do does is are was what who how about you your u anyone anybody someone
    somebody here below please pls maybe any an a the to with on at of for us me them him her my
    our their question questions problem issue message one error log hi hey hello ok okay so and
    now too also into over have take weigh in say something happened happens wrong going mean
    thanks thank bitte kannst könntest du frage diese dieses ist puedes lo la el qué es peux-tu tu
    peux à est que"""
AROUND = POINTS.union(BESIDE.split())
MOST_POINTING = 12
"""Words of a message that only points."""
COUNTER = re.compile(
    r"^\W*(?:(?:and|but|so|ok|hm+)\W+)*(?:(?:did|have|had|are|were) you\b"
    r"|(?:what|which)\b.{0,30}\b(?:do|did|have|are) you (?:us|run|tr(?:y|ied)|have)\w*)",
    re.IGNORECASE,
)
"""A question back to who asked: `did you try turning it off?`"""


def asks_something(text: str) -> bool:
    """Whether a message asks a question, for help, or says that something does not work."""
    plain = ADDRESS.sub(" ", text)
    if talk_in(plain) in {SmallTalk.GREETING, SmallTalk.THANKS}:
        return False
    if QUESTION_MARK.search(plain):
        return True
    return not is_acknowledgement(plain) and any(
        rule.search(plain) is not None for rule in (QUESTION_WORD, REQUEST, TROUBLE)
    )


def talk_in(text: str) -> SmallTalk | None:
    """What kind of small talk a message is; a long one is none."""
    return small_talk(text) if len(text) <= LONGEST_TALK else None


def is_acknowledgement(text: str) -> bool:
    """Whether a message is no more than `ok`, `same here` or `thanks`."""
    if len(text) > LONGEST_TALK or QUESTION_MARK.search(text):
        return False
    if small_talk(text) is SmallTalk.THANKS:
        return True
    said = listed(text.replace("+1", ""))
    return bool(said) and said[0] != "do" and ACKNOWLEDGES.issuperset(said)


def states_something(text: str) -> bool:
    """Whether a message says something that may be an answer to somebody."""
    return (
        any(map(str.isalnum, text))
        and not asks_something(text)
        and not is_acknowledgement(text)
        and talk_in(text) is None
    )


def points_at_context(text: str) -> bool:
    """Whether a message means nothing without what stands beside it: `can you answer this?`"""
    if len(text) > LONGEST_TALK:
        return False
    said = listed(text)
    if not said:
        return True
    return len(said) <= MOST_POINTING and AROUND.issuperset(said) and not POINTS.isdisjoint(said)


def is_real_question(text: str) -> bool:
    """Whether something is asked that can be looked up, and not only of another person."""
    return (
        asks_something(text)
        and not points_at_context(text)
        and COUNTER.match(text) is None
        and any(meant(text))
        and talk_in(text) is None
    )
