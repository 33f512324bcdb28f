"""Markers as a model writes them, brought into the one form `[n]`."""

from __future__ import annotations

import re

from rag_core.agent.language.blocks import INLINE_CODE
from rag_core.agent.language.sentences import MARKER

DOUBLED = re.compile(r"\[\s*(\[[^\[\]]*\])\s*\]")
UNCLOSED = re.compile(r"\[(?=[^\[\]]*\[)")
MAX_RANGE = 10
LOOSE = re.compile(
    r"[\[【［]\s*\^?(?:sources?:?\s|ref\.?:?\s|quelle:?\s|fuente:?\s)?(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)(?:†[^\]】］]*)?\s*[\]】］]",
    re.IGNORECASE,
)


def markers_in(sentence: str) -> tuple[int, ...]:
    """The numbers cited in a sentence, outside code, each once."""
    prose = INLINE_CODE.sub(" ", sentence)
    return tuple(dict.fromkeys(int(found) for found in MARKER.findall(prose)))


def normalised(text: str) -> str:
    """`[1, 3]`, `【2】` and the like as single markers; code is left alone."""
    parts: list[str] = []
    end = 0
    for code in INLINE_CODE.finditer(text):
        parts += [flat(text[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, flat(text[end:])])


def flat(prose: str) -> str:
    """Prose in which brackets do not nest: what is left when a marker goes is never a marker."""
    if "[" not in prose and "【" not in prose and "［" not in prose:
        return prose
    return UNCLOSED.sub("(", LOOSE.sub(single, DOUBLED.sub(r"\1", prose)))


def single(marker: re.Match[str]) -> str:
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", marker.group(1)):
        first, _, last = (piece.strip() for piece in re.sub("–", "-", part).partition("-"))
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high < low + MAX_RANGE else (low, high)
    return "".join(f"[{number}]" for number in numbers)
