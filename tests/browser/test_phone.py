"""The main page on the phone, over fakes: one thumb, 390 x 844, and 390 x 420 with the keyboard up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from rag.page.tiles import read_tiles
from tests.browser.conftest import Served

pytestmark = [pytest.mark.browser]

WHOLE = '.tl-turn[aria-busy="false"]'
GROWING = '.tl-turn[aria-busy="true"]'
BOX = "#tl-question textarea"
STORY = "West made an insufficient bid, 1 heart over 1 spade"
RUSSIAN = "Запад сделал недостаточное назначение, 1 черва на 1 пику"
SLOW = "May the players look at the cards of the last trick, told slowly?"
STEADY = 2.0
"""Pixels by which what is under the thumb may move."""
SENTENCES = 3
"""Of the slow answer, in four lines: two of them are of one short clause, which is shown once and whole."""
LINES = 4
Open = Callable[..., Page]


@pytest.fixture(scope="module", autouse=True)
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder by which a test lets a slow answer go on."""
    folder = tmp_path_factory.mktemp("gate")
    os.environ["TABLELAW_TEST_GATE"] = str(folder)
    expect.set_options(timeout=60_000)
    yield folder
    del os.environ["TABLELAW_TEST_GATE"]
    expect.set_options(timeout=5_000)


@pytest.fixture(autouse=True)
def _closed_gate(gate: Path) -> Iterator[None]:
    yield
    for number in range(1, LINES):
        (gate / str(number)).touch()  # no answer waits on into another test


@pytest.fixture
def opened(light: Served, light_page: Open) -> Open:
    """Opens the page on a new device and waits until it can be used."""

    def open_page(width: int = 390, height: int = 844, locale: str = "en-GB", before: str = "") -> Page:
        page = light_page(width, height, locale)
        if before:
            page.add_init_script(before)
        page.goto(light.url)
        usable(page)
        return page

    return open_page


def usable(page: Page) -> None:
    expect(page.locator("#tl-send")).to_have_text(re.compile(r"^\s*(Rule|Решить)\s*$"))
    page.wait_for_selector("#tl-bar button")


def ask(page: Page, question: str) -> None:
    page.fill(BOX, question)
    page.click("#tl-send")


def ruled(page: Page, question: str = STORY) -> None:
    ask(page, question)
    page.wait_for_selector(WHOLE)


def start_tile(page: Page, irregularity: str) -> None:
    start = page.locator(f'[data-start="{irregularity}"]')
    start.wait_for(state="attached")  # the tiles may just be on their way back
    if not start.is_visible():
        page.locator(f'details:has([data-start="{irregularity}"]) > summary').click()
    start.click()
    page.wait_for_selector(WHOLE)


def answer_until_ruled(page: Page, most: int = 12) -> None:
    """Answer what is asked with the first option, until nothing is."""
    for _ in range(most):
        asked = page.locator(".tl-ask-question")
        if asked.count() == 0:
            return
        question = asked.first.inner_text()
        page.locator(".tl-ask .tl-set").first.click()
        page.wait_for_function(
            """(was) => document.querySelector('.tl-turn[aria-busy="false"]')
                && document.querySelector('.tl-ask-question')?.innerText !== was""",
            arg=question,
        )
    raise AssertionError("it goes on asking")


def let_on(gate: Path, *numbers: int) -> None:
    for number in numbers:
        (gate / str(number)).touch()


def shut(gate: Path) -> None:
    for file in gate.iterdir():
        file.unlink()


def top(locator: Locator) -> float:
    return float(locator.evaluate("el => el.getBoundingClientRect().top"))


def fits(page: Page, width: int = 390) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out sideways"


# Asking, tiles, facts


@pytest.mark.parametrize(
    ("locale", "story", "title", "height"),
    [("en-GB", STORY, "Insufficient bid", 844), ("ru-RU", RUSSIAN, "Недостаточное назначение", 420)],
)
def test_a_question_in_both_languages(
    opened: Open, screenshots: Path, locale: str, story: str, title: str, height: int
) -> None:
    page = opened(390, height, locale)
    page.screenshot(path=screenshots / f"phone-{locale}-{height}-empty.png")
    ruled(page, story)
    expect(page.locator(".tl-irregularity summary b")).to_have_text(title)
    expect(page.locator(".tl-ask-question")).to_be_visible()
    assert 0 <= top(page.locator(".tl-turn .tl-question")) < height / 2, "the answer is brought to the eye"
    page.screenshot(path=screenshots / f"phone-{locale}-{height}-asked.png")
    fits(page)


def test_every_tile_is_there_in_both_languages(opened: Open, screenshots: Path) -> None:
    for locale, lang in (("en-GB", "en"), ("ru-RU", "ru")):
        page = opened(390, 844, locale)
        expect(page.locator(".tl-tiles > *")).to_have_count(15)
        shown = [label.strip() for label in page.locator(".tl-tiles > button, .tl-tiles > details > summary").all_inner_texts()]
        assert shown == [tile.label[lang] for tile in read_tiles()]
        page.screenshot(path=screenshots / f"phone-{lang}-tiles.png", full_page=True)


def test_a_tile_starts_its_procedure_and_facts_chips_and_irregularity_are_changed(opened: Open, screenshots: Path) -> None:
    page = opened()
    start_tile(page, "defender-lead-out-of-turn")
    expect(page.locator(".tl-turn > .tl-question")).to_have_text("Defender led out of turn")
    expect(page.locator(".tl-irregularity summary b")).to_have_text("Defender's lead out of turn")
    expect(page.locator("#tl-continue")).to_be_visible()
    answer_until_ruled(page)
    expect(page.locator(".tl-sentence .tl-cite").first).to_be_visible()
    page.screenshot(path=screenshots / "phone-ruled.png", full_page=True)
    chip = page.locator(".tl-facts .tl-chip").first
    before = chip.locator("summary b").inner_text()
    chip.locator("summary").click()
    chip.locator(".tl-set:not(.tl-taken)").first.click()
    expect(page.locator(f"{WHOLE} .tl-facts .tl-chip summary b").first).not_to_have_text(before)
    page.locator(".tl-irregularity summary").click()
    page.locator(".tl-irregularity .tl-set", has_text="None of these").click()
    expect(page.locator(".tl-irregularity summary b")).to_have_count(0)
    fits(page)


def test_a_tile_of_several_asks_first_which_and_a_new_case_brings_the_tiles_back(opened: Open) -> None:
    page = opened(390, 844, "ru-RU")
    start_tile(page, "pass-out-of-rotation")
    expect(page.locator(".tl-turn > .tl-question")).to_have_text("Заявка вне очереди: Пас")
    expect(page.locator(".tl-irregularity summary b")).to_have_text("Пас вне очереди")
    page.click("#tl-new")
    expect(page.locator(".tl-tiles > *")).to_have_count(15)


# Nothing jumps


def test_what_is_under_the_thumb_stays_while_the_answer_grows(opened: Open, gate: Path) -> None:
    shut(gate)
    page = opened()
    ask(page, SLOW)
    page.wait_for_selector(f"{GROWING} .tl-sentence")
    card = page.locator(".tl-card summary").last
    card.click()
    card.evaluate(
        """(el) => {
            const key = el.parentElement.dataset.key;
            window.tops = [];
            const look = () => {
                const now = document.querySelector(`details[data-key="${key}"] summary`);
                window.tops.push(now ? now.getBoundingClientRect().top : null);
                requestAnimationFrame(look);
            };
            look();
        }"""
    )
    for number in range(1, LINES):
        let_on(gate, number)
        page.wait_for_timeout(700)
    page.wait_for_selector(WHOLE)
    expect(page.locator(".tl-sentence")).to_have_count(SENTENCES)
    tops = page.evaluate("window.tops")
    assert None not in tops
    assert max(tops) - min(tops) <= STEADY, (min(tops), max(tops))
    assert page.evaluate("document.activeElement.parentElement.dataset.key") == card.evaluate(
        "el => el.parentElement.dataset.key"
    )


def test_the_reader_of_the_top_is_not_moved_either(opened: Open, gate: Path) -> None:
    shut(gate)
    page = opened()
    ask(page, SLOW)
    page.wait_for_selector(f"{GROWING} .tl-sentence")
    before = top(page.locator(".tl-sentence").first)
    let_on(gate, 1, 2, 3)
    page.wait_for_selector(WHOLE)
    assert abs(top(page.locator(".tl-sentence").first) - before) <= STEADY


def test_what_is_typed_into_a_field_of_the_case_and_its_focus_stay_while_the_answer_grows(opened: Open, gate: Path) -> None:
    shut(gate)
    page = opened()
    ask(page, SLOW)
    page.wait_for_selector(f"{GROWING} .tl-sentence")
    page.locator('.tl-place input[name="table"]').press_sequentially("12")
    let_on(gate, 1, 2, 3)
    page.wait_for_selector(WHOLE)
    field = page.locator('.tl-place input[name="table"]')
    expect(field).to_have_value("12")
    expect(field).to_be_focused()
    field.press_sequentially("A")
    expect(field).to_have_value("12A")


# The sheet


def test_a_number_slides_the_clause_up_a_cross_reference_is_one_tap_further_and_back_is_where_one_was(
    opened: Open, screenshots: Path
) -> None:
    page = opened()
    start_tile(page, "insufficient-bid")
    url = page.url
    cite = page.locator(".tl-card[open] .tl-cite").first
    number = cite.inner_text()
    cite.click()
    sheet = page.locator("#tl-panel")
    expect(sheet.locator(".tl-clause .tl-id").first).to_have_text(number)
    expect(page.locator(".tl-sheet-back")).to_have_count(0)
    page.screenshot(path=screenshots / "phone-sheet.png")
    further = sheet.locator(".tl-see .tl-cite, .tl-above .tl-cite").last
    name = further.inner_text()
    further.scroll_into_view_if_needed()
    scrolled = sheet.evaluate("el => el.scrollTop")
    further.click()
    expect(sheet.locator(".tl-clause .tl-id").first).to_have_text(name)
    back = page.locator(".tl-sheet-back")
    expect(back).to_have_attribute("aria-label", f"Back to {number}")
    page.screenshot(path=screenshots / "phone-sheet-further.png")
    back.click()
    expect(sheet.locator(".tl-clause .tl-id").first).to_have_text(number)
    assert abs(sheet.evaluate("el => el.scrollTop") - scrolled) <= STEADY
    page.go_back()
    expect(sheet).not_to_be_visible()
    assert page.url == url, "the page is not left"
    expect(cite).to_be_focused()
    expect(page.locator(".tl-turn")).to_have_count(1)


@pytest.mark.parametrize("way", ["escape", "button", "swipe", "beside"])
def test_the_sheet_closes_in_every_way_and_leaves_no_step_behind(opened: Open, way: str) -> None:
    page = opened()
    start_tile(page, "insufficient-bid")
    steps = page.evaluate("history.length")
    cite = page.locator(".tl-card[open] .tl-cite").first
    for _ in range(2):
        cite.click()
        sheet = page.locator("#tl-panel")
        expect(sheet).to_be_visible()
        expect(page.locator("#tl-panel-close")).to_be_focused()
        if way == "escape":
            page.keyboard.press("Escape")
        elif way == "button":
            page.locator("#tl-panel-close").click()
        elif way == "beside":
            page.mouse.click(195, 20)
        else:
            swipe(sheet, 200)
        expect(sheet).not_to_be_visible()
        expect(cite).to_be_focused()
        page.wait_for_function("!history.state?.tlOverlay")
    assert page.evaluate("history.length") <= steps + 1


def swipe(sheet: Locator, down: int) -> None:
    sheet.evaluate(
        """(el, down) => {
            for (const [type, y] of [["touchstart", 300], ["touchmove", 300 + down], ["touchend", 300 + down]]) {
                const touch = new Touch({ identifier: 1, target: el, clientX: 100, clientY: y });
                const on = type === "touchend" ? [] : [touch];
                el.dispatchEvent(new TouchEvent(type, { touches: on, changedTouches: [touch], bubbles: true }));
            }
        }""",
        down,
    )


def test_a_short_swipe_closes_nothing(opened: Open) -> None:
    page = opened()
    start_tile(page, "insufficient-bid")
    page.locator(".tl-card[open] .tl-cite").first.click()
    expect(page.locator("#tl-panel")).to_be_visible()
    swipe(page.locator("#tl-panel"), 40)
    expect(page.locator("#tl-panel")).to_be_visible()
    assert page.locator("#tl-panel").evaluate("el => el.style.transform") == ""


def test_a_listener_may_show_the_clause_elsewhere(opened: Open) -> None:
    page = opened()
    start_tile(page, "insufficient-bid")
    page.evaluate(
        """document.addEventListener("tl-open-clause", (event) => { window.asked = event.detail; event.preventDefault(); })"""
    )
    cite = page.locator(".tl-card[open] .tl-cite").first
    cite.click()
    page.wait_for_function("window.asked")
    assert page.evaluate("window.asked") == cite.get_attribute("href")
    page.wait_for_timeout(500)
    expect(page.locator("#tl-panel")).not_to_be_visible()


# Read it out

SPEECH = """
window.spoken = []; window.stopped = 0;
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
Object.defineProperty(window, "speechSynthesis", { value: {
    getVoices: () => VOICES,
    speak: (said) => window.spoken.push({ text: said.text, lang: said.lang, voice: said.voice?.name ?? null }),
    cancel: () => { window.stopped += 1; },
} });
"""
VOICES = [
    {"name": "far English", "lang": "en-US", "localService": False},
    {"name": "own English", "lang": "en-GB", "localService": True},
    {"name": "own Russian", "lang": "ru-RU", "localService": True},
]


def speech(voices: list[dict[str, Any]]) -> str:
    return SPEECH.replace("VOICES", json.dumps(voices))


@pytest.mark.parametrize(("locale", "lang", "voice"), [("en-GB", "en-GB", "own English"), ("ru-RU", "ru-RU", "own Russian")])
def test_what_is_to_be_said_is_shown_large_and_spoken_in_its_language(
    opened: Open, screenshots: Path, locale: str, lang: str, voice: str
) -> None:
    page = opened(390, 844, locale, before=speech(VOICES))
    start_tile(page, "defender-lead-out-of-turn")
    answer_until_ruled(page)
    part = "say" if page.locator(".tl-part-say").count() else "now"
    wanted = page.locator(f".tl-sentence.tl-part-{part}").evaluate_all(
        "all => all.map(el => { const copy = el.cloneNode(true); copy.querySelectorAll('a').forEach(a => a.remove());"
        " return copy.textContent.trim().replace(/\\s+/g, ' '); }).join(' ')"
    )
    page.locator(".tl-readout").first.click()
    shown = page.locator("#tl-readout")
    expect(shown).to_be_visible()
    assert " ".join(shown.locator("p").all_inner_texts()) == wanted != ""
    assert float(shown.locator("p").first.evaluate("el => parseFloat(getComputedStyle(el).fontSize)")) >= 28
    box = shown.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (390, 844)
    page.screenshot(path=screenshots / f"phone-readout-{locale}.png")
    page.locator(".tl-speak").click()
    assert page.evaluate("window.spoken") == [{"text": wanted, "lang": lang, "voice": voice}]
    expect(page.locator(".tl-stop")).to_be_focused()
    before = page.evaluate("window.stopped")
    page.locator(".tl-stop").click()
    assert page.evaluate("window.stopped") > before
    expect(page.locator(".tl-speak")).to_be_visible()
    page.go_back()
    expect(shown).not_to_be_visible()
    expect(page.locator(".tl-readout").first).to_be_focused()


@pytest.mark.parametrize(
    "before",
    [
        'delete window.speechSynthesis; Object.defineProperty(window, "speechSynthesis", { value: undefined });',
        speech(VOICES[:1]),
    ],
    ids=["no-speech", "only-a-voice-of-elsewhere"],
)
def test_where_no_voice_of_the_device_speaks_there_is_no_button_but_the_large_type_is(opened: Open, before: str) -> None:
    page = opened(before=before)
    start_tile(page, "defender-lead-out-of-turn")
    answer_until_ruled(page)
    page.locator(".tl-readout").first.click()
    expect(page.locator("#tl-readout p").first).to_be_visible()
    expect(page.locator(".tl-speak")).not_to_be_visible()
    expect(page.locator(".tl-stop")).not_to_be_visible()


# Cases by table, promises


def set_place(page: Page, table: str, board: str = "") -> None:
    page.fill('.tl-place input[name="table"]', table)
    page.fill('.tl-place input[name="board"]', board)
    page.locator('.tl-place input[name="board"]').press("Enter")
    expect(page.locator(".tl-place .tl-said")).to_have_text(re.compile("Noted|Записано"))


def open_list(page: Page, name: str) -> Locator:
    page.locator(f'[data-list="{name}"]').click()
    shown = page.locator(f"#tl-panel #{name}")
    expect(shown).to_be_visible()
    return shown


def test_cases_are_found_again_by_table(opened: Open, screenshots: Path) -> None:
    page = opened()
    ruled(page)
    set_place(page, "7", "12")
    page.click("#tl-new")
    start_tile(page, "claim")
    expect(page.locator('[data-list="tl-cases-list"] .tl-count')).to_have_text("2")
    shown = open_list(page, "tl-cases-list")
    lines = shown.locator(".tl-case-line")
    expect(lines).to_have_count(2)
    expect(lines.nth(0)).to_contain_text("Contested claim")
    expect(lines.nth(0)).to_have_attribute("aria-current", "true")
    expect(lines.nth(1)).to_contain_text("Table 7, board 12")
    expect(lines.nth(1)).to_contain_text("To be asked")
    assert re.search(r"\d\d:\d\d", lines.nth(1).locator("time").inner_text())
    page.screenshot(path=screenshots / "phone-cases.png")
    lines.nth(1).click()
    expect(page.locator(".tl-turn > .tl-question")).to_have_text(STORY)
    expect(page.locator('.tl-place input[name="table"]')).to_have_value("7")
    expect(page.locator("#tl-panel")).not_to_be_visible()


def test_a_table_that_is_none_is_told_and_what_is_typed_stays(opened: Open) -> None:
    page = opened()
    ruled(page)
    page.fill('.tl-place input[name="table"]', "x" * 30)
    page.locator('.tl-place input[name="table"]').press("Enter")
    expect(page.locator(".tl-place .tl-said")).to_have_text("A table or board is at most 20 characters long: shorten it.")
    expect(page.locator('.tl-place input[name="table"]')).to_have_value("x" * 30)


def test_what_was_promised_is_listed_with_its_table_ticked_and_survives_a_reload(opened: Open, screenshots: Path) -> None:
    page = opened()
    start_tile(page, "unauthorised-information")
    answer_until_ruled(page)
    promised = page.locator(".tl-part-later").count()
    assert promised > 0
    count = page.locator('[data-list="tl-later-list"] .tl-count')
    expect(count).to_have_text(str(promised))
    set_place(page, "3")
    shown = open_list(page, "tl-later-list")
    expect(shown.locator(".tl-promise")).to_have_count(promised)
    expect(shown.locator(".tl-promise b").first).to_have_text("Table 3")
    page.screenshot(path=screenshots / "phone-later.png")
    shown.locator("input").first.check()
    expect(count).to_have_count(0) if promised == 1 else expect(count).to_have_text(str(promised - 1))
    page.reload()
    usable(page)
    expect(count).to_have_count(0) if promised == 1 else expect(count).to_have_text(str(promised - 1))
    shown = open_list(page, "tl-later-list")
    assert shown.locator("input:checked").count() == 1


def test_two_devices_are_not_mixed(opened: Open) -> None:
    phone, tablet = opened(), opened()
    ruled(phone)
    set_place(phone, "7")
    ask(tablet, "West revoked on the third trick, told by the tablet")
    tablet.wait_for_selector(WHOLE)
    for page, own in ((phone, STORY), (tablet, "West revoked on the third trick, told by the tablet")):
        shown = open_list(page, "tl-cases-list")
        expect(shown.locator(".tl-case-line")).to_have_count(1)
        expect(shown.locator(".tl-line-words")).to_have_text(own)
        page.keyboard.press("Escape")
        page.wait_for_function("!history.state?.tlOverlay")
        page.reload()
        expect(page.locator(".tl-turn > .tl-question")).to_have_text(own)
    expect(tablet.locator('.tl-place input[name="table"]')).to_have_value("")


# Sleep, reload, loss of the network


def test_when_the_network_is_lost_a_bar_says_so_nothing_typed_is_lost_and_the_answer_is_found_on_return(
    opened: Open, gate: Path, screenshots: Path
) -> None:
    shut(gate)
    page = opened()
    ask(page, SLOW)
    page.wait_for_selector(f"{GROWING} .tl-sentence")
    page.context.set_offline(True)
    bar = page.locator("#tl-lost")
    expect(bar).to_contain_text("No connection")
    page.fill(BOX, "and West?")
    page.click("#tl-send")
    expect(bar).to_contain_text("Not sent")
    expect(page.locator(BOX)).to_have_value("and West?")
    page.screenshot(path=screenshots / "phone-lost.png")
    let_on(gate, 1, 2, 3)
    page.wait_for_timeout(1_500)
    page.context.set_offline(False)
    expect(bar).not_to_be_visible()
    page.wait_for_selector(WHOLE)
    expect(page.locator(".tl-sentence")).to_have_count(SENTENCES)
    expect(page.locator(BOX)).to_have_value("and West?")
    expect(page.locator(".tl-turn")).to_have_count(1)
    page.screenshot(path=screenshots / "phone-back.png")
    page.click("#tl-send")
    expect(page.locator(".tl-turn > .tl-question")).to_have_text("and West?")
    expect(page.locator(BOX)).to_have_value("")


def test_a_page_closed_in_the_middle_of_an_answer_finds_it_when_opened_again(opened: Open, light: Served, gate: Path) -> None:
    shut(gate)
    page = opened()
    ask(page, SLOW)
    page.wait_for_selector(f"{GROWING} .tl-sentence")
    context = page.context
    page.close()
    let_on(gate, 1)
    again = context.new_page()
    again.goto(light.url)
    expect(again.locator(".tl-turn > .tl-question")).to_have_text(SLOW)
    let_on(gate, 2, 3)
    again.wait_for_selector(WHOLE)
    expect(again.locator(".tl-sentence")).to_have_count(SENTENCES)


def test_a_draft_survives_a_reload_and_a_question_that_was_sent_does_not_come_back(opened: Open) -> None:
    page = opened()
    page.fill(BOX, "half a story")
    page.reload()
    usable(page)
    expect(page.locator(BOX)).to_have_value("half a story")
    page.click("#tl-send")
    page.wait_for_selector(WHOLE)
    expect(page.locator(BOX)).to_have_value("")
    page.reload()
    usable(page)
    page.wait_for_selector(WHOLE)
    page.wait_for_timeout(500)
    expect(page.locator(BOX)).to_have_value("")


def test_a_page_that_slept_shows_what_the_device_shows_now(opened: Open, light: Served) -> None:
    page = opened()
    page.evaluate("document.querySelector('#tl-question textarea').dataset.same = 'yes'")
    other = page.context.new_page()
    other.goto(light.url)
    usable(other)
    ruled(other)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator(".tl-turn > .tl-question")).to_have_text(STORY)


# Feedback


def refuse_feedback(page: Page) -> None:
    """Answer for the route that notes feedback as it does when it cannot."""
    full = {"error": "The log is full; free some space."}
    page.route("**/log/*/feedback**", lambda route: route.fulfill(status=500, json=full))


def test_a_whole_answer_is_judged_right_or_wrong_and_why(opened: Open, screenshots: Path) -> None:
    page = opened()
    start_tile(page, "defender-lead-out-of-turn")
    expect(page.locator(".tl-feedback")).to_have_count(0)
    answer_until_ruled(page)
    form = page.locator(".tl-feedback")
    case = form.get_attribute("data-case")
    form.locator('[data-verdict="right"]').click()
    expect(form.locator(".tl-said")).to_have_text("Noted: right.")
    form.locator('[data-verdict="wrong"]').click()
    form.locator("textarea").fill("It was <b>West</b> who led")
    page.screenshot(path=screenshots / "phone-feedback.png", full_page=True)
    form.locator(".tl-send-why").click()
    expect(form.locator(".tl-said")).to_have_text("Noted: wrong. Thank you for saying why.")
    expect(form.locator('[data-verdict="wrong"]')).to_have_attribute("aria-pressed", "true")
    page.goto(f"{page.url}log/{case}")
    expect(page.locator("main")).to_contain_text("It was <b>West</b> who led")


def test_feedback_that_cannot_be_kept_is_told_and_what_was_typed_stays(opened: Open) -> None:
    page = opened()
    refuse_feedback(page)
    start_tile(page, "defender-lead-out-of-turn")
    answer_until_ruled(page)
    form = page.locator(".tl-feedback")
    form.locator('[data-verdict="wrong"]').click()
    form.locator("textarea").fill("West led")
    form.locator(".tl-send-why").click()
    expect(form.locator(".tl-said")).to_have_text("The log is full; free some space.")
    expect(form.locator("textarea")).to_have_value("West led")


# Fingers, eyes, ears


TAPPED = "#tl-case, #tl-bar, #tl-panel[open], #tl-readout[open]"


def small(page: Page) -> list[str]:
    """What is tapped and is less than 44 pixels high or wide, rounded as pixels are."""
    found: list[str] = page.evaluate(
        """(roots) => [...document.querySelectorAll(roots)].flatMap((root) =>
            [...root.querySelectorAll("button, a, summary, input, textarea, label:has(input[type=checkbox])")])
            .filter((el) => el.checkVisibility())
            .map((el) => [el.outerHTML.slice(0, 120), el.getBoundingClientRect()])
            .filter(([, rect]) => rect.height < 43.5 || rect.width < 43.5)
            .map(([html, rect]) => `${Math.round(rect.width)}x${Math.round(rect.height)} ${html}`)""",
        TAPPED,
    )
    return found


def looks(page: Page) -> Iterator[str]:
    """The states of the page that are gone through, by name."""
    yield "empty"
    start_tile(page, "unauthorised-information")
    yield "asked"
    answer_until_ruled(page)
    set_place(page, "7", "12")
    page.locator(".tl-irregularity summary").click()
    page.locator(".tl-path summary").click()
    page.locator('.tl-feedback [data-verdict="wrong"]').click()
    yield "ruled"
    page.locator(".tl-card[open] .tl-cite").first.click()
    expect(page.locator("#tl-panel .tl-clause").first).to_be_visible()
    yield "sheet"
    page.keyboard.press("Escape")
    page.wait_for_function("!history.state?.tlOverlay")
    open_list(page, "tl-later-list")
    yield "later"
    page.keyboard.press("Escape")
    page.wait_for_function("!history.state?.tlOverlay")
    open_list(page, "tl-cases-list")
    yield "cases"
    page.keyboard.press("Escape")
    page.wait_for_function("!history.state?.tlOverlay")
    page.locator(".tl-readout").first.click()
    expect(page.locator("#tl-readout")).to_be_visible()
    yield "readout"


@pytest.mark.parametrize("height", [844, 420])
def test_whatever_is_tapped_is_large_enough(opened: Open, height: int) -> None:
    page = opened(390, height)
    for look in looks(page):
        assert small(page) == [], look
        fits(page)


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_with_text_twice_as_large_nothing_sticks_out_sideways(opened: Open, screenshots: Path, locale: str) -> None:
    page = opened(390, 844, locale)
    page.add_style_tag(content="html { font-size: 200% !important; }")
    for look in looks(page):
        page.screenshot(path=screenshots / f"phone-200-{locale}-{look}.png", full_page=look in {"empty", "asked", "ruled"})
        fits(page)
        assert page.evaluate("[...document.querySelectorAll('dialog[open]')].every(d => d.scrollWidth <= d.clientWidth)"), look


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_our_own_markup(opened: Open, screenshots: Path, scheme: Any) -> None:
    page = opened()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.reload()
    usable(page)
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    own, others = list[str](), set[str]()
    for look in looks(page):
        page.screenshot(path=screenshots / f"phone-{scheme}-{look}.png", full_page=look in {"empty", "asked", "ruled"})
        for found in Axe().run(page).response["violations"]:
            for node in found["nodes"]:
                is_own = page.evaluate(
                    """(target) => Boolean(document.querySelector(target)?.closest(
                        "#tl-case, #tl-title, #tl-bar, #tl-panel, #tl-readout, #tl-lost, [class*='tl-']"))""",
                    node["target"][-1],
                )
                line = f"{found['impact']} {found['id']}"
                if is_own and found["impact"] in {"serious", "critical"}:
                    own.append(f"{look}: {line}: {node['html'][:200]} {node.get('failureSummary', '')}")
                else:
                    others.add(f"{'own' if is_own else 'gradio'} {line}: {node['html'][:90]}")
    (screenshots / f"axe-{scheme}.txt").write_text("\n".join(sorted(others)), encoding="utf-8")
    assert own == []


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_our_styles_win_over_gradios_and_those_of_other_pages(light: Served, opened: Open, locale: str) -> None:
    page = opened(390, 844, locale)
    border = "one => getComputedStyle(one).borderTopWidth"
    assert page.evaluate("scrollY") == 0, "the page begins at its top"
    assert page.locator("button.tl-tile").first.evaluate(border) == "1px"
    start_tile(page, "defender-lead-out-of-turn")
    answer_until_ruled(page)
    assert page.locator("button.tl-readout").evaluate(border) == "2px"
    assert page.locator(".tl-place .tl-said").evaluate("one => getComputedStyle(one).borderLeftWidth") == "0px"
    for path in ("/", "/book", "/procedures", "/log", "/settings"):
        page.goto(f"{light.url}{path}")
        page.wait_for_selector(f'.tl-nav a[href="{path}"][aria-current]')
        rows = "() => new Set([...document.querySelectorAll('.tl-nav a')].map(one => one.offsetTop)).size"
        assert page.evaluate(rows) == 1, f"the navigation of {path} is one row"
