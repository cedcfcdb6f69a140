// A match's documents side by side: the values that joined them marked in all, and what was between.

import { el, linked } from "./dom.js";
import { sentence } from "./summary.js";
import { after, moment } from "./words.js";

const HUES = 6;

/** The id of a document that a query has published is a hash, which says nothing. */
const COMPUTED = /^[0-9a-f]{32}$/;

/** What `GET /matches/ID` answers, as elements; of a query that is subscribed, with ways on. */
export function sides(shown, subscribed = true) {
  const { match, documents, joined } = shown;
  const why = new URLSearchParams(match.documents.map((id) => ["document", id]));
  const times = documents.map((one) => one.timestamp);
  const columns = documents.map((one, index) => el("section", { class: "side", "aria-label": `Document ${index + 1}: ${one.id}` },
    el("header", {},
      documents.length > 1 && el("p", { class: "apart" }, after(one.timestamp, times)),
      el("h2", {}, match.variables && el("span", { class: "variable" }, match.variables[index], " "), linked(one.title ?? one.id, one.link)),
      el("p", { class: "dim" }, !COMPUTED.test(one.id) && [one.id, " · "], "stream ", one.stream, " · ", moment(one.timestamp))),
    text(one)));
  return el("div", { class: "sides", onpointerover: light, onpointerout: light },
    sentence(shown.summary),
    shown.summary.selects && result(match, shown.result),
    joined.length > 0 && el("ul", { class: "joined", "aria-label": "What joined them" }, joined.map((one) => el("li", {},
      mark(one.mark, one.values.map((value) => `“${value}”`).join(", ")), el("code", {}, one.text)))),
    documents.some((one) => !one.whole) && el("p", { class: "note" }, "A document is too large for what joined them to be marked; it is shown as far as it goes here."),
    el("div", { class: "columns" }, columns),
    !shown.summary.selects && copies(match, shown.result),
    subscribed && el("p", { class: "links" },
      documents.length > 0 && el("a", { href: `#/why/${encodeURIComponent(match.query)}?${why}` }, "Why they match"),
      el("a", { href: `#/queries/${encodeURIComponent(match.query)}` }, "The query")));
}

/** What a match says, where its documents are no longer retained. */
export function alone(match) {
  return el("div", { class: "sides" }, sentence(match.summary),
    el("p", { class: "dim" }, "Its documents are no longer retained."), match.summary.selects ? result(match) : copies(match));
}

/** A result that is a copy of the items says nothing that these do not. */
function copies(match, laidOut) {
  return el("details", {}, el("summary", {}, "The items in full"), result(match, laidOut));
}

/** The result of a match, XML or JSON, as it is laid out if that is known. */
export function result(match, laidOut) {
  const shown = laidOut ?? (typeof match.result === "string" ? match.result : JSON.stringify(match.result, null, 2));
  return el("section", { class: "result", "aria-label": "Result" },
    el("h2", {}, "Result", match.stream && el("span", { class: "dim" }, ` published to ${match.stream}`)),
    el("pre", {}, shown));
}

function text(document) {
  const pieces = document.pieces.map((one) => one.mark === undefined ? one.text : mark(one.mark, one.text));
  return el("pre", { tabindex: "0" }, pieces, !document.whole && el("span", { class: "dim" }, " …"));
}

function mark(number, words) {
  return el("mark", { class: `hue${(number - 1) % HUES}`, "data-mark": String(number) }, words);
}

/** Under the pointer, a value and all that are equal to it stand out. */
function light(event) {
  const number = event.target.closest?.("mark")?.dataset.mark;
  for (const one of event.currentTarget.querySelectorAll("mark")) {
    one.classList.toggle("lit", event.type === "pointerover" && one.dataset.mark === number);
  }
}
