"""Wait in a page that allows no evaluation of strings: Playwright's own wait does that."""

from __future__ import annotations

import time


def until(page, expression: str, seconds: float = 30.0) -> None:
    """Return once a JavaScript expression is true; raise TimeoutError if it does not become so."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"!!({expression})"):
        if time.monotonic() > end:
            raise TimeoutError(f"not true within {seconds:g} s: {expression}")
        page.wait_for_timeout(50)
