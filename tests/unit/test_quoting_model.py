"""The model without a key quotes what answers, and says so when nothing does."""

from __future__ import annotations

import json

import pytest

from rag_core.agent.model_events import Finished, FinishReason, TextDelta, ToolChoice
from rag_core.agent.prompts import NOT_COVERED
from rag_core.agent.tool_contract import RETRIEVE
from rag_core.conversation.message import Message, ToolCall
from rag_core.providers.chat.quoting_model import QuotingModel
from tests.builders import NOON

MENU = (
    "Basil plans a whole menu before the first pot is warm. The planner works backwards from the"
    " serving time. It never starts more than four dishes at once. A dish that is late by more than"
    " five minutes is reported to the cook."
)
START = (
    "To start the simulator:\n\n1. Open a terminal.\n2. Run `basil sim --kitchen small`.\n"
    "3. Wait for the green light.\n\nThe simulator needs 4 GB of memory."
)
CODE = (
    "A recipe is a YAML file. This is the smallest one:\n\n```yaml\nname: toast\nsteps:\n"
    "  - heat: 180\n```\n\nEvery step has one verb."
)


async def reply(question: str, *texts: str, earlier: str = "") -> str:
    call = ToolCall(id="call_1", name=RETRIEVE.name, arguments="{}")
    passages = [
        {"chunk_text": text, "page_title": "Basil", "section_heading": "", "source_url": "x",
         "similarity_score": 0.7 - 0.1 * n, "rank": n + 1}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    told = json.dumps({"results": passages, "total_results": len(passages), "query": question})
    messages = [
        *([Message.user(earlier, at=NOON), Message.assistant("Yes.", at=NOON)] if earlier else ()),
        Message.user(question, at=NOON),
        Message.assistant("", at=NOON, tool_calls=(call,)),
        Message.tool(told, name=RETRIEVE.name, tool_call_id=call.id, at=NOON),
    ]
    events = [
        event
        async for event in QuotingModel().stream(
            messages, tools=(RETRIEVE,), tool_choice=ToolChoice.AUTO, temperature=0, max_tokens=None
        )
    ]
    assert isinstance(events[-1], Finished)
    assert events[-1].reason is FinishReason.STOP
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_it_searches_for_the_last_question_first() -> None:
    messages = [
        Message.user("Old?", at=NOON),
        Message.assistant("Yes.", at=NOON),
        Message.user("How many dishes at once?", at=NOON),
    ]
    stream = QuotingModel().stream(
        messages, tools=(RETRIEVE,), tool_choice=ToolChoice.REQUIRED, temperature=0, max_tokens=None
    )
    (event,) = [event async for event in stream]
    assert isinstance(event, Finished)
    (call,) = event.tool_calls
    assert call.name == RETRIEVE.name
    assert json.loads(call.arguments) == {
        "query": "How many dishes at once?",
        "top_k": None,
        "similarity_threshold": None,
        "module": None,
    }


async def test_it_quotes_the_sentence_that_answers_as_it_stands() -> None:
    answer = await reply("How many dishes does the planner start at once?", MENU, START)
    assert "It never starts more than four dishes at once [1]." in answer
    assert "simulator" not in answer


async def test_steps_stay_whole_with_the_line_that_leads_to_them() -> None:
    answer = await reply("How do I start the simulator?", START, MENU)
    assert answer.startswith("To start the simulator:\n1. Open a terminal.\n2. Run")
    assert "3. Wait for the green light [1]." in answer


async def test_code_stays_whole() -> None:
    answer = await reply("What does the smallest recipe look like?", CODE, MENU)
    assert "```yaml\nname: toast\nsteps:\n  - heat: 180\n```" in answer
    assert "[1]:" in answer


async def test_code_that_no_sentence_leads_to_has_its_footnote_at_its_heading() -> None:
    start = "## First start\n\n```bash\nbasil sim --kitchen school\n```\n\nIt takes a minute."
    answer = await reply("How do I start the simulator?", MENU, start)
    assert "First start [2]:\n\n```bash\nbasil sim --kitchen school\n```" in answer


@pytest.mark.parametrize(
    "question", ["Who won the football world cup?", "What is the airspeed of a swallow?", "the of"]
)
async def test_it_refuses_where_nothing_answers(question: str) -> None:
    assert await reply(question, MENU, START, CODE) == NOT_COVERED


async def test_it_refuses_without_passages() -> None:
    assert await reply("How many dishes?") == NOT_COVERED


async def test_an_error_of_the_tool_is_no_passage() -> None:
    call = ToolCall(id="call_1", name=RETRIEVE.name, arguments="{}")
    messages = [
        Message.user("How many dishes?", at=NOON),
        Message.assistant("", at=NOON, tool_calls=(call,)),
        Message.tool('{"error": "x", "query": ""}', name="r", tool_call_id=call.id, at=NOON),
    ]
    stream = QuotingModel().stream(
        messages, tools=(), tool_choice=ToolChoice.NONE, temperature=0, max_tokens=None
    )
    events = [event async for event in stream]
    assert events[0] == TextDelta(NOT_COVERED)


async def test_what_a_page_is_for_does_not_answer_how_something_is_done() -> None:
    aims = "## What you will learn\n\n- start the simulator and move the arm by hand;\n- much more."
    start = (
        "## Start the simulator\n\n```bash\nbasil sim --kitchen school\n```\n\nIt takes a minute."
    )
    answer = await reply("How do I start the simulator?", aims, start)
    assert answer.startswith("Start the simulator [2]:\n\n```bash\nbasil sim --kitchen school")


PLANS = (
    "Answers come by plan.\n\n| Plan | First answer | Hours |\n|---|---|---|\n"
    "| Free | 3 working days | working days |\n| Team | 8 hours | 8:00 to 18:00 |\n"
    "| Company | 1 hour | every day |"
)
CODES = (
    "| Code | Means | What to do |\n|---|---|---|\n| K18 | unknown thing | remove it |\n"
    "| K44 | dropped | fetch a cloth |"
)


@pytest.mark.parametrize(
    ("question", "text", "row", "other"),
    [
        ("When is the Team plan answered?", PLANS, "| Team | 8 hours |", "| Free |"),
        ("What does K44 mean?", CODES, "| K44 | dropped | fetch a cloth [1] |", "K18"),
    ],
)
async def test_the_row_that_is_named_is_quoted_below_its_head(
    question: str, text: str, row: str, other: str
) -> None:
    said = await reply(question, text)
    assert row in said
    assert "|---|---|---|\n" + row[:6] in said
    assert other not in said


async def test_rows_that_are_compared_are_both_quoted() -> None:
    said = await reply("What is the difference between the Free plan and the Team plan?", PLANS)
    assert "| Free |" in said
    assert "| Team |" in said
    assert "Company" not in said


async def test_who_asks_for_a_list_gets_all_rows() -> None:
    said = await reply("Which plans are there?", PLANS)
    assert all(plan in said for plan in ("Free", "Team", "Company"))


async def test_one_item_of_a_list_answers_for_itself() -> None:
    text = "Rules:\n\n- A change has at most 400 lines.\n- The author merges.\n- Be kind.\n"
    assert await reply("How many lines may a change have?", text) == (
        "Rules:\n- A change has at most 400 lines [1]."
    )


async def test_a_sentence_that_leans_on_the_one_before_is_quoted_with_it() -> None:
    text = "The light curtain stands before the rail. It stops the arm within 0.2 seconds. Be calm."
    assert await reply("How soon is the arm stopped?", text) == (
        "The light curtain stands before the rail [1]. It stops the arm within 0.2 seconds [1]."
    )


async def test_who_asks_for_a_command_gets_what_can_be_typed() -> None:
    text = (
        "Recipes are backed up before an update, and recipes matter.\n\n"
        "1. `basil backup --to usb` saves the recipes.\n2. `basil update` installs the update.\n"
    )
    said = await reply("Which command saves the recipes?", text)
    assert "`basil backup --to usb`" in said
    assert "basil update`" not in said


@pytest.mark.parametrize(
    "text",
    [
        "In this lesson you will learn what a servo is. A servo is a motor that knows its angle.",
        "Now that you know what a servo is, go on:\n\n## Servos\n\nA servo is a motor that knows"
        " its angle.",
        "- What is a servo?\n- What is a servo for?\n\nA servo is a motor that knows its angle.",
    ],
)
async def test_announcements_questions_and_lines_that_lead_on_are_no_answers(text: str) -> None:
    assert await reply("What is a servo?", text) == "A servo is a motor that knows its angle [1]."


@pytest.mark.parametrize(
    ("earlier", "question", "row"),
    [
        ("How soon is the Free plan answered?", "And the Team plan?", "| Team | 8 hours |"),
        ("How soon is the Team plan answered?", "And the Company plan?", "| Company | 1 hour |"),
    ],
)
async def test_the_last_sentence_asks_and_those_said_before_tell_what_about(
    earlier: str, question: str, row: str
) -> None:
    said = await reply(f"{earlier} {question}", PLANS, earlier=earlier)
    assert row in said
    assert sum(line.startswith("| ") for line in said.splitlines()) == 2, "the head and one row"


async def test_two_words_of_a_question_may_be_one_in_the_passage() -> None:
    text = "Releases go out weekly. `make rollback` returns to the version before. Be calm."
    assert "`make rollback`" in await reply("How do I roll back?", text)


async def test_a_file_of_data_is_no_command() -> None:
    text = (
        "A recipe is saved so:\n\n```yaml\nrecipe: soup\nsave: true\n```\n\n"
        "To save the recipe run `basil save --all` once."
    )
    said = await reply("Which command saves the recipe?", text)
    assert said.startswith("To save the recipe run `basil save --all` once")


PATTERNS = (
    "| Pattern | Path | For |\n|---|---|---|\n| `sweep` | along the bottom | thick soups |\n"
    "| `fold` | up in the middle | rice and beans |\n| `swirl` | half-way up | thin liquids |\n\n"
    "A recipe that says nothing about a pattern gets `sweep`."
)
PARTS = (
    "| Part | Number |\n|---|---|\n| Lip of the cup | BS-310 |\n| Battery of the door | BS-405 |"
)


async def test_a_row_is_chosen_by_the_word_that_the_head_lacks() -> None:
    said = await reply("Which stirring pattern is for rice?", PATTERNS)
    assert "`fold`" in said
    assert "`sweep`" not in said
    assert "`swirl`" not in said


async def test_a_table_answers_where_its_head_and_a_row_have_what_is_asked_for() -> None:
    near = "Write to the partner with the number of the part, and it comes in three days."
    said = await reply("What is the part number of the battery?", near, PARTS)
    assert said.startswith("| Part | Number |")
    assert "BS-405" in said
    assert "BS-310" not in said


async def test_a_row_whose_words_another_row_has_too_stays_out() -> None:
    text = "| Property | Value |\n|---|---|\n| Reach | 850 mm |\n| Payload at full reach | 3 kg |"
    said = await reply("What is the payload at full reach?", text)
    assert "3 kg" in said
    assert "850 mm" not in said


async def test_a_code_is_explained_by_what_names_it_and_nothing_else() -> None:
    call = "Whoever is on call for the code decides what the code of a colleague may mean."
    said = await reply("What does code K44 mean?", call, CODES)
    assert "dropped" in said
    assert "on call" not in said
    assert "K18" not in said


@pytest.mark.parametrize("written", ["ROS 2", "ROS2", "ros-2"])
async def test_a_code_may_be_written_in_other_ways(written: str) -> None:
    said = await reply("What is ROS2?", "Robots need care.", f"{written} is a set of libraries.")
    assert said == f"{written} is a set of libraries [2]."


async def test_what_was_not_asked_for_is_left_out() -> None:
    text = (
        "The suction cup is for trays and plates. The suction cup is kept in the drawer."
        " A suction cup costs less than a pair of jaws."
    )
    assert await reply("What is the suction cup for?", text) == (
        "The suction cup is for trays and plates [1]."
    )


async def test_a_second_passage_answers_what_the_first_leaves_open() -> None:
    said = await reply(
        "What is the difference between the soft fingers and the parallel jaws?",
        "Soft fingers hold fruit and bread without a mark.",
        "Parallel jaws hold pans and boxes with up to 60 N.",
    )
    assert "Soft fingers hold fruit" in said
    assert "Parallel jaws hold pans" in said


async def test_numbered_ways_to_do_something_are_no_steps() -> None:
    text = (
        "1. **The red button** cuts the power of the drives at once.\n"
        "2. **The space bar** is for a gripper that holds something hot.\n"
        "3. **The curtain** stops the arm and keeps the power on.\n"
    )
    said = await reply("How do I stop the arm when the gripper holds something hot?", text)
    assert "space bar" in said
    assert "curtain" not in said


async def test_code_that_nobody_asked_for_stays_out() -> None:
    text = (
        "## Tags\n\n```bash\nbasil tag write box-14\n```\n\n"
        "Hold the tag less than 4 cm from the reader of tags."
    )
    assert await reply("How close must a tag be held to the reader?", text) == (
        "Hold the tag less than 4 cm from the reader of tags [1]."
    )


async def test_who_asks_when_gets_a_time_and_no_other_number() -> None:
    text = (
        "A stolen laptop is a matter for the police above 300 euros. All else comes later."
        " The stolen laptop is reported within one hour."
    )
    assert "within one hour" in await reply("How soon must a stolen laptop be reported?", text)


async def test_a_line_in_bold_is_a_heading() -> None:
    text = "**Step 1: Check the topics**\n\n```bash\nros2 topic list\n```\n\n**Step 2: Wait**\n"
    assert await reply("How do I check the topics?", text) == (
        "Step 1: Check the topics [1]:\n\n```bash\nros2 topic list\n```"
    )


async def test_a_lead_in_bold_stays_with_its_list() -> None:
    text = "**A tag has these parts**:\n\n- a radio chip;\n- a plastic disc.\n"
    said = await reply("Which parts does a tag have?", text)
    assert said.startswith("**A tag has these parts**:\n- a radio chip;\n- a plastic disc")


async def test_a_menu_of_a_page_is_no_sentence() -> None:
    text = "Camping | Beaches | Campfires | Dogs at the beaches\n\nDogs may be on all beaches."
    assert await reply("May dogs be on the beaches?", text) == "Dogs may be on all beaches [1]."


async def test_a_number_right_before_what_is_counted_answers_how_many() -> None:
    said = await reply(
        "How many members are there?",
        "The members of the house meet in spring. In 2 of 3 years the members of it meet again.",
        "The secret ballot of the 129 members takes place in May.",
    )
    assert said.startswith("The secret ballot of the 129 members")


@pytest.mark.parametrize(
    "question",
    ["What is the quantty of flour?", "What is the quantitty of flour?", "WHAT IS THE QUANTITY"],
)
async def test_a_slip_of_the_keyboard_changes_nothing(question: str) -> None:
    text = "The quantity of flour is 300 g. Boil water first of all, then wait."
    assert await reply(question, text) == "The quantity of flour is 300 g [1]."


async def test_dots_and_accents_need_not_be_typed() -> None:
    said = await reply("When did Tugh Temur die?", "Tugh Temür died in May 1332. He was king.")
    assert said == "Tugh Temür died in May 1332 [1]."


SIMULATOR = (
    "The simulator is a window that shows the kitchen of Basil.\n\n## Install the simulator\n\n"
    "```bash\npip install basil-sim\n```\n"
)


async def test_both_halves_of_a_question_are_answered() -> None:
    said = await reply("What is the simulator and how do I install it?", SIMULATOR, MENU)
    first, second = said.split("\n\n", 1)
    assert first == "The simulator is a window that shows the kitchen of Basil [1]."
    assert "pip install basil-sim" in second


async def test_a_half_that_nothing_answers_is_named() -> None:
    said = await reply("What is the simulator? And how much does it weigh?", SIMULATOR, MENU)
    assert said.startswith("The simulator is a window")
    assert said.endswith("The documents do not cover this part: “And how much does it weigh”.")


async def test_where_no_half_is_answered_the_question_is_refused() -> None:
    said = await reply("Who won the world cup? And how tall is the tower of Pisa?", SIMULATOR, MENU)
    assert said == NOT_COVERED


async def test_two_rows_asked_for_at_once_are_both_quoted() -> None:
    said = await reply("How soon is the Free plan answered? And the Team plan?", PLANS)
    assert "| Free | 3 working days |" in said
    assert "| Team | 8 hours |" in said
    assert "Company" not in said


async def test_help_with_trouble_is_for_those_who_have_some() -> None:
    text = (
        "## First start\n\n```bash\nbasil sim\n```\n\n## If it does not start\n\n"
        "- **The port is in use**: end the other simulator.\n"
        "- **A black window**: start the simulator with `--no-window`.\n"
    )
    assert await reply("How do I start the simulator?", text) == (
        "First start [1]:\n\n```bash\nbasil sim\n```"
    )
    assert "--no-window" in await reply("The simulator does not start: a black window", text)


async def test_what_they_are_is_read_in_the_sentence_before() -> None:
    text = (
        "A fix may come at any time and is brought within 7 days. Updates come four times a year."
        " They are installed on a Friday after 13:00."
    )
    assert "They are installed on a Friday" in await reply("When are updates installed?", text)


async def test_an_item_that_stands_alone_loses_its_number() -> None:
    text = "1. **The red button** stops it all.\n2. **The light curtain** keeps the power on.\n"
    assert await reply("What is the light curtain for?", text) == (
        "**The light curtain** keeps the power on [1]."
    )


async def test_a_table_says_never_why() -> None:
    text = (
        "| Food | Keep at most |\n|---|---|\n| Warm rice | 2 hours |\n| Flour | 6 months |\n\n"
        "Warm rice is dangerous because a bacterium wakes up in it."
    )
    assert await reply("Why is warm rice dangerous?", text) == (
        "Warm rice is dangerous because a bacterium wakes up in it [1]."
    )


async def test_two_pages_that_say_it_with_other_numbers_are_both_quoted() -> None:
    said = await reply(
        "When does the library open?",
        "The library opens at 8:00 and closes at 18:00.",
        "The library opens at 9:00 and closes at 22:00.",
    )
    assert "8:00" in said
    assert "9:00" in said


async def test_a_comparison_tells_of_both_sides() -> None:
    text = (
        "A stencil is a plan of a dish. It has no date. A booking is a dish that has a date."
        " A stencil can be made into a booking, and a booking never into a stencil."
    )
    told = await reply("What is the difference between a stencil and a booking?", text)
    assert "A stencil is a plan of a dish" in told
    assert "A booking is a dish that has a date" in told
    assert "A booking is" in await reply("Compare a stencil with a booking", text)


async def test_the_sentence_after_a_question_is_its_answer() -> None:
    text = (
        "Can I cook for somebody else? Only chefs and sous-chefs can. Is there a night shift?"
        " Not before May."
    )
    told = await reply("Can I cook for somebody else?", text)
    assert "Only chefs and sous-chefs can" in told
    assert "May" not in told


async def test_who_asks_what_is_not_so_is_told_what_is_not() -> None:
    text = (
        "We take pans that are clean and not older than 5 years. We do not take ladles, lids or"
        " forks of tin."
    )
    told = await reply("Which pans do you not take?", text)
    assert "We do not take ladles" in told


async def test_one_is_a_number_right_before_what_is_counted() -> None:
    text = (
        "You may miss one lesson with an excuse. A missed lesson is made up in May. Who misses two"
        " lessons has to come again."
    )
    assert (await reply("How many lessons may I miss?", text)).startswith("You may miss one")


async def test_what_is_listed_comes_with_its_table_or_its_line() -> None:
    table = (
        "There are two pans. They can be exchanged at any time; a lid is extra.\n\n"
        "| Pan | Width |\n|---|---|\n| Robin | 20 cm |\n| Finch | 28 cm |\n"
    )
    told = await reply("Which pans are there?", table)
    assert "Robin" in told
    assert "Finch" in told
    line = "A pan is light. A recipe has these parts: name, steps and a picture."
    assert "name, steps and a picture" in await reply("Which parts does a recipe have?", line)


async def test_what_something_costs_is_the_row_with_the_price() -> None:
    text = (
        "Schools get 40 % off Robin and Finch.\n\n"
        "| Pan | Price |\n|---|---|\n| Robin | €9 |\n| Finch | €19 |\n"
    )
    told = await reply("What does Robin cost?", text)
    assert "€9" in told


async def test_the_value_of_something_is_told_by_the_sentence_that_says_what_it_is() -> None:
    text = (
        "The Robin oven has a door of glass and a rack of steel. Its heat at noon is 210 °C."
        " In the Robin oven the rack is the cold part. If the heat is below 150 °C, clean the rack"
        " of the oven."
    )
    assert "210 °C" in await reply("What is the heat of the Robin oven?", text)


async def test_a_follow_up_is_answered_by_what_it_brings_itself() -> None:
    text = (
        "A booking that was sent cannot be edited: cancel it and make another. A first notice is"
        " sent 7 days after the date of the booking."
    )
    asked = "How do I make a booking? Can it be edited after it was sent? What about notices?"
    told = await reply(asked, text)
    assert "7 days" in told


async def test_a_pasted_trace_is_answered_by_the_error_that_it_ends_with() -> None:
    text = (
        "| Code | Name | What to do |\n|---|---|---|\n| 409 | `pan_locked` | ask the chef |\n"
        "| 422 | `dish_refused` | send `overlap: true` |\n"
    )
    pasted = (
        'Traceback (most recent call last):\n  File "cook.py", line 12, in <module>\n'
        "    kitchen.send(dish)\nbasil.DishError: 422 dish_refused: two dishes at once"
    )
    told = await reply(pasted, text)
    assert "overlap: true" in told
    assert "ask the chef" not in told


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("which version added dead letter topics", "dead-letter"),
        ("which version added dead-letter topics", "dead letter"),
        ("which version added deadletter topics", "dead-letter"),
    ],
)
async def test_words_are_the_same_joined_and_apart(question: str, written: str) -> None:
    text = f"Version 2.7 added {written} topics. Version 3.1 added a letter to each version."
    assert await reply(question, text) == f"Version 2.7 added {written} topics [1]."


async def test_who_is_on_call_is_found_however_it_is_written() -> None:
    text = "The engineer of the day is Bob. The engineer of the house is Eve. On-call is Ada."
    assert "Ada" in await reply("who is on call", text)


async def test_the_short_reply_below_a_heading_that_asks_is_the_answer() -> None:
    text = (
        "## Do I need a calculator in the lab?\n\nYou will not need one. Bring your notebook, it"
        " may be used.\n\n## Can I choose my partner?\n\nYes, in week 1."
    )
    told = await reply("Do I need a calculator in the lab?", text)
    assert told.startswith("You will not need one")
    assert await reply("Can I choose my partner?", text) == "Yes, in week 1 [1]."
    assert "need one" not in await reply("When may the notebook be used?", text)


async def test_two_questions_in_small_letters_are_two() -> None:
    said = await reply("what is the simulator? and how do i install it?", SIMULATOR, MENU)
    assert said.startswith("The simulator is a window that shows the kitchen of Basil [1].")
    assert "pip install basil-sim" in said


async def test_what_is_told_after_a_question_is_not_what_is_asked() -> None:
    text = "The planner starts four dishes at once. Who did not know it yesterday asks Peter."
    told = await reply(
        "How many dishes does it start? I asked Peter yesterday but he did not know.", text
    )
    assert told.startswith("The planner starts four dishes at once [1].")
