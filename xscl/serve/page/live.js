// What changes: matches as they come, the newest that the server keeps, then server-sent events from
// there on; and what is asked for again and again.

import { get } from "./api.js";

const AGAIN = 3000;

/** Calls `hear` with matches in their order, each list with whether it is from before; `ended`
 * ends it.  What the server could not keep is reported to `missed`,
 * the id of a match that is taken back to `retracted`.  Those from before are those
 * that are `sought`, pairs of a request; who hears picks among those that come. */
export async function listen(queries, sought, most, told) {
  const { state, ended } = told;
  const again = () => setTimeout(() => { if (!ended.aborted) listen(queries, sought, most, told).catch(() => {}); }, AGAIN);
  try {
    await heard(queries, sought, most, told, again);
  } catch (error) {
    // A server that is away comes back; what it refuses it refuses again.
    if (!ended.aborted && !(error.status >= 400 && error.status < 500)) {
      state("waiting");
      again();
    }
    throw error;
  }
}

async function heard(queries, sought, most, told, again) {
  const { hear, retracted, missed, state, ended } = told;
  const asked = new URLSearchParams([["summary", "1"], ...queries.map((name) => ["query", name])]);
  let page = await get(`/matches?${new URLSearchParams([...asked, ...sought, ["newest", most], ["limit", most]])}`);
  let before = page.matches;
  // A list ends after some 256 KiB: what follows is from before, too.
  while (sought.length === 0 && page.matches.length > 0 && before.length < most && !ended.aborted) {
    page = await get(`/matches?${new URLSearchParams([...asked, ["after", page.next], ["limit", most - before.length]])}`);
    const gone = new Set(page.matches.map((one) => one.retract));
    before = [...before.filter((one) => !gone.has(one.id)), ...page.matches.filter((one) => !one.retract)];
  }
  if (ended.aborted) return;
  hear(before, true);
  const source = new EventSource(`/matches?${new URLSearchParams([...asked, ["live", "1"], ["after", page.next]])}`);
  let waiting = [];
  source.addEventListener("message", (event) => {
    // A burst is shown once a frame.
    if (waiting.length === 0) setTimeout(() => { hear(waiting, false); waiting = []; }, 50);
    waiting.push(JSON.parse(event.data));
  });
  source.addEventListener("retraction", (event) => {
    const id = JSON.parse(event.data).retract;
    // What is not shown yet never is.
    const before = waiting.length;
    waiting = waiting.filter((match) => match.id !== id);
    if (waiting.length === before) retracted(id);
  });
  source.addEventListener("lost", (event) => missed(JSON.parse(event.data).lost));
  source.addEventListener("open", () => state("live"));
  source.addEventListener("error", () => {
    state("waiting");
    // A browser gives up on an answer that is no stream of events.
    if (source.readyState === EventSource.CLOSED && !ended.aborted) again();
  });
  ended.addEventListener("abort", () => source.close());
}

/** Draws again and again while somebody looks, until the view is left. */
export function again(pause, draw, ended) {
  const timer = setInterval(() => { if (!document.hidden) draw().catch(() => {}); }, pause);
  ended.addEventListener("abort", () => clearInterval(timer));
}
