"""The browser of this machine, for pictures of the page and for tests."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# No sandbox, since it refuses to work for root; only pages of one's own are opened.
ARGUMENTS = ("--no-sandbox", "--disable-background-networking")


def why_no_browser() -> str | None:
    """Why no browser can be driven here, with the fix; None if one can."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "playwright is not installed; install the packages for development"
    if _on_path():
        return None
    with sync_playwright() as driver:
        if Path(driver.chromium.executable_path).exists():
            return None
    return (
        f"there is none of {', '.join(NAMES)} on the path, nor Playwright's own; "
        "install one (apt-get install chromium, or playwright install chromium), or "
        "name it in REATTN_CHROMIUM"
    )


@contextmanager
def started_browser() -> Iterator["Browser"]:
    """A browser, which is closed at the end; see `why_no_browser` first."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = _launch(driver)
        try:
            yield browser
        finally:
            browser.close()


def _launch(driver: "Playwright") -> "Browser":
    return driver.chromium.launch(executable_path=_on_path(), args=ARGUMENTS)


def _on_path() -> str | None:
    """$REATTN_CHROMIUM, else the first that the path has; None: Playwright's own."""
    given = os.environ.get("REATTN_CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)
