// Matches as they come, the newest first; each opens to its documents side by side.

import { get, path } from "./api.js";
import { announce, el, nothing, problem } from "./dom.js";
import { listen } from "./live.js";
import { isSeen, see } from "./seen.js";
import { alone, sides } from "./sides.js";
import { line } from "./summary.js";
import { counted, moment, number } from "./words.js";

const SHOWN = 200;
const BEFORE = 100;
const PAUSE = 1500;
const TYPING = 200;
const GONE = 4000;

export async function matches(place, { asked, ended }) {
  const only = asked.getAll("query");
  const search = el("input", { type: "search", id: "search", placeholder: "words", autocomplete: "off", value: asked.get("search") ?? "", "aria-label": "Look for matches with words", oninput: sought });
  const day = el("input", { type: "date", id: "day", value: asked.get("day") ?? "", "aria-label": "Only the matches of a day", oninput: sought });
  const unseen = el("input", { type: "checkbox", id: "unseen", onchange: () => { for (const one of cards.values()) one.hidden = passed(one); } });
  const list = el("ol", { class: "matches-list" });
  const cards = new Map();
  const follow = el("input", { type: "checkbox", id: "follow", checked: true });
  const choice = el("select", { id: "only", onchange: () => {
    location.hash = `#/matches?${new URLSearchParams([...(choice.value ? [["query", choice.value]] : []), ...wanted()])}`;
  } }, el("option", { value: "" }, "all queries"));
  const count = el("span", { class: "dim", id: "count" });
  const empty = el("div", {});
  place.append(
    el("div", { class: "heading" }, el("h1", {}, "Matches"), count,
      el("div", { class: "row filters" }, search, day,
        el("label", { for: "only", class: "unseen" }, "of the query"), choice,
        el("label", { class: "check" }, unseen, "unseen only"),
        el("button", { class: "quiet", onclick: allSeen }, "All seen"),
        el("label", { class: "check" }, follow, "open the newest"))),
    empty, list);
  let seen = 0;
  let unsaid = 0;
  let opened = null;
  let timer = 0;
  let typing = 0;
  let looking = new AbortController();

  /** What is looked for, as pairs of a request. */
  function wanted() {
    return [["search", search.value.trim()], ["day", day.value]].filter(([, value]) => value);
  }

  /** Whether a match that comes is one that is looked for: its day is in UTC. */
  function suits({ query, documents, values, result, time }) {
    const said = [query, ...documents, ...Object.values(values), typeof result === "string" ? result : JSON.stringify(result)].join("\n").toLowerCase();
    return search.value.toLowerCase().split(/\s+/).every((word) => said.includes(word))
      && (!day.value || Math.floor(time / 86400) === Date.parse(day.value) / 86400000);
  }

  const passed = (one) => unseen.checked && !one.classList.contains("new");

  function allSeen() {
    see(...cards.keys());
    for (const one of cards.values()) {
      one.classList.remove("new");
      one.hidden = passed(one);
    }
  }

  function sought() {
    clearTimeout(typing);
    typing = setTimeout(() => {
      const pairs = [...only.map((name) => ["query", name]), ...wanted()];
      history.replaceState(null, "", `#/matches${pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : ""}`);
      look().catch((error) => empty.replaceChildren(problem(error)));
    }, TYPING);
  }

  /** Lists what is looked for, and listens for more of it. */
  async function look() {
    looking.abort();
    looking = new AbortController();
    const { signal } = looking;
    list.replaceChildren();
    cards.clear();
    opened = null;
    const heard = (some, before) => signal.aborted || hear(before ? some : some.filter(suits), before);
    await listen(only, wanted(), BEFORE, { hear: heard, retracted, missed, state, ended: AbortSignal.any([ended, signal]) });
  }

  function hear(some, before) {
    // Those that are no longer there when the server is have been taken back, or are old.
    if (before) drop(new Set(some.map((one) => one.id)));
    if (some.length === 0 && !before) return null;
    if (some.length === 0 && cards.size === 0) return none();
    empty.replaceChildren();
    for (const match of some.slice(-SHOWN)) {
      cards.get(match.id)?.remove();
      // Who opens one reads it: others do not open meanwhile.
      const one = card(match, ended, () => { follow.checked = false; });
      cards.set(match.id, one);
      one.hidden = passed(one);
      list.prepend(one);
      if (!before) one.classList.add("fresh");
    }
    while (list.children.length > SHOWN) {
      const last = list.lastElementChild;
      cards.delete(last.dataset.match);
      last.remove();
    }
    if (!before) seen += some.length;
    count.textContent = seen ? `${number(seen)} new` : "";
    unsaid += before ? 0 : some.length;
    if (before) {
      follows();
      last = 0;
    } else if (!timer) {
      timer = setTimeout(follows, rest());
    }
  }

  /** Drops the cards of all matches but some. */
  function drop(others) {
    for (const [id, one] of cards) {
      if (others.has(id)) continue;
      cards.delete(id);
      if (opened === one) opened = null;
      one.remove();
    }
  }

  /** Strikes a match that no longer holds through, and lets it go. */
  function retracted(id) {
    const one = cards.get(id);
    if (!one) return;
    cards.delete(id);
    if (opened === one) opened = null;
    one.classList.add("retracted");
    one.append(el("p", { class: "dim", role: "status" }, "no longer holds"));
    setTimeout(() => one.remove(), GONE);
    if (one.classList.contains("fresh")) seen = Math.max(0, seen - 1);
    count.textContent = seen ? `${number(seen)} new` : "";
  }

  let last = 0;
  const rest = () => Math.max(0, PAUSE - (Date.now() - last));

  /** Opens the newest match and says that it has come: no more often than one can follow. */
  function follows() {
    timer = 0;
    last = Date.now();
    const newest = list.querySelector(".card:not([hidden], .retracted)");
    if (newest && follow.checked && !opened?.contains(document.activeElement)) {
      if (opened && opened !== newest) toggle(opened, false);
      opened = newest;
      toggle(newest, true);
    }
    if (unsaid > 0) announce(`${counted(unsaid, "new match", "new matches")}, the last of ${list.querySelector(".card .name")?.textContent}`);
    unsaid = 0;
  }

  async function none() {
    if (wanted().length > 0) return empty.replaceChildren(nothing("No such match.", "None that is kept has these words and this day."));
    const { total } = await get("/queries?limit=1");
    empty.replaceChildren(total === 0
      ? nothing("No query yet.", "Begin with ", el("a", { href: "#/ask" }, "a question of your own, or an example"), ".")
      : nothing("No match yet.", `What the ${total === 1 ? "query finds" : `${number(total)} queries find`} shows here as it comes.`));
  }

  function missed(lost) {
    list.prepend(el("li", { class: "note" }, lost === null
      ? "The server has started again: what follows is all that it knows."
      : `${counted(lost, "match", "matches")} came and went before they could be shown.`));
  }

  function state(name) {
    const shown = document.getElementById("connection");
    shown.className = `connection ${name}`;
    shown.textContent = name === "live" ? "live" : "waiting for the server";
  }

  list.addEventListener("keydown", move);
  const { queries } = await get("/queries");
  for (const one of queries) choice.append(el("option", { value: one.name }, one.name));
  for (const name of only) {
    if (!queries.some((one) => one.name === name)) choice.append(el("option", { value: name }, name));
  }
  choice.value = only[0] ?? "";
  ended.addEventListener("abort", () => clearTimeout(typing));
  await look();
}

/** A match as an item of the list. */
function card(match, ended, chosen) {
  const number = `match-${match.id}`;
  const body = el("div", { class: "card-body", id: number, hidden: true });
  const head = el("button", { class: "card-head", "aria-expanded": "false", "aria-controls": number },
    el("span", { class: "name" }, match.query),
    el("span", { class: "values" }, line(match.summary)),
    moment(match.time));
  const item = el("li", { class: isSeen(match.id) ? "card" : "card new", "data-match": match.id }, head, body);
  head.addEventListener("click", () => {
    chosen();
    toggle(item, head.getAttribute("aria-expanded") !== "true");
  });
  item.fill = async () => {
    try {
      body.replaceChildren(sides(await get(path("matches", match.id))));
    } catch (error) {
      if (ended.aborted) return;
      body.replaceChildren(error.status === 410 || error.status === 404
        ? alone(match) : el("div", {}, problem(error), alone(match)));
    }
  };
  return item;
}

function toggle(item, open) {
  const head = item.querySelector(".card-head");
  const body = item.querySelector(".card-body");
  if (!head || (head.getAttribute("aria-expanded") === "true") === open) return;
  head.setAttribute("aria-expanded", String(open));
  body.hidden = !open;
  // Nobody has seen what opened by itself while nobody looked.
  if (open && !document.hidden) {
    item.classList.remove("new");
    see(item.dataset.match);
  }
  if (open && body.childElementCount === 0) item.fill();
}

/** The arrows go from match to match. */
function move(event) {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  if (!step || !event.target.classList.contains("card-head")) return;
  let item = event.target.parentElement[step];
  while (item && (item.hidden || !item.querySelector(".card-head"))) item = item[step];
  const next = item?.querySelector(".card-head");
  if (next) {
    event.preventDefault();
    next.focus();
  }
}
