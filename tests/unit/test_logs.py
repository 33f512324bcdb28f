"""Log lines tell ids and counts; texts and secrets stay out of them."""

from __future__ import annotations

import json
import logging

import pytest

from bot.logs import HumanLines, JsonLines


def record(exc: BaseException | None = None, **extra: object) -> logging.LogRecord:
    made = logging.getLogger("bot.test").makeRecord(
        "bot.test", logging.INFO, __file__, 1, "answer delivered", (), None, extra=extra
    )
    made.exc_info = (type(exc), exc, exc.__traceback__) if exc else None
    return made


def test_a_json_line_is_one_object_with_its_ids() -> None:
    line = JsonLines().format(record(question_id="q-1", parts=2))
    assert "\n" not in line
    document = json.loads(line)
    assert document["message"] == "answer delivered"
    assert (document["question_id"], document["parts"]) == ("q-1", 2)


@pytest.mark.parametrize("lines", [JsonLines(), HumanLines()])
def test_an_errors_text_is_left_out_but_its_place_is_there(lines: logging.Formatter) -> None:
    try:
        raise ValueError("seeded secret in a message")
    except ValueError as error:
        shown = lines.format(record(error))
    assert "seeded" not in shown
    assert "ValueError" in shown
    assert "test_logs.py" in shown
