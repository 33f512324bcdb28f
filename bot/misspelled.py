"""Names that look like settings and are none: what they decide is left to the default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from difflib import get_close_matches

OURS = "FOOTNOTE_"
"""What nobody else begins a name with; the rest of an environment belongs to other programs too."""
ALIKE = 0.8


def misspelled(
    *, in_file: Iterable[str], in_environment: Iterable[str], known: Collection[str]
) -> list[str]:
    """One sentence for each name that is no setting."""
    families = prefixes(known)
    written = [name for name in in_file if name.upper().startswith(families)]
    exported = [name for name in in_environment if name.upper().startswith(OURS)]
    names = sorted({name.upper() for name in [*written, *exported]} - set(known))
    return [sentence(name, known) for name in names]


def prefixes(known: Collection[str]) -> tuple[str, ...]:
    """The beginnings that several settings share: DATABASE_ of one alone is anybody's."""
    counts = Counter(f"{name.partition('_')[0]}_" for name in known if "_" in name)
    return tuple(prefix for prefix, count in counts.items() if count > 1)


def sentence(name: str, known: Collection[str]) -> str:
    nearest = get_close_matches(name, known, n=1, cutoff=ALIKE)
    return f"{name} is no setting; {nearest[0]} is." if nearest else f"{name} is no setting."
