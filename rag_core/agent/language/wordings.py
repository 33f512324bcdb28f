"""How questions of each kind are worded, and what a text looks like that answers them."""

from __future__ import annotations

import re

from rag_core.agent.language.words import NEGATED

AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|big|large|tall|high|hot|cold|heavy|fast|deep|soon)"
    r"|when|what (?:year|date|number|percentage|time|age|size|temperature)|which year)\b",
    re.IGNORECASE,
)
WHEN = re.compile(
    r"\bhow (?:often|soon)\b|\bwhen\b|\b(?:what|which) (?:year|month|day|date|time|century)\b",
    re.IGNORECASE,
)
TIME = re.compile(
    r"\b\d{1,2}:\d\d\b|\b1\d{3}s?\b|\b20\d\ds?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\b(?:\d[\d.,]*(?:st|nd|rd|th)?|[a-z]+)[ -](?:working )?(?:seconds?|minutes?|min|hours?|days?"
    r"|nights?|weeks?|months?|quarters?|years?|decades?|centur(?:y|ies)|times)\b"
    r"|\b(?:daily|weekly|monthly|yearly|noon|midnight|once|twice)\b",
    re.IGNORECASE,
)
HOW_MANY = re.compile(
    r"\bhow many ((?:(?!(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has"
    r"|have|had|in|of|on|at|to|for|from|with)\b)[\w-]+ ?){1,4})",
    re.IGNORECASE,
)
COUNTS = re.compile(
    r"\d[\w.,:]*|\b(?:one|single|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|hundred|thousand)\b",
    re.IGNORECASE,
)
"""A number right before what is counted: there `one session` says how many, too."""
COUNTED_WITHIN, NEXT_WORDS = 3, 40
"""How far behind a number stands what it counts, in words; and in letters, to look no further."""
PERSON = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
HOW_TO = re.compile(
    r"\bhow (?:do|can|to|should|would|does one)\b|\bsteps?\b|\binstall|\bexamples?\b"
    r"|\blook like\b",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"\b(?:whats?|which|whos?|whom|whose|whens?|wheres?|whys?|hows?|list|name|define|explain|describe|show"
    r"|compare)\b",
    re.IGNORECASE,
)
WH = re.compile(
    r"\W*(?:(?:and|but|so|from|to|in|on|at|for|by|of|with) )*"
    r"(?:whats?|which|whos?|whom|whose|whens?|wheres?|whys?|hows?)\b",
    re.IGNORECASE,
)
CODE_WORD = re.compile(
    r"\b(?:code|commands?|options?|flags?|functions?|methods?|class|syntax|snippet|scripts?|yaml|json"
    r"|files?|write|written|run|use|called?)\b",
    re.IGNORECASE,
)
"""Words of those who would like to see code, too."""
PARTED = re.compile(r"(?<=[a-z]) (?=\d)")
COMMAND = re.compile(
    r"\b(?:what|which)(?: \w+)? (?:command|option|flag)s?\b|\bcommand(?: line)? (?:to|for|that)\b",
    re.IGNORECASE,
)
REASON = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat (?:for|happens)\b|\b(?:explain|describe|compare)\b"
    r"|\bdifferences?\b|\bhow (?:is|are|was|were|does)\b",
    re.IGNORECASE,
)
"""What one sentence seldom answers."""
WHY = re.compile(r"\bwhy\b|\bhow come\b", re.IGNORECASE)
COMPARES = re.compile(
    r"\b(?:differences?|differs?|different(?: from| to| than)?|compared?|comparison|versus|vs"
    r"|better|worse|instead of|rather than)\b|\bor\b.*\?",
    re.IGNORECASE,
)
MEANING = re.compile(
    r"^\W*(?:(?:what|who)(?:['’]?s| is| are| was| were| does)|define|explain|describe|meaning of)"
    r" (?:an? |the )?(.+?)(?: mean| stand for)?\W*$",
    re.IGNORECASE,
)
LIST = re.compile(
    r"\bwhich (?:(?:\d+|two|three|four|five|six|seven|eight|nine|ten|other|different) )?"
    r"\w*[^\Ws]s\b(?! (?:is|was|has|stands|means|does(?! .*\bhave))\b)"
    r"|\b(?:what (?:are|kinds?|types?|sorts?)|list|name the|which of)\b",
    re.IGNORECASE,
)
LISTED = re.compile(
    r"\b(?:which|what)(?: (?:kinds?|types?|sorts?) of)?(?: [a-z-]+)?? ([a-z-]*[^\Wsu]s)"
    r" (?:is|are|do|does|did|can|could|may|must|should|will|have|has)\b",
    re.IGNORECASE,
)
"""What is to be listed, in the plural: `What sensors does the robot have?`"""
SUPPOSES = re.compile(r"^\W*(?:if|when(?:ever)?|unless|in case)\b", re.IGNORECASE)
"""How a sentence begins that holds only in some case."""
CASE = re.compile(r"\b(?:if|when|whenever|unless|in case|happens?)\b", re.IGNORECASE)
MONEY = re.compile(
    r"\bhow (?:much|expensive)\b(?=[^?.]*\b(?:costs?|pay|paid|price|fees?|charged?|earn|owe)\b)"
    r"|\bwhat (?:does|do|did|will|would) [^?.]*\bcosts?\b|\bhow expensive\b"
    r"|\b(?:price|costs?|fees?) (?:of|for)\b"
    r"|\bwhat(?:['’]?s| is| are| was) the (?:\w+ )?(?:price|costs?|fees?|salary|wage)\b",
    re.IGNORECASE,
)
SUM = re.compile(
    r"[$€£¥₹]|\b(?:euros?|dollars?|pounds?|cents?|francs?|yen|rupees?|usd|eur|gbp|chf|million|billion"
    r"|free of charge|for free|(?:is|are) (?:\w+ )?free)\b",
    re.IGNORECASE,
)
TROUBLE = re.compile(
    r"\b(?:not|never|troubleshoot\w*|errors?|problems?|fail(?:s|ed|ure|ures)?|wrong|broken)\b"
    rf"|{NEGATED}",
    re.IGNORECASE,
)
DIGIT = re.compile(
    r"\d[\w.,:]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand)\b",
    re.IGNORECASE,
)
CAPITAL = re.compile(r"(?<=[\w,;(] )[A-Z]\w+")
DEFINES = re.compile(
    r"^(?:an? |the )?(?P<subject>[^.,;:]{1,60}?)\s*(?:\([^)]*\)\s*)?,?\s"
    r"(?:is|are|was|were|means?|refers? to|stands? for|describes?|consists? of)\s",
    re.IGNORECASE,
)
ANNOUNCES = re.compile(
    r"\b(?:in this (?:chapter|lesson|module|section|page)|you(?:'ll| will) (?:learn|see|write)"
    r"|this (?:chapter|lesson|module|section|page|guide) (?:is about|explains|shows|covers)"
    r"|let['’]s|we(?:['’]ll| will) (?:\w+ )?(?:learn|look|see|discuss|define|cover|explore)"
    r"|(?:we|you) (?:saw|discussed|covered|learned|talked)|for more (?:info|information|details)"
    r"|(?:listing|figure|table) \d[\d.-]* shows?"
    r"|you should (?:now )?be able to|before (?:moving|proceeding|going) (?:on )?to)\b",
    re.IGNORECASE,
)
AIMS = re.compile(
    r"\b(?:objectives?|goals|aims|prerequisites|takeaways"
    r"|what you(?:'ll| will) (?:learn|see|build|need)|what you can do after\w*)\b",
    re.IGNORECASE,
)
"""Headings of what a page is for, not of what it says."""
MAX_MEANT = 4
"""A question of the form `what is …` about more words than this asks for a fact."""
