"""The sentences that the agent says itself, in the asker's language."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.agent.language.languages import language_of_question


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """One language's sentences."""

    not_covered: str
    part_not_covered: str
    """Where a question asks several things: names the one that has no answer."""
    greeting: str
    thanks: str
    about: str
    afresh: str
    """Said once, when a thread has had its turns and a new session begins."""
    split: str
    """Names the length of a message and the question that was found in it."""
    look_here: str
    """Before the sections to read, where no solution is given."""
    guiding_question: str
    """Asked where the model asks nothing itself; names a section."""
    nearest: str
    """Above the sections that come nearest, where none of them surely answers."""
    quoted_one: str
    quoted_several: str
    """With an answer that is quoted; names the number of sections."""
    more: str
    """Names the number of items that are left out of a list."""
    caution: str
    """With an answer that the evidence covers only in part."""
    not_found: str
    """Behind a sentence that the documents do not say."""
    checking: str
    """Above an answer that is still being checked."""
    suggested: str
    """Above the sections that are near a question which is not answered."""
    changed: str
    asked_before: str
    """Before the link to the thread where the same was asked."""
    late: str
    unusable: str
    """Where the language model gave nothing that may be shown."""
    unavailable: str
    """Names a service."""
    model: str
    search: str
    index: str
    database: str
    service: str
    defect: str

    def quoted(self, sections: int) -> str:
        """What stands with an answer that quotes so many sections."""
        return self.quoted_one if sections == 1 else self.quoted_several.format(number=sections)


ENGLISH = Phrases(
    not_covered="The documents do not cover this question.",
    part_not_covered="The documents do not cover this part: “{part}”.",
    greeting="Hello! Ask me something about the documents, and I will answer with footnotes.",
    thanks="You are welcome!",
    about=(
        "I answer questions from this place's own documents. Every answer carries footnotes that"
        " lead to where it stands, and where the documents do not cover a question, I say so."
    ),
    afresh="This conversation has become long: I begin afresh and remember what it was about.",
    split="Your message has {length:,} characters: I took “{question}” as the question and read the"
    " rest as what you pasted.",
    look_here="This place is for working it out yourself. Read here first:",
    guiding_question="What does “{section}” say that you have not used yet?",
    nearest="I found no clear answer. These sections come nearest:",
    quoted_one="Quoted from 1 section",
    quoted_several="Quoted from {number} sections",
    more="… and {number} more",
    caution="The documents cover this only in part: please check the sources.",
    not_found="not found in the documents",
    checking="Checking against the documents…",
    suggested="Maybe look here",
    changed="A source changed since this answer.",
    asked_before="Asked before:",
    late="I could not finish this answer in time. Please ask again in a moment.",
    unusable="The language model gave no usable answer. Please ask again.",
    unavailable="The {service} is not available right now. Please ask again in a few minutes.",
    model="language model",
    search="search model",
    index="index",
    database="database",
    service="service",
    defect=(
        "Something went wrong on our side and this question was not answered."
        " Please ask again; the operator finds the cause in the log."
    ),
)

PHRASES = {
    "en": ENGLISH,
    "de": Phrases(
        not_covered="Die Dokumente behandeln diese Frage nicht.",
        part_not_covered="Diesen Teil behandeln die Dokumente nicht: „{part}“.",
        greeting="Hallo! Frag mich etwas zu den Dokumenten, ich antworte mit Fußnoten.",
        thanks="Gern geschehen!",
        about=(
            "Ich beantworte Fragen aus den Dokumenten, die hier hinterlegt sind. Jede Antwort hat"
            " Fußnoten, die zur Stelle führen, und wo die Dokumente nichts hergeben, sage ich das."
        ),
        afresh="Dieses Gespräch ist lang geworden: Ich beginne neu und weiß noch, worum es ging.",
        split="Deine Nachricht hat {length} Zeichen: Als Frage habe ich „{question}“ genommen, den"
        " Rest als Eingefügtes gelesen.",
        look_here="Hier geht es darum, selbst auf die Lösung zu kommen. Lies zuerst:",
        guiding_question="Was steht in „{section}“, das du noch nicht genutzt hast?",
        nearest="Eine klare Antwort habe ich nicht gefunden. Diese Abschnitte kommen ihr am"
        " nächsten:",
        quoted_one="Zitiert aus 1 Abschnitt",
        quoted_several="Zitiert aus {number} Abschnitten",
        more="… und {number} weitere",
        caution="Die Dokumente behandeln das nur zum Teil: Bitte prüfe die Quellen.",
        not_found="steht nicht in den Dokumenten",
        checking="Wird mit den Dokumenten verglichen…",
        suggested="Vielleicht hilft das",
        changed="Eine Quelle hat sich seit dieser Antwort geändert.",
        asked_before="Schon einmal gefragt:",
        late="Ich bin mit dieser Antwort nicht rechtzeitig fertig geworden. Bitte frag gleich"
        " noch einmal.",
        unusable="Das Sprachmodell gab keine brauchbare Antwort. Bitte frag noch einmal.",
        unavailable="Gerade nicht erreichbar: {service}. Bitte frag in ein paar Minuten wieder.",
        model="das Sprachmodell",
        search="das Suchmodell",
        index="der Index",
        database="die Datenbank",
        service="der Dienst",
        defect=(
            "Bei uns ging etwas schief, und diese Frage blieb unbeantwortet. Bitte frag noch"
            " einmal; die Ursache steht im Protokoll des Betreibers."
        ),
    ),
    "es": Phrases(
        not_covered="Los documentos no cubren esta pregunta.",
        part_not_covered="Los documentos no cubren esta parte: «{part}».",
        greeting="¡Hola! Pregúntame algo sobre los documentos y responderé con notas al pie.",
        thanks="¡De nada!",
        about=(
            "Respondo preguntas a partir de los documentos de este lugar. Cada respuesta lleva"
            " notas al pie que llevan a su origen, y si los documentos no dicen nada, lo digo."
        ),
        afresh="Esta conversación es ya larga: empiezo de nuevo y recuerdo de qué trataba.",
        split="Tu mensaje tiene {length} caracteres: tomé «{question}» como la pregunta y leí el"
        " resto como texto pegado.",
        look_here="Aquí se trata de que llegues tú a la solución. Lee primero:",
        guiding_question="¿Qué dice «{section}» que todavía no has usado?",
        nearest="No encontré una respuesta clara. Estas secciones son las más cercanas:",
        quoted_one="Citado de 1 sección",
        quoted_several="Citado de {number} secciones",
        more="… y {number} más",
        caution="Los documentos lo cubren solo en parte: revisa las fuentes, por favor.",
        not_found="no está en los documentos",
        checking="Comprobando con los documentos…",
        suggested="Quizá te sirva esto",
        changed="Una fuente ha cambiado desde esta respuesta.",
        asked_before="Ya se preguntó:",
        late="No he podido terminar esta respuesta a tiempo. Pregunta de nuevo en un momento.",
        unusable="El modelo de lenguaje no dio una respuesta útil. Pregunta de nuevo, por favor.",
        unavailable="No disponible ahora: {service}. Pregunta de nuevo en unos minutos.",
        model="el modelo de lenguaje",
        search="el modelo de búsqueda",
        index="el índice",
        database="la base de datos",
        service="el servicio",
        defect=(
            "Algo falló por nuestra parte y esta pregunta quedó sin respuesta. Pregunta de nuevo;"
            " la causa está en el registro del operador."
        ),
    ),
    "fr": Phrases(
        not_covered="Les documents ne répondent pas à cette question.",
        part_not_covered="Les documents ne répondent pas à cette partie : « {part} ».",
        greeting="Bonjour ! Posez-moi une question sur les documents, je réponds avec des notes.",
        thanks="Avec plaisir !",
        about=(
            "Je réponds aux questions à partir des documents d’ici. Chaque réponse porte des notes"
            " qui mènent à la source, et si les documents n’en parlent pas, je le dis."
        ),
        afresh="Cette conversation est devenue longue : je repars à neuf et j’en garde le sujet.",
        split="Votre message compte {length} caractères : j’ai pris « {question} » comme question"
        " et lu le reste comme texte collé.",
        look_here="Ici, il s’agit de trouver soi-même. À lire d’abord :",
        guiding_question="Que dit « {section} » que vous n’avez pas encore utilisé ?",
        nearest="Je n’ai pas trouvé de réponse claire. Ces sections s’en approchent le plus :",
        quoted_one="Cité d’une section",
        quoted_several="Cité de {number} sections",
        more="… et {number} de plus",
        caution="Les documents n’en parlent qu’en partie : vérifiez les sources.",
        not_found="absent des documents",
        checking="Vérification dans les documents…",
        suggested="À voir peut-être",
        changed="Une source a changé depuis cette réponse.",
        asked_before="Déjà demandé :",
        late="Je n’ai pas pu finir cette réponse à temps. Reposez la question dans un instant.",
        unusable="Le modèle de langue n’a pas donné de réponse utilisable. Reposez la question.",
        unavailable="Indisponible pour le moment : {service}. Réessayez dans quelques minutes.",
        model="le modèle de langue",
        search="le modèle de recherche",
        index="l’index",
        database="la base de données",
        service="le service",
        defect=(
            "Un problème est survenu chez nous et cette question est restée sans réponse."
            " Reposez-la ; la cause se trouve dans le journal de l’exploitant."
        ),
    ),
}


def phrases_for(text: str, locale: str) -> Phrases:
    """The sentences in the language of what was asked; where it does not show, in the asker's."""
    return PHRASES[language_for(text, locale)]


def phrases_in(locale: str) -> Phrases:
    """The sentences in a language, whatever its region; English where there are none."""
    return PHRASES[language_in(locale)]


def language_for(text: str, locale: str) -> str:
    """The language that `phrases_for` speaks."""
    return language_in(language_of_question(text) or locale)


def language_in(locale: str) -> str:
    """The language that `phrases_in` speaks."""
    language = locale.lower().replace("_", "-").split("-")[0]
    return language if language in PHRASES else "en"


def named_open(sentence: str) -> str:
    """Which part of a question a sentence names as not answered; empty: it is no such sentence."""
    for phrases in PHRASES.values():
        before, after = phrases.part_not_covered.split("{part}")
        if sentence.startswith(before) and sentence.endswith(after):
            return sentence[len(before) : -len(after)]
    return ""
