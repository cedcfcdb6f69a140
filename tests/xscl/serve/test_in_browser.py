"""The page in a real browser, by the keyboard only: a question is asked, a document published over
HTTP, its match read; what strangers wrote is text; the console stays empty, and no other host is
contacted."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Locator, Page, expect

from tests.xscl.serve.asking import Asking, serving
from tests.xscl.serve.conftest import PATIENCE
from tests.xscl.serve.process import served
from tests.xscl.web.loopback import Reply
from tests.xscl.web.loopback import serving as site_serving
from xscl.serve.safety import LOOPBACK, Gate

PROMO = """-- name: promo
SELECT <promo>{t}</promo>
FROM S//book->b[title->t][by->w] FOLLOWED BY {t = u AND w = a, 7 days} S//blog[about->u][by->a]"""
BOOK = "<book><title>{}</title><by>Ada</by><link>{}</link></book>"
BLOG = "<blog><about>{}</about><by>Ada</by><title>{}</title></blog>"

EVIL = '<script>alert(1)</script><img src="http://evil.example/x" onerror="alert(2)">'
ESCAPED = EVIL.replace("&", "&amp;").replace("<", "&lt;")
FAINT = (Path(__file__).parents[2] / "documentation" / "faint_text.js").read_text(encoding="utf-8")
VIEWS = ("matches", "queries", "queries/promo", "ask", "why/promo", "feeds", "numbers")


@contextmanager
def opened(
    browser: Browser, port: int, view: str = "", said: int | None = None, **how: Any
) -> Iterator[Page]:
    """A page of a server, which at the end has had no trouble, except for answers of a status that
    the browser reports by itself, and has contacted no other host."""
    origin = f"http://127.0.0.1:{port}"
    troubles: list[str] = []

    def asked(url: str) -> None:
        if not url.startswith(f"{origin}/"):
            troubles.append(f"asked for {url}")

    def heard(text: str) -> None:
        if said is None or f"status of {said}" not in text:
            troubles.append(text)

    def shown(dialog: Dialog) -> None:
        troubles.append(dialog.message)
        dialog.dismiss()

    with browser.new_context(**how) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("request", lambda request: asked(request.url))
        page.on("console", lambda line: heard(line.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", shown)
        page.goto(f"{origin}/#/{view}")
        yield page
    assert troubles == []


def by_keyboard(page: Page, selector: str) -> None:
    """Goes from element to element until the one wanted has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("chosen => document.activeElement.matches(chosen)", selector):
            return
    raise AssertionError(f"no way by the keyboard to {selector}")


@pytest.fixture(scope="module")
def server() -> Iterator[Asking]:
    with serving(PROMO) as asking:
        asking.publish("d1", BOOK.format(ESCAPED, "javascript:alert(3)"), 0)
        asking.publish("d2", BLOG.format(ESCAPED, ESCAPED), 3600)
        yield asking


def test_a_question_is_asked_and_its_match_read(browser: Browser) -> None:
    with serving() as asking, opened(browser, asking.port) as page:
        expect(page.locator(".nothing-title")).to_have_text("No query yet.")
        by_keyboard(page, "a[href='#/ask']:not(nav a)")
        page.keyboard.press("Enter")
        by_keyboard(page, "#editor")
        page.keyboard.insert_text(PROMO)
        expect(page.locator(".picture img")).to_be_visible()
        by_keyboard(page, "button:not(.place):not(.quiet)")
        page.keyboard.press("Enter")
        expect(page.locator(".outcome")).to_contain_text("Subscribed: promo")
        by_keyboard(page, ".outcome a[href='#/matches']")
        page.keyboard.press("Enter")
        expect(page.locator("#connection")).to_have_text("live")
        asking.publish("d1", BOOK.format("R&amp;D", "https://a.example/"), 0)
        asking.publish("d2", BLOG.format("R&amp;D", "On it"), 3600)
        expect(page.locator(".card")).to_have_count(1)
        sides = page.locator(".side")
        expect(sides).to_have_count(2)
        for side in sides.all():
            # As it is in the document.
            assert sorted(side.locator("mark").all_inner_texts()) == ["Ada", "R&amp;D"]
        expect(page.locator(".joined li")).to_have_text(["“R&D”t = u", "“Ada”w = a"])
        expect(sides.nth(1)).to_contain_text("1 hour")
        expect(page.locator(".result pre")).to_contain_text("<title>R&amp;D</title>")
        expect(page.locator("#announcer")).to_contain_text("promo")
        by_keyboard(page, ".card-head")
        page.keyboard.press("Enter")
        expect(page.locator(".card-body")).to_be_hidden()


def test_the_words_that_alike_texts_share_are_marked(browser: Browser) -> None:
    query = "-- name: same\nS//book[t->t] JOIN {similar(t, u) >= 0.5} S//blog[t->u]"
    with serving(query) as asking, opened(browser, asking.port) as page:
        asking.publish("d1", "<book><t>Streams that join</t></book>", 0)
        asking.publish("d2", "<blog><t>Streams, how they JOIN: that</t></blog>", 1)
        sides = page.locator(".side")
        expect(sides).to_have_count(2)
        marks = [side.locator("mark").all_inner_texts() for side in sides.all()]
        assert marks == [["Streams that join"], ["Streams", "JOIN", "that"]]
        expect(page.locator(".joined li mark")).to_have_text("“Streams that join”")


def test_an_error_is_shown_at_its_place(browser: Browser, server: Asking) -> None:
    with opened(browser, server.port, "ask") as page:
        page.locator("#editor").fill(
            "S//a->x -- é\U0001f600\n JOIN {x = 'é\U0001f600' AND x = zz} T//b"
        )
        button = page.locator("#errors .place")
        expect(button).to_have_text("2:25")
        expect(page.locator(".behind .error")).to_have_text("zz")
        expect(page.locator("#editor")).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_role("button", name="Subscribe")).to_be_disabled()
        button.press("Enter")
        at = page.locator("#editor").evaluate("area => area.value.slice(area.selectionStart, -1)")
        assert at.startswith("zz}")


def test_a_dry_run_subscribes_nothing(browser: Browser, server: Asking) -> None:
    with opened(browser, server.port, "ask") as page:
        page.locator("#editor").fill("S//*->x[./by = :who]")
        page.locator("[data-parameter=who]").fill("Ada")
        page.get_by_role("button", name=re.compile("Try it")).click()
        expect(page.locator(".found > h2")).to_have_text("2 matches among 2 documents retained")
        assert len(server.get("/queries")["queries"]) == 1
        # What another text has found is not left below this one.
        page.locator("[data-parameter=who]").fill("Bob")
        expect(page.locator(".found")).to_be_empty()
        page.get_by_role("button", name="Try it").click()
        expect(page.locator(".found > h2")).to_have_text("0 matches among 2 documents retained")
        page.locator("#editor").fill("S//*->x[./by = :who or ./title]")
        expect(page.locator(".found")).to_be_empty()
        # One control is about what is retained.
        assert page.locator(".writing .row").inner_text().count("retained") == 1


MARKUP = {
    "SELECT a < 3 AS few FROM FILTER{n < 3 AND n > 1}(S)": [],
    "FROM FILTER{n <m AND k> 2}(S)": [],
    "SELECT <r of='{a.x}'><b n=\"{a.LEN}\"/>{t}</r> FROM S": [
        "<r of='{a.x}'>",
        '<b n="{a.LEN}"/>',
        "</r>",
    ],
}


@pytest.mark.parametrize("text", MARKUP)
def test_a_comparison_is_not_coloured_as_markup(
    browser: Browser, server: Asking, text: str
) -> None:
    with opened(browser, server.port, "ask") as page:
        page.locator("#editor").fill(text)
        assert page.locator(".behind .markup").all_inner_texts() == MARKUP[text]


def test_the_earlier_document_is_first(browser: Browser) -> None:
    """Though it is in the second block; one of the same time is not."""
    with serving("-- name: pair\nS//late[v->x] JOIN {x = y, 1 day} S//soon[v->y]") as asking:
        asking.publish("d1", "<soon><v>1</v><title>Soon</title></soon>", 60)
        asking.publish("d2", "<late><v>1</v><title>Late</title></late>", 120)
        with opened(browser, asking.port) as page:
            expect(page.locator(".side")).to_have_count(2)
            said = [one.inner_text() for one in page.locator(".side").all()]
            assert [re.findall("first|1 minute later", one) for one in said] == [
                ["1 minute later"],
                ["first"],
            ]


def test_times_are_ages_and_rates_have_one_unit(browser: Browser) -> None:
    text = "-- name: all\nS//item"
    with serving(text) as asking, opened(browser, asking.port, "matches") as page:
        now = time.time()
        ages = {10: "s ago", 200: "3 min ago", 3 * 3600 + 99: "3 h ago", 49 * 3600: "2 d ago"}
        for number, age in enumerate(sorted(ages, reverse=True)):
            asking.publish(f"d{number}", "<item/>", now - age)
        asking.publish("d9", "<item/>", 60)
        for age, said in ages.items():
            shown = page.locator(".card-head time", has_text=said)
            expect(shown).to_have_count(1)
            exact = str(shown.get_attribute("title"))
            assert abs(datetime.fromisoformat(exact).timestamp() - now + age) < 1
        old = page.locator(".card-head time", has_text="1970-01-01 00:01Z")
        expect(old).to_have_attribute("title", "1970-01-01T00:01:00.000Z")
        words = page.evaluate("""import("/page/words.js").then(({ rate }) =>
            [0, 0.001, 1 / 60, 0.5, 40].map(rate))""")
        assert words == ["0/min", "< 0.1/min", "1/min", "30/min", "2,400/min"]


def test_matches_are_looked_for_by_words_day_and_what_was_seen(browser: Browser) -> None:
    text = "-- name: all\nS//item;\n-- name: odd\nS//item[n mod 2 = 1]"
    item = "<item><n>{0}</n><title>Part {0}</title></item>"
    with serving(text) as asking, opened(browser, asking.port) as page:
        for number in range(4):
            asking.publish(f"d{number}", item.format(number), number * 43_200)
        cards = page.locator(".card:visible")
        expect(cards).to_have_count(6)
        page.locator("#search").fill("pART 3")
        expect(cards).to_have_count(2)
        # What comes is looked at, too.
        asking.publish("d4", item.format(4), 4 * 43_200)
        asking.publish("d5", item.format("3b"), 5 * 43_200)
        expect(cards).to_have_count(3)
        assert "search=pART+3" in page.url
        page.locator("#search").fill("")
        page.locator("#day").fill("1970-01-02")
        expect(cards).to_have_count(3)
        page.locator("#only").select_option("odd")
        expect(cards).to_have_count(1)
        expect(page.locator("#day")).to_have_value("1970-01-02")
        page.locator("#day").fill("1980-01-01")
        expect(page.locator(".nothing-title")).to_have_text("No such match.")
        page.goto(f"http://127.0.0.1:{asking.port}/#/matches?query=all")
        page.get_by_label("open the newest").uncheck()
        expect(cards).to_have_count(6)
        page.get_by_role("button", name="All seen").click()
        expect(page.locator(".card.new")).to_have_count(0)
        page.get_by_label("unseen only").check()
        expect(cards).to_have_count(0)
        asking.publish("d6", item.format(6), 6 * 43_200)
        expect(cards).to_have_count(1)
        page.reload()
        expect(page.locator(".card.new")).to_have_count(0)


def test_a_match_that_is_taken_back_goes(browser: Browser) -> None:
    text = "-- name: quiet\nEVENT SEQ(O a, !P p, Q q) WITHIN 10 CONSISTENCY middle"
    with (
        serving(text, lateness=100, clock=lambda: 5) as asking,
        opened(browser, asking.port) as page,
    ):
        for stream, time_ in (("O", 0), ("O", 3), ("Q", 4)):
            asking.publish(f"{stream}{time_}", "<x/>", time_, stream=stream)
        cards = page.locator(".card")
        expect(cards).to_have_count(2)
        asking.publish("P2", "<x/>", 2, stream="P")
        gone = page.locator(".card.retracted")
        expect(gone).to_contain_text("no longer holds")
        expect(cards).to_have_count(1)
        expect(gone).to_have_count(0)
        page.reload()
        expect(cards).to_have_count(1)


def test_the_inside_of_the_engine_is_folded_away(browser: Browser, server: Asking) -> None:
    with opened(browser, server.port, "numbers") as page:
        expect(page.locator(".tiles")).to_contain_text("documents retained")
        expect(page.locator(".figures").first).to_be_hidden()
        page.locator("summary").press("Enter")
        expect(page.locator(".figures").first).to_be_visible()
        # The next numbers leave it open.
        page.locator(".figures").first.evaluate("one => one.remove()")
        expect(page.locator(".figures").first).to_be_visible()


def test_a_query_has_its_picture_and_why(browser: Browser, server: Asking) -> None:
    with opened(browser, server.port, "queries/promo") as page:
        picture = page.locator(".picture img")
        expect(picture).to_be_visible()
        # Not `wait_for_function`: what it evaluates later, the policy of the page forbids.
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") > 300
        page.get_by_text("In words").press("Enter")
        expect(page.locator(".picture pre")).to_contain_text("template")
        page.goto(f"http://127.0.0.1:{server.port}/#/why/promo?document=d2&document=d1")
        expect(page.locator(".answer")).to_contain_text("no")


def test_matches_without_documents_and_patterns_are_looked_at(browser: Browser) -> None:
    queries = "-- name: rise\nEVENT SEQ(S/item a, S/item b) WHERE b.n > a.n;\n"
    queries += "-- name: double\nSELECT n, 2*n AS m FROM FILTER{n > 0}(S/item)"
    with serving(queries) as asking, opened(browser, asking.port) as page:
        asking.publish("d1", "<item><n>1</n></item>", 1)
        asking.publish("d2", "<item><n>2</n></item>", 2)
        said = page.locator(".card", has_text="double").locator(".values")
        expect(said).to_have_text(["n 2 · m 4", "n 1 · m 2"])
        page.goto(f"http://127.0.0.1:{asking.port}/#/queries/double")
        expect(page.locator("section[aria-labelledby=lost]")).to_contain_text("no documents")
        page.goto(f"http://127.0.0.1:{asking.port}/#/why/double")
        expect(page.locator(".nothing-title")).to_contain_text("no documents")
        page.goto(f"http://127.0.0.1:{asking.port}/#/why/rise?document=d1&document=d2")
        expect(page.locator(".answer")).to_contain_text("b.n > a.n")


def test_a_match_is_called_by_its_result_or_its_items(browser: Browser) -> None:
    """However it was found, and whether its documents are retained or not: never by an id."""
    queries = """-- name: pair
    EVENT SEQ(S/item a, !S/none x, S/item b) WITHIN 1 day;
    -- name: told
    SELECT title, link, 2*n AS m FROM FILTER{n = 2}(S/item);
    -- name: level
    SELECT n FROM FILTER{}(S/item) PUBLISH Levels;
    -- name: rise
    EVENT SEQ(Levels v, Levels w) WHERE w.n > v.n WITHIN 1 hour"""
    item = "<item><n>{0}</n><title>Part {0}</title><link>https://a.example/{0}</link></item>"
    with serving(queries) as asking, opened(browser, asking.port, said=410) as page:
        asking.publish("5f1e", item.format(1), 1)
        asking.publish("7a2c", item.format(2), 2)
        asking.raw("POST", "/streams/S", b'{"advance": 1e6}', Content_Type="application/x-ndjson")

        def card(name: str) -> Locator:
            return page.locator(".card", has=page.get_by_text(name, exact=True)).first

        expect(card("pair").locator(".values")).to_have_text("a “Part 1” → b “Part 2”")
        expect(card("told").locator(".values")).to_have_text("“Part 2” · m 4")
        expect(card("rise").locator(".values")).to_have_text("v n 1 → w n 2")
        page.get_by_label("open the newest").uncheck()
        for name in ("pair", "told"):
            if card(name).locator(".card-head").get_attribute("aria-expanded") == "false":
                card(name).locator(".card-head").click()
            link = card(name).locator(".sentence a").last
            expect(link).to_have_text("“Part 2”")
            expect(link).to_have_attribute("href", "https://a.example/2")
        # The sentence precedes the JSON.
        assert card("told").locator(".sentence ~ .result").count() == 1
        assert not re.search(r"[0-9a-f]{32}|5f1e|7a2c", page.locator("main").inner_text())


@pytest.mark.parametrize("view", ["matches", "why/promo?document=d1&document=d2"])
def test_what_a_stranger_wrote_is_text(browser: Browser, server: Asking, view: str) -> None:
    with opened(browser, server.port, view) as page:
        place = page.locator(".side h2").nth(1) if view == "matches" else page.locator(".answer")
        expect(place).to_contain_text(EVIL[:50])
        assert page.locator("main script, main img[onerror]").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0


def test_a_feed_that_means_harm_is_text(browser: Browser, tmp_path: Path) -> None:
    title = ESCAPED.replace("&", "&amp;")
    feed = (
        f'<rss version="2.0"><channel><title>{title}</title><link>javascript:alert(4)</link><item>'
        f"<guid>1</guid><title>{title}</title><link>javascript:alert(5)</link></item></channel></rss>"
    )
    (tmp_path / "q.xscl").write_text("-- name: all\nS//item")
    with site_serving() as site:
        site.site["/feed"] = Reply(body=feed.encode())
        options = ("--feed", f"S={site.url('/feed')}", "--allow-private")
        with served(tmp_path, "q.xscl", *options) as polling:
            with opened(browser, polling.port) as page:
                expect(page.locator(".card .side")).to_contain_text("alert(1)")
                assert page.locator("main script, main img, a[href^='javascript']").count() == 0
            with opened(browser, polling.port, "feeds") as page:
                expect(page.locator("main table")).to_contain_text("alert(1)")
                assert page.locator("main script, main img, a[href^='javascript']").count() == 0


def test_feeds_are_added_and_asked_now(browser: Browser, tmp_path: Path) -> None:
    """Where none was named at the start; one that has failed is asked before it is due."""
    feed = (
        '<rss version="2.0"><channel><title>Late News</title><item><guid>{0}</guid>'
        "<title>Item {0}</title></item></channel></rss>"
    )
    (tmp_path / "q.xscl").write_text("-- name: all\nS//item")
    with site_serving() as site, served(tmp_path, "q.xscl", "--allow-private") as server:
        site.site["/feed"] = Reply(body=feed.format(1).encode())
        site.site["/later"] = Reply(500)
        with opened(browser, server.port, "feeds") as page:
            expect(page.locator(".nothing-title")).to_be_visible()
            for path in ("/feed", "/later"):
                page.get_by_label("Address").fill(site.url(path))
                page.keyboard.press("Enter")
                expect(page.locator("main [role=status]")).to_contain_text("until the server stops")
                expect(page.locator("tbody tr", has_text=path)).to_be_visible()
            expect(page.locator("tr.ill")).to_contain_text("500")
            site.site["/later"] = Reply(body=feed.format(2).encode())
            page.locator("tr.ill").get_by_role("button").press("Enter")
            expect(page.locator("tr.ill")).to_have_count(0)
            expect(page.locator("td[data-head=items]")).to_have_text(["1", "1"])
        with opened(browser, server.port, "matches") as page:
            expect(page.locator(".card .values")).to_have_count(2)
        with opened(browser, server.port, "feeds", said=400) as page:
            page.get_by_label("Address").fill("ftp://a.example/feed")
            page.keyboard.press("Enter")
            expect(page.locator("main .problem")).to_contain_text("begins with https://")


def test_light_and_dark_on_a_telephone(browser: Browser, server: Asking) -> None:
    """Nothing is wider than what shows it, no text is too faint, and each view has a heading."""
    for scheme in ("light", "dark"):
        telephone = {"width": 360, "height": 640}
        with opened(browser, server.port, viewport=telephone, color_scheme=scheme) as page:
            for view in VIEWS:
                page.goto(f"http://127.0.0.1:{server.port}/#/{view}")
                expect(page.locator("h1")).to_have_count(1)
                expect(page.locator("nav a[aria-current=page]")).to_have_count(1)
                page.wait_for_load_state("networkidle")
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= 360, view
                assert page.evaluate(FAINT) == [], (view, scheme)
            shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (min(map(int, re.findall(r"\d+", shade)[:3])) > 128) == (scheme == "light")


def test_what_is_long_is_no_wider_than_a_telephone(browser: Browser) -> None:
    """Words without a place to break, and pictures, which scroll by themselves."""
    long = "x" * 120
    steps = ", ".join(f"S/item {name}" for name in "abcdefgh")
    texts = (
        "-- name: pair\nEVENT SEQ(S/item a, S/item b) WITHIN 1 day",
        f"-- name: {long}\nEVENT SEQ({steps}) WITHIN 1 day",
        f"-- name: link\nSELECT '{long}' AS {long} FROM FILTER{{}}(S/item)",
    )
    telephone = {"width": 390, "height": 800}
    with serving(*texts) as asking:
        for number in range(9):
            asking.publish(f"https://a.example/{long}{number}", f"<item>{long}</item>", number)
        retained = f"https://a.example/{long}"
        views = ("matches?query=pair", "matches?query=link", "queries", "queries/pair", "ask")
        views += (
            f"queries/{long}",
            f"matches?query={long}",
            f"why/{long}",
            f"why/pair?document={retained}0&document={retained}1",
        )
        with opened(browser, asking.port, said=404, viewport=telephone) as page:
            for view in (*views, "numbers"):
                page.goto(f"http://127.0.0.1:{asking.port}/#/{view}")
                expect(page.locator("h1")).to_have_count(1)
                if view == "ask":
                    page.locator("#editor").fill(texts[0] + f" -- {long}")
                    page.get_by_role("button", name="Try it").click()
                    page.locator(".found summary").first.click()
                    expect(page.locator(".found .side").first).to_be_visible()
                if view == f"queries/{long}":
                    picture = page.locator(".picture .scrolled")
                    expect(picture.locator("img")).to_have_js_property("complete", True)
                    assert picture.evaluate("one => one.scrollWidth > one.clientWidth + 300")
                page.wait_for_load_state("networkidle")
                assert page.evaluate("document.documentElement.scrollWidth") <= 390, view


def test_the_token_is_asked_for_once(browser: Browser) -> None:
    token = "correct horse battery"
    gate = Gate(LOOPBACK, token=token)
    with serving(PROMO, gate=gate) as asking, opened(browser, asking.port, said=401) as page:
        page.locator("#token").fill("another token")
        page.keyboard.press("Enter")
        expect(page.locator("dialog .problem")).not_to_be_empty()
        page.locator("#token").fill(token)
        page.keyboard.press("Enter")
        expect(page.locator("#connection")).to_have_text("live")
        page.reload()
        expect(page.locator("#connection")).to_have_text("live")
        assert page.evaluate("document.cookie") == ""


TRIES = """<!doctype html><iframe src="{0}/"></iframe><script type="module">
const said = [];
const tell = async (name, what) => {{
  try {{ said.push([name, await what()]); }} catch {{ said.push([name, "refused"]); }}
}};
const body = JSON.stringify({{ text: "S//evil", params: {{}} }});
await tell("read", async () => (await fetch("{0}/queries")).status);
await tell("post", async () => (await fetch("{0}/queries", {{ method: "POST", body,
  headers: {{ "Content-Type": "application/json" }} }})).status);
await tell("put", async () => (await fetch("{0}/queries/q", {{ method: "PUT", body }})).status);
await tell("delete", async () => (await fetch("{0}/queries/promo", {{ method: "DELETE" }})).status);
// What needs nobody's leave is sent, and told nothing of.
await tell("simple", async () => (await fetch("{0}/queries", {{ method: "POST", mode: "no-cors",
  body, headers: {{ "Content-Type": "text/plain" }} }})).type);
await tell("document", async () => (await fetch("{0}/streams/S", {{ method: "POST",
  mode: "no-cors", body: new Blob(["<a/>"], {{ type: "text/plain" }}) }})).type);
await tell("events", () => new Promise((resolve, reject) => {{
  const source = new EventSource("{0}/matches?live=1");
  source.onopen = () => resolve("open");
  source.onerror = () => {{ source.close(); reject(); }};
}}));
await tell("script", async () => (await import("{0}/page/dom.js")).el.name);
document.title = JSON.stringify(said);
</script>"""


@pytest.mark.parametrize("name", ["localhost", "evil.example"])
def test_a_page_of_another_site_gets_nothing(browser: Browser, server: Asking, name: str) -> None:
    before = server.get("/stats")["taken"]
    target = f"http://127.0.0.1:{server.port}"
    with site_serving() as site, browser.new_page() as page:
        page.set_default_timeout(PATIENCE)
        html = (("Content-Type", b"text/html"),)
        site.site["/"] = Reply(headers=html, body=TRIES.format(target).encode())
        page.goto(f"http://{name}:{site.port}/")
        expect(page).to_have_title(re.compile("."))
        said = dict(json.loads(page.title()))
        assert said.pop("simple") in ("opaque", "refused")
        assert said.pop("document") in ("opaque", "refused")
        assert {*said.values()} == {"refused"}, said
        # Nor is it shown within that page.
        assert page.frames[1].locator("header").count() == 0
    assert [one["name"] for one in server.get("/queries")["queries"]] == ["promo"]
    assert server.get("/stats")["taken"] == before


def test_a_name_that_leads_here_gets_nothing(browser: Browser, server: Asking) -> None:
    """As if another's name had been made to lead to this machine while their page is open."""
    with browser.new_page() as page:
        page.set_default_timeout(PATIENCE)
        answer = page.goto(f"http://rebound.example:{server.port}/queries")
        assert answer is not None
        assert answer.status == 421


def test_queries_are_looked_for_and_paged(browser: Browser) -> None:
    texts = ";\n".join(f"-- name: q{number}\nS//a[t = 'v{number}']" for number in range(205))
    with serving(texts) as server, opened(browser, server.port, "queries") as page:
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(100)
        expect(page.locator("h1 + .dim")).to_have_text("1 to 100 of 205")
        page.get_by_role("button", name="Later").click()
        expect(rows.first).to_contain_text("q100")
        page.get_by_role("button", name="Later").click()
        expect(rows).to_have_count(5)
        expect(page.get_by_role("button", name="Later")).to_be_disabled()
        page.locator("#search").fill("v20")
        expect(rows).to_have_count(6)
        expect(page.get_by_role("button", name="Earlier")).to_be_hidden()
        page.locator("#search").fill("nothing like it")
        expect(page.locator(".nothing-title")).to_have_text("No such query.")
