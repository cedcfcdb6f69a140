// The feeds that the server polls, and how each of them is.

import { get } from "./api.js";
import { el, linked, nothing } from "./dom.js";
import { moment, number } from "./words.js";

const AGAIN = 5000;

export async function feeds(place, { ended }) {
  const table = el("div", {});
  place.append(el("div", { class: "heading" }, el("h1", {}, "Feeds")), table);

  async function draw() {
    let some;
    try {
      ({ feeds: some } = await get("/feeds"));
    } catch (error) {
      if (error.status !== 404) throw error;
      some = [];
    }
    if (ended.aborted) return;
    table.replaceChildren(some.length === 0
      ? nothing("This server polls no feeds.", "Begin it with ", el("code", {}, "--feed S=ADDRESS"), " or an OPML file, and they are here.")
      : listed(some));
  }

  await draw();
  const timer = setInterval(() => draw().catch(() => {}), AGAIN);
  ended.addEventListener("abort", () => clearInterval(timer));
}

function listed(some) {
  const heads = ["Feed", "Stream", "Last answer", "Next", "Items"];
  return el("table", { class: "cards" },
    el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: index > 3 ? "figure" : "" }, head)))),
    el("tbody", {}, some.map((one) => el("tr", { class: one.error ? "ill" : "" },
      el("th", { scope: "row" }, linked(one.title ?? one.address, one.address), one.error && el("span", { class: "problem block" }, one.error)),
      el("td", { "data-head": "stream" }, one.stream),
      el("td", { "data-head": "last" }, when(one.last)),
      el("td", { "data-head": "next" }, when(one.next)),
      el("td", { "data-head": "items", class: "figure" }, number(one.items ?? 0))))));
}

/** A time as the server has it: text, seconds, or none yet. */
function when(time) {
  if (time === null || time === undefined) return "—";
  return moment(typeof time === "number" ? time : Date.parse(time) / 1000);
}
