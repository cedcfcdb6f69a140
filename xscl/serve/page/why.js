// Why: a query and one document for each of its blocks, and each condition with its values.

import { get, path } from "./api.js";
import { el, nothing, problem } from "./dom.js";
import { findings, funnel } from "./findings.js";

const LISTED = 200;

export async function why(place, { rest, asked, ended }) {
  const choice = el("select", { id: "query", onchange: () => { location.hash = `#/why/${encodeURIComponent(choice.value)}`; } });
  const form = el("form", { class: "chosen", onsubmit: judged });
  const answer = el("div", { class: "answer", "aria-live": "polite" });
  place.append(el("div", { class: "heading" }, el("h1", {}, "Why, why not")),
    el("p", { class: "lead" }, "Choose a document for each block of a query, and see which conditions hold for them, with the values on both sides."),
    el("div", { class: "row" }, el("label", { for: "query" }, "query"), choice), form, answer);
  const { queries } = await get("/queries");
  if (queries.length === 0) {
    form.append(nothing("No query yet.", el("a", { href: "#/ask" }, "Ask one"), " first."));
    return;
  }
  for (const one of queries) choice.append(el("option", { value: one.name }, one.name));
  const name = rest[0] ?? queries[0].name;
  if (!queries.some((one) => one.name === name)) choice.append(el("option", { value: name }, name));
  choice.value = name;
  const [explained] = await get(`${path("queries", name, "explain")}?format=json`);
  if (explained.kind === "cel") {
    form.append(nothing("An event query keeps no documents to look at.", "The command ", el("code", {}, "xscl why"), " judges those of a match that it is given."));
    return;
  }
  // A pattern has none: it takes as many documents as a match has events.
  const blocks = explained.disjuncts?.[0]?.blocks ?? [];
  const events = explained.kind && el("textarea", {
    id: "events", required: true, rows: 4, autocomplete: "off", placeholder: "the ids of documents, each on a line",
  });
  if (events) {
    events.value = asked.getAll("document").join("\n");
    form.append(el("div", { class: "field" }, el("label", { for: "events" }, "The events of a match, in order"), events));
  }
  const fields = [];
  for (const block of blocks) {
    const list = `held-${block.block}`;
    const about = block.stream === null ? `the results of ${block.subquery}` : `stream ${block.stream}`;
    const field = el("input", {
      id: `block-${block.block}`, list, required: true, autocomplete: "off",
      value: asked.getAll("document")[block.block - 1] ?? "", placeholder: "the id of a document",
    });
    const of = block.stream ?? block.subquery;
    const { documents } = await get(`/documents?${new URLSearchParams({ stream: of, limit: LISTED })}`);
    form.append(el("div", { class: "field" },
      el("label", { for: field.id }, `Block ${block.block}, ${about}`), field,
      el("datalist", { id: list }, documents.map((one) => el("option", { value: one.id }, one.title ?? "")))));
    fields.push(field);
  }
  form.append(el("div", { class: "row" }, el("button", {}, "Check")));

  async function judged(event) {
    event.preventDefault();
    const ids = events ? events.value.split("\n").filter((id) => id.trim()) : fields.map((field) => field.value);
    const chosen = new URLSearchParams(ids.map((id) => ["document", id]));
    try {
      answer.replaceChildren(findings(await get(`${path("queries", name, "why")}?${chosen}`)));
    } catch (error) {
      answer.replaceChildren(problem(error));
    }
  }

  // Who has left meanwhile asks for nothing more.
  if (ended.aborted) return;
  if (events?.value || (fields.length > 0 && fields.every((field) => field.value))) return form.requestSubmit();
  answer.append(el("h2", {}, "All retained documents"), funnel(await get(path("queries", name, "why"))));
}
