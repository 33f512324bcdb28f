"""What the Slack adapter must be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.errors import ConfigurationError

INSTALL_PATH, REDIRECT_PATH = "/slack/install", "/slack/oauth_redirect"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNames:
    """How the slash commands are called in this workspace: two apps cannot share a name."""

    ask: str = "/ask"
    lookup: str = "/lookup"
    house: str = "/footnote"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallConfig:
    """How workspaces let the app in by themselves; the secret never shows."""

    client_id: str
    client_secret: str = field(repr=False)
    public_url: str
    """Where Slack sends the browser back to; the path is the program's own."""
    forgets: bool = False
    """Whether what was asked in a workspace goes when the app is removed from it."""
    state_seconds: float = 600.0
    """How long somebody may take to say yes."""
    look_seconds: float = 20.0
    """Between two looks at what other hosts installed, and at tokens that run out."""
    doubt_seconds: float = 25.0
    """How long a token that was said to be gone may still prove that it is not."""
    doubt_pause: float = 4.0
    renew_before: float = 2 * 3_600.0
    """Seconds before its end a token is renewed; Slack gives it twelve hours."""


def redirect_uri(install: InstallConfig) -> str:
    """Where Slack sends a browser back to; the app must name it too."""
    return install.public_url.rstrip("/") + REDIRECT_PATH


def install_address(install: InstallConfig) -> str:
    """What a workspace opens to let the app in."""
    return install.public_url.rstrip("/") + INSTALL_PATH


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackConfig:
    """Tokens, addresses and bounds; secrets never show."""

    bot_token: str = field(default="", repr=False)
    """Of the one workspace; empty where workspaces install the app by themselves."""
    install: InstallConfig | None = None
    app_token: str | None = field(default=None, repr=False)
    """Opens Socket Mode."""
    signing_secret: str | None = field(default=None, repr=False)
    """Checks events that come over HTTP."""
    api_base: str = "https://slack.com/api/"
    names: CommandNames = field(default_factory=CommandNames)
    admins: tuple[str, ...] = ()
    """Members who may do what admins of the workspace may."""
    ask_person: tuple[str, ...] = ()
    """Members and user groups whom "Ask a person" tags."""
    allowed_bots: tuple[str, ...] = ()
    """Other programs whose questions are answered: their bot, app or member ids."""
    request_seconds: float = 10.0
    post_seconds: float = 1.0
    """Between two messages in one channel, as Slack asks for."""
    write_seconds: float = 1.0
    """Between two steps of an answer that grows."""
    ping_seconds: float = 5.0
    """How often the socket is asked for a sign of life; four missed ones end it."""
    longest_away: float = 3 * 24 * 3_600.0
    """Seconds: what was asked before that, while we were away, is not answered any more."""
    read_again_after: tuple[float, ...] = (5.0, 15.0, 60.0, 300.0, 900.0)
    """Pauses after which what was missed and could not be read is read again."""
    look_again_after: tuple[float, ...] = (2.0, 5.0, 15.0, 30.0, 60.0, 180.0, 600.0)
    """When a message is looked for of which nobody knows whether Slack will still make it."""
    look_seconds: float = 60.0
    """Between two looks at what the token may do, while it may not do everything."""
    retry_seconds: float = 1.0
    """First pause before Slack is asked again who we are; it doubles up to a minute."""

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise ConfigurationError("\n".join(faults))

    def _faults(self) -> list[str]:
        faults = []
        if bool(self.bot_token) == (self.install is not None):
            faults.append(
                "Slack needs SLACK_BOT_TOKEN (one workspace) or SLACK_CLIENT_ID (several),"
                " not both."
            )
        if self.bot_token.startswith("xapp-"):
            faults.append("SLACK_BOT_TOKEN holds an app token; the bot token begins with xoxb-.")
        if self.app_token is not None and self.app_token.startswith("xoxb-"):
            faults.append("SLACK_APP_TOKEN holds a bot token; the app token begins with xapp-.")
        if not self.app_token and not self.signing_secret:
            faults.append("Slack needs SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET.")
        return faults
