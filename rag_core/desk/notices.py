"""The sentences that the desk says itself, in the asker's language."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from rag_core.agent.phrases import language_in
from rag_core.desk.incoming import Refusal

MOST_MINUTES = 90
"""What is further away is said in hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """One language's sentences."""

    queue: str
    user: str
    """With when there is room again, and so is the next one."""
    channel: str
    tenant: str
    later: str
    """Where nobody knows when."""
    soon: str
    minutes: str
    hours: str
    still_working: str
    long_queue: str
    not_shown: str
    """With the id that an operator finds the answer by."""

    def of(self, refusal: Refusal, *, retry_at: datetime | None = None) -> str:
        """Why a question is declined, and when asking again makes sense."""
        match refusal:
            case Refusal.QUEUE:
                return self.queue
            case Refusal.USER:
                return self.user.format(when=self.when(retry_at))
            case Refusal.CHANNEL:
                return self.channel.format(when=self.when(retry_at))
            case Refusal.TENANT:
                return self.tenant

    def when(self, moment: datetime | None) -> str:
        """How far away a moment is, rounded up."""
        if moment is None:
            return self.later
        minutes = math.ceil((moment - datetime.now(UTC)).total_seconds() / 60)
        if minutes <= 1:
            return self.soon
        if minutes <= MOST_MINUTES:
            return self.minutes.format(n=minutes)
        return self.hours.format(n=math.ceil(minutes / 60))


ENGLISH = Notices(
    queue=(
        "Very many questions are waiting right now, so I did not take this one."
        " Please ask again in a few minutes."
    ),
    user=(
        "You have asked as many questions as one person may in an hour, so I did not take this"
        " one. Please ask again {when}."
    ),
    channel=(
        "This channel has had all its questions for today, so I did not take this one."
        " Please ask again {when}, or in another channel."
    ),
    tenant=(
        "The answers for today are used up here, so I did not take this question."
        " Please ask again tomorrow."
    ),
    later="a little later",
    soon="in a minute",
    minutes="in {n} minutes",
    hours="in {n} hours",
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
            " deshalb habe ich diese nicht angenommen. Bitte frag {when} noch einmal."
        ),
        channel=(
            "Dieser Kanal hat für heute alle seine Fragen gehabt, deshalb habe ich diese nicht"
            " angenommen. Bitte frag {when} noch einmal oder in einem anderen Kanal."
        ),
        tenant=(
            "Die Antworten für heute sind hier aufgebraucht, deshalb habe ich diese Frage nicht"
            " angenommen. Bitte frag morgen noch einmal."
        ),
        later="etwas später",
        soon="in einer Minute",
        minutes="in {n} Minuten",
        hours="in {n} Stunden",
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
            " no he tomado esta. Vuelve a preguntar {when}."
        ),
        channel=(
            "Este canal ya ha tenido todas sus preguntas de hoy, así que no he tomado esta."
            " Vuelve a preguntar {when} o en otro canal."
        ),
        tenant=(
            "Las respuestas de hoy se han agotado aquí, así que no he tomado esta pregunta."
            " Vuelve a preguntar mañana."
        ),
        later="un poco más tarde",
        soon="dentro de un minuto",
        minutes="dentro de {n} minutos",
        hours="dentro de {n} horas",
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
            " je n’ai donc pas pris celle-ci. Reposez-la {when}."
        ),
        channel=(
            "Ce canal a eu toutes ses questions d’aujourd’hui, je n’ai donc pas pris celle-ci."
            " Reposez-la {when}, ou dans un autre canal."
        ),
        tenant=(
            "Les réponses d’aujourd’hui sont épuisées ici, je n’ai donc pas pris cette question."
            " Reposez-la demain."
        ),
        later="un peu plus tard",
        soon="dans une minute",
        minutes="dans {n} minutes",
        hours="dans {n} heures",
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
