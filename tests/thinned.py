"""Pages without what axe-core need not look at: it takes milliseconds for each of 27,000 elements.

Glyphs have the colour of their formula, words of code that of their class: of these a few stay.
"""

from __future__ import annotations

THIN = """keep => {
    const kept = keep && document.querySelector(document.querySelector(keep).hash);
    document.querySelectorAll('article mjx-container').forEach(one => {
        if (!kept?.contains(one)) one.replaceChildren('x');
    });
    const seen = {};
    document.querySelectorAll('pre span[class]').forEach(one => {
        const kind = [one.className, one.closest('[class*=highlight], .output')?.className];
        seen[kind] = (seen[kind] ?? 0) + 1;
        if (seen[kind] > 3) one.replaceWith(...one.childNodes);
    });
}"""


def thin(page, keep=None):
    """Take most glyphs and words of code out of a page, but for the formula that a link names.

    Parameters
    ----------
    page : playwright.sync_api.Page
    keep : str, optional
        Selector of the link.
    """
    page.evaluate(THIN, keep)
