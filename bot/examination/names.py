"""The names of the settings, as they stand in the .env file and the environment."""

from __future__ import annotations

from adapters.steward import Finding
from bot.examination.look import in_place, warning
from bot.settings import named_file, passed_over

NAME = "settings"
CORRECT = "Correct the name, or take it out: what it should decide is left to the default."


def names() -> Finding:
    """Other programs may have their names there, too: no fault."""
    if told := passed_over(named_file()):
        return warning(NAME, " ".join(told), CORRECT)
    return in_place(NAME, "every name is known.")
