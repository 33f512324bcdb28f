"""What the Discord adapter itself says around an answer, in the asker's language."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.phrases import language_of
from rag_core.desk.incoming import IncomingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """One language's sentences."""

    unread: str
    cut: str
    in_the_file: str


ENGLISH = Phrases(
    unread="I read text files, no pictures and no other files: please put those in words.",
    cut="Of a long file I read the first 20 kB.",
    in_the_file="The answer is in this file: Discord did not take it as a message.",
)
PHRASES = {
    "en": ENGLISH,
    "de": Phrases(
        unread="Ich lese Textdateien, keine Bilder und keine anderen Dateien: Bitte schreib es.",
        cut="Von einer langen Datei lese ich die ersten 20 kB.",
        in_the_file="Die Antwort steht in dieser Datei: Discord nahm sie nicht als Nachricht.",
    ),
    "es": Phrases(
        unread="Leo archivos de texto, no imágenes ni otros archivos: escríbelo con palabras.",
        cut="De un archivo largo leo los primeros 20 kB.",
        in_the_file="La respuesta está en este archivo: Discord no la aceptó como mensaje.",
    ),
    "fr": Phrases(
        unread="Je lis les fichiers texte, ni images ni autres fichiers : écrivez-le, s’il vous"
        " plaît.",
        cut="D’un long fichier je lis les premiers 20 ko.",
        in_the_file="La réponse est dans ce fichier : Discord ne l’a pas prise comme message.",
    ),
}


def phrases_for(question: IncomingQuestion) -> Phrases:
    return PHRASES[language_of(question)]
