"""The page "Run it" names the address at which it is read, where the build was given none."""

from __future__ import annotations

from tools import first_cell


def test_lines_name_the_address_of_the_page(browser, html, server):
    page = browser.new_page()
    for site in (server, html.as_uri()):
        page.goto(f"{site}/book/run.html")
        page.wait_for_load_state()
        blocks = page.locator("article pre").all_inner_texts()
        for text in blocks[:2]:
            assert f'pip install "wfmlib[book] @ {site}/{first_cell.WHEEL}"\n' in text
        text = page.locator("article").inner_text()
        assert f"This site is {site}/" in text
        assert "ADDRESS" not in text
    page.close()
