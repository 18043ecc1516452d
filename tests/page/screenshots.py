#!/usr/bin/env python3
"""screenshots.py: takes the two pictures of README anew, from testdata, into docs/images. Look at them before you keep them.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import os
import subprocess
import tempfile
from pathlib import Path

from browser import browser, finish

SOURCE = Path(os.environ["IDS_SOURCE_DIR"])
IDSPROF = Path(os.environ["IDSPROF"]).resolve()
RUN = "testdata/cpu8_annotated"
LARGEST = 150_000  # bytes: everybody who clones the repository takes them along


def take(open_page, path, name, dark, selector):
    page = open_page(path, dark=dark, width=1280, height=860)
    page.evaluate("selector => document.querySelector(selector).scrollIntoView()", selector)
    page.mouse.move(2, 2)
    page.wait_for_timeout(500)
    image = SOURCE / "docs/images" / f"{name}.jpg"
    for quality in (80, 70, 60, 50):
        page.screenshot(path=image, type="jpeg", quality=quality)
        if image.stat().st_size <= LARGEST:
            break
    print(f"{image}: {image.stat().st_size} bytes")
    page.context.close()


def main():
    with tempfile.TemporaryDirectory() as folder, browser() as open_page:
        path = Path(folder) / "page.html"
        subprocess.run([IDSPROF, "report", RUN, "--html", path], check=True, cwd=SOURCE, stdout=subprocess.DEVNULL)
        take(open_page, path, "page", False, "header")
        take(open_page, path, "page-dark", True, "#steps")
    finish()


main()
