"""Words that say the opposite of each other."""

from __future__ import annotations

from collections import defaultdict

from rag_core.agent.language.stems import stem

PAIRS = """
    first last, win lose, gain lose, north south, east west, northern southern, eastern western,
    open close, majority minority, large small, larger smaller, largest smallest, big small,
    bigger smaller, biggest smallest, begin end, start stop, start finish, rise fall, buy sell,
    import export, increase decrease, increase reduce, grow shrink, high low, higher lower,
    highest lowest, more less, more fewer, most least, most fewest, long short, longer shorter,
    longest shortest, old new, older younger, oldest newest, oldest youngest, early late,
    earlier later, earliest latest, before after, above below, inside outside, internal external,
    public private, male female, man woman, men women, father mother, son daughter, king queen,
    husband wife, brother sister, left right, top bottom, upper lower, front back, hot cold,
    warm cool, wet dry, light dark, light heavy, strong weak, stronger weaker, strength weakness,
    fast slow, faster slower, rich poor, urban rural, easy difficult, easy hard, good bad,
    better worse, best worst, success failure, succeed fail, accept reject, accept refuse,
    allow forbid, allow prevent, support oppose, agree disagree, join leave, enter leave,
    enter exit, arrive depart, include exclude, enable disable, minimum maximum,
    positive negative, legal illegal, active passive, common rare, known unknown,
    present absent, create destroy, build destroy, love hate, friend enemy, attack defend,
    victory defeat, war peace, day night, summer winter, spring autumn, ancient modern,
    empty full, deep shallow, wide narrow, thick thin, rough smooth, safe dangerous,
    same different, give take, push pull, send receive, teach learn, question answer,
    cause prevent, encourage discourage, expand contract, advance retreat, birth death, born die,
    alive dead, always never, with without, on off, physical mental, permanent temporary,
    theory practice, supply demand, profit loss, input output, sender receiver, upload download,
    add remove, add delete, insert delete, connect disconnect, show hide, single multiple,
    local remote, innate adaptive, natural artificial, conservative liberal, religious secular,
    domestic foreign, major minor, junior senior, optional required, optional mandatory
"""
DENYING_STARTS = ("un", "in", "im", "ir", "il", "non", "dis")
SHORTEST_ROOT = 4


def by_stem(pairs: str) -> dict[str, frozenset[str]]:
    """The stems of all opposites of each word."""
    found: dict[str, set[str]] = defaultdict(set)
    for pair in pairs.split(","):
        one, other = (stem(word) for word in pair.split())
        if one != other:
            found[one].add(other)
            found[other].add(one)
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = by_stem(PAIRS)


def has_opposite(word: str, others: frozenset[str]) -> bool:
    """Whether the opposite of a stem is among these stems."""
    if OPPOSITES.get(word, frozenset()) & others:
        return True
    return any(start + word in others or is_denial(word, start, others) for start in DENYING_STARTS)


def is_denial(word: str, start: str, others: frozenset[str]) -> bool:
    root = word.removeprefix(start)
    return root != word and len(root) >= SHORTEST_ROOT and root in others
