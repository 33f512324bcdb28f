"""An answer as the web door sends it: one JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence

from adapters.web.documents.answer import response_document
from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung


class WebRenderer:
    """One answer, one part."""

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        return [document_text(response)]


def document_text(response: AgentResponse) -> str:
    return json.dumps(response_document(response), ensure_ascii=False)
