"""python -m bot: the same as the command footnote."""

from bot.cli import main

main()
