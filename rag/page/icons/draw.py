"""Draws the icons: ``python rag/page/icons/draw.py`` makes the PNG files from ``icon.svg`` (with Chromium)."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
CHROMIUM = "/usr/bin/chromium"
SIDES = (180, 192, 512)


def main() -> None:
    """Write one PNG a size beside the drawing."""
    from playwright.sync_api import sync_playwright

    drawing = (FOLDER / "icon.svg").read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for side in SIDES:
            page = browser.new_page(viewport={"width": side, "height": side})
            page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block; width: {side}px }}</style>{drawing}")
            page.screenshot(path=FOLDER / f"icon-{side}.png")
        browser.close()


if __name__ == "__main__":
    main()
