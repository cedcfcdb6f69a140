// The feeds that the server polls, and how each of them is.

import { get, post } from "./api.js";
import { el, linked, nothing, problem } from "./dom.js";
import { again } from "./live.js";
import { moment, number } from "./words.js";

const AGAIN = 5000;
const SOON = 1500;

export async function feeds(place, { ended }) {
  const table = el("div", {});
  const stream = el("input", { id: "stream", required: true, value: "S", size: 4, autocomplete: "off" });
  const address = el("input", { id: "address", type: "url", required: true, autocomplete: "off" });
  const said = el("div", { role: "status" });
  const form = el("form", { class: "chosen", onsubmit: added },
    el("div", { class: "field" }, el("label", { for: "address" }, "Address of a feed, or of a page that names one"), address),
    el("div", {}, el("label", { for: "stream", class: "block" }, "Stream"), stream),
    el("button", {}, "Add"));
  place.append(el("div", { class: "heading" }, el("h1", {}, "Feeds")), form, said, table);

  async function added(event) {
    event.preventDefault();
    await acted(async () => {
      const one = await post("/feeds", { stream: stream.value, address: address.value });
      address.value = "";
      return ["It is polled until the server stops: to keep it, start the server with ", el("code", {}, `--feed ${stream.value}=${one.address}`), "."];
    });
  }

  function askNow(one) {
    return acted(async () => {
      await post("/feeds/ask", { address: one.address });
      return `${one.title || one.address} is polled now.`;
    });
  }

  async function acted(act) {
    try {
      said.replaceChildren(el("p", { class: "good" }, await act()));
      await draw();
      setTimeout(() => draw().catch(() => {}), SOON);
    } catch (error) {
      said.replaceChildren(problem(error));
    }
  }

  async function draw() {
    const { feeds: some } = await get("/feeds");
    if (ended.aborted) return;
    // Who is in the table with the keyboard keeps the place.
    const place = table.contains(document.activeElement) ? named(document.activeElement) : null;
    table.replaceChildren(some.length === 0
      ? nothing("This server polls no feeds.", "Add one, or start the server with ", el("code", {}, "--feed S=ADDRESS"), " or an OPML file.")
      : listed(some, askNow));
    if (place) [...table.querySelectorAll("a, button")].find((one) => named(one) === place)?.focus();
  }

  await draw();
  again(AGAIN, draw, ended);
}

const named = (control) => control.getAttribute("aria-label") ?? control.getAttribute("href");

function listed(some, askNow) {
  const heads = ["Feed", "Streams", "Last answer", "Next", "Items", ""];
  return el("table", { class: "cards" },
    el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: index > 3 ? "figure" : "" }, head || el("span", { class: "unseen" }, "Ask"))))),
    el("tbody", {}, some.map((one) => el("tr", { class: one.error || one.gone ? "ill" : "" },
      el("th", { scope: "row" }, linked(one.title || one.address, one.url),
        one.title && el("span", { class: "dim block" }, one.address),
        one.gone && el("span", { class: "problem block" }, "gone for good, as its server says"),
        one.error && el("span", { class: "problem block" }, one.error, one.failures > 1 && `, ${number(one.failures)} times in a row`)),
      el("td", { "data-head": "streams" }, one.streams.join(", ")),
      el("td", { "data-head": "last" }, when(one.last_success)),
      el("td", { "data-head": "next" }, when(one.next_fetch)),
      el("td", { "data-head": "items", class: "figure" }, number(one.items)),
      el("td", {}, el("button", { class: "quiet", "aria-label": `Poll ${one.title || one.address} now`, onclick: () => askNow(one) }, "Poll now"))))));
}

/** A time, or that there is none yet. */
function when(time) {
  return time === null ? "—" : moment(Date.parse(time) / 1000);
}
