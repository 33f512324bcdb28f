"""The cut-offs for cosines fit the local models, each of which has its own."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.providers.embedders.local import open_local_embedder
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL
from rag_core.retrieval.cosines import scale_of

PASSAGES = {
    "How many vacation days may I take along?": (
        "Employees may carry five vacation days into the next year."
    ),
    "How hot must the oven be for bread?": (
        "The oven must reach 200 degrees before the bread goes in."
    ),
    "How do I apply a changed configuration?": (
        "Restart the service with systemctl after changing its configuration."
    ),
    "How do plants make sugar?": "Photosynthesis turns light, water and carbon dioxide into sugar.",
    "How do I stop the robot at once?": (
        "The red button cuts the power of the robot's drives at once."
    ),
    "When is the museum free?": "Tickets for the museum are free on the first Sunday of the month.",
}
SAME = (
    ("How many vacation days may I take along?", "How many days of vacation may I take along?"),
    ("When is the museum free?", "When is the museum free of charge?"),
    ("How do I stop the robot at once?", "How can I stop the robot at once?"),
)


@pytest.mark.parametrize("model", [LOCAL_MODEL, FORMER_LOCAL_MODEL])
async def test_what_answers_is_related_and_what_is_about_other_things_is_not(model: str) -> None:
    async with open_local_embedder(model) as embedder:
        asked = np.array([await embedder.embed_query(question) for question in PASSAGES])
        texts = np.array(await embedder.embed_documents(list(PASSAGES.values())))
        ways = np.array([[await embedder.embed_query(text) for text in pair] for pair in SAME])
    scale = scale_of(model)
    near = asked @ texts.T
    others = near[~np.eye(len(near), dtype=bool)]
    assert np.diag(near).min() >= scale.related
    assert (others < scale.related).mean() > 0.9
    assert (ways[:, 0] * ways[:, 1]).sum(axis=1).min() >= scale.same_question
    assert (asked @ asked.T)[~np.eye(len(asked), dtype=bool)].max() < scale.same_question
