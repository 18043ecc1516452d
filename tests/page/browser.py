"""A headless Chromium for tests of pages: what a page logged, threw and asked for is remembered, and is a failure at the end.

    with browser() as open_page:
        page = open_page(path, dark=True)
"""
import contextlib
import os
import shutil
import sys
from pathlib import Path

SKIPPED = 77


def skip(why):
    print(why)
    sys.exit(SKIPPED)


try:
    from playwright.sync_api import sync_playwright
except ImportError:
    skip("playwright is not installed (tests/requirements.txt)")

failures = []


def check(ok, message):
    if not ok:
        failures.append(message)
    return ok


def finish():
    for failure in failures[:40]:
        print("FAILED:", failure[:2000])
    sys.exit(1 if failures else 0)


@contextlib.contextmanager
def browser():
    """Gives a function that opens a page and waits until it is ready."""
    chromium = os.environ.get("IDS_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        skip("chromium is not installed")
    factor = float(os.environ.get("IDS_TIME_FACTOR", "1"))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

        def open_page(path, dark=False, width=1280, height=900, scale=1, served=False):
            context = running.new_context(viewport={"width": width, "height": height}, has_touch=width < 640, device_scale_factor=scale,
                                          color_scheme="dark" if dark else "light")
            page = context.new_page()
            page.set_default_timeout(20000 * factor)
            own = path.rpartition("/")[0] if served else Path(path).resolve().as_uri()
            page.on("console", lambda message: check(served and "net::ERR_CONNECTION_REFUSED" in message.text, f"{path}: console: {message.text}"))
            page.on("pageerror", lambda error: check(False, f"{path}: error: {error}"))
            page.on("dialog", lambda dialog: (check(False, f"{path}: a dialog: {dialog.message}"), dialog.dismiss()))
            page.on("request", lambda request: check(request.url.startswith((own, "blob:")), f"{path}: asks for {request.url[:200]}"))
            page.goto(path if served else own)
            page.wait_for_selector("html[data-ready]")
            return page

        yield open_page
        running.close()
