// A question's event stream: asks, and comes back to the same question when the line is cut.

const PAUSES = [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000];

export class Refused extends Error {}

const CUT = { detail: "The line to Footnote is cut. Trying again…" };

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Calls `hear(name, data)` for each event; returns after `final`, throws Refused on a problem. */
export async function follow(body, { headers, lastEvent = "", signal, hear }) {
  let last = lastEvent;
  let stage = null;
  for (let attempt = 0; ; attempt += 1) {
    const before = last;
    try {
      const response = await fetch("/page/stream", {
        method: "POST",
        signal,
        headers: {
          ...headers,
          "Content-Type": "application/json",
          Accept: "text/event-stream",
          ...(last && { "Last-Event-ID": last }),
        },
        body: JSON.stringify(body),
      });
      await check(response);
      if (attempt && stage) {
        hear("stage", stage);
      }
      for await (const event of events(response.body)) {
        last = event.id || last;
        if (event.name === "error") {
          throw new Refused(JSON.parse(event.data).detail);
        }
        const data = JSON.parse(event.data);
        stage = event.name === "stage" ? data : stage;
        hear(event.name, data);
        if (event.name === "final") {
          return;
        }
      }
    } catch (error) {
      // Before the first event nobody knows whether the question arrived: asking again with
      // the same id is safe, because the desk knows its repeats.
      if (signal?.aborted || error instanceof Refused || attempt + 1 >= PAUSES.length) {
        throw error;
      }
    }
    attempt = last === before ? attempt : 0;
    if (attempt + 1 >= PAUSES.length) {
      throw new Error("the line stays cut");
    }
    // One cut is over before anybody has read of it.
    if (attempt) {
      hear("stage", CUT);
    }
    await pause(PAUSES[attempt]);
  }
}

/** The answer to a plain request, asked for until the server is there again. */
export async function patiently(path, { signal }) {
  for (const milliseconds of [0, ...PAUSES]) {
    await pause(milliseconds);
    const response = await fetch(path, { signal }).catch(() => null);
    if (signal.aborted || (response && response.status < 500)) {
      return response;
    }
  }
  return null;
}

async function check(response) {
  if (response.ok) {
    return;
  }
  const problem = await response.json().catch(() => ({}));
  const again = response.status >= 500 && response.status !== 504;
  if (again && !problem.detail) {
    throw new Error("not there yet");
  }
  throw new Refused(problem.detail || "The question was not accepted.");
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    buffer += value;
    const blocks = buffer.split(/\r?\n\r?\n/);
    buffer = blocks.pop();
    for (const block of blocks) {
      const event = parsed(block);
      if (event.data) {
        yield event;
      }
    }
  }
}

function parsed(block) {
  const event = { name: "message", data: "", id: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = /^([a-z]*): ?(.*)$/.exec(line) || [];
    if (field === "event") {
      event.name = value;
    } else if (field === "data") {
      event.data += value;
    } else if (field === "id") {
      event.id = value;
    }
  }
  return event;
}
