"""footnote manifest slack: the app manifest that matches this program and its settings."""

from __future__ import annotations

import json
import sys

from adapters.slack.manifest import manifest
from bot.platforms import slack_install, slack_names
from bot.settings import read_settings


async def slack_manifest() -> int:
    """Over HTTP where a signing secret and a public address are set, else for Socket Mode."""
    settings = read_settings()
    over_http = settings.slack_signing_secret is not None and settings.slack_app_token is None
    made = manifest(
        slack_names(settings),
        public_url=settings.public_url if over_http else None,
        install=slack_install(settings),
    )
    sys.stdout.write(json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    return 0
