"""Draws docs/figures/report.png: `python tests/validation/report_picture.py`."""

import tempfile
from pathlib import Path

from conftest import ROOT, contact_fmu
from playwright.sync_api import sync_playwright
from test_report_page import Opened, launch

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    page = Path(folder, "dominoes.html")
    contact_fmu("simulate", ROOT / "models/domino_row/model.toml", "--report", page)
    opened = Opened(launch(playwright), page)
    opened.value("report.player.go(0.4)")
    opened.frames()
    opened.page.screenshot(path=ROOT / "docs/figures/report.png", clip={"x": 0, "y": 0, "width": 1280, "height": 800})
    opened.close()
