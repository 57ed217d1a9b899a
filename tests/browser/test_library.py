"""The law book in a real browser, over fakes: look-up, clauses beside the chat, procedures by links, a question from a link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Served

pytestmark = [pytest.mark.browser]

PAGES = {
    "book": "/book",
    "notes": "/book/notes-2017-en",
    "found": "/book?q=dummy",
    "law": "/law/27B1",
    "definition": "/law/Def:trick",
    "walk": "/procedure/revoke-established?revoke-next=played",
    "short": "/procedure/revoke",
    "procedures": "/procedures",
    "fault": "/law/99Z",
}
LAPTOP = (1366, 768)
OpenPage = Callable[..., Page]


def main_page(light: Served, light_page: OpenPage, address: str = "/", locale: str = "en-GB") -> Page:
    """The main page on the laptop, with the law book beside it."""
    page = light_page(*LAPTOP, locale)
    page.goto(light.url + address)
    page.wait_for_selector("#tl-side #tl-find-q")
    page.wait_for_selector("#tl-question textarea")
    return page


def faults(page: Page, within: str | None = None) -> list[str]:
    """What axe-core finds serious or critical, in our own markup."""
    found = Axe().run(page, context=within).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:150]}" for one in found if one["impact"] in {"serious", "critical"}]


def test_a_number_typed_is_found_and_opened_beside_the_chat_by_the_keyboard(
    light: Served, light_page: OpenPage, screenshots: Path
) -> None:
    page = main_page(light, light_page)
    page.locator("body").press("/")
    page.keyboard.type("27б1")
    expect(page.locator(".tl-found b").first).to_have_text("27B1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#tl-beside .tl-clause .tl-id").first).to_have_text("27B1(a)")
    expect(page.locator("#tl-panel[open]")).to_have_count(0)
    page.screenshot(path=screenshots / "1366-beside.png")
    page.locator("#tl-beside .tl-see .tl-cite").first.click()
    expect(page.locator("#tl-beside .tl-clause .tl-id").first).to_have_text("16C")
    page.locator("#tl-beside .tl-back").click()
    expect(page.locator("#tl-beside .tl-clause .tl-id").first).to_have_text("27B1(a)")
    assert faults(page, "#tl-side") == []


def test_words_are_found_as_they_are_typed_and_enter_opens_the_first(light: Served, light_page: OpenPage) -> None:
    page = main_page(light, light_page, locale="ru-RU")
    page.locator("#tl-find-q").press_sequentially("фальш")
    expect(page.locator(".tl-found a[href*='/law/61A']")).to_be_visible()
    expect(page.locator("#tl-find-said")).to_contain_text("Найдено")
    first = page.locator(".tl-found b").first.inner_text()
    page.locator("#tl-find-q").press("Enter")
    expect(page.locator("#tl-beside .tl-clause .tl-id").first).to_have_text(first)
    page.locator("#tl-find-q").press("Escape")
    expect(page.locator(".tl-found")).to_have_count(0)
    page.locator("body").press("Escape")
    expect(page.locator("#tl-beside")).to_be_hidden()


def test_a_cited_number_of_an_answer_opens_beside_the_chat_and_on_the_phone_in_the_sheet(
    light: Served, light_page: OpenPage, screenshots: Path
) -> None:
    wide = main_page(light, light_page)
    narrow = light_page()
    narrow.goto(light.url)
    for page, place in ((wide, "#tl-beside"), (narrow, "#tl-panel[open]")):
        page.fill("#tl-question textarea", "Law 27B1")
        page.click("#tl-send")
        page.wait_for_selector('.tl-turn[aria-busy="false"]')
        page.locator("#tl-case .tl-cite:visible").first.click()
        expect(page.locator(f"{place} .tl-clause").first).to_be_visible()
        page.screenshot(path=screenshots / f"{page.viewport_size['width']}-cited.png")
    expect(wide.locator("#tl-panel[open]")).to_have_count(0)
    expect(wide.locator("#tl-beside")).to_be_focused()
    wide.keyboard.press("Escape")
    expect(wide.locator("#tl-beside")).to_be_hidden()
    expect(wide.locator("#tl-case .tl-cite:visible").first).to_be_focused()
    assert wide.locator("#tl-case").bounding_box()["x"] >= 0
    right = wide.locator("#tl-case").bounding_box()
    assert right["x"] + right["width"] <= wide.locator("#tl-side").bounding_box()["x"], "nothing lies under the law book"
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_found_clause_opens_in_the_sheet_on_the_phone(light: Served, light_page: OpenPage) -> None:
    page = light_page()
    page.goto(f"{light.url}/book")
    page.fill("#tl-find-q", "27B1")
    page.locator(".tl-found a").first.click()
    expect(page.locator("#tl-panel[open] .tl-clause .tl-id").first).to_have_text("27B1")
    page.locator("#tl-panel .tl-page-link").click()
    expect(page.locator("#tl-here")).to_contain_text("27B1")
    expect(page.locator("#tl-here")).to_be_in_viewport()


def test_a_procedure_is_walked_to_its_ruling_and_back_and_the_chart_shows_the_path(
    light: Served, light_page: OpenPage, screenshots: Path
) -> None:
    page = light_page(*LAPTOP)
    page.goto(f"{light.url}/procedure/insufficient-bid")
    expect(page.locator("#tl-next .tl-ask-question")).to_have_text("Has that player's left-hand opponent called after it?")
    page.locator("#tl-next a").first.click()
    expect(page.locator("#tl-next .tl-cite", has_text="27A1").first).to_be_visible()
    page.screenshot(path=screenshots / "1366-walk.png", full_page=True)
    marked = page.locator(".tl-chart a.tl-taken")
    expect(marked.last).to_contain_text("27A1")
    expect(page.locator(".tl-chart [aria-current=step]")).to_have_count(1)
    page.locator("#tl-next .tl-cite", has_text="27A1").first.click()
    expect(page.locator("#tl-beside .tl-clause .tl-id").first).to_have_text("27A1")
    page.go_back()
    expect(page.locator("#tl-next .tl-ask-question")).to_be_visible()
    other = page.locator(".tl-chart a:not(.tl-taken)").last
    target = other.get_attribute("href")
    other.click()
    page.wait_for_url(f"**{target}")
    expect(page.locator(".tl-chart [aria-current=step]").first).to_be_visible()


def test_a_question_from_a_link_is_asked_once_and_not_again_after_a_reload(light: Served, light_page: OpenPage) -> None:
    page = light_page()
    page.goto(f"{light.url}/?q=West%20made%20an%20insufficient%20bid%20%26%20more")
    page.wait_for_selector('.tl-turn[aria-busy="false"]')
    expect(page.locator(".tl-question")).to_have_text("West made an insufficient bid & more")
    assert page.url == f"{light.url}/"
    page.reload()
    expect(page.locator(".tl-question")).to_have_count(1)
    page.wait_for_timeout(1500)
    expect(page.locator(".tl-question")).to_have_count(1)
    expect(page.locator("#tl-question textarea")).to_have_value("")


def test_short_cuts_work_when_nothing_is_typed_and_never_while_something_is(light: Served, light_page: OpenPage) -> None:
    page = main_page(light, light_page)
    box = page.locator("#tl-question textarea")
    box.press_sequentially("n/?")
    expect(box).to_have_value("n/?")
    expect(page.locator("#tl-keys")).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+/")
    expect(page.locator("#tl-find-q")).not_to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#tl-keys kbd").first).to_be_visible()
    assert faults(page, "#tl-keys") == []
    page.keyboard.press("Escape")
    expect(page.locator("#tl-keys")).not_to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#tl-find-q")).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    expect(box).to_have_value("")
    expect(box).to_be_focused()


def test_the_list_of_procedures_is_filtered_as_one_types(light: Served, light_page: OpenPage) -> None:
    page = light_page()
    page.goto(f"{light.url}/procedures")
    page.locator("#tl-find-q").press_sequentially("revoke estab")
    expect(page.locator("#tl-procedures li:visible")).not_to_have_count(0)
    shown = page.locator("#tl-procedures li:visible").all_inner_texts()
    assert all("revoke" in text.lower() for text in shown), shown
    page.locator("#tl-find-q").press("Enter")
    page.wait_for_url("**/procedure/revoke-*")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_sticks_out_or_has_a_serious_fault(light: Served, light_page: OpenPage, screenshots: Path, scheme: str) -> None:
    page = light_page()
    page.emulate_media(color_scheme=scheme)
    for width, height in ((390, 844), (390, 420), LAPTOP):
        page.set_viewport_size({"width": width, "height": height})
        for name, address in PAGES.items():
            page.goto(light.url + address)
            assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            if height != 420:
                page.screenshot(path=screenshots / f"{width}-{scheme}-{name}.png")
                assert faults(page) == [], name


def test_what_is_tapped_on_the_phone_is_large_enough(light: Served, light_page: OpenPage) -> None:
    page = light_page()
    for name, address in PAGES.items():
        page.goto(light.url + address)
        for one in page.locator("a:visible, button:visible, input:visible, summary:visible").all():
            if one.evaluate("one => Boolean(one.closest('svg, .tl-text, .tl-skip'))"):
                continue
            assert one.bounding_box()["height"] >= 43.5, (name, one.evaluate("one => one.outerHTML")[:200])


def test_without_script_the_look_up_and_the_walk_work_by_plain_links(light: Served, light_browser: object) -> None:
    context = light_browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{light.url}/book")
    page.fill("#tl-find-q", "27B1")
    page.locator("#tl-find-q").press("Enter")
    page.locator(".tl-found a").first.click()
    expect(page.locator("#tl-here")).to_contain_text("27B1")
    page.goto(f"{light.url}/procedure/insufficient-bid")
    page.locator("#tl-next a").first.click()
    expect(page.locator("#tl-next .tl-cite").first).to_be_visible()
    context.close()
