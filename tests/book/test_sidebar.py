"""Arrows of the sidebar have the names of their chapters."""

from tools import sidebar

ITEM = (
    '<a class="reference internal" href="3.html">3. A chapter</a><details{open}><summary{name}>'
    '<span class="toctree-toggle" role="presentation"></span></summary>'
)


def test_arrows_are_named_once_and_other_details_are_left_alone():
    for state in ("", ' open="open"'):
        plain = ITEM.format(open=state, name="")
        named = ITEM.format(open=state, name=' aria-label="Lectures of 3. A chapter"')
        assert sidebar.named(plain) == sidebar.named(named) == named
    other = "<a>b</a><details><summary>Solution</summary></details>"
    assert sidebar.named(other) == other
