"""footnote ask: one question, answered in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner

from bot.output import notices, print_json, terminal
from bot.reach import House, problem, reach
from bot.settings import Settings, read_settings
from rag_core.agent.phrases import ENGLISH
from rag_core.errors import FootnoteError
from rag_core.reading.quotations import quoted_sections
from rag_core.retrieval.whereabouts import whereabouts

WORDS = {
    "PENDING": "Waiting for its turn…",
    "RETRIEVING": "Searching the docs…",
    "GENERATING": "Writing…",
}
"""What is shown while a question is in a state."""
SEARCHED_AGAIN = 50
"""More than an answer has: it also reads what stands beside a passage."""


async def ask(
    question: dict[str, Any], *, as_json: bool, verbose: bool, explains: bool = False
) -> int:
    settings = read_settings()
    async with reach(settings) as house:
        answer = await answered(house, question, notices() if as_json else terminal())
        unchosen = await choices(house, question, settings) if is_error(answer) else ()
        thread = await house.get(f"/threads/{answer['session_id']}") if explains else None
        found = await found_again(house, question, thread) if thread else ()
    if as_json:
        print_json(answer)
    else:
        show(answer, terminal(), verbose=verbose)
        if thread is not None and not is_error(answer):
            from bot.commands.explaining import explain, profile_in

            profile = await profile_in(settings)
            explain(answer, thread, profile, terminal(), found=found)
    if unchosen:
        notices().print(f"Name a book with --book: {', '.join(unchosen)}.", soft_wrap=True)
    return 1 if is_error(answer) else 0


async def found_again(
    house: House, question: dict[str, Any], thread: dict[str, Any]
) -> Sequence[dict[str, Any]]:
    """The results of the answer's searches as the documents have them, with what was left out."""
    from bot.commands.explaining import searches_of

    searches = searches_of(thread)
    chosen = {"book_ids": books} if (books := question.get("book_ids")) else {}
    found: list[dict[str, Any]] = []
    for query in dict.fromkeys(search["query"] for search in searches):
        wanted = {"text": query, "limit": SEARCHED_AGAIN, **chosen}
        found += (await house.post("/search", wanted))["results"]
    return found


def is_error(answer: dict[str, Any]) -> bool:
    return bool(answer["outcome"] == "error")


async def choices(house: House, question: dict[str, Any], settings: Settings) -> Sequence[str]:
    """The books to choose from, where there are several and nobody chose one."""
    if question.get("book_ids") or settings.default_book:
        return ()
    books = [book["book_id"] for book in (await house.get("/books"))["books"]]
    return books if len(books) > 1 else ()


async def answered(house: House, question: dict[str, Any], console: Console) -> dict[str, Any]:
    """The answer; on a screen it is shown as it is written, then put aside for the final one."""
    text = ""
    waiting = Spinner("dots", WORDS["PENDING"])
    with Live(waiting, console=console, transient=True, auto_refresh=console.is_terminal) as screen:
        async for event, data in house.stream("/chat/stream", question):
            match event:
                case "stage":
                    waiting.update(text=data["detail"] or WORDS.get(data["state"], ""))
                case "text":
                    text = data["delta"] if data["restart"] else text + data["delta"]
                    if console.is_terminal:
                        screen.update(Markdown(text, hyperlinks=False))
                case "final":
                    answer: dict[str, Any] = data
                    return answer
                case "error":
                    raise problem(data)
    raise FootnoteError("The answer broke off; ask again.")


def show(answer: dict[str, Any], console: Console, *, verbose: bool) -> None:
    console.print(Markdown(answer["answer"], hyperlinks=False))
    quotes = quoted_sections(answer["answer"])
    if answer["outcome"] == "low_confidence" and not quotes:
        console.print("\nThe documents may not fully cover this; please check the sources.")
    if answer["outcome"] == "completed" and quotes:
        console.print(f"\n{ENGLISH.quoted(quotes)}")
    if answer["citations"]:
        console.print()
    for citation in answer["citations"]:
        console.print(f"[{citation['number']}] {place(citation)}")
        if where := citation["page_url"] or file_of(citation, answer["sources"]):
            console.print(f"    {where}", soft_wrap=True)
    if answer["suggestions"]:
        console.print("\nMaybe look here:")
    for suggestion in answer["suggestions"]:
        console.print(f"  {place(suggestion)}")
    if verbose:
        console.print(timings(answer))


def place(section: dict[str, Any]) -> str:
    return whereabouts(section["page_title"], section["section_heading"])


def file_of(citation: dict[str, Any], sources: Sequence[dict[str, Any]]) -> str:
    """The file that was quoted; of pages with the same name, the one that has the words."""
    section = (citation["page_title"], citation["section_heading"])
    fitting = [each for each in sources if (each["page_title"], each["section"]) == section]
    quoted = [each for each in fitting if citation["quote"] in each["chunk_text"]]
    return next((str(each["source_file"]) for each in [*quoted, *fitting]), "")


def timings(answer: dict[str, Any]) -> str:
    return (
        f"\n{answer['model']}: searched {answer['retrieval_time_ms']:.0f} ms,"
        f" wrote {answer['generation_time_ms']:.0f} ms, in all {answer['total_time_ms']:.0f} ms;"
        f" {answer['tokens_used']} tokens, {answer['confidence_level']} confidence,"
        f" session {answer['session_id']}"
    )
