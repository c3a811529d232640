"""Writes docs/report.png, the picture of the page in the README, from the boards: `python docs/make_report_picture.py`.

Needs the extra `report`, selenium, Chromium and chromedriver.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from lgl_bench.report.site import build_site

PICTURE = Path(__file__).with_name("report.png")
BOARDS = sorted((Path(__file__).parent.parent / "leaderboard").glob("*.csv"))
SIZE = {"width": 1280, "height": 1500}


def main() -> None:
    """Builds the site, opens its first page, and keeps what is seen."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        build_site(BOARDS, site)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
        for flag in (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/own",
        ):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            metrics = {**SIZE, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            features = [{"name": "prefers-color-scheme", "value": "light"}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            browser.get((site / "index.html").as_uri())
            taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
            PICTURE.write_bytes(base64.b64decode(taken["data"]))
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
