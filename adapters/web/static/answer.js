// What can be done with an answer: open its footnotes, copy it, rate it.

export function openNote(link) {
  const note = document.getElementById(link.getAttribute("href").slice(1));
  const details = note.querySelector("details");
  for (const passage of details.querySelectorAll(".passage")) {
    passage.hidden = passage.dataset.words !== link.dataset.words;
  }
  details.open = true;
  note.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  details.querySelector("summary").focus({ preventScroll: true });
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** The answer as text, its footnotes below it with their addresses. */
export function asText(answer) {
  const prose = answer.querySelector(".prose").cloneNode(true);
  for (const marker of prose.querySelectorAll(".marker")) {
    marker.replaceWith(` [${marker.textContent.trim()}]`);
  }
  const notes = [...answer.querySelectorAll(".notes li")].map((note) => {
    const where = note.querySelector(".where").textContent.replace(/\s+/g, " ").trim();
    const place = note.querySelector(".place a");
    const address = place ? ` – ${place.href}` : "";
    return `[${note.querySelector(".number").textContent}] ${where}${address}`;
  });
  document.body.append(prose);
  const text = prose.innerText.trim();
  prose.remove();
  return notes.length ? `${text}\n\n${notes.join("\n")}` : text;
}

export async function copy(answer, say) {
  try {
    await navigator.clipboard.writeText(asText(answer));
    say("Copied with its references.");
  } catch {
    say("The browser did not allow copying.");
  }
}

export async function rate(answer, rating, { headers, reason = "", say }) {
  const response = await fetch("/feedback", {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ answer_id: answer.dataset.answer, rating, reason }),
  }).catch(() => null);
  if (!response || !response.ok) {
    say("Your rating did not arrive. Try again.");
    return;
  }
  for (const button of answer.querySelectorAll("[aria-pressed]")) {
    button.setAttribute("aria-pressed", String(button.dataset.act === rating));
  }
  const why = answer.querySelector(".why");
  why.hidden = rating !== "not_helpful" || Boolean(reason);
  if (!why.hidden) {
    why.querySelector("input").focus();
  }
  say("Thank you.");
}
