// The queries with their matches and rates; one of them with its picture and where documents are lost.

import { get, path, remove } from "./api.js";
import { confirmed, el, fill, nothing, problem } from "./dom.js";
import { code } from "./editor.js";
import { funnel } from "./findings.js";
import { again } from "./live.js";
import { counted, moment, number, rate } from "./words.js";

const AGAIN = 3000;
const PAUSE = 200;
const PAGE = 100;

export async function queries(place, { rest, ended }) {
  if (rest[0]) return query(place, rest[0]);
  const table = el("div", {});
  const count = el("span", { class: "dim", role: "status" });
  const search = el("input", { type: "search", id: "search", placeholder: "name or text", autocomplete: "off", "aria-label": "Look for queries by name or text", oninput: () => {
    after = 0;
    clearTimeout(timer);
    timer = setTimeout(() => draw().catch(() => {}), PAUSE);
  } });
  const earlier = el("button", { class: "quiet", onclick: () => turn(-PAGE) }, "Earlier");
  const later = el("button", { class: "quiet", onclick: () => turn(PAGE) }, "Later");
  const pages = el("div", { class: "row end pages", hidden: true }, earlier, later);
  let after = 0;
  let timer = 0;
  let drawn = 0;
  place.append(el("div", { class: "heading" }, el("h1", {}, "Queries"), count,
    el("div", { class: "row" }, search, el("a", { class: "button", href: "#/ask" }, "New query"))), table, pages);

  function turn(by) {
    after = Math.max(0, after + by);
    draw().then(() => scrollTo(0, 0)).catch(() => {});
  }

  async function draw() {
    const words = search.value.trim();
    const drawing = ++drawn;
    const { queries: some, total } = await get(`/queries?${new URLSearchParams({ search: words, after, limit: PAGE })}`);
    // The answer to what was typed last is shown, whichever comes last.
    if (ended.aborted || drawing !== drawn) return;
    if (some.length === 0 && after > 0) {
      after = 0;
      return draw();
    }
    count.textContent = some.length < total ? `${number(after + 1)} to ${number(after + some.length)} of ${number(total)}` : number(total);
    pages.hidden = some.length === total;
    earlier.disabled = after === 0;
    later.disabled = after + some.length >= total;
    // Who is in the table with the keyboard keeps the place.
    const at = table.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    table.replaceChildren(total === 0
      ? words ? nothing("No such query.", `None has "${words}" in its name or text.`) : nothing("No query yet.", "Queries come from files, over HTTP, or from ", el("a", { href: "#/ask" }, "the editor"), ".")
      : listed(some));
    if (at) table.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus();
  }

  await draw();
  again(AGAIN, draw, ended);
  ended.addEventListener("abort", () => clearTimeout(timer));
}

function listed(some) {
  return el("table", { class: "cards" },
    el("thead", {}, el("tr", {}, ["Query", "Reads", "Publishes", "Matches", "Rate"].map((head, index) => el("th", { scope: "col", class: index > 2 ? "figure" : "" }, head)))),
    el("tbody", {}, some.map((one) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: `#/queries/${encodeURIComponent(one.name)}` }, one.name),
        el("code", { class: "first" }, firstLine(one.text))),
      el("td", { "data-head": "reads" }, one.streams.join(", ")),
      el("td", { "data-head": "publishes" }, one.publishes ?? "—"),
      el("td", { "data-head": "matches", class: "figure" }, el("a", { href: `#/matches?${new URLSearchParams({ query: one.name })}`, "aria-label": `${counted(one.matches, "match", "matches")} of ${one.name}` }, number(one.matches)),
        one.pending > 0 && el("small", { class: "block dim", title: `until ${one.pending_until}; ${one.watermark ? `the watermark is ${one.watermark}` : "there is no watermark yet"}` }, `${number(one.pending)} pending`)),
      el("td", { "data-head": "rate", class: "figure" }, rate(one.rate))))));
}

/** A query's text without its name, in a line. */
function firstLine(text) {
  return text.split("\n").filter((line) => !line.trim().startsWith("--")).join(" ").replace(/\s+/g, " ").trim();
}

/** One query. */
export async function query(place, name) {
  const one = await get(path("queries", name));
  const words = el("pre", { tabindex: "0" });
  const lost = el("div", {});
  fill(place,
    el("p", { class: "back" }, el("a", { href: "#/queries" }, "All queries")),
    el("div", { class: "heading" }, el("h1", {}, one.name),
      el("div", { class: "row" },
        el("a", { class: "button quiet", href: `#/matches?${new URLSearchParams({ query: name })}` }, "Its matches"),
        el("a", { class: "button quiet", href: `#/why/${encodeURIComponent(name)}` }, "Why, why not"),
        el("button", { class: "danger", onclick: cancel }, "Cancel the query"))),
    el("dl", { class: "tiles" },
      tile("matches", number(one.matches)), tile("rate", rate(one.rate)),
      tile("reads", one.streams.join(", ")), tile("publishes", one.publishes ?? "—"),
      tile("since", moment(Date.parse(one.since) / 1000)),
      one.pending > 0 && tile("pending", number(one.pending))),
    one.pending > 0 && el("p", { class: "note" }, `${counted(one.pending, "match is", "matches are")} pending until the watermark has passed `, moment(Date.parse(one.pending_until) / 1000), ". ",
      one.watermark ? ["It is at ", moment(Date.parse(one.watermark) / 1000), "."] : ["There is none yet: a line ", el("code", {}, '{"advance": TIME}'), " sets it."]),
    code(one.text),
    el("section", { class: "picture", "aria-labelledby": "picture" }, el("h2", { id: "picture" }, "How it is evaluated"),
      el("div", { class: "scrolled", tabindex: "0" }, el("img", {
        src: `${path("queries", name, "explain")}?format=svg`,
        alt: "Tree patterns, the joins between them, the minor and the template; in words below",
      })),
      el("details", { ontoggle: inWords }, el("summary", {}, "In words"), words)),
    el("section", { "aria-labelledby": "lost" }, el("h2", { id: "lost" }, "Where documents are lost"), lost));

  async function inWords() {
    try {
      if (!words.textContent) words.textContent = await get(`${path("queries", name, "explain")}?format=text`);
    } catch (error) {
      words.replaceChildren(problem(error));
    }
  }

  async function cancel() {
    if (!(await confirmed(`Cancel ${name}? Its matches so far stay in the list.`, "Cancel the query"))) return;
    try {
      await remove(path("queries", name));
      location.hash = "#/queries";
    } catch (error) {
      place.prepend(problem(error));
    }
  }

  try {
    const [explained] = await get(`${path("queries", name, "explain")}?format=json`);
    if (explained.kind === "cel") lost.append(el("p", { class: "dim" }, "An event query keeps no documents to look at."));
    else lost.append(funnel(await get(path("queries", name, "why"))));
  } catch (error) {
    lost.append(problem(error));
  }
}

export function tile(name, value) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value));
}
