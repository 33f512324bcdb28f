"""What Slack does not let us do: said once in the log, and shown until it is mended."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from adapters.steward import Finding

log = logging.getLogger(__name__)

KEPT = 100
NAMED = 5
"""Channels that a finding names; the others are counted."""
MANIFEST = "`footnote manifest slack` prints the manifest that has everything"
EFFECTS = {
    "assistant.threads.setStatus": "nobody sees how far an answer is",
    "assistant.threads.setSuggestedPrompts": "the assistant pane has no suggested questions",
    "assistant.threads.setTitle": "threads of the assistant pane have no title",
    "chat.postMessage": "answers cannot be posted",
    "chat.startStream": "answers are shown by editing a message, not as a stream",
    "conversations.history": "what was asked while the bot was away is not read",
    "conversations.replies": "threads cannot be read",
    "files": "text files in questions are not read",
    "files.getUploadURLExternal": "an answer that Slack refuses cannot be sent as a file",
    "reactions.add": "a withdrawn question gets no sign",
    "usergroups.users.list": (
        "replies by members of the user groups in SLACK_ASK_PERSON cannot be kept as answers"
    ),
    "users.info": "languages and admins are not known",
    "views.publish": "the app's Home tab is empty",
}
TOKEN = "Put a valid token into the settings and start again."  # noqa: S105 - a sentence
ADVICE = {
    "account_inactive": TOKEN,
    "invalid_auth": TOKEN,
    "token_expired": TOKEN,
    "token_revoked": TOKEN,
    "is_archived": "Unarchive the channel, or ask in another one.",
    "not_in_channel": "Write `/invite` and the app's name in that channel.",
    "channel_not_found": "Write `/invite` and the app's name in that channel.",
    "unknown_method": "Nothing: this workspace does not offer it.",
    "restricted_action": "A workspace admin decides who may post in that channel.",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One refusal: what was asked, how Slack calls its reason, and which scope is missing."""

    method: str
    error: str
    needed: str = ""
    place: str = ""

    @property
    def detail(self) -> str:
        lack = f"the scope {self.needed} is missing" if self.needed else self.error
        where = f" in {self.place}" if self.place else ""
        effect = EFFECTS.get(self.method, f"{self.method} does not work")
        return f"Slack refuses {self.method}{where} ({lack}): {effect}."

    @property
    def advice(self) -> str:
        if self.needed:
            return f"Add {self.needed} to the app's bot scopes and install it anew; {MANIFEST}."
        if self.error.startswith("restricted_action"):
            return ADVICE["restricted_action"]
        return ADVICE.get(self.error, f"Look up {self.error} in Slack's reference of the method.")


class Troubles:
    """The refusals of one workspace that only a person can do something about."""

    def __init__(self, *, of: str = "", new_token: str = TOKEN) -> None:
        self._named = f"slack {of}:" if of else "slack"
        self._new_token = new_token
        self._known: dict[Trouble, None] = {}

    def note(self, trouble: Trouble) -> None:
        if trouble not in self._known:
            log.warning(trouble.detail, extra={"advice": self._advice(trouble)})
        self._known.pop(trouble, None)
        self._known[trouble] = None
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]

    def over(self, method: str, place: str = "") -> None:
        """The method works again."""
        for trouble in [t for t in self._known if (t.method, t.place) == (method, place)]:
            del self._known[trouble]

    def knows(self, method: str, error: str) -> bool:
        return any((t.method, t.error) == (method, error) for t in self._known)

    @property
    def scopes_told(self) -> set[str]:
        """Scopes whose lack is a finding already, with what it means."""
        return {trouble.needed for trouble in self._known}

    def findings(self) -> Sequence[Finding]:
        """One for each refusal: many channels that refuse the same are one finding."""
        places: defaultdict[Trouble, list[str]] = defaultdict(list)
        for trouble in self._known:
            places[replace(trouble, place="")].append(trouble.place)
        return [
            Finding(
                name=f"{self._named} {trouble.method}{of_error(trouble, places)}",
                in_place=False,
                detail=replace(trouble, place=some_of(where)).detail,
                advice=self._advice(trouble),
            )
            for trouble, where in places.items()
        ]

    def lacking(self, scopes: Sequence[str]) -> Finding:
        """The scopes that the app was not granted."""
        return Finding(
            name=f"{self._named} scopes",
            in_place=False,
            detail=f"lack {', '.join(scopes)}.",
            advice=f"Add them to the app's bot scopes and install it anew; {MANIFEST}.",
        )

    def _advice(self, trouble: Trouble) -> str:
        return self._new_token if trouble.advice == TOKEN else trouble.advice


def of_error(trouble: Trouble, others: Iterable[Trouble]) -> str:
    """What tells two findings of one method apart; nothing where there is one."""
    alike = [each for each in others if each.method == trouble.method]
    return f" ({trouble.error})" if len(alike) > 1 else ""


def some_of(places: Sequence[str]) -> str:
    named = [place for place in places if place]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{', '.join(named[:NAMED])}{more}"
