"""What the Slack adapter itself says around an answer, in the asker's language."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.agent.language.languages import language_of
from rag_core.conversation.question import MAX_QUESTION
from rag_core.desk.incoming import IncomingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One language's words."""

    caution: str
    shortened: str
    images: str
    suggested: str
    changed: str
    before: str
    as_file: str


ENGLISH = Words(
    caution="⚠️ *I am not sure of this:* the documents cover it only in part. Check the footnotes.",
    shortened=(
        f"*Your message was longer than {MAX_QUESTION:,} characters, so I read its question and"
        " the ends of what was pasted.*"
    ),
    images="*I do not read images or other files than short texts, only what is written.*",
    suggested="Maybe look here",
    changed="A source changed since this answer.",
    before="Asked before:",
    as_file="Slack did not take this answer as a message, so it is in the file.",
)
WORDS = {
    "de": Words(
        caution=(
            "⚠️ *Ich bin mir nicht sicher:* Die Dokumente behandeln das nur zum Teil."
            " Bitte die Fußnoten prüfen."
        ),
        shortened=(
            f"*Deine Nachricht hatte mehr als {MAX_QUESTION} Zeichen: Ich habe die Frage und die"
            " Enden des Eingefügten gelesen.*"
        ),
        images="*Bilder und andere Dateien als kurze Texte lese ich nicht, nur Geschriebenes.*",
        suggested="Vielleicht hilft das",
        changed="Eine Quelle hat sich seit dieser Antwort geändert.",
        before="Schon einmal gefragt:",
        as_file="Slack hat diese Antwort nicht als Nachricht angenommen: Sie steht in der Datei.",
    ),
    "es": Words(
        caution=(
            "⚠️ *No estoy seguro:* los documentos lo cubren solo en parte. Revisa las notas al pie."
        ),
        shortened=(
            f"*Tu mensaje tenía más de {MAX_QUESTION} caracteres: leí la pregunta y los extremos"
            " de lo pegado.*"
        ),
        images="*No leo imágenes ni archivos que no sean textos cortos, solo lo escrito.*",
        suggested="Quizá ayude esto",
        changed="Una fuente ha cambiado desde esta respuesta.",
        before="Ya se preguntó:",
        as_file="Slack no aceptó esta respuesta como mensaje: está en el archivo.",
    ),
    "fr": Words(
        caution=(
            "⚠️ *Je n’en suis pas sûr :* les documents n’en parlent qu’en partie. Vérifiez les"
            " notes."
        ),
        shortened=(
            f"*Votre message dépassait {MAX_QUESTION} caractères : j’ai lu la question et les"
            " extrémités de ce qui était collé.*"
        ),
        images="*Je ne lis ni images ni fichiers autres que de courts textes, que l’écrit.*",
        suggested="Voyez peut-être ici",
        changed="Une source a changé depuis cette réponse.",
        before="Déjà demandé :",
        as_file="Slack n’a pas pris cette réponse comme message : elle est dans le fichier.",
    ),
}


def words_for(question: IncomingQuestion) -> Words:
    """In the language of the question, else in the asker's own."""
    language = language_of(question.question.message) or question.locale.lower()[:2]
    return WORDS.get(language, ENGLISH)
