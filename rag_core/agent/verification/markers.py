"""Markers as a model writes them, brought into the one form `[n]`: n is a passage handed over."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from rag_core.agent.language.blocks import INLINE_CODE
from rag_core.agent.language.sentences import CODE_OR_MARKER, MARKER

DOUBLED = re.compile(r"\[\s*(\[[^\[\]]*\])\s*\]")
UNCLOSED = re.compile(r"\[(?=[^\[\]]*\[)")
MAX_RANGE = 10
LOOSE = re.compile(
    r"(?P<space>[ \t]*)[\[【［]\s*\^?(?:sources?:?\s|ref\.?:?\s|quelle:?\s|fuente:?\s)?"
    r"(?P<listed>\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)(?:†[^\]】］]*)?\s*[\]】］]",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?P<end>[.!?…:]*[\"'”’)*_]*)(?P<space>\s*)$")


def markers_in(sentence: str) -> tuple[int, ...]:
    """The numbers cited in a sentence, outside code, each once."""
    prose = INLINE_CODE.sub(" ", sentence)
    return tuple(dict.fromkeys(int(found) for found in MARKER.findall(prose)))


def normalised(text: str, ranks: Collection[int] | None = None, evidence: str = "") -> str:
    """`[1, 3]`, `【2】` and the like as single markers; code is left alone.

    With ranks, whatever names another number is no marker: it stays where the evidence has it so
    (`[0;30]`; a single number in round brackets), and goes where it was made up."""
    parts: list[str] = []
    end = 0
    for code in INLINE_CODE.finditer(text):
        parts += [flat(text[end : code.start()], ranks, evidence), code.group()]
        end = code.end()
    return "".join([*parts, flat(text[end:], ranks, evidence)])


def flat(prose: str, ranks: Collection[int] | None, evidence: str) -> str:
    """Prose in which brackets do not nest: what is left when a marker goes is never a marker."""
    if "[" not in prose and "【" not in prose and "［" not in prose:
        return prose

    def single(marker: re.Match[str]) -> str:
        numbers = numbers_of(marker["listed"])
        bare = marker.group().lstrip(" \t")
        if ranks is not None and not set(numbers) <= set(ranks):
            if bare in evidence:
                kept = f"({bare[1:-1]})" if MARKER.fullmatch(bare) else bare
                return f"{marker['space']}{kept}"
            numbers = [number for number in numbers if number in ranks]
        written = "".join(f"[{number}]" for number in numbers)
        return f"{marker['space']}{written}" if written else ""

    return UNCLOSED.sub("(", LOOSE.sub(single, DOUBLED.sub(r"\1", prose)))


def numbers_of(listed: str) -> list[int]:
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", listed):
        first, _, last = (piece.strip() for piece in re.sub("–", "-", part).partition("-"))
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high < low + MAX_RANGE else (low, high)
    return numbers


def renumbered(text: str, ranks: Collection[int], number_of: Callable[[int], str]) -> str:
    """The text with these markers as footnotes: in the places of the old ones, else at its end."""
    placed: set[int] = set()

    def footnote(found: re.Match[str]) -> str:
        if found["ticks"]:
            return found.group()
        cited = MARKER.search(found.group())
        rank = int(cited.group(1)) if cited else 0
        if rank not in ranks or rank in placed:
            return ""
        placed.add(rank)
        space = found.group()[: len(found.group()) - len(found.group().lstrip())]
        return f"{space}{number_of(rank)}"

    text = CODE_OR_MARKER.sub(footnote, text)
    rest = "" if placed else "".join(map(number_of, ranks))
    return at_end(text, f" {rest}") if rest else text


def at_end(sentence: str, words: str) -> str:
    """Words before the full stop."""
    body = sentence.rstrip()
    space = sentence[len(body) :]
    end = SENTENCE_END.search(body)
    tail = end.group("end") if end else ""
    return f"{body[: len(body) - len(tail)]}{words}{tail}{space}"
