"""The club's network in a real browser: a namespace whose one more address is not loopback, so that the PIN is asked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import LAN_ADDRESS, PORT, Served, _inside
from tests.browser.light import LAN_PIN
from tests.test_api import examples

pytestmark = [pytest.mark.browser]

SITE = f"http://{LAN_ADDRESS}:{PORT}"
WRONG = "999999"
STORY = "West made an insufficient bid, 1 heart over 1 spade"


def type_pin(page: Page, pin: str) -> None:
    page.get_by_label("PIN").fill(pin)
    page.get_by_role("button", name="Open").click()


def serious(page: Page) -> list[str]:
    """What axe-core finds serious or critical."""
    found = Axe().run(page).response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]


def is_wide(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def test_a_phone_gives_the_pin_once_and_then_the_page_works(
    light_lan: Served, lan_page: Callable[..., Page], screenshots: Path
) -> None:
    page = lan_page()
    faults: list[str] = []
    page.on("response", lambda answer: faults.append(answer.url) if answer.status in {401, 403} and seen else None)
    seen: list[str] = []
    page.goto(f"{SITE}/law/27B1")
    expect(page.get_by_label("PIN")).to_be_focused()
    page.screenshot(path=screenshots / "390-pin.png")
    for box in (page.get_by_label("PIN"), page.get_by_role("button", name="Open")):
        assert box.bounding_box()["height"] >= 44
    type_pin(page, WRONG)
    expect(page.get_by_role("alert")).to_contain_text("That is not the PIN")
    page.screenshot(path=screenshots / "390-pin-wrong.png")
    assert not is_wide(page)
    type_pin(page, LAN_PIN)
    expect(page.locator(".tl-here .tl-id").first).to_have_text("27B1")
    assert page.url == f"{SITE}/law/27B1", "what was asked for is opened"
    seen.append("known")
    page.goto(SITE)
    expect(page.locator("#tl-send")).to_have_text("Rule")
    page.fill("#tl-question textarea", STORY)
    page.click("#tl-send")
    page.wait_for_selector('.tl-turn[aria-busy="false"]')
    expect(page.locator(".tl-irregularity summary b")).to_have_text("Insufficient bid")
    page.reload()
    expect(page.locator(".tl-question")).to_have_text(STORY)
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
    assert (cookies["tablelaw_key"]["httpOnly"], cookies["tablelaw_key"]["sameSite"]) == (True, "Strict")
    assert "tablelaw_key" not in page.evaluate("document.cookie")
    assert faults == []


def test_a_second_phone_is_asked_again_in_its_own_language(
    light_lan: Served, lan_page: Callable[..., Page], screenshots: Path
) -> None:
    page = lan_page(390, 420, "ru-RU")
    page.emulate_media(color_scheme="dark")
    page.goto(SITE)
    expect(page.get_by_label("PIN-код")).to_be_visible()
    page.get_by_label("PIN-код").fill("12")
    page.get_by_role("button", name="Открыть").click()
    expect(page.get_by_role("alert")).to_contain_text("В PIN-коде 6 цифр")
    page.screenshot(path=screenshots / "390x420-pin-ru-dark.png")
    expect(page.get_by_role("button", name="Открыть")).to_be_in_viewport()
    assert not is_wide(page)
    assert serious(page) == []
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert not is_wide(page)


def test_the_manifest_and_its_icons_reach_the_browser(light_lan: Served, lan_page: Callable[..., Page]) -> None:
    page = lan_page()
    page.goto(SITE)
    type_pin(page, LAN_PIN)
    expect(page.locator("#tl-send")).to_be_visible()
    link = page.locator('link[rel="manifest"]')
    expect(link).to_have_attribute("href", "/manifest.webmanifest")
    expect(link).to_have_attribute("crossorigin", "use-credentials")
    session = page.context.new_cdp_session(page)
    told = session.send("Page.getAppManifest")
    assert told["errors"] == []
    assert told["url"] == f"{SITE}/manifest.webmanifest"
    manifest = json.loads(told["data"])
    fetch = "src => fetch(src).then(answer => [answer.status, answer.headers.get('content-type')])"
    for icon in manifest["icons"]:  # by the page: Playwright's own requests come from outside the namespace
        assert page.evaluate(fetch, icon["src"]) == [200, icon["type"]]


def test_join_is_for_the_laptops_own_screen(light_lan: Served, lan_page: Callable[..., Page], screenshots: Path) -> None:
    phone = lan_page()
    phone.goto(SITE)
    type_pin(phone, LAN_PIN)
    expect(phone.locator("#tl-send")).to_be_visible()
    refused = phone.goto(f"{SITE}/join")
    assert refused is not None and refused.status == 403
    expect(phone.get_by_role("alert")).to_contain_text("on the laptop itself only")
    assert serious(phone) == []
    laptop = lan_page(1366, 768)
    laptop.goto(f"http://127.0.0.1:{PORT}/join")
    expect(laptop.get_by_text("012 345")).to_be_visible()
    expect(laptop.get_by_role("img", name=f"QR code of {SITE}/")).to_be_in_viewport()
    laptop.screenshot(path=screenshots / "1366-join.png")
    assert serious(laptop) == []
    laptop.emulate_media(color_scheme="dark")
    laptop.set_viewport_size({"width": 390, "height": 844})
    laptop.screenshot(path=screenshots / "390-join-dark.png", full_page=True)
    assert not is_wide(laptop)


def test_a_page_of_another_site_reaches_nothing(light_lan: Served, lan_page: Callable[..., Page]) -> None:
    page = lan_page()
    page.goto(SITE)
    type_pin(page, LAN_PIN)
    expect(page.locator("#tl-send")).to_be_visible()
    page.goto(f"http://localhost:{PORT}/law/27B1")
    form = f'<form method="post" action="{SITE}/api/ask"><button>Send</button></form>'
    page.evaluate("html => { document.body.innerHTML = html; }", form)
    with page.expect_response(f"{SITE}/api/ask") as answer:
        page.get_by_role("button", name="Send").click()
    assert answer.value.status == 403
    expect(page.get_by_role("alert")).to_contain_text("a page of another site")


def test_a_program_elsewhere_trades_the_pin_for_a_token_as_documented(light_lan: Served) -> None:
    documented = examples("sh")[1].replace("192.168.1.5:7860", f"{LAN_ADDRESS}:{PORT}").replace("123456", LAN_PIN)
    status = f"curl -s -o /dev/null -w '\\n%{{http_code}}' {SITE}/api/books"
    script = f"{documented}\n{status}\n{status} -H 'Host: evil.example' -H \"Authorization: Bearer $TOKEN\""
    command = [*_inside(light_lan), "env", "-u", "http_proxy", "bash", "-ec", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert '"id":"laws-2017-en"' in done.stdout, done.stderr
    assert done.stdout.split()[-2:] == ["401", "400"]
