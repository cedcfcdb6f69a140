// The page: shows the view that the address names, and closes the one before it.

import { el, problem } from "./dom.js";
import { entered } from "./api.js";
import { ask } from "./ask.js";
import { feeds } from "./feeds.js";
import { matches } from "./matches.js";
import { numbers } from "./numbers.js";
import { queries, query } from "./queries.js";
import { why } from "./why.js";
import { older } from "./words.js";

const VIEWS = { matches, queries, query, ask, why, feeds, numbers };

let leaving = new AbortController();

/** Shows the view of `#/VIEW/NAME?MEMBER=VALUE`. */
async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [way, asked] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = way.split("/").map(decodeURIComponent);
  const view = VIEWS[name] ?? matches;
  for (const link of document.querySelectorAll("nav a")) {
    const current = link.hash === `#/${view === query ? "queries" : view.name}`;
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.getElementById("connection").textContent = "";
  const main = document.getElementById("main");
  const place = el("div", { class: `view ${view.name}` });
  main.replaceChildren(place);
  try {
    await view(place, { rest, asked: new URLSearchParams(asked), ended: signal });
  } catch (error) {
    if (!signal.aborted) place.append(problem(error));
  }
  document.title = `${main.querySelector("h1")?.textContent ?? "Matches"} · XSCL`;
}

/** What happens to a view that was left is of no interest. */
addEventListener("hashchange", () => {
  // The link that skips to the content names no view.
  if (location.hash === "#main") return;
  show();
  document.getElementById("main").focus({ preventScroll: true });
  scrollTo(0, 0);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
entered();
setInterval(older, 10000);
show();
