// The chat page: asks, shows the answer as it is written, and keeps the threads at the left.
import { calm, copy, openNote, rate } from "./answer.js";
import { beginEdit, endEdit } from "./editing.js";
import { Refused, follow, patiently } from "./stream.js";
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
const hearing = new WeakMap();
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
  hearing.get(exchange)?.abort();
  const { signal } = replaced(hearing, exchange, new AbortController());
  exchange.setAttribute("aria-busy", "true");
  try {
    await follow(body, {
      headers,
      signal,
      lastEvent: `${exchange.dataset.message}.${NEVER_HEARD}`,
      hear(name, data) {
        if (name === "final") {
          answerId = data.answer_id;
        } else {
          show(exchange, name, data);
        }
      },
    });
    await settle(exchange, answerId, signal);
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    const words = error instanceof Refused ? error.message : "Footnote cannot be reached right now.";
    fail(exchange, words);
  }
  exchange.removeAttribute("aria-busy");
  await refreshThreads();
}

function replaced(map, key, value) {
  map.set(key, value);
  return value;
}

function show(exchange, name, data) {
  const stay = atEnd();
  if (name === "stage") {
    const words = data.detail || STAGES[data.state];
    exchange.querySelector(".stage .words").textContent = words;
    say(words);
  } else {
    // The server has made it harmless, as it does with the whole answer.
    exchange.querySelector(".partial").innerHTML = data.html;
  }
  if (stay) {
    scroll.scrollTop = scroll.scrollHeight;
  }
}

async function settle(exchange, answerId, signal) {
  // The server may go away between an answer's last event and its page.
  const response = await patiently(`/page/answers/${answerId}`, { signal });
  if (!response?.ok) {
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

/** Whether a person who was asked said to delete. */
async function sure(dialog) {
  dialog.returnValue = "keep";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "delete";
}

function waitAnew(exchange) {
  const waiting = at("waiting").content.firstElementChild.cloneNode(true);
  exchange.querySelector(".answer").replaceWith(waiting);
}

function sendJson(method, path, body) {
  const sent = { ...headers, "Content-Type": "application/json" };
  return fetch(path, { method, headers: sent, body: JSON.stringify(body) }).catch(() => null);
}

async function saveEdit(exchange, message) {
  const asked = { message, session_id: thread };
  const response = await sendJson("PUT", `/page/questions/${exchange.dataset.message}`, asked);
  if (!response?.ok) {
    const told = await response?.json().catch(() => null);
    say(told?.detail || "The question was not changed. Try again.");
    return;
  }
  exchange.querySelector(".asked").textContent = message;
  endEdit(exchange);
  waitAnew(exchange);
  await hearOut(exchange, asked);
}

async function renew(exchange) {
  const answer = exchange.querySelector("[data-answer]").dataset.answer;
  const response = await sendJson("POST", `/page/answers/${answer}/again`, {});
  if (!response?.ok) {
    say("The question was not asked again. Try again.");
    return;
  }
  waitAnew(exchange);
  const message = exchange.querySelector(".asked").textContent;
  await hearOut(exchange, { message, session_id: thread });
}

async function withdraw(exchange) {
  if (!(await sure(at("withdrawing")))) {
    return;
  }
  const path = `/page/questions/${exchange.dataset.message}`;
  const response = await fetch(path, { method: "DELETE", headers }).catch(() => null);
  if (!response?.ok && response?.status !== 404) {
    say("The question was not deleted. Try again.");
    return;
  }
  hearing.get(exchange)?.abort();
  const next = exchange.nextElementSibling || exchange.previousElementSibling;
  exchange.remove();
  say("The question is deleted.");
  (next?.querySelector("[data-act=edit]") || question).focus();
  await refreshThreads();
}

async function remove(threadId) {
  if (!(await sure(at("deleting")))) {
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
  const left = question.maxLength - question.value.length;
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

/** What the buttons of a question and its answer do. */
const ACTS = {
  retry,
  renew,
  withdraw,
  edit: (exchange) => beginEdit(exchange, at("editing")),
  unedit: (exchange) => endEdit(exchange, { focus: true }),
  copy: (exchange) => copy(exchange.querySelector(".answer"), say),
  helpful: (exchange) => rate(exchange.querySelector(".answer"), "helpful", { headers, say }),
  not_helpful: (exchange) => rate(exchange.querySelector(".answer"), "not_helpful", { headers, say }),
};

document.addEventListener("click", (event) => {
  const target = event.target.closest("button, .marker a");
  if (!target) {
    return;
  }
  if (target.matches(".marker a")) {
    event.preventDefault();
    openNote(target);
  } else if (target.matches(".starter")) {
    begin(target.textContent);
  } else if (target.matches(".delete")) {
    remove(target.dataset.thread);
  } else if (target.dataset.act in ACTS) {
    ACTS[target.dataset.act](target.closest(".exchange"));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches(".editing textarea")) {
    endEdit(event.target.closest(".exchange"), { focus: true });
  }
});

document.addEventListener("submit", (event) => {
  if (event.target.matches(".why")) {
    event.preventDefault();
    const reason = event.target.elements.reason.value.trim();
    rate(event.target.closest(".answer"), "not_helpful", { headers, reason, say });
  } else if (event.target.matches(".editing")) {
    event.preventDefault();
    const message = event.target.elements.message.value.trim();
    if (message) {
      saveEdit(event.target.closest(".exchange"), message);
    }
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
