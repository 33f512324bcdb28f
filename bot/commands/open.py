"""footnote open: the page in a browser, signed in."""

from __future__ import annotations

import sys

from bot.door import door_address, own_folder
from bot.opening import open_page
from bot.output import notices, print_json
from bot.reach import knock
from bot.settings import read_settings
from rag_core.errors import FootnoteError

NOT_RUNNING = "Footnote isn't running on this data folder. Start it with `footnote run`."


async def open_web_page(*, only_print: bool, as_json: bool) -> int:
    """Ask the running bot where its page is; open it, or print the link that signs in."""
    folder = own_folder(read_settings().data_dir)
    door = door_address(folder)
    if door is None:
        raise FootnoteError(NOT_RUNNING)
    async with knock(door) as house:
        place = await house.get("/page")
    if place["link"] is None:
        raise FootnoteError(NOT_RUNNING)
    opened = not only_print and not as_json and open_page(place["link"], folder)
    if as_json:
        print_json(place)
    elif opened:
        notices().print(f"Opened {place['address']} in your browser.")
    else:
        sys.stdout.write(f"{place['link']}\n")
    return 0
