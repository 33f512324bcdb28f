// The chat page: asks, shows the answer as it is written, and keeps the threads at the left.
import { calm, copy, openNote, rate } from "./answer.js";
import { Refused, follow } from "./stream.js";
import { themeSwitch } from "./switch.js";

const at = (id) => document.getElementById(id);
const house = at("house");
const question = at("question");
const conversation = at("conversation");
const scroll = at("scroll");

const STAGES = {
  PENDING: "Waiting for a turn…",
  RETRIEVING: "Looking in the documents…",
  GENERATING: "Writing the answer…",
};
const NEVER_HEARD = "00000000.0";

const headers = house.dataset.csrf ? { "X-CSRF-Token": house.dataset.csrf } : {};
let thread = house.dataset.thread;

function say(words) {
  at("spoken").textContent = words;
}

function hex(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function newId() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/** A UUID of version 4; `crypto.randomUUID` is missing where a page came over plain http. */
function newSession() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function atEnd() {
  return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 120;
}

function toEnd() {
  scroll.scrollTo({ top: scroll.scrollHeight, behavior: calm() ? "auto" : "smooth" });
}

function opened(message, messageId) {
  const exchange = at("exchange").content.firstElementChild.cloneNode(true);
  exchange.dataset.message = messageId;
  exchange.querySelector(".asked").textContent = message;
  conversation.append(exchange);
  at("welcome")?.remove();
  return exchange;
}

function begin(message) {
  if (!thread) {
    thread = newSession();
    house.dataset.thread = thread;
    history.replaceState(null, "", `/?thread=${thread}`);
  }
  const exchange = opened(message, newId());
  toEnd();
  const module = at("module")?.value;
  return hearOut(exchange, { message, session_id: thread, ...(module && { module }) });
}

/** Hears one question to its end, whatever becomes of the line on the way. */
async function hearOut(exchange, body) {
  let answerId = "";
  exchange.setAttribute("aria-busy", "true");
  try {
    await follow(body, {
      headers,
      lastEvent: `${exchange.dataset.message}.${NEVER_HEARD}`,
      hear(name, data) {
        if (name === "final") {
          answerId = data.answer_id;
        } else {
          show(exchange, name, data);
        }
      },
    });
    await settle(exchange, answerId);
  } catch (error) {
    const words = error instanceof Refused ? error.message : "Footnote cannot be reached right now.";
    fail(exchange, words);
  } finally {
    exchange.removeAttribute("aria-busy");
  }
  await refreshThreads();
}

function show(exchange, name, data) {
  const stay = atEnd();
  if (name === "stage") {
    const words = STAGES[data.state] || data.detail;
    exchange.querySelector(".stage .words").textContent = words;
    say(words);
  } else {
    const partial = exchange.querySelector(".partial");
    partial.textContent = data.restart ? data.delta : partial.textContent + data.delta;
  }
  if (stay) {
    scroll.scrollTop = scroll.scrollHeight;
  }
}

async function settle(exchange, answerId) {
  const response = await fetch(`/page/answers/${answerId}`);
  if (!response.ok) {
    throw new Error("the answer was not shown");
  }
  const stay = atEnd();
  const piece = document.createElement("template");
  piece.innerHTML = await response.text();
  exchange.querySelector(".answer").replaceWith(piece.content);
  say(exchange.querySelector(".prose").textContent.trim());
  if (stay) {
    toEnd();
  }
}

function fail(exchange, words) {
  exchange.querySelector(".stage")?.remove();
  const answer = exchange.querySelector(".answer");
  answer.className = "answer error";
  const sentence = document.createElement("p");
  sentence.textContent = words;
  const again = document.createElement("button");
  Object.assign(again, { type: "button", className: "quiet", textContent: "Ask again" });
  again.dataset.act = "retry";
  answer.replaceChildren(sentence, again);
  say(words);
}

function retry(exchange) {
  const message = exchange.querySelector(".asked").textContent;
  if (!exchange.querySelector("[data-answer]")) {
    exchange.remove();
  }
  begin(message);
}

async function refreshThreads() {
  const response = await fetch(`/page/threads?thread=${thread}`).catch(() => null);
  if (response?.ok) {
    at("threads").innerHTML = await response.text();
  }
}

async function remove(threadId) {
  const dialog = at("deleting");
  dialog.returnValue = "keep";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "delete") {
    return;
  }
  const response = await fetch(`/threads/${threadId}`, { method: "DELETE", headers });
  if (!response.ok && response.status !== 404) {
    say("The thread was not deleted. Try again.");
  } else if (threadId === thread) {
    location.assign("/");
  } else {
    await refreshThreads();
    say("The thread is deleted.");
  }
}

function grow() {
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight}px`;
  const left = 1000 - question.value.length;
  at("count").textContent = left < 150 ? `${left} characters left` : "";
}

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const message = question.value.trim();
  if (message) {
    question.value = "";
    grow();
    begin(message);
  }
});

question.addEventListener("input", grow);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    at("ask").requestSubmit();
  }
});

document.addEventListener("click", (event) => {
  const target = event.target.closest("button, .marker a");
  if (!target) {
    return;
  }
  const exchange = target.closest(".exchange");
  const answer = target.closest(".answer");
  if (target.matches(".marker a")) {
    event.preventDefault();
    openNote(target);
  } else if (target.matches(".starter")) {
    begin(target.textContent);
  } else if (target.matches(".delete")) {
    remove(target.dataset.thread);
  } else if (target.dataset.act === "retry") {
    retry(exchange);
  } else if (target.dataset.act === "copy") {
    copy(answer, say);
  } else if (target.dataset.act) {
    rate(answer, target.dataset.act, { headers, say });
  }
});

document.addEventListener("submit", (event) => {
  if (event.target.matches(".why")) {
    event.preventDefault();
    const reason = event.target.elements.reason.value.trim();
    rate(event.target.closest(".answer"), "not_helpful", { headers, reason, say });
  }
});

at("menu").addEventListener("click", () => {
  const open = document.body.classList.toggle("shelf-open");
  at("menu").setAttribute("aria-expanded", String(open));
});

at("sign-out")?.addEventListener("click", async () => {
  await fetch("/sign-out", { method: "POST", headers });
  location.assign("/");
});

themeSwitch(at("theme"));
for (const exchange of conversation.querySelectorAll(".exchange:has(.waiting)")) {
  hearOut(exchange, {
    message: exchange.querySelector(".asked").textContent,
    session_id: thread,
  });
}
scroll.scrollTop = scroll.scrollHeight;
if (matchMedia("(min-width: 800px)").matches) {
  question.focus();
}
