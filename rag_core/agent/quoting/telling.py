"""Whether a piece tells something by itself, or asks, announces, replies or leads on."""

from __future__ import annotations

from rag_core.agent.language.blocks import BlockKind
from rag_core.agent.language.wordings import ANNOUNCES
from rag_core.agent.quoting.pieces import Unit, is_asked


def announces(unit: Unit) -> bool:
    """Whether this says what will be told, or was told elsewhere."""
    return unit.kind is not BlockKind.CODE and bool(ANNOUNCES.search(unit.lead or unit.parts[0]))


def asks_back(unit: Unit) -> bool:
    """Whether this is a question itself, or a list of them."""
    if unit.kind is BlockKind.CODE:
        return False
    return all(map(is_asked, unit.lines))


def replies(unit: Unit, before: Unit) -> bool:
    """Whether a sentence answers the question that stands right before it, as in a list of
    questions and answers."""
    if unit.is_whole or before.is_whole or unit.section != before.section:
        return False
    return asks_back(before) and not asks_back(unit)


def leads_on(unit: Unit) -> bool:
    """Whether this only leads to something that is not part of it."""
    return not unit.is_whole and unit.text.rstrip("*_ ").endswith(":")
