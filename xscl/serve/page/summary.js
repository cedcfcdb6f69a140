// What people call a match: its result where the query has a SELECT, else the items that it is of.

import { el, linked } from "./dom.js";
import { number } from "./words.js";

/** The summary of a match in a line of text. */
export function line({ parts, more }) {
  const said = parts.map((part) => [part.variable, [named(part), ...values(part)].filter(Boolean).join(" · ")].filter(Boolean).join(" "));
  if (more) said.splice(-1, 0, left(more));
  return said.join(between(parts));
}

/** The same as a sentence, in which titles lead to what they are of. */
export function sentence({ parts, more }) {
  const said = parts.map((part) => [
    part.variable && el("span", { class: "variable" }, part.variable, " "),
    linked(named(part) || (part.link ? host(part.link) : ""), part.link),
    values(part).map((value, index) => [(index > 0 || part.title || part.link) && " · ", value]),
  ]);
  if (more) said.splice(-1, 0, [left(more)]);
  return el("p", { class: "sentence" }, said.map((one, index) => [index > 0 && between(parts), one]));
}

/** An item is known by its title; of a result all that it says is of interest. */
function values(part) {
  if (part.title && part.variable) return [];
  return (part.values ?? []).map(([name, value]) => `${name} ${value}`.trim());
}

const named = (part) => (part.title ? `“${part.title}”` : "");
const left = (more) => `… ${number(more)} more`;

/** The events of a pattern follow each other. */
const between = (parts) => (parts[0]?.variable ? " → " : " and ");

/** The site of an address, by which it is called where there is no title. */
function host(address) {
  return address.replace(/^\w+:\/*/, "").split("/")[0];
}
