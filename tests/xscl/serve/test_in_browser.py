"""The page in a real browser, by the keyboard alone: a question is asked, a document published over
HTTP, its match read; what strangers wrote is text; nothing is said on the console, and nobody else
is asked for anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

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
VIEWS = ("matches", "queries", "queries/promo", "ask", "why/promo", "feeds", "numbers")


@contextmanager
def opened(
    browser: Browser, port: int, view: str = "", said: int | None = None, **how: Any
) -> Iterator[Page]:
    """A page of a server, which at the end has had no trouble, but for answers of a status that the
    browser says by itself, and has asked nobody else."""
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
        expect(page.locator(".nothing-title")).to_have_text("Nobody has asked anything yet.")
        by_keyboard(page, "a[href='#/ask']:not(nav a)")
        page.keyboard.press("Enter")
        by_keyboard(page, "#editor")
        page.keyboard.insert_text(PROMO)
        expect(page.locator(".picture img")).to_be_visible()
        by_keyboard(page, "button:not(.place):not(.quiet)")
        page.keyboard.press("Enter")
        expect(page.locator(".told")).to_contain_text("Subscribed: promo")
        by_keyboard(page, ".told a[href='#/matches']")
        page.keyboard.press("Enter")
        expect(page.locator("#connection")).to_have_text("live")
        asking.publish("d1", BOOK.format("R&amp;D", "https://a.example/"), 0)
        asking.publish("d2", BLOG.format("R&amp;D", "On it"), 3600)
        expect(page.locator(".card")).to_have_count(1)
        sides = page.locator(".side")
        expect(sides).to_have_count(2)
        for side in sides.all():
            # As it stands in the document.
            assert sorted(side.locator("mark").all_inner_texts()) == ["Ada", "R&amp;D"]
        expect(page.locator(".joined li")).to_have_text(["“R&D”t = u", "“Ada”w = a"])
        expect(sides.nth(1)).to_contain_text("1 hour")
        expect(page.locator(".result pre")).to_contain_text("<title>R&amp;D</title>")
        expect(page.locator("#announcer")).to_contain_text("promo")
        by_keyboard(page, ".card-head")
        page.keyboard.press("Enter")
        expect(page.locator(".card-body")).to_be_hidden()


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


def test_light_and_dark_on_a_telephone(browser: Browser, server: Asking) -> None:
    """Nothing is wider than what shows it, and each view has a heading."""
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
            shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (min(map(int, re.findall(r"\d+", shade)[:3])) > 128) == (scheme == "light")


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
    """As where somebody's name has been made to lead to this machine while their page is open."""
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
