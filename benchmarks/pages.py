"""Pages to measure with: sentences of Python's own reference, shuffled, with made-up names."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
SYLLABLES = ("ba", "do", "fi", "ka", "lo", "mer", "nu", "pol", "ri", "sta", "ti", "ven")
SECTIONS = 8
"""Of a page, each one chunk: four pages in five of this length are what courses have."""
CODE = "```python\nwith opened({name!r}) as source:\n    {name}(source.read(), strict=True)\n```"


def sentences() -> list[str]:
    """Whole sentences of a usual length, each once."""
    text = re.sub(r"\s+", " ", " ".join(topics[name] for name in sorted(topics)))
    usual = (each for each in SENTENCE.split(text) if 40 <= len(each) <= 240)
    return list(dict.fromkeys(usual))


class Writer:
    """Writes the same pages for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._sentences = sentences()

    def page(self, number: int, *, sections: int = SECTIONS) -> str:
        parts = [f"---\ntitle: Page {number} of {self.name()}\n---\n\n# Page {number}\n"]
        for section in range(sections):
            parts.append(f"## {self.name().title()} and {self.name()} {section}\n")
            parts.append(self.section())
        return "\n".join(parts)

    def section(self) -> str:
        """Two paragraphs and a list or some code: about 120 words."""
        listed = "\n".join(f"- {self.name()}: {self.sentence()}" for _ in range(2))
        extra = listed if self._chance.random() < 0.7 else CODE.format(name=self.name())
        return f"{self.paragraph()}\n\n{extra}\n\n{self.paragraph()}\n"

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(2)) + f" See {self.name()}."

    def sentence(self) -> str:
        """With one word in six changed: Python's reference has fewer words than courses have."""
        words = self._chance.choice(self._sentences).split()
        for place in range(self._chance.randrange(6), len(words), 6):
            words[place] = self.name()
        return " ".join(words)

    def question(self) -> str:
        """Some words of a sentence and a name, as people type them."""
        words = self.sentence().split()
        start = self._chance.randrange(max(1, len(words) - 7))
        return f"{' '.join(words[start : start + 7])} {self.name()}?"

    def name(self) -> str:
        """Some names are everywhere, most are rare, as it is with words."""
        return "".join(self._chance.choices(SYLLABLES, k=self._chance.randint(2, 5)))


def write_pages(folder: Path, pages: int, *, seed: int = 1) -> None:
    """So many Markdown files, a hundred in a folder."""
    writer = Writer(seed)
    for number in range(pages):
        path = folder / f"part-{number // 100:04}" / f"page-{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(writer.page(number), encoding="utf-8")


def change_pages(folder: Path, share: float) -> Iterator[Path]:
    """Adds a sentence to every so many of the pages."""
    paths = sorted(folder.rglob("*.md"))
    step = round(1 / share)
    for path in paths[::step]:
        path.write_text(f"{path.read_text(encoding='utf-8')}\nOne more sentence stands here.\n")
        yield path
