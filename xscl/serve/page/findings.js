// Why documents match a query or do not: each condition with its values; and of many documents, how
// many came through each.

import { el } from "./dom.js";
import { counted, number } from "./words.js";

const SIGNS = new Map([[true, ["✓", "holds"]], [false, ["✗", "fails"]], [null, ["·", "not judged"]]]);

/** The findings of some documents. */
export function findings(answer) {
  if (answer.text) return text(answer);
  const cause = answer.cause === null ? null : answer.findings[answer.cause];
  const rows = answer.findings.map((one) => {
    const [sign, said] = SIGNS.get(one.holds);
    return el("tr", { class: `${said.split(" ")[0]} ${one === cause ? "cause" : ""}` },
      el("td", { class: "sign" }, el("span", { "aria-label": said, role: "img" }, sign)),
      el("td", { class: "dim" }, place(one)),
      el("td", {}, el("code", {}, one.text)),
      el("td", {}, [one.left, one.right].filter(Boolean).map((side) => el("span", { class: "side-values" }, values(side))),
        one.near && el("span", { class: "near" }, `≈ ${one.near}`), one.note && el("span", { class: "dim block" }, one.note)));
  });
  return el("div", {},
    el("p", { class: `verdict ${answer.holds ? "good" : "bad"}`, role: "status" },
      answer.holds ? "They match: every condition holds." : "They do not match",
      cause && [": ", el("code", {}, cause.text), cause.note ? ` — ${cause.note}` : " fails", "."]),
    el("div", { class: "scrolled", tabindex: "0" }, el("table", { class: "findings" },
      el("thead", {}, el("tr", {}, ["", "about", "condition", "values"].map((head) => el("th", { scope: "col" }, head || el("span", { class: "unseen" }, "holds"))))),
      el("tbody", {}, rows))));
}

function place(one) {
  const block = one.block === null ? "between" : `block ${one.block}`;
  return one.disjunct === null ? block : `${block}, disjunct ${one.disjunct}`;
}

function values(side) {
  const shown = side.shown.map((one) => `“${one}”`).join(", ") || "nothing";
  return side.more ? `${shown} and ${number(side.more)} more` : shown;
}

/** The tallies of the documents retained, as bars. */
export function funnel(answer) {
  if (answer.text) return text(answer);
  const pairs = answer.conditions.filter((one) => one.pairs).map((one) => one.passed);
  const most = (one) => Math.max(1, ...(one.pairs ? pairs : [answer.documents]));
  return el("div", {},
    el("p", { class: "dim" }, `Of ${counted(answer.documents, "document")} that this query reads, the newest of those retained:`),
    el("ol", { class: "funnel" }, answer.conditions.map((one) => el("li", {},
      el("span", { class: "dim" }, one.pairs ? "pairs" : `block ${one.block}`),
      el("code", {}, one.text),
      el("meter", { min: "0", max: String(most(one)), value: String(one.passed), "aria-label": "came through" }),
      el("span", { class: "figure" }, `${one.capped ? "≥ " : ""}${number(one.passed)}`),
      el("span", { class: "dim" }, one.alone ? `${number(one.alone)} failed by this alone` : "")))));
}

/** What became of the runs of an automaton. */
function text(answer) {
  return el("pre", { class: "scrolled", tabindex: "0" }, answer.text);
}
