"""The sentences that the agent says itself, in the asker's language."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.agent.prompts import NOT_COVERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """One language's sentences."""

    not_covered: str
    greeting: str
    thanks: str
    about: str
    afresh: str
    """Said once, when a thread has had its turns and a new session begins."""
    look_here: str
    """Before the sections to read, where no solution is given."""
    guiding_question: str
    """Asked where the model asks nothing itself; names a section."""


ENGLISH = Phrases(
    not_covered=NOT_COVERED,
    greeting="Hello! Ask me something about the documents, and I will answer with footnotes.",
    thanks="You are welcome!",
    about=(
        "I answer questions from this place's own documents. Every answer carries footnotes that"
        " lead to where it stands, and where the documents do not cover a question, I say so."
    ),
    afresh="This conversation has become long: I begin afresh and remember what it was about.",
    look_here="This place is for working it out yourself. Read here first:",
    guiding_question="What does “{section}” say that you have not used yet?",
)

PHRASES = {
    "en": ENGLISH,
    "de": Phrases(
        not_covered="Die Dokumente behandeln diese Frage nicht.",
        greeting="Hallo! Frag mich etwas zu den Dokumenten, ich antworte mit Fußnoten.",
        thanks="Gern geschehen!",
        about=(
            "Ich beantworte Fragen aus den Dokumenten, die hier hinterlegt sind. Jede Antwort hat"
            " Fußnoten, die zur Stelle führen, und wo die Dokumente nichts hergeben, sage ich das."
        ),
        afresh="Dieses Gespräch ist lang geworden: Ich beginne neu und weiß noch, worum es ging.",
        look_here="Hier geht es darum, selbst auf die Lösung zu kommen. Lies zuerst:",
        guiding_question="Was steht in „{section}“, das du noch nicht genutzt hast?",
    ),
    "es": Phrases(
        not_covered="Los documentos no cubren esta pregunta.",
        greeting="¡Hola! Pregúntame algo sobre los documentos y responderé con notas al pie.",
        thanks="¡De nada!",
        about=(
            "Respondo preguntas a partir de los documentos de este lugar. Cada respuesta lleva"
            " notas al pie que llevan a su origen, y si los documentos no dicen nada, lo digo."
        ),
        afresh="Esta conversación es ya larga: empiezo de nuevo y recuerdo de qué trataba.",
        look_here="Aquí se trata de que llegues tú a la solución. Lee primero:",
        guiding_question="¿Qué dice «{section}» que todavía no has usado?",
    ),
    "fr": Phrases(
        not_covered="Les documents ne répondent pas à cette question.",
        greeting="Bonjour ! Posez-moi une question sur les documents, je réponds avec des notes.",
        thanks="Avec plaisir !",
        about=(
            "Je réponds aux questions à partir des documents d’ici. Chaque réponse porte des notes"
            " qui mènent à la source, et si les documents n’en parlent pas, je le dis."
        ),
        afresh="Cette conversation est devenue longue : je repars à neuf et j’en garde le sujet.",
        look_here="Ici, il s’agit de trouver soi-même. À lire d’abord :",
        guiding_question="Que dit « {section} » que vous n’avez pas encore utilisé ?",
    ),
}


def phrases_in(locale: str) -> Phrases:
    """The sentences in a language, whatever its region; English where there are none."""
    return PHRASES.get(locale.lower().replace("_", "-").split("-")[0], ENGLISH)
