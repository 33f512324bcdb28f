"""The Slack app: its tokens, its address, who may do what."""

from __future__ import annotations

from pydantic import BaseModel, SecretStr

from bot.setting import ADDRESS_RULE, Address, CommandName, SlackIds, WorkspaceIds, setting

COMMAND_RULE = "'/' and 1 to 31 lower-case letters, digits, '-' and '_'"


class SlackSettings(BaseModel):
    """The Slack app: its tokens, its address, who may do what."""

    slack_bot_token: SecretStr | None = setting(
        "SLACK_BOT_TOKEN", None, "Bot token of the Slack app; unset: no Slack", "xoxb-…"
    )
    slack_app_token: SecretStr | None = setting(
        "SLACK_APP_TOKEN", None, "App token for Slack's Socket Mode", "xapp-…"
    )
    slack_signing_secret: SecretStr | None = setting(
        "SLACK_SIGNING_SECRET",
        None,
        "Signing secret for Slack's events over HTTP at /slack/events",
        "a secret; while it is exchanged the new and the old one, separated by a comma",
    )
    slack_client_id: str | None = setting(
        "SLACK_CLIENT_ID",
        None,
        "Client id of a Slack app that several workspaces install at /slack/install",
        "the client id",
        min_length=1,
    )
    slack_client_secret: SecretStr | None = setting(
        "SLACK_CLIENT_SECRET", None, "Client secret of that Slack app", "a secret"
    )
    slack_workspaces: WorkspaceIds | None = setting(
        "SLACK_WORKSPACES",
        None,
        "Slack workspaces that are served, and whose members are answered in shared channels;"
        " unset: the first one that installs the app, and whichever `footnote servers allow` adds",
        "workspace ids (T…), separated by commas",
    )
    slack_forget_uninstalled: bool = setting(
        "SLACK_FORGET_UNINSTALLED",
        False,
        "Whether all that was asked in a workspace is forgotten when the app is removed from it",
        "true or false",
    )
    slack_api_base: Address = setting(
        "SLACK_API_BASE", "https://slack.com/api/", "Address of Slack's API", ADDRESS_RULE
    )
    slack_admin_users: SlackIds | None = setting(
        "SLACK_ADMIN_USERS",
        None,
        "Members who may use the admin commands beside the workspace's own admins; unset: nobody",
        "member ids (U…), separated by commas",
    )
    slack_ask_person: SlackIds | None = setting(
        "SLACK_ASK_PERSON",
        None,
        'Whom the button "Ask a person" tags in Slack; unset: no such button',
        "ids of members (U…) and user groups (S…), separated by commas",
    )
    slack_allowed_bots: SlackIds | None = setting(
        "SLACK_ALLOWED_BOTS",
        None,
        "Other Slack bots whose questions are answered; unset: none",
        "ids of bots (B…), apps (A…) or members (U…), separated by commas",
    )
    slack_ask_command: CommandName = setting(
        "SLACK_ASK_COMMAND", "/ask", "Slack command for a private answer", COMMAND_RULE
    )
    slack_lookup_command: CommandName = setting(
        "SLACK_LOOKUP_COMMAND", "/lookup", "Slack command that finds passages", COMMAND_RULE
    )
    slack_house_command: CommandName = setting(
        "SLACK_HOUSE_COMMAND", "/footnote", "Slack command for everything else", COMMAND_RULE
    )
