// Asking: an editor with errors at their place, a picture of what is asked, a dry run, subscribing.

import { get, post } from "./api.js";
import { el, fill, nothing, problem } from "./dom.js";
import { editor } from "./editor.js";
import { sides } from "./sides.js";
import { line } from "./summary.js";
import { counted, moment, number } from "./words.js";

const PAUSE = 250;
const DRAWN = 6000;
const DRAFT = "xscl draft";

export async function ask(place, { ended }) {
  const errors = el("ul", { class: "errors", id: "errors", "aria-live": "polite" });
  const fields = el("div", { class: "fields", oninput: () => { tries += 1; found.replaceChildren(); run.disabled = false; } });
  const history = el("input", { type: "checkbox", id: "history", checked: true });
  const run = el("button", { class: "quiet", onclick: tried, disabled: true }, "Try it");
  const take = el("button", { onclick: taken, disabled: true }, "Subscribe");
  const outcome = el("p", { class: "outcome", role: "status" });
  const found = el("section", { class: "found", "aria-label": "What the dry run found" });
  const picture = el("section", { class: "picture", "aria-label": "How it will be evaluated" });
  const box = editor("Your question", changed);
  const starts = el("section", { class: "starts", "aria-labelledby": "starts" }, el("h2", { id: "starts" }, "Examples to start with"));
  let timer = 0;
  let tries = 0;
  let asking = new AbortController();

  place.append(
    el("div", { class: "heading" }, el("h1", {}, "Ask")),
    el("div", { class: "asks" },
      el("div", { class: "writing" }, box.element, errors, fields,
        el("div", { class: "row" }, run, take, el("label", { class: "check" }, history, "include retained documents")),
        outcome, found, picture),
      starts));

  function changed(text) {
    sessionStorage.setItem(DRAFT, text);
    clearTimeout(timer);
    asking.abort();
    take.disabled = run.disabled = true;
    // What the text before this one has found is not what this one finds.
    tries += 1;
    found.replaceChildren();
    outcome.replaceChildren();
    timer = setTimeout(() => checked(text), PAUSE);
  }

  async function checked(text) {
    asking = new AbortController();
    if (!text.trim()) return shown({ queries: [], errors: [] }, text);
    try {
      const answer = await post("/check", { text }, asking.signal);
      if (box.value === text) shown(answer, text);
    } catch (error) {
      if (error.name !== "AbortError") errors.replaceChildren(el("li", {}, problem(error)));
    }
  }

  function shown({ queries, errors: wrong }, text) {
    box.show(wrong);
    errors.replaceChildren(...wrong.map((one) => el("li", {},
      el("button", { class: "place", onclick: () => box.go(one), title: "Go there" }, `${one.line}:${one.column}`), " ", one.message)));
    const named = [...new Set(queries.flatMap((one) => one.parameters))];
    const before = values();
    fields.replaceChildren(...named.map((name) => el("label", {}, `:${name}`,
      el("input", { "data-parameter": name, value: before[name] ?? "", autocomplete: "off" }))));
    const good = queries.length > 0 && wrong.length === 0;
    take.disabled = run.disabled = !good;
    if (!good) return wrong.length === 0 && picture.replaceChildren();
    const small = text.length <= DRAWN;
    picture.replaceChildren(el("h2", {}, "How it will be evaluated"), small
      ? el("div", { class: "scrolled", tabindex: "0" }, el("img", {
        src: `/explain?${new URLSearchParams({ format: "svg", text })}`,
        alt: "Tree patterns, the joins between them, minors and templates",
      }))
      : el("p", { class: "dim" }, "The text is too long to be drawn as you type; subscribe, and look at each query."));
  }

  /** The values of the parameters: what is written as a number is one. */
  function values() {
    const given = {};
    for (const field of fields.querySelectorAll("input")) {
      const text = field.value;
      // As `--params` reads a column: what no number is written as is text.
      const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && (text.includes(".") || Number.isSafeInteger(Number(text)));
      given[field.dataset.parameter] = isNumber ? Number(text) : text;
    }
    return given;
  }

  async function tried() {
    run.disabled = true;
    const trying = ++tries;
    found.replaceChildren(el("p", { class: "dim" }, "Trying it…"));
    try {
      const answer = await post("/dry-run", { text: box.value, params: values() });
      if (trying !== tries) return;
      const many = counted(answer.matches.length, "match", "matches");
      const all = answer.documents === answer.retained;
      const of = `${all ? "" : `the newest ${number(answer.documents)} of `}${counted(answer.retained, "document")}`;
      fill(found, el("h2", {}, `${many} among ${of} retained`),
        answer.first !== null && el("p", { class: "dim" }, "From ", moment(answer.first), " to ", moment(answer.last), "."),
        !answer.whole && el("p", { class: "note" }, `There may be more: ${answer.ended ?? "older documents were not looked at"}.`),
        answer.problems.map((one) => el("p", { class: "note" }, one)),
        answer.retained === 0 && nothing("Nothing to try it on.", "Documents are retained while a query can reach them, and none of these streams is read yet."),
        el("ol", { class: "matches-list" }, answer.shown.map((shown, index) => [shown, answer.matches[index]]).map(([shown, match]) => el("li", { class: "card" },
          el("details", {}, el("summary", {}, el("span", { class: "name" }, match.query),
            el("span", { class: "values" }, line(shown.summary)), moment(match.time)),
            sides({ match, ...shown }, false))))),
        answer.matches.length > answer.shown.length && el("p", { class: "dim" }, `The first ${answer.shown.length} are shown.`));
    } catch (error) {
      if (trying !== tries) return;
      found.replaceChildren(problem(error));
    }
    run.disabled = false;
  }

  async function taken() {
    take.disabled = true;
    try {
      const given = values();
      const params = Object.keys(given).length > 0 ? { params: given } : {};
      const { queries } = await post("/queries", { text: box.value, history: history.checked, ...params });
      const names = queries.map((one) => el("a", { href: `#/queries/${encodeURIComponent(one.name)}` }, one.name));
      outcome.replaceChildren("Subscribed: ", ...names.flatMap((one, index) => (index ? [", ", one] : [one])), ". ",
        el("a", { href: "#/matches" }, "See what it finds"), ".");
      outcome.className = "outcome good";
    } catch (error) {
      outcome.className = "outcome";
      outcome.replaceChildren(...error.problems.map((one) => el("span", { class: "problem block" }, one.message)));
      box.show(error.problems);
    }
    take.disabled = false;
  }

  box.value = sessionStorage.getItem(DRAFT) ?? "";
  for (const one of await get("/examples")) {
    starts.append(el("button", { class: "start", onclick: () => { box.value = one.text.trimEnd(); } },
      el("strong", {}, one.title), el("span", {}, one.about)));
  }
  ended.addEventListener("abort", () => { clearTimeout(timer); asking.abort(); });
}
