"""The /footnote commands, as Discord is told of them."""

from __future__ import annotations

from typing import Any

from rag_core.retrieval.query import MAX_TIER, MIN_TIER, Proficiency

SUBCOMMAND, TEXT, NUMBER, YES_OR_NO, CHANNEL = 1, 3, 4, 5, 7
ANYWHERE = [0, 2, 4, 5, 13, 15]
"""Text, voice, categories, announcements, stages and forums."""
GROUP = "footnote"
HELP, BOOKS, SETTINGS, DOCTOR, JOBS, GAPS, FORGET_ME, MUTE, PROFILE = (
    "help", "books", "settings", "doctor", "jobs", "gaps", "forget-me", "mute", "profile",
)  # fmt: skip
MAX_TONE = 200

Command = dict[str, Any]
WHERE: list[Command] = [
    {
        "type": CHANNEL,
        "name": "channel",
        "description": "Which channel, forum or category; without one, here.",
        "channel_types": ANYWHERE,
    },
    {"type": YES_OR_NO, "name": "server", "description": "Or the whole server."},
]
READER: list[Command] = [
    {
        "type": NUMBER,
        "name": "hardware_tier",
        "description": "The best hardware at hand.",
        "min_value": MIN_TIER,
        "max_value": MAX_TIER,
    },
    {
        "type": TEXT,
        "name": "proficiency",
        "description": "How much is known already.",
        "choices": [{"name": level.value, "value": level.value} for level in Proficiency],
    },
]
RESET: Command = {
    "type": YES_OR_NO,
    "name": "reset",
    "description": "Forget what was said for this place before.",
}


def subcommand(name: str, description: str, *options: Command) -> Command:
    return {
        "type": SUBCOMMAND,
        "name": name,
        "description": description,
        "options": list(options),
    }


FOOTNOTE_COMMAND: Command = {
    "type": 1,
    "name": GROUP,
    "description": "What I do here, and how it is set.",
    "options": [
        subcommand(HELP, "What I can do, and how to ask."),
        subcommand(
            BOOKS,
            "The books there are; let a place read one of them.",
            {
                "type": TEXT,
                "name": "book",
                "description": "The book that this place reads from now on.",
                "autocomplete": True,
            },
            *WHERE,
        ),
        subcommand(
            SETTINGS,
            "How questions are answered in a place.",
            *WHERE,
            {
                "type": YES_OR_NO,
                "name": "auto_answer",
                "description": "Answer every question there, without a mention.",
            },
            {
                "type": YES_OR_NO,
                "name": "hint_only",
                "description": "Point to the section and ask back; do not give the solution.",
            },
            {
                "type": TEXT,
                "name": "tone",
                "description": "How answers are to sound.",
                "max_length": MAX_TONE,
            },
            {
                "type": TEXT,
                "name": "release_date",
                "description": "Material that comes out later is not found: YYYY-MM-DD.",
                "min_length": 10,
                "max_length": 10,
            },
            *READER,
            RESET,
        ),
        subcommand(DOCTOR, "What is in place, what is missing, what to do."),
        subcommand(JOBS, "The last runs over the documents."),
        subcommand(GAPS, "What was asked here and not answered."),
        subcommand(MUTE, "Answer in this thread only when I am mentioned, or do so again."),
        subcommand(PROFILE, "What you have and know: answers keep to it.", *READER, RESET),
        subcommand(
            FORGET_ME,
            "Remove you and everything that you have asked here.",
            {
                "type": YES_OR_NO,
                "name": "sure",
                "description": "It cannot be undone.",
                "required": True,
            },
        ),
    ],
}
