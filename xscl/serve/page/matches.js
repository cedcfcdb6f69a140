// Matches as they come, the newest first; each opens to its documents side by side.

import { get, path } from "./api.js";
import { announce, el, nothing, problem } from "./dom.js";
import { listen } from "./live.js";
import { alone, result, sides } from "./sides.js";
import { counted, moment, number } from "./words.js";

const SHOWN = 200;
const BEFORE = 100;
const PAUSE = 1500;

export async function matches(place, { asked, ended }) {
  const only = asked.getAll("query");
  const list = el("ol", { class: "matches-list" });
  const cards = new Map();
  const follow = el("input", { type: "checkbox", id: "follow", checked: true });
  const choice = el("select", { id: "only", onchange: () => {
    location.hash = choice.value ? `#/matches?${new URLSearchParams({ query: choice.value })}` : "#/matches";
  } }, el("option", { value: "" }, "all queries"));
  const count = el("span", { class: "dim", id: "count" });
  const empty = el("div", {});
  place.append(
    el("div", { class: "heading" }, el("h1", {}, "Matches"), count,
      el("div", { class: "row" },
        el("label", { for: "only" }, "of"), choice,
        el("label", { class: "check" }, follow, "open the newest"))),
    empty, list);
  let seen = 0;
  let unsaid = 0;
  let opened = null;
  let timer = 0;

  function hear(some, before) {
    if (some.length === 0 && cards.size === 0) return none();
    empty.replaceChildren();
    for (const match of some.slice(-SHOWN)) {
      cards.get(match.id)?.remove();
      // Who opens one reads it: others do not open meanwhile.
      const one = card(match, ended, () => { follow.checked = false; });
      cards.set(match.id, one);
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

  let last = 0;
  const rest = () => Math.max(0, PAUSE - (Date.now() - last));

  /** Opens the newest match and says that it has come: no more often than one can follow. */
  function follows() {
    timer = 0;
    last = Date.now();
    const newest = list.querySelector(".card");
    if (newest && follow.checked && !opened?.contains(document.activeElement)) {
      if (opened && opened !== newest) toggle(opened, false);
      opened = newest;
      toggle(newest, true);
    }
    if (unsaid > 0) announce(`${counted(unsaid, "new match", "new matches")}, the last of ${newest.querySelector(".name").textContent}`);
    unsaid = 0;
  }

  async function none() {
    const { total } = await get("/queries?limit=1");
    empty.replaceChildren(total === 0
      ? nothing("Nobody has asked anything yet.", "Begin with ", el("a", { href: "#/ask" }, "a question of your own, or an example"), ".")
      : nothing("No match yet.", `What the ${total === 1 ? "query finds" : `${number(total)} queries find`} shows here as it comes.`));
  }

  function missed(lost) {
    list.prepend(el("li", { class: "note" }, lost === null
      ? "The server has begun anew: what follows is all that it knows."
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
  await listen(only, BEFORE, { hear, missed, state, ended });
}

/** A match as an item of the list. */
function card(match, ended, chosen) {
  const number = `match-${match.id}`;
  const body = el("div", { class: "card-body", id: number, hidden: true });
  const head = el("button", { class: "card-head", "aria-expanded": "false", "aria-controls": number },
    el("span", { class: "name" }, match.query),
    el("span", { class: "values" }, values(match)),
    moment(match.time));
  const item = el("li", { class: "card", "data-match": match.id }, head, body);
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
        ? alone(match, error.message) : el("div", {}, problem(error), result(match)));
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
  if (open && body.childElementCount === 0) item.fill();
}

/** What a match says in a line: the values of its variables, its documents, or its result. */
function values(match) {
  const said = [...new Set(Object.values(match.values))].filter((value) => value.trim());
  if (said.length > 0) return said.slice(0, 4).join(" · ");
  return match.documents.length > 0 ? match.documents.join(" · ") : inShort(match.result);
}

function inShort(result) {
  const object = result !== null && typeof result === "object" && !Array.isArray(result);
  const told = (value) => typeof value === "string" ? value : JSON.stringify(value);
  return object
    ? Object.entries(result).slice(0, 6).map(([name, value]) => `${name} ${told(value).slice(0, 60)}`).join(" · ")
    : told(result).slice(0, 200);
}

/** The arrows go from match to match. */
function move(event) {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  if (!step || !event.target.classList.contains("card-head")) return;
  const next = event.target.parentElement[step]?.querySelector(".card-head");
  if (next) {
    event.preventDefault();
    next.focus();
  }
}
