"""Which language a text is in, as far as its small words tell."""

from __future__ import annotations

from collections import Counter

from rag_core.agent.language.words import words

SMALL_WORDS = {
    "en": """the a an is are was were of and to in that it for on with as this be by or from how
    what which who when where why do does did can not you i we they have has will if there
    my your their its it's after before at but more may must should would than then""",
    "de": """der die das den dem des ein eine einen einem einer ist sind war und oder nicht mit
    von zu im in auf für wie was wer wann wo warum ich du wir sie kann man es wird werden auch
    bei nach wenn gibt mein er ihr ihre sie können dürfen darf müssen muss sollte pro danach
    dann wurde wurden haben hat beim zum zur vom durch ohne über unter sich noch nur als diese
    dieser dieses""",
    "es": """el la los las un una es son fue y o no con de del que en para por como cómo qué
    quién cuándo dónde cuál se su lo al más puedo hay si mi está están sus ser debe
    deben pueden puede después antes durante hasta
    tras sin cada usted esta este""",
    "fr": """le la les un une des est sont était et ou ne pas avec de du que qui dans pour par
    comment quoi quel quelle quand où pourquoi je tu nous vous il elle on se sur au aux ce cette
    peut peuvent être doit doivent vos votre ses leur après avant pendant sous ces si chaque
    dès""",
}
LANGUAGES_OF: dict[str, tuple[str, ...]] = {
    word: tuple(language for language, text in SMALL_WORDS.items() if word in text.split())
    for text in SMALL_WORDS.values()
    for word in text.split()
}


def language_of(text: str) -> str | None:
    """`en`, `de`, `es` or `fr`; None where the small words do not decide."""
    counts = Counter(
        language for word in words(text) if word in LANGUAGES_OF for language in LANGUAGES_OF[word]
    )
    (best, most), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return best if most >= 2 and most > second else None


ASKING_WORDS = {
    "de": "wie wer wen wem wann wo warum wieso wozu welche welcher welches kann darf muss",
    "es": "qué cómo quién cuándo dónde cuál cuáles cuánto cuántos puedo puede",
    "fr": "que quel quelle quels quelles comment pourquoi combien puis peut",
}
"""What a question begins with; `was` is English too and decides nothing."""


def language_of_question(text: str) -> str | None:
    """The same for a question, which may be too short to have two small words."""
    found = language_of(text)
    spoken = words(text)
    if found is not None or not spoken or any("en" in LANGUAGES_OF.get(w, ()) for w in spoken):
        return found
    return next(
        (name for name, asking in ASKING_WORDS.items() if spoken[0] in asking.split()), None
    )
