"""Draws docs/images/terminal.svg from the JSON of a real answer on standard input."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from rich.console import CONSOLE_SVG_FORMAT, Console

from bot.commands.ask import show

WIDTH = 84
# The picture loads nothing: readers see it in a fixed-width font that they have.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def main() -> None:
    answer = json.load(sys.stdin)
    console = Console(record=True, width=WIDTH, file=sys.stderr, markup=False, highlight=False)
    console.print(f'$ footnote ask "{answer["query"]}" -v\n')
    show(answer, console, verbose=True)
    svg = console.export_svg(title="footnote", code_format=FORMAT)
    Path("docs/images/terminal.svg").write_text(svg, encoding="utf-8")


main()
