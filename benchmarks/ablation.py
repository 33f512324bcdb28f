"""What each part of answering is worth: a question set asked with all parts, and without each.

`python -m benchmarks.ablation DIR… --questions FILE`, with folders and questions as
`footnote eval` takes them."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.commands.eval_shown import as_drawn
from bot.commands.measuring import (
    CACHE_FOLDER,
    filled_index,
    opened_model,
    opened_reranker,
    progress,
)
from bot.commands.parts import PARTS, Parts, agent_with, claim_checks
from bot.door import own_folder
from bot.output import terminal
from bot.providers import open_chat_model, open_reader
from rag_core.errors import ConfigurationError
from rag_core.evaluation.ablation import ablation_table, claims_table
from rag_core.evaluation.answer_quality import given_answers, page_of_chunks
from rag_core.evaluation.claim_quality import checked_claims
from rag_core.evaluation.natural import Materials, load_materials
from rag_core.evaluation.rows import QuestionRow, can_be_judged, rows_of

ALL = "all"


async def answered(found: Materials, variants: dict[str, Parts]) -> dict[str, list[QuestionRow]]:
    """The rows of every set for each variant; a set's index is opened once."""
    rows: dict[str, list[QuestionRow]] = {name: [] for name in variants}
    async with (
        opened_model() as (settings, embedder, data_folder),
        opened_reranker(settings) as reranker,
        open_chat_model(settings) as model,
        open_reader() as reader,
    ):
        cache = own_folder(data_folder / CACHE_FOLDER)
        for each in found.sets:
            pages = await asyncio.to_thread(page_of_chunks, each, datetime.now(UTC))
            async with filled_index(each, embedder, cache, reranker) as index:
                for name, parts in variants.items():
                    agent = agent_with(
                        parts, model=model, index=index, reader=reader,
                        embedder=embedder.model, settings=settings, data_folder=data_folder,
                    )  # fmt: skip
                    with progress(f"{each.name}, {name}") as told:
                        given = await given_answers(
                            each, agent, pages=pages, with_history=parts.thread, told=told
                        )
                    rows[name] += rows_of(each, given=given)
    return rows


async def measure(folders: Sequence[Path], questions: Sequence[Path]) -> None:
    found = load_materials(folders, questions)
    if any(can_be_judged(question) for each in found.sets for question in each.questions):
        variants = {ALL: Parts()} | {f"no {name}": Parts().without(name) for name in PARTS}
        terminal().print(as_drawn(ablation_table(await answered(found, variants), whole=ALL)))
    elif not found.claims:
        raise ConfigurationError("No question has must or gold_answers: no answer can be judged.")
    if found.claims:
        checked = {}
        for name, check in claim_checks().items():
            with progress(f"claims, {name}") as told:
                checked[name] = await checked_claims(found.claims, check, told=told)
        terminal().print(as_drawn(claims_table(checked)))


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    arguments.add_argument("--questions", nargs="*", type=Path, default=[], metavar="FILE")
    asked = arguments.parse_args()
    asyncio.run(measure(asked.folders, asked.questions))


if __name__ == "__main__":
    main()
