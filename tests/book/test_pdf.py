"""What can be held of the PDF without printing it."""

from tools import pdf


def test_links_to_places_of_the_book_stay_inside_of_it():
    page = (
        '<a href="book/index.html#term-load">load</a> <a href="scorecard.html#claim">claim</a> '
        '<a href="#here">here</a> <a href="06_margins.html">chapter</a> '
        '<a href="https://example.org/page.html#there">there</a>'
    )
    assert pdf.inside(page) == (
        '<a href="#term-load">load</a> <a href="#claim">claim</a> '
        '<a href="#here">here</a> <a href="#document-book/06_margins">chapter</a> '
        '<a href="https://example.org/page.html#there">there</a>'
    )
