"""What `footnote ask --explain` says of the passages is what decided."""

from __future__ import annotations

from rag_core.agent.confidence.inquiry import Inquiry

from bot.commands.explaining import signals
from tests.builders import a_result


def test_a_code_that_stands_in_no_passage_is_named_as_the_reason() -> None:
    found = [a_result("There are 3 attempts unless max_attempts says otherwise.")]
    asked = Inquiry(text="What is the default of max_retries?")
    told = "\n".join(signals(asked, found))
    assert "The code that is asked about stands in none of them." in told
    assert "so it is refused" in told
    known = "\n".join(signals(Inquiry(text="What is the default of max_attempts?"), found))
    assert "stands there, which counts for much" in known
