"""A real browser without a network, which records what a page asks for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import require

from reattn.report.browsers import started_browser, why_no_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (360, 768, 1440)


@dataclass
class Opened:
    """A page, what it asked a server for, and what it complained of.

    Attributes:
        page: Playwright's page.
        requests: Addresses other than the file itself and data inside of it.
        faults: Messages of the console but information, and uncaught errors.
    """

    page: "Page"
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth"
            " - document.documentElement.clientWidth"
        )


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """One browser for all tests."""
    reason = why_no_browser()
    require(reason is None, f"no browser can be started: {reason}")
    with started_browser() as started:
        yield started


@contextmanager
def opened(
    browser: "Browser", file: Path, width: int = 1440, **options: Any
) -> Iterator[Opened]:
    """A file in a window of its own, without a network.

    Args:
        browser: The fixture of this name.
        file: The page.
        width: Of the window, in pixels.
        options: Further ones of Playwright's new_context, such as color_scheme.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_offline(True)
    found = Opened(context.new_page())
    address = file.resolve().as_uri()
    found.page.on("request", lambda request: _note(found, request.url, address))
    found.page.on("pageerror", lambda fault: found.faults.append(str(fault)))
    found.page.on("console", lambda message: _hear(found, message))
    try:
        found.page.goto(address)
        yield found
    finally:
        context.close()


def _note(found: Opened, url: str, address: str) -> None:
    if url.split("#")[0] != address and not url.startswith(("data:", "blob:")):
        found.requests.append(url)


def _hear(found: Opened, message: Any) -> None:
    if message.type in ("error", "warning"):
        found.faults.append(message.text)
