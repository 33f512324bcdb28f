"""What the Slack adapter itself says around an answer, in the asker's language."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.phrases import language_of
from rag_core.desk.incoming import IncomingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """One language's sentences."""

    caution: str
    unread: str
    in_the_file: str


ENGLISH = Phrases(
    caution="⚠️ *I am not sure of this:* the documents cover it only in part. Check the footnotes.",
    unread="*I do not read images or other files than short texts, only what is written.*",
    in_the_file="Slack did not take this answer as a message, so it is in the file.",
)
PHRASES = {
    "en": ENGLISH,
    "de": Phrases(
        caution=(
            "⚠️ *Ich bin mir nicht sicher:* Die Dokumente behandeln das nur zum Teil."
            " Bitte die Fußnoten prüfen."
        ),
        unread="*Bilder und andere Dateien als kurze Texte lese ich nicht, nur Geschriebenes.*",
        in_the_file=(
            "Slack hat diese Antwort nicht als Nachricht angenommen: Sie steht in der Datei."
        ),
    ),
    "es": Phrases(
        caution=(
            "⚠️ *No estoy seguro:* los documentos lo cubren solo en parte. Revisa las notas al pie."
        ),
        unread="*No leo imágenes ni archivos que no sean textos cortos, solo lo escrito.*",
        in_the_file="Slack no aceptó esta respuesta como mensaje: está en el archivo.",
    ),
    "fr": Phrases(
        caution=(
            "⚠️ *Je n’en suis pas sûr :* les documents n’en parlent qu’en partie. Vérifiez les"
            " notes."
        ),
        unread="*Je ne lis ni images ni fichiers autres que de courts textes, que l’écrit.*",
        in_the_file="Slack n’a pas pris cette réponse comme message : elle est dans le fichier.",
    ),
}


def phrases_for(question: IncomingQuestion) -> Phrases:
    return PHRASES[language_of(question)]
