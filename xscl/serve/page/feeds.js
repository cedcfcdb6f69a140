// The feeds that the server polls, and how each of them is.

import { get } from "./api.js";
import { el, linked, nothing } from "./dom.js";
import { again } from "./live.js";
import { moment, number } from "./words.js";

const AGAIN = 5000;

export async function feeds(place, { ended }) {
  const table = el("div", {});
  place.append(el("div", { class: "heading" }, el("h1", {}, "Feeds")), table);

  async function draw() {
    const { feeds: some } = await get("/feeds");
    if (ended.aborted) return;
    table.replaceChildren(some.length === 0
      ? nothing("This server polls no feeds.", "Begin it with ", el("code", {}, "--feed S=ADDRESS"), " or an OPML file, and they are here.")
      : listed(some));
  }

  await draw();
  again(AGAIN, draw, ended);
}

function listed(some) {
  const heads = ["Feed", "Streams", "Last answer", "Next", "Items"];
  return el("table", { class: "cards" },
    el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: index > 3 ? "figure" : "" }, head)))),
    el("tbody", {}, some.map((one) => el("tr", { class: one.error || one.gone ? "ill" : "" },
      el("th", { scope: "row" }, linked(one.title || one.address, one.url),
        one.title && el("span", { class: "dim block" }, one.address),
        one.gone && el("span", { class: "problem block" }, "gone for good, as its server says"),
        one.error && el("span", { class: "problem block" }, one.error, one.failures > 1 && `, ${number(one.failures)} times in a row`)),
      el("td", { "data-head": "streams" }, one.streams.join(", ")),
      el("td", { "data-head": "last" }, when(one.last_success)),
      el("td", { "data-head": "next" }, when(one.next_fetch)),
      el("td", { "data-head": "items", class: "figure" }, number(one.items))))));
}

/** A time, or that there is none yet. */
function when(time) {
  return time === null ? "—" : moment(Date.parse(time) / 1000);
}
