"""How sure the evidence of one answer makes us while it grows."""

from __future__ import annotations

from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.level import ConfidenceMetrics
from rag_core.agent.confidence.profiles import ConfidenceProfile, measured
from rag_core.agent.tool import RetrievalTool


class Judgement:
    """Measures the evidence, once for each state of it: it only grows."""

    def __init__(self, profile: ConfidenceProfile, inquiry: Inquiry, tool: RetrievalTool) -> None:
        self._profile = profile
        self._inquiry = inquiry
        self._tool = tool
        self._known: dict[int, ConfidenceMetrics] = {}

    @property
    def metrics(self) -> ConfidenceMetrics:
        found = self._tool.context.results
        if len(found) not in self._known:
            self._known[len(found)] = measured(self._profile, self._inquiry, found)
        return self._known[len(found)]

    def suffices(self) -> bool:
        """Whether there is enough to write an answer."""
        return self.metrics.should_answer

    @property
    def queries(self) -> tuple[str, ...]:
        """What was searched for, each once."""
        return tuple(dict.fromkeys(record.query for record in self._tool.records))

    def by_query(self, query: str) -> ConfidenceMetrics:
        """The evidence as an answer to one of the searches, in its own words and language."""
        return measured(self._profile, Inquiry(text=query), self._tool.context.results)
