// The dashboard: states of gaps, runs that are watched, files that are dropped, channels.
import { policyOf, takeUp } from "./places.js";
import { themeSwitch } from "./switch.js";

const at = (id) => document.getElementById(id);
const csrf = at("admin").dataset.csrf;
const headers = csrf ? { "X-CSRF-Token": csrf } : {};
const json = { ...headers, "Content-Type": "application/json" };
const LOOK_EVERY = 1500;

function say(words) {
  at("spoken").textContent = words;
}

/** The sentence of a problem, or an empty one where all went well. */
async function problem(response) {
  if (response?.ok) {
    return "";
  }
  const told = await response?.json().catch(() => null);
  return told?.detail || "Footnote cannot be reached right now.";
}

function send(method, path, body) {
  const options = { method, headers: json, body: JSON.stringify(body) };
  return fetch(path, options).catch(() => null);
}

async function changeGap(select) {
  const gap = select.closest(".gap");
  const response = await send("PATCH", `/gaps/${gap.dataset.gap}`, { state: select.value });
  const wrong = await problem(response);
  if (!wrong) {
    gap.classList.remove("open", "planned", "answered");
    gap.classList.add(select.value);
  }
  say(wrong || `The gap is ${select.value}.`);
}

/** Looks at the runs until all are over. */
async function watch() {
  const list = at("job-list");
  while (list?.querySelector("[data-over=false]")) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    await showRuns();
  }
}

async function showRuns() {
  const response = await fetch("/admin/books/jobs").catch(() => null);
  if (response?.ok) {
    const told = await response.text();
    const open = document.activeElement?.closest("details[open]");
    if (!open) {
      at("job-list").innerHTML = told;
    }
  }
}

async function cancel(button) {
  const { job } = button.closest(".job").dataset;
  const response = await fetch(`/jobs/${job}`, { method: "DELETE", headers }).catch(() => null);
  say((await problem(response)) || "The run is stopped.");
  await showRuns();
}

async function withdraw(button) {
  const answer = button.closest("[data-staff]");
  const url = `/staff-answers/${answer.dataset.staff}`;
  const response = await fetch(url, { method: "DELETE", headers }).catch(() => null);
  const refused = await problem(response);
  say(refused || "Withdrawn: nobody is shown this answer any more.");
  if (!refused) {
    answer.remove();
  }
}

/** The last moment of a day as the page names it; the server tells days in UTC. */
function lastMoment(day) {
  return day ? `${day}T23:59:59Z` : null;
}

async function writeDown(form) {
  const { until, ...told } = Object.fromEntries(new FormData(form));
  const wrong = await problem(
    await send("POST", "/staff-answers", { ...told, expires_at: lastMoment(until) }),
  );
  at("staff-words").textContent = wrong;
  if (!wrong) {
    location.reload();
  }
}

async function changeAnswer(form) {
  const told = Object.fromEntries(new FormData(form));
  const url = `/staff-answers/${form.closest("[data-staff]").dataset.staff}`;
  const body = { text: told.text ?? null, expires_at: lastMoment(told.until) };
  const wrong = await problem(await send("PATCH", url, body));
  say(wrong);
  if (!wrong) {
    location.reload();
  }
}

async function shareAnswer(form) {
  const { places } = Object.fromEntries(new FormData(form));
  const url = `/staff-answers/${form.closest("[data-staff]").dataset.staff}/sharing`;
  const body = { places: places.split(/[\s,]+/).filter(Boolean) };
  const wrong = await problem(await send("PUT", url, body));
  say(wrong);
  if (!wrong) {
    location.reload();
  }
}

/** Every file of a drop with its path; a folder gives all that is below it. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) {
    return [...transfer.files].map((file) => ({ path: file.name, file }));
  }
  const found = await Promise.all(entries.map((entry) => below(entry, "")));
  return found.flat();
}

async function below(entry, folder) {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path, file }];
  }
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) {
      break;
    }
    inside.push(...some);
  }
  const found = await Promise.all(inside.map((each) => below(each, `${path}/`)));
  return found.flat();
}

async function upload(book, { path, file }) {
  const steps = path.split("/").map(encodeURIComponent).join("/");
  const options = { method: "PUT", headers, body: file };
  return fetch(`/uploads/${encodeURIComponent(book)}/${steps}`, options).catch(() => null);
}

async function readIn(form, files) {
  const book = form.elements.book_id.value.trim();
  const words = at("drop-words");
  const refused = at("drop-refused");
  refused.replaceChildren();
  let kept = 0;
  for (const [number, each] of files.entries()) {
    words.textContent = `${number + 1} of ${files.length}: ${each.path}`;
    const wrong = await problem(await upload(book, each));
    if (wrong) {
      refused.append(Object.assign(document.createElement("li"), { textContent: wrong }));
    } else {
      kept += 1;
    }
  }
  if (!kept) {
    words.textContent = files.length ? "No file was taken." : "Choose files first.";
    return;
  }
  const title = form.elements.title.value.trim();
  const wrong = await problem(await send("POST", `/uploads/${encodeURIComponent(book)}`, { title }));
  words.textContent = wrong || `${kept} of ${files.length} taken; the run has begun.`;
  form.elements.files.value = "";
  await showRuns();
  await watch();
}

function chosen(form) {
  return [...form.elements.files.files].map((file) => ({ path: file.name, file }));
}

function dropping(form) {
  const field = at("drop-field");
  for (const name of ["dragover", "dragleave", "drop"]) {
    field.addEventListener(name, (event) => {
      event.preventDefault();
      field.classList.toggle("over", name === "dragover");
    });
  }
  field.addEventListener("drop", async (event) => {
    const files = await dropped(event.dataTransfer);
    if (form.reportValidity()) {
      await readIn(form, files);
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    readIn(form, chosen(form));
  });
}

async function bind(form) {
  const wrong = await problem(await send("PUT", "/policies", policyOf(form, lastMoment)));
  at("bind-words").textContent = wrong;
  if (!wrong) {
    location.reload();
  }
}

document.addEventListener("change", (event) => {
  if (event.target.dataset.act === "gap-state") {
    changeGap(event.target);
  }
});
document.addEventListener("click", (event) => {
  if (event.target.dataset.act === "cancel") {
    cancel(event.target);
  }
  if (event.target.dataset.act === "edit-place") {
    takeUp(at("bind-form"), JSON.parse(event.target.dataset.policy));
  }
  if (event.target.dataset.act === "withdraw") {
    withdraw(event.target);
  }
});
document.addEventListener("submit", (event) => {
  if (event.target.dataset.act === "change-staff") {
    event.preventDefault();
    changeAnswer(event.target);
  }
  if (event.target.dataset.act === "share-staff") {
    event.preventDefault();
    shareAnswer(event.target);
  }
});
at("staff-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  writeDown(event.target);
});
at("bind-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  bind(event.target);
});
if (at("drop-form")) {
  dropping(at("drop-form"));
}
themeSwitch(at("theme"));
watch();
