"""Chromium for the tests of the site."""

from __future__ import annotations

from typing import Any

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run --window-size=1280,900"
)


def resize(browser: Any, width: int, scheme: str = "light") -> None:
    """Makes the window so wide, as a phone if it is narrow, in one of the two schemes."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
