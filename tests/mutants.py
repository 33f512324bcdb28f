"""Texts that try to leave something live: attacks, mixed with ordinary Markdown and broken up."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.attack_cases import CANARY, ORDERS

EVIL = "https://evil.example/a?b=c"
SEEDS = (
    EVIL, f"see {EVIL} now", f"[docs]({EVIL})", f'[docs](<{EVIL}> "title")', f"<{EVIL}>",
    f"[docs][ref]\n\n[ref]: {EVIL}", f"![chart]({EVIL})", f"<{EVIL}|the docs>",
    f'<a href="{EVIL}">here</a>', "www.evil.example/x", "evil.com/path", "evil.com",
    "write to ann@evil.com", "<ann@evil.com>", "mailto:ann@evil.com", "tel:+15551234567",
    "@everyone", "@here", "@channel", "<@123456789012345678>", "<@!1>", "<@&2>", "<#3>",
    "</ban all:4>", "<t:1700000000:R>", "<:emoji:5>", "<a:wave:6>", "<id:customize>",
    "<!channel>", "<!here|here>", "<!everyone>", "<@U0123ABCD>", "<@U0123|bob>", "<#C0123|general>",
    "<!subteam^S0123|@team>", "<!date^1392734382^{date}|x>", "<123456789012345678:customize>",
    "\\" + EVIL, "https://[@host/", "steam://run/1", "discord://x", "<tel:+15551234567>",
)  # fmt: skip
CONTEXT = (
    "Ten a day [1].", "Use `make test` first [2].", "# Limits", "- one\n- two",
    "1. first\n2. second",
    "> quoted", "| a | b |\n|---|---|\n| 1 | 2 |", "```py\nprint(1)\n```", "**bold** and *soft*",
    "a ` b", "~~gone~~", "Vec<T> & co", "```\n```", "`a ** b`", "``x ` y``", "||hidden||",
    "-# small", "> > deep\n> - item", "- item\n  ```\n  code\n  ```", "_x_ and __y__", "***",
)  # fmt: skip
TOKENS = (
    "\\", "[", "]", "(", ")", "](", "<", ">", "`", "``", "```", "````", "~~~", "\n", "\n\n", "\n> ",
    "\n- ", "\n```\n", "\n````\n", "> ```\n", "\n    ", "*", "**", "_", "__", "~~", "||", "|", "!",
    "&lt;", "&gt;", "&#64;", "&#x2f;", "&colon;", "&amp;", "\u200b", "\u2060", "\u00ad", "\u200d",
    "\ufe0f", "\u202e", "＠", "＜", "＞", "：", "／", "。", "<b>", "<!-- ", " -->", "<br>", "\t",
    "  \n",
    "[ref]: ", "[1]", "[^1]: ", "#", ">>> ", "-# ", "1. ", "+ ", "| ", "\n|---|\n", "\n===\n", "'",
    '"', "https:", "//", "\x00", "\r\n", "\u2028", ":", "/", "@",
)  # fmt: skip
WRAPS = (
    "> {}", "- {}", "1. {}", "# {}", "**{}**", "*{}*", "~~{}~~", "`{}`", "``{}``", "```\n{}\n```",
    "````\n{}\n````", "~~~\n{}\n~~~", "> ```\n> {}\n> ```", "- ```\n  {}\n  ```", "[{}](x)",
    "[x]({})", "![{}](x)", "<{}>", "| {} | x |\n|---|---|\n| y | {} |", "||{}||", "\\{}", "    {}",
    "````\n```\n{}\n```\n````", "```{}\ncode\n```", "<!-- {} -->", "<b>{}</b>", "__{}__", ">>> {}",
    "[{}][ref]\n\n[ref]: x", "`a ** b` **{}**", "**`x ** {}`**", "*`x * {}`*", "```\n\n{}```",
)  # fmt: skip


def mutants(seed: int, count: int) -> Iterator[str]:
    """So many texts, the same for the same seed."""
    chance = random.Random(seed)
    return (mutant(chance) for _ in range(count))


def mutant(chance: random.Random) -> str:
    parts = [part(chance) for _ in range(chance.randint(1, 3))]
    text = chance.choice(("\n\n", "\n", " ", "")).join(parts)
    for _ in range(chance.randint(0, 5)):
        text = changed(text, chance)
    return text[:1_500]


def part(chance: random.Random) -> str:
    roll = chance.random()
    if roll < 0.55:
        made = chance.choice(SEEDS)
    elif roll < 0.65:
        made = chance.choice(ORDERS).format(CANARY)
    else:
        made = chance.choice(CONTEXT)
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        wrap = chance.choice(WRAPS)
        made = wrap.replace("{}", made)
    return made


def changed(text: str, chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    to = min(len(text), at + chance.randint(1, 8))
    match chance.randrange(7):
        case 0 | 1 | 2:
            return text[:at] + chance.choice(TOKENS) + text[at:]
        case 3:
            return text[:at] + text[to:]
        case 4:
            return text[:at] + text[at:to] * 2 + text[to:]
        case 5 if at < len(text):
            return f"{text[:at]}&#{ord(text[at])};{text[at + 1 :]}"
        case _:
            return chance.choice(WRAPS).replace("{}", text)
