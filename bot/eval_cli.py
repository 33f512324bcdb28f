"""The commands that measure on question sets."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.arguments import one_of
from bot.command_line import Json, finish
from rag_core.errors import ConfigurationError

measuring = typer.Typer()


Questions = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Instead of a set's own questions.jsonl: questions, natural questions or claims about"
        " pages below DIR; a folder stands for its .jsonl files. May stand several times.",
    ),
]
Reports = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="A file, .md or .html, to write a report to; may stand several times."
    ),
]
Floors = Annotated[
    str,
    typer.Option(
        metavar="FIGURES", help="As in ndcg=0.8,answered=0.95; exit code 1 where one is below."
    ),
]
TwoRuns = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        help="Instead of DIR: two runs that --json printed, the earlier first.",
        metavar="BEFORE AFTER",
    ),
]


class History(StrEnum):
    """Whether the turns before a question are told."""

    ON = "on"
    OFF = "off"


@measuring.command("eval")
def evaluate(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Question sets, or folders of pages.", metavar="DIR", show_default=False
        ),
    ] = None,
    questions: Questions = None,
    history: Annotated[
        History,
        typer.Option(parser=one_of(History), metavar="on|off", help="The turns before, too?"),
    ] = History.ON,
    what: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="One or more of retrieval, refusal, citations, answers, claims; without a word"
            " what the questions are made for, and all with --report.",
        ),
    ] = None,
    report: Reports = None,
    at_least: Floors = "",
    compare: TwoRuns = None,
    as_json: Json = False,
) -> None:
    """Measure question sets, or compare two runs."""
    from bot.commands.eval_shown import check_reports

    check_reports(report or ())
    if bool(folders) is (compare is not None):
        raise ConfigurationError("Name a question set, or two runs after --compare.")
    if folders:
        from bot.commands.eval import evaluate as command
        from bot.commands.eval import wanted

        wants = wanted(
            what,
            with_history=history is History.ON,
            at_least=at_least,
            reports=report or (),
            as_json=as_json,
        )
        finish(command(folders, questions or (), wants))
    if compare is not None:
        from bot.commands.compare import compare as both

        finish(both(*compare, at_least=at_least, reports=report or (), as_json=as_json))


@measuring.command()
def calibrate(
    folders: Annotated[list[Path], typer.Argument(help="Question sets.", metavar="DIR")],
    questions: Questions = None,
    as_json: Json = False,
) -> None:
    """Measure from which confidence on to answer."""
    from bot.commands.calibrate import calibrate as command

    finish(command(folders, questions or (), as_json=as_json))
