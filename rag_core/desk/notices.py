"""The sentences that the desk says itself, in the asker's language."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.agent.phrases import language_in
from rag_core.desk.incoming import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """One language's sentences."""

    queue: str
    user: str
    channel: str
    tenant: str
    still_working: str
    long_queue: str
    not_shown: str
    """With the id that an operator finds the answer by."""

    def of(self, refusal: Refusal) -> str:
        """Why a question is declined, and when asking again makes sense."""
        match refusal:
            case Refusal.QUEUE:
                return self.queue
            case Refusal.USER:
                return self.user
            case Refusal.CHANNEL:
                return self.channel
            case Refusal.TENANT:
                return self.tenant


ENGLISH = Notices(
    queue=(
        "Very many questions are waiting right now, so I did not take this one."
        " Please ask again in a few minutes."
    ),
    user=(
        "You have asked as many questions as one person may in an hour, so I did not take this"
        " one. Please ask again a little later."
    ),
    channel=(
        "This channel has had all its questions for today, so I did not take this one."
        " Please ask again tomorrow, or in another channel."
    ),
    tenant=(
        "The answers for today are used up here, so I did not take this question."
        " Please ask again tomorrow."
    ),
    still_working="Still working…",
    long_queue=(
        "Many questions are ahead of yours. It is not forgotten: the answer will stand here."
    ),
    not_shown="I have an answer, but it could not be shown here. An operator finds it as {id}.",
)

NOTICES = {
    "en": ENGLISH,
    "de": Notices(
        queue=(
            "Gerade warten sehr viele Fragen, deshalb habe ich diese nicht angenommen."
            " Bitte frag in ein paar Minuten noch einmal."
        ),
        user=(
            "Du hast so viele Fragen gestellt, wie eine Person in einer Stunde stellen kann,"
            " deshalb habe ich diese nicht angenommen. Bitte frag etwas später noch einmal."
        ),
        channel=(
            "Dieser Kanal hat für heute alle seine Fragen gehabt, deshalb habe ich diese nicht"
            " angenommen. Bitte frag morgen noch einmal oder in einem anderen Kanal."
        ),
        tenant=(
            "Die Antworten für heute sind hier aufgebraucht, deshalb habe ich diese Frage nicht"
            " angenommen. Bitte frag morgen noch einmal."
        ),
        still_working="Ich arbeite noch daran…",
        long_queue=(
            "Vor deiner Frage sind noch viele andere an der Reihe. Sie ist nicht vergessen:"
            " Die Antwort wird hier stehen."
        ),
        not_shown=(
            "Ich habe eine Antwort, aber sie ließ sich hier nicht zeigen."
            " Der Betreiber findet sie unter {id}."
        ),
    ),
    "es": Notices(
        queue=(
            "Ahora mismo esperan muchas preguntas, así que no he tomado esta."
            " Vuelve a preguntar dentro de unos minutos."
        ),
        user=(
            "Ya has hecho todas las preguntas que una persona puede hacer en una hora, así que"
            " no he tomado esta. Vuelve a preguntar un poco más tarde."
        ),
        channel=(
            "Este canal ya ha tenido todas sus preguntas de hoy, así que no he tomado esta."
            " Vuelve a preguntar mañana o en otro canal."
        ),
        tenant=(
            "Las respuestas de hoy se han agotado aquí, así que no he tomado esta pregunta."
            " Vuelve a preguntar mañana."
        ),
        still_working="Sigo trabajando en ello…",
        long_queue=(
            "Hay muchas preguntas antes que la tuya. No la he olvidado: la respuesta"
            " aparecerá aquí."
        ),
        not_shown=(
            "Tengo una respuesta, pero no se pudo mostrar aquí. El operador la encuentra como {id}."
        ),
    ),
    "fr": Notices(
        queue=(
            "Beaucoup de questions attendent en ce moment, je n’ai donc pas pris celle-ci."
            " Reposez-la dans quelques minutes."
        ),
        user=(
            "Vous avez posé autant de questions qu’une personne peut en poser en une heure,"
            " je n’ai donc pas pris celle-ci. Reposez-la un peu plus tard."
        ),
        channel=(
            "Ce canal a eu toutes ses questions d’aujourd’hui, je n’ai donc pas pris celle-ci."
            " Reposez-la demain, ou dans un autre canal."
        ),
        tenant=(
            "Les réponses d’aujourd’hui sont épuisées ici, je n’ai donc pas pris cette question."
            " Reposez-la demain."
        ),
        still_working="J’y travaille encore…",
        long_queue=(
            "Beaucoup de questions passent avant la vôtre. Elle n’est pas oubliée : la réponse"
            " viendra ici."
        ),
        not_shown=(
            "J’ai une réponse, mais elle n’a pas pu être affichée ici."
            " L’opérateur la trouve sous {id}."
        ),
    ),
}


def notices_in(locale: str) -> Notices:
    """The sentences in a language, whatever its region; English where there are none."""
    return NOTICES[language_in(locale)]
