"""What Slack's libraries may write to our log: their errors, in one line, without secrets.

At lower levels they write message text, tokens and whole events, so these stay off."""

from __future__ import annotations

import logging
import re

TICKET = re.compile(r"(ticket|token)=[^&\s'\"]+")


class OneLine(logging.Filter):
    """Drops the stack and the socket's one-time ticket from what a library says."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = TICKET.sub(r"\1=…", record.getMessage()), ()
        record.exc_info = record.exc_text = None
        return True


def vendor_log() -> logging.Logger:
    log = logging.getLogger("adapters.slack.vendor")
    log.setLevel(logging.ERROR)
    if not log.filters:
        log.addFilter(OneLine())
    return log
