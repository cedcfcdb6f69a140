// The numbers of the engine: those that matter large, all others, the engine's insides, folded away.

import { get } from "./api.js";
import { el } from "./dom.js";
import { again } from "./live.js";
import { tile } from "./queries.js";
import { bytes, moment, number } from "./words.js";

const AGAIN = 2000;
const LARGE = [["taken", "documents ingested"], ["documents", "documents retained"], ["queries", "queries"], ["templates", "templates"], ["bytes", "bytes retained"], ["watermark", "watermark"]];
const TIMES = new Set(["watermark", "latest"]);

export async function numbers(place, { ended }) {
  const tiles = el("dl", { class: "tiles" });
  const tables = el("div", { class: "tables" });
  place.append(el("div", { class: "heading" }, el("h1", {}, "Numbers")), tiles,
    el("details", {}, el("summary", {}, "Engine internals"), tables));

  async function draw() {
    const stats = await get("/stats");
    if (ended.aborted) return;
    tiles.replaceChildren(...LARGE.filter(([name]) => name in stats).map(([name, said]) => tile(said, value(name, stats[name]))));
    const plain = Object.entries(stats).filter(([name, one]) => !isGroup(one) && !LARGE.some(([large]) => large === name));
    const groups = Object.entries(stats).filter(([, one]) => isGroup(one));
    tables.replaceChildren(group("engine", plain), ...groups.map(([name, one]) => group(name, Object.entries(one))));
  }

  await draw();
  again(AGAIN, draw, ended);
}

function isGroup(one) {
  return one !== null && typeof one === "object";
}

function group(name, entries) {
  return el("section", { "aria-label": words(name) }, el("h2", {}, words(name)),
    el("table", { class: "figures" }, el("tbody", {}, entries.map(([member, one]) => el("tr", {},
      el("th", { scope: "row" }, words(member)),
      el("td", { class: "figure" }, isGroup(one)
        ? Object.entries(one).map(([inner, each]) => el("span", { class: "block" }, `${words(inner)} `, value(inner, each)))
        : value(member, one)))))));
}

const words = (name) => name.replaceAll("_", " ");

function value(name, one) {
  if (one === null) return "—";
  if (TIMES.has(name)) return moment(one);
  if (name === "since") return moment(Date.parse(one) / 1000);
  if (name.includes("bytes") && typeof one === "number") return bytes(one);
  return typeof one === "number" ? number(one) : String(one);
}
