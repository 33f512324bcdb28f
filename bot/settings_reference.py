"""The settings as documents: .env.example, and the table in the README."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic.fields import FieldInfo

from bot.setting import allowed
from bot.settings import variables

BEGIN, END = "<!-- settings: written by `make docs` -->", "<!-- /settings -->"


def default_of(field: FieldInfo) -> str:
    return "" if field.default is None else str(field.default)


def example() -> str:
    """Every setting with its meaning, commented out at its default."""
    lines = ["# Every setting of Footnote. Copy to .env and uncomment what you change."]
    for variable, field in variables().items():
        lines += [
            "",
            f"# {field.description}; {allowed(field)}.",
            f"#{variable}={default_of(field)}",
        ]
    return "\n".join(lines) + "\n"


def table() -> str:
    """The same for the README."""
    rows = [
        f"| `{variable}` | {default_of(field) and f'`{default_of(field)}`'} |"
        f" {field.description}. Allowed: {cell(allowed(field))}. |"
        for variable, field in variables().items()
    ]
    return "\n".join(["| variable | default | what it is for |", "| --- | --- | --- |", *rows])


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def with_table(readme: str) -> str:
    """The README with the table as the code has it."""
    block = f"{BEGIN}\n{table()}\n{END}"
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, readme, flags=re.S)


def main() -> None:
    Path(".env.example").write_text(example(), encoding="utf-8")
    readme = Path("README.md")
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
