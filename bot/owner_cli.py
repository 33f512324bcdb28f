"""The owner's commands: gaps, numbers, doctor, forgetting, backup, manifest."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from bot.arguments import between, identifier, one_of
from bot.command_line import Json, finish
from rag_core.conversation.key import Platform

owner = typer.Typer()
staff = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
servers = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

ServerId = Annotated[
    str,
    typer.Argument(metavar="ID", help="A Discord server (digits) or a Slack workspace (T…)."),
]

ItsId = Annotated[UUID, typer.Argument(parser=identifier, help="As listed.", metavar="ID")]


class Shown(StrEnum):
    """Which gaps are told."""

    OPEN = "open"
    PLANNED = "planned"
    ANSWERED = "answered"


@owner.command()
def gaps(
    state: Annotated[
        Shown | None,
        typer.Option(
            parser=one_of(Shown), metavar="open|planned|answered", help="Only gaps in this state."
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="A list to work off.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="For a spreadsheet.")] = False,
    as_json: Json = False,
) -> None:
    """List what was asked in vain, the most asked first."""
    from bot.commands.gaps import GapsAs
    from bot.commands.gaps import gaps as command

    wanted = {GapsAs.MARKDOWN: markdown, GapsAs.CSV: csv, GapsAs.JSON: as_json}
    forms = [form for form, chosen in wanted.items() if chosen]
    if len(forms) > 1:
        raise typer.BadParameter("choose one of --json, --markdown and --csv.")
    finish(command(state=state, shown_as=forms[0] if forms else GapsAs.TABLE))


@owner.command()
def stats(
    days: Annotated[
        int, typer.Option(parser=between(1, 366), metavar="N", help="How far back: 1 to 366.")
    ] = 30,
    as_json: Json = False,
) -> None:
    """Count questions, how they ended, how long they took."""
    from bot.commands.stats import stats as command

    finish(command(days=days, as_json=as_json))


@owner.command()
def doctor(as_json: Json = False) -> None:
    """Say what is in place, what is missing, what to do."""
    from bot.commands.doctor import examine

    finish(examine(as_json=as_json))


@owner.command()
def forget(
    platform: Annotated[
        Platform,
        typer.Option(parser=one_of(Platform), metavar="PLATFORM", help="Where they asked."),
    ],
    user: Annotated[str | None, typer.Option(metavar="ID", help="Id of the person.")] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="ID", help="Id of a whole server or workspace.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Forget all that a person, or a whole server, asked."""
    from bot.commands.forget import forget as command

    if not user and not tenant:
        raise typer.BadParameter("name somebody with --user, or a server with --tenant")
    finish(command(platform.value, user=user, tenant=tenant, as_json=as_json))


@staff.callback()
def staff_answers(context: typer.Context, as_json: Json = False) -> None:
    """List kept answers of the staff; share and withdraw them."""
    if context.invoked_subcommand is None:
        from bot.commands.staff import list_staff_answers

        finish(list_staff_answers(as_json=as_json))


@staff.command()
def withdraw(
    answer_id: ItsId,
    as_json: Json = False,
) -> None:
    """Show nobody this answer any more."""
    from bot.commands.staff import withdraw_staff_answer

    finish(withdraw_staff_answer(answer_id, as_json=as_json))


@staff.command()
def share(
    answer_id: ItsId,
    places: Annotated[
        list[str],
        typer.Argument(help="everywhere, web, discord:SERVER or slack:WORKSPACE.", metavar="PLACE"),
    ],
    as_json: Json = False,
) -> None:
    """Let other places find this answer, without its author's name."""
    from bot.commands.staff import share_staff_answer

    finish(share_staff_answer(answer_id, places, as_json=as_json))


@staff.command()
def unshare(answer_id: ItsId, as_json: Json = False) -> None:
    """Let this answer be found in its own place alone again."""
    from bot.commands.staff import share_staff_answer

    finish(share_staff_answer(answer_id, [], as_json=as_json))


@servers.callback()
def servers_met(context: typer.Context, as_json: Json = False) -> None:
    """List the servers and workspaces; choose whom to serve."""
    if context.invoked_subcommand is None:
        from bot.commands.servers import list_servers

        finish(list_servers(as_json=as_json))


@servers.command("list")
def list_servers(as_json: Json = False) -> None:
    """List every server and workspace, and whether it is served."""
    from bot.commands.servers import list_servers as command

    finish(command(as_json=as_json))


@servers.command()
def allow(server: ServerId, as_json: Json = False) -> None:
    """Serve a server or workspace from now on."""
    from bot.commands.servers import decide

    finish(decide(server, "allowed", as_json=as_json))


@servers.command()
def deny(server: ServerId, as_json: Json = False) -> None:
    """Serve a server or workspace no more."""
    from bot.commands.servers import decide

    finish(decide(server, "denied", as_json=as_json))


@owner.command()
def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write it; must not be there yet.")
    ],
    as_json: Json = False,
) -> None:
    """Copy the whole house into one file, as it runs."""
    from bot.commands.backup import backup as command

    finish(command(file.absolute(), as_json=as_json))


class Manifests(StrEnum):
    """The platforms whose apps are set up by a manifest."""

    SLACK = "slack"


@owner.command()
def manifest(
    platform: Annotated[
        Manifests, typer.Argument(parser=one_of(Manifests), metavar="PLATFORM", help="slack")
    ],
) -> None:
    """Print the manifest of the Slack app."""
    from bot.commands.manifest import slack_manifest

    del platform  # there is one so far, and its name is checked
    finish(slack_manifest())


@owner.command()
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `footnote backup` wrote.")
    ],
    as_json: Json = False,
) -> None:
    """Fill an empty data folder from a backup."""
    from bot.commands.backup import restore as command

    finish(command(file, as_json=as_json))
