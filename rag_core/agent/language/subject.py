"""What a question is about: its words without those that only ask."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_core.agent.language.words import content

MEASURED = re.compile(
    r"\bhow (?:long|often|old|far|big|large|tall|high|hot|cold|heavy|fast|deep|wide|soon|quickly"
    r"|expensive)\b",
    re.IGNORECASE,
)
"""`How long is the trial?` is about the trial: what answers it says `21 days`."""
ASKING = frozenset(
    content(
        "work explain describe tell mean define definition example difference differ compare"
        " comparison purpose list name give show kind type sort thing please help know understand"
        " want need versus vs"
    )
)
"""Words of asking: an answer seldom repeats them."""


@lru_cache(maxsize=1_024)
def subject_of(question: str) -> tuple[str, ...]:
    """The words that carry meaning and do not only ask, each once; where only such are, they."""
    asked = dict.fromkeys(content(MEASURED.sub("how", question)))
    return tuple(word for word in asked if word not in ASKING) or tuple(asked)
