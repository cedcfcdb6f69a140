// An editor of queries: a text area, and behind it the same text in colours, its errors underlined.

import { el } from "./dom.js";

const TOKENS = /(--[^\n]*)|('(?:[^']|'')*'?|"(?:[^"]|"")*"?)|\b(SELECT|FROM|AS|FOLLOWED|BY|JOIN|PUBLISH|AND|OR|INF|DECLARE|NAMESPACE|STREAM|EVENT|PATTERN|SEQ|ANY|WHERE|WITHIN|CONSISTENCY|FILTER|NEXT|FOLD|UNION|WINDOW|GROUP|NOT|DUR)\b|(?<=->\s*)([\w'.-]+)|(:[A-Za-z_]\w*)|(<\/[\w:.-]+\s*>|<[A-Za-z_][\w:.-]*(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*\/?>)/gi;
const KINDS = ["comment", "string", "keyword", "variable", "parameter", "markup"];
const COLOURED = 20000;

/** An editor; `changed` is called with each text.  `show` shows errors: problems with a line and a
 * column, from 1. */
export function editor(label, changed) {
  const behind = el("pre", { class: "behind", "aria-hidden": "true" });
  const area = el("textarea", {
    id: "editor", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off",
    "aria-describedby": "errors", placeholder: "S/item[title->t] JOIN {t = u, 1 day} S/item[title->u]",
  });
  const numbers = el("pre", { class: "lines", "aria-hidden": "true" });
  const box = el("div", { class: "editor" }, numbers, el("div", { class: "page" }, behind, area));
  let errors = [];

  function draw() {
    behind.replaceChildren(...coloured(area.value, errors), "\n");
    const lines = area.value.split("\n").length;
    const wrong = new Set(errors.map((one) => one.line));
    numbers.replaceChildren(...Array.from({ length: lines }, (_, index) => el("span", { class: wrong.has(index + 1) ? "wrong" : "" }, `${index + 1}\n`)));
    area.rows = Math.min(24, Math.max(9, lines + 1));
  }

  area.addEventListener("input", () => {
    draw();
    changed(area.value);
  });
  // What is behind is as wide as the text, and scrolls with it.
  area.addEventListener("scroll", () => {
    behind.scrollTo(area.scrollLeft, area.scrollTop);
    numbers.scrollTop = area.scrollTop;
  });
  draw();
  return {
    element: el("div", {}, el("label", { for: "editor", class: "block" }, label), box),
    get value() { return area.value; },
    set value(text) {
      area.value = text;
      errors = [];
      draw();
      changed(text);
    },
    show(problems) {
      errors = problems.filter((one) => one.line);
      area.setAttribute("aria-invalid", String(problems.length > 0));
      draw();
    },
    /** Puts the caret where a problem is. */
    go(problem) {
      const at = offset(area.value, problem);
      area.focus();
      area.setSelectionRange(at, at);
    },
  };
}

/** The offset of a problem: columns are characters, of which some are two units in a string. */
function offset(text, { line, column }) {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  const row = text.slice(start).split("\n", 1)[0];
  return start + [...row].slice(0, column - 1).join("").length;
}

/** The text as nodes: tokens in their colours, and each error underlined. */
function coloured(text, errors) {
  const marks = errors.map((one) => {
    const at = offset(text, one);
    const token = /^(?:[\w'.-]+|->|\S)/u.exec(text.slice(at));
    return { at, end: at + (token ? token[0].length : 0), message: one.message };
  }).sort((one, other) => one.at - other.at);
  const nodes = [];
  let place = 0;
  for (const mark of marks) {
    if (mark.at < place) continue;
    nodes.push(...tokens(text.slice(place, mark.at)));
    // At the end of a line there is nothing to underline.
    nodes.push(el("span", { class: "error" }, text.slice(mark.at, mark.end) || "\u00a0"));
    place = mark.end;
  }
  return [...nodes, ...tokens(text.slice(place))];
}

function tokens(text) {
  if (text.length > COLOURED) return [text];
  const nodes = [];
  let place = 0;
  for (const found of text.matchAll(TOKENS)) {
    const kind = KINDS[found.slice(1).findIndex((one) => one !== undefined)];
    nodes.push(text.slice(place, found.index), el("span", { class: kind }, found[0]));
    place = found.index + found[0].length;
  }
  return [...nodes, text.slice(place)];
}

/** A text of queries that is only looked at. */
export function code(text) {
  return el("pre", { class: "code", tabindex: "0" }, tokens(text));
}
