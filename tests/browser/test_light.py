"""The page itself in a real browser, over fakes: what it does with a ruling, not what the ruling is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Served

pytestmark = [pytest.mark.browser]


def test_a_story_is_recognised_and_its_facts_are_asked(light: Served, light_page: Callable[..., Page]) -> None:
    page = light_page()
    page.goto(light.url)
    expect(page.locator("#tl-send")).to_have_text("Rule")
    page.fill("#tl-question textarea", "West made an insufficient bid, 1 heart over 1 spade")
    page.click("#tl-send")
    page.wait_for_selector('.tl-turn[aria-busy="false"]')
    expect(page.locator(".tl-irregularity summary b")).to_have_text("Insufficient bid")
    expect(page.locator(".tl-ask-question")).to_be_visible()
