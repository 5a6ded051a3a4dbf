"""Draws docs/figures/report.png and report-groups.png: `python tests/validation/report_picture.py`."""

import tempfile
from pathlib import Path

from conftest import ROOT, contact_fmu
from playwright.sync_api import sync_playwright
from test_report_page import Opened, launch


def draw(browser, folder, model, time, picture, **clip):
    page = Path(folder, f"{model}.html")
    contact_fmu("simulate", ROOT / f"models/{model}/model.toml", "--report", page)
    opened = Opened(browser, page)
    opened.value(f"report.player.go({time})")
    opened.frames()
    opened.page.screenshot(path=ROOT / "docs/figures" / picture, clip=clip)
    opened.close()


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    browser = launch(playwright)
    draw(browser, folder, "domino_row", 0.4, "report.png", x=0, y=0, width=1280, height=800)
    draw(browser, folder, "ball_pit", 2.0, "report-groups.png", x=36, y=168, width=526, height=500)
