"""The pages of the log and of the settings in a real browser, over fakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Served

pytestmark = [pytest.mark.browser]

STORY = "West made an insufficient bid, 1 heart over 1 spade"
expect.set_options(timeout=90_000)  # as long as the page waits for everything else
SIZES = [(390, 844), (1366, 768)]
NewPage = Callable[..., Page]


def ask(page: Page, served: Served, question: str = STORY) -> None:
    page.goto(served.url)
    page.wait_for_function("document.querySelector('#tl-send')?.textContent.match(/Rule|Решить/)")
    page.fill("#tl-question textarea", question)
    page.click("#tl-send")
    page.wait_for_selector('.tl-turn[aria-busy="false"]')


def serious(page: Page) -> list[str]:
    """Findings of axe-core that count, on the whole page."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in {"serious", "critical"}]


def narrow_taps(page: Page) -> list[str]:
    """What is tapped and lower than 44 px; links within a text are no buttons."""
    return page.evaluate(
        """[...document.querySelectorAll(`main a, main button, main summary, main input:not([type=hidden]),
            main select, main textarea, .tl-nav a`)]
            .filter(one => one.checkVisibility()).map(one => one.closest("label.tl-choice") ?? one)
            .filter(one => one.getBoundingClientRect().height < 43.5).map(one => one.outerHTML.slice(0, 120))"""
    )


def is_dark(page: Page) -> bool:
    return page.evaluate("getComputedStyle(document.body).getPropertyValue('--tl-paper').trim() !== '#ffffff'")


def assert_fits(page: Page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{page.url} sticks out sideways"


def choose(page: Page, served: Served, **chosen: str) -> None:
    page.goto(f"{served.url}/settings")
    for name, value in chosen.items():
        if name == "lang":
            page.select_option("select[name=lang]", value)
        else:
            page.check(f"input[name={name}][value={value}]")
    page.click("form[action='/settings/device'] button")
    page.wait_for_url("**/settings?said=saved")


def test_settings_are_there_after_a_reload_on_this_device_and_no_other(
    light: Served, light_page: NewPage, screenshots: Path
) -> None:
    page, other = light_page(), light_page()
    choose(page, light, lang="ru", theme="dark", size="huge")
    expect(page.locator("h1")).to_have_text("Настройки")
    page.reload()
    assert page.locator("input[name=size][value=huge]").is_checked()
    assert is_dark(page)
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == 24
    assert_fits(page, 390)
    page.screenshot(path=screenshots / "settings-huge-dark.png", full_page=True)
    page.goto(light.url)
    expect(page.locator("#tl-send")).to_have_text("Решить")
    expect(page.locator(".tl-nav a[aria-current=page]")).to_have_text("Вопрос")
    assert page.locator("#tl-question label > span").first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") > 18
    page.wait_for_timeout(500)  # Gradio sets what the system prefers, once it is there
    assert page.evaluate("document.body.classList.contains('dark')")
    assert_fits(page, 390)
    page.screenshot(path=screenshots / "main-huge-dark.png")
    other.goto(light.url)
    expect(other.locator("#tl-send")).to_have_text("Rule")
    assert not other.evaluate("document.body.classList.contains('dark')")


def test_a_light_page_stays_light_on_a_device_that_prefers_dark(light: Served, light_page: NewPage) -> None:
    page = light_page()
    page.emulate_media(color_scheme="dark")
    page.goto(f"{light.url}/settings")
    assert is_dark(page)
    choose(page, light, theme="light")
    assert not is_dark(page)
    page.goto(light.url)
    expect(page.locator("#tl-send")).to_have_text("Rule")
    page.wait_for_timeout(500)
    assert not page.evaluate("document.body.classList.contains('dark')")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_ruling_is_found_noted_judged_exported_printed_and_deleted(
    light: Served, light_page: NewPage, screenshots: Path, width: int, height: int, tmp_path: Path
) -> None:
    page = light_page(width, height)
    ask(page, light, f"{STORY}, at {width}")
    page.click(".tl-nav a[href='/log']")
    expect(page.locator("h1")).to_have_text("Rulings")
    page.screenshot(path=screenshots / f"log-{width}.png")
    page.fill("input[name=text]", f"insufficient {width}")
    page.click(".tl-filter button")
    expect(page.locator(".tl-asked a")).to_have_count(1)
    assert_fits(page, width)
    page.click(".tl-asked a")
    page.fill("input[name=table]", "7")
    page.fill("input[name=board]", "12")
    page.click(".tl-form[aria-label] button")
    expect(page.locator(".tl-said")).to_have_text("Saved.")
    page.fill("textarea[name=note]", "Both pairs heard.\nNobody objects.")
    page.click("text=Save the note")
    page.check("input[name=verdict][value=wrong]")
    page.fill("textarea[name=why]", "it is 27B1")
    page.click("text=Save the feedback")
    page.reload()
    expect(page.locator("textarea[name=note]")).to_have_value("Both pairs heard.\nNobody objects.")
    expect(page.locator("input[name=verdict][value=wrong]")).to_be_checked()
    page.locator(".tl-card summary").first.click()
    expect(page.locator(".tl-card .tl-text").first).to_be_visible()
    assert_fits(page, width)
    page.screenshot(path=screenshots / f"log-case-{width}.png", full_page=True)
    with page.expect_download() as download:
        page.click("text=Everything (JSON)")
    lines = [json.loads(line) for line in Path(download.value.path()).read_text(encoding="utf-8").splitlines()]
    assert (lines[-1]["table"], lines[-1]["verdict"], lines[-1]["why"]) == ("7", "wrong", "it is 27B1")
    case = page.url
    page.click("text=Page for an appeals committee")
    expect(page.locator("h1")).to_have_text("Record of a ruling, for an appeals committee")
    page.goto(f"{light.url}/log?table=7&board=12")
    expect(page.locator(".tl-asked a")).to_have_count(1)
    page.screenshot(path=screenshots / f"log-filtered-{width}.png")
    page.goto(case)
    page.click("text=Delete for good")
    page.screenshot(path=screenshots / f"log-delete-{width}.png")
    page.click("button.tl-danger")
    expect(page.locator(".tl-said")).to_have_text("The case is deleted for good.")
    page.goto(light.url)
    page.wait_for_selector(".tl-empty")  # it is gone from the phone, too
    export = tmp_path / "log.jsonl"
    export.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    page.goto(f"{light.url}/log")
    page.set_input_files("input[type=file]", export)
    page.click("text=Import")
    expect(page.locator(".tl-said")).to_have_text(f"Imported, new entries: {len(lines)}.")
    page.goto(case)
    page.click("text=Delete for good")
    page.click("button.tl-danger")


def test_regulations_are_edited_and_what_is_wrong_is_told_beside_what_was_typed(light: Served, light_page: NewPage) -> None:
    page = light_page()
    page.goto(f"{light.url}/settings")
    page.fill("input[name=appeal_minutes]", "soon")
    page.fill("textarea[name=alerts]", "all artificial calls")
    page.click("form[action='/settings/event'] button")
    expect(page.locator(".tl-fault")).to_contain_text("The minutes for appeals must be a whole number")
    expect(page.locator("textarea[name=alerts]")).to_have_value("all artificial calls")
    page.fill("input[name=appeal_minutes]", "45")
    page.click("form[action='/settings/event'] button")
    expect(page.locator(".tl-said")).to_have_text("Saved.")
    page.reload()
    expect(page.locator("input[name=appeal_minutes]")).to_have_value("45")


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_core_finds_nothing_serious_on_our_pages(
    light: Served, light_page: NewPage, screenshots: Path, width: int, height: int, theme: str
) -> None:
    page = light_page(width, height)
    choose(page, light, theme=theme)
    ask(page, light)
    page.goto(f"{light.url}/log")
    case = page.locator(".tl-asked a").first.get_attribute("href") or ""
    found = {}
    for name, path in {
        "settings": "/settings", "log": "/log?table=none", "rulings": "/log", "case": case.split("#")[0],
        "delete": f"{case.split('#')[0]}/delete", "message": "/log/nowhere", "appeal": f"{case.split('#')[0]}/appeal",
    }.items():  # fmt: skip
        page.goto(f"{light.url}{path}")
        if name == "case":
            page.locator(".tl-more summary").first.click()
        if (faults := serious(page)) or (name != "appeal" and (faults := narrow_taps(page))):
            found[name] = faults
        if name != "appeal":
            assert_fits(page, width)
        page.screenshot(path=screenshots / f"axe-{name}-{theme}-{width}.png", full_page=True)
    assert found == {}


def test_the_list_works_without_script(light: Served, light_browser: object, light_page: NewPage) -> None:
    ask(light_page(), light, f"{STORY}, without script")
    context = light_browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(f"{light.url}/log")
    page.fill("input[name=text]", "without script")
    page.click(".tl-filter button")
    expect(page.locator(".tl-asked a")).to_have_count(1)
    page.click(".tl-asked a")
    page.fill("textarea[name=note]", "noted")
    page.click("text=Save the note")
    expect(page.locator(".tl-said")).to_have_text("Saved.")
    context.close()
