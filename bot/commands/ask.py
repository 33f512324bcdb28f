"""footnote ask: one question, answered in the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from bot.output import notices, print_json, terminal
from bot.reach import reach
from bot.settings import read_settings


async def ask(question: dict[str, Any], *, as_json: bool, verbose: bool) -> int:
    async with reach(read_settings()) as house:
        with notices().status("Searching the docs…"):
            answer = await house.post("/chat/run", question)
    if as_json:
        print_json(answer)
    else:
        show(answer, terminal(), verbose=verbose)
    return 1 if answer["outcome"] == "error" else 0


def show(answer: dict[str, Any], console: Console, *, verbose: bool) -> None:
    console.print(Markdown(answer["answer"], hyperlinks=False))
    if answer["outcome"] == "low_confidence":
        console.print("\nThe documents may not fully cover this; please check the sources.")
    if answer["citations"]:
        console.print()
    for citation in answer["citations"]:
        console.print(f"[{citation['number']}] {place(citation)}")
        if citation["page_url"]:
            console.print(f"    {citation['page_url']}", soft_wrap=True)
    if answer["suggestions"]:
        console.print("\nMaybe look here:")
    for suggestion in answer["suggestions"]:
        console.print(f"  {place(suggestion)}")
    if verbose:
        console.print(timings(answer))


def place(section: dict[str, Any]) -> str:
    return " › ".join(filter(None, (section["page_title"], section["section_heading"])))


def timings(answer: dict[str, Any]) -> str:
    return (
        f"\n{answer['model']}: searched {answer['retrieval_time_ms']:.0f} ms,"
        f" wrote {answer['generation_time_ms']:.0f} ms, in all {answer['total_time_ms']:.0f} ms;"
        f" {answer['tokens_used']} tokens, {answer['confidence_level']} confidence"
        f" ({answer['confidence']:.2f}), session {answer['session_id']}"
    )
