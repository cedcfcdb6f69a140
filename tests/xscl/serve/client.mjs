// A client of `xscl serve` that shares no code with it: it goes through every route that the server
// describes, as a service in another language would.  Its argument is where the server is; it fails
// where an answer is not what it should be, or a route was left out.

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";

const base = process.argv[2];
const { paths } = await (await fetch(`${base}/openapi.json`)).json();
const left = new Set(Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)));

/** Asks for a route, such as `GET /queries/{name}`, with the values of its path. */
async function ask(route, values = {}, { search = {}, expect = 200, ...options } = {}) {
  assert.ok(left.delete(route) || route in asked, `${route} is not described`);
  asked[route] = true;
  const [method, template] = route.split(" ");
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]));
  const answer = await fetch(`${base}${path}?${new URLSearchParams(search)}`, { method, ...options });
  if (answer.status !== expect) throw new Error(`${route}: ${answer.status} ${await answer.text()}`);
  return answer;
}

const asked = {};
const json = (value) => ({ headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
const typed = (type, body, more = {}) => ({ headers: { "Content-Type": type, ...more }, body });
const read = async (answer) => (await answer).json();

/** The events of a response, as they come. */
async function* events(answer) {
  let held = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    held += piece;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const event = Object.fromEntries(held.slice(0, end).split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
      held = held.slice(end + 2);
      if (event.data) yield event;
    }
  }
}

// Queries.
const text = "S//book->b[title->t] FOLLOWED BY {t = u, 7 days} S//blog->p[about->u]";
const named = { name: "promo é/1" };
const added = await read(ask("POST /queries", {}, { ...json({ text: `SELECT t FROM ${text} PUBLISH news`, ...named }), expect: 201 }));
assert.equal(added.queries[0].name, named.name);
assert.equal((await read(ask("GET /queries"))).total, 1);
assert.deepEqual((await read(ask("GET /queries/{name}", named))).streams, ["S"]);
await ask("PUT /queries/{name}", { name: "links" }, { ...json({ text: "S//*->x[link = :l]", params: { l: "u" } }), expect: 201 });
await ask("PUT /queries/{name}", { name: "links" }, json({ text: "S//*->x[link = :l]", params: { l: "u" } }));
await ask("PUT /queries/{name}", { name: "links" }, { ...json({ text: "S//other" }), expect: 409 });
const wrong = await read(ask("POST /queries", {}, { ...json({ text: "S//a[" }), expect: 400 }));
assert.deepEqual([wrong.error.line, wrong.error.column], [1, 6]);

// Trying and looking.
assert.equal((await read(ask("POST /check", {}, json({ text: "S//a[" })))).errors.length, 1);
for (const [format, start] of Object.entries({ json: "[", text: "", mermaid: "", svg: "<svg" })) {
  const drawn = await (await ask("GET /queries/{name}/explain", named, { search: { format } })).text();
  assert.ok(drawn.startsWith(start) && drawn.length > 100, format);
}
assert.match(await (await ask("GET /explain", {}, { search: { text } })).text(), /^<svg/);
assert.ok((await read(ask("POST /explain", {}, json({ text })))).length === 1);
assert.ok((await read(ask("GET /examples"))).length > 5);

// Documents: as they come, matches come as events.
const listening = new AbortController();
const stream = await ask("GET /matches", {}, { headers: { Accept: "text/event-stream" }, signal: listening.signal });
const coming = events(stream);
const document = (route, values, type, body, search = {}) => read(ask(route, values, { ...typed(type, body), search }));
const book = "<book><title>R&amp;D</title></book>";
assert.equal((await document("POST /streams/{name}", { name: "S" }, "application/xml", book, { id: "b 1", timestamp: 0 })).taken, 1);
const blog = "<blog><about>R&amp;D</about></blog>";
const place = { name: "S", id: "http://a.example/p%2F1?é" };
assert.equal((await document("PUT /streams/{name}/documents/{id}", place, "application/xml", blog, { timestamp: "1970-01-01T01:00:00Z" })).matches, 1);
assert.equal((await document("PUT /streams/{name}/documents/{id}", place, "application/xml", blog, { timestamp: 3600 })).duplicates, 1);
assert.equal((await document("POST /streams/{name}", { name: "J" }, "application/json", '{"k": 1}', { timestamp: 3600 })).taken, 1);
const lines = ["p2", "p3"].map((id) => JSON.stringify({ id, timestamp: 7200, xml: blog })).join("\n");
const packed = typed("application/x-ndjson", gzipSync(lines), { "Content-Encoding": "gzip" });
assert.equal((await read(ask("POST /streams/{name}", { name: "S" }, packed))).matches, 2);
const bad = await read(ask("POST /streams/{name}", { name: "S" }, { ...typed("application/xml", "<book"), expect: 400 }));
assert.ok(bad.error.message);
const had = [];
for await (const event of coming) {
  had.push(event);
  if (had.length === 3) break;
}
listening.abort();
assert.deepEqual(had.map((one) => JSON.parse(one.data).documents[1]).sort(), [place.id, "p2", "p3"]);

// Where it was, it goes on.
const resuming = new AbortController();
const later = await ask("GET /matches", {}, { search: { live: 1 }, headers: { "Last-Event-ID": had[0].id }, signal: resuming.signal });
for await (const event of events(later)) {
  assert.deepEqual(event, had[1]);
  break;
}
resuming.abort();
const page = await read(ask("GET /matches", {}, { search: { query: named.name, limit: 2 } }));
const rest = await read(ask("GET /matches", {}, { search: { query: named.name, after: page.next } }));
assert.deepEqual([page.matches.length, rest.matches.length, rest.lost], [2, 1, 0]);

const called = (await read(ask("GET /matches", {}, { search: { query: named.name, limit: 1, summary: 1 } }))).matches[0].summary;
assert.equal(called.parts[0].title, "R&D");

// A match, its documents, why.
const shown = await read(ask("GET /matches/{id}", { id: page.matches[0].id }));
assert.deepEqual(shown.documents.map((one) => one.pieces.filter((piece) => piece.mark).length), [1, 1]);
assert.equal((await read(ask("GET /documents", {}, { search: { stream: "S" } }))).documents.length, 4);
const why = { search: [["document", place.id], ["document", "b 1"]] };
assert.equal((await read(ask("GET /queries/{name}/why", named, why))).holds, false);
const tried = await read(ask("POST /dry-run", {}, json({ text: "S//blog->x" })));
assert.equal(tried.matches.length, 3);

// A published stream as feeds.
for (const [route, kind] of [["GET /streams/{name}/feed.atom", "atom+xml"], ["GET /streams/{name}/feed.json", "feed+json"]]) {
  const feed = await ask(route, { name: "news" });
  assert.ok(feed.headers.get("Content-Type").includes(kind));
  const same = await ask(route, { name: "news" }, { headers: { "If-None-Match": feed.headers.get("ETag") }, expect: 304 });
  assert.equal(await same.text(), "");
}

// An automaton, and its arcs.
const up = { name: "up" };
const automaton = { events: { e: "V" }, final: ["q1"], arcs: [{ from: "q0", to: "q1", event: "e" }] };
await ask("PUT /queries/{name}", up, { ...json({ text: `AUTOMATON ${JSON.stringify(automaton)}` }), expect: 201 });
assert.equal((await read(ask("GET /queries/{name}/arcs", up))).arcs[0].name, "a0");
const arc = { from: "q1", to: "q1", event: "e", name: "more" };
assert.equal((await read(ask("POST /queries/{name}/arcs", up, json({ insert: arc })))).arcs.length, 2);

// Numbers, and the end.
assert.deepEqual((await read(ask("GET /feeds"))).feeds, []);
const address = "http://127.0.0.1:9/feed";
await ask("POST /feeds", {}, { ...json({ stream: "F", address: address }), expect: 409 });
await ask("POST /feeds/ask", {}, { ...json({ address }), expect: 409 });
assert.equal((await read(ask("GET /health"))).status, "ok");
assert.ok((await read(ask("GET /stats"))).documents >= 4);
assert.match(await (await ask("GET /metrics")).text(), /^# HELP /m);
await ask("POST /session", {}, { ...json({ token: "none is asked for" }), expect: 404 });
await ask("DELETE /session", {}, { expect: 204 });
await ask("DELETE /queries/{name}", named, { expect: 204 });
await ask("DELETE /queries/{name}", named, { expect: 404 });
assert.deepEqual([...left], []);
