"""What a question or a heading names: what is counted, what is listed, what is asked of a thing."""

from __future__ import annotations

from rag_core.agent.language.wordings import HOW_MANY, LISTED, MEANING
from rag_core.agent.language.words import content, stem_of


def counted_in(asks: str) -> str:
    """The last word of the run after `how many` that says something: it is what is counted."""
    run = HOW_MANY.search(asks)
    named = content(run[1]) if run else ()
    return named[-1] if named else ""


def head_of(meant: str) -> frozenset[str]:
    """What stands before the `of`; nothing where there is none."""
    head, of, _ = meant.partition(" of ")
    return frozenset(content(head)) if of else frozenset()


def listed_in(asks: str) -> str:
    """The last word of what is to be listed."""
    named = LISTED.search(asks)
    return stem_of(named[1].lower()) if named else ""


def subject_of(heading: str) -> frozenset[str]:
    """What a section is about, by its heading: `What is ROS 2?` is about ROS 2."""
    meaning = MEANING.match(heading)
    return frozenset(content(meaning.group(1) if meaning else heading))
