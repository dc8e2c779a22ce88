"""The page for lecturers says what the chapters say: exercises, sections, times."""

from __future__ import annotations

import re

import pytest

from tools import exercises, notebooks, numbering, times

PAGE = exercises.PAGE.read_text()
CHAPTERS = exercises.pages()
CHAPTER_OF = {page.name: chapter for chapter in CHAPTERS for page in chapter}
LINK = re.compile(r"\[([^\]]+)\]\((\w+\.md)#([^)]+)\)")
SET = re.compile(r"\]\((ex-[^)]+)\)")
COURSES = (
    "sec-four-lectures",
    "sec-eight-lectures",
    "sec-fourteen-lectures",
    "sec-more-lectures",
)


def spoken(text: str) -> str:
    return " ".join(text.split())


def lectures(course: str) -> list[str]:
    """Return the rows of a course's table."""
    table = PAGE.split(f"({course})=")[1].split("\n(")[0]
    return re.findall(r"^\| \d+\. .*$", table, re.MULTILINE)


def first(chapter) -> str:
    """Return how a chapter is called."""
    return chapter[0].stem


def places(name: str) -> list[tuple[str, str]]:
    """Return every section of the chapter to which a page belongs, with its page, in order."""
    return [(one.name, title) for one in CHAPTER_OF[name] for title in exercises.headings(one)]


def sections(row: str) -> set[tuple[str, str]]:
    """Return the sections of a lecture, those between the ends of "A to B" included."""
    cell = row.split(" | ")[1]
    found = [(name, title) for title, name, _ in LINK.findall(cell)]
    for match in re.finditer(LINK.pattern + " to " + LINK.pattern, cell):
        every = places(match[2])
        begin, end = every.index((match[2], match[1])), every.index((match[5], match[4]))
        assert begin < end, match[0]
        found += every[begin : end + 1]
    return set(found)


def test_tables_are_those_of_the_chapters(html):
    """After a change of an exercise: python -m tools.exercises."""
    assert exercises.filled(PAGE) == PAGE


def test_every_exercise_is_on_the_page():
    labels = [one.label for one in exercises.everywhere()]
    assert len(labels) > 40
    assert len(set(labels)) == len(labels)
    listed = re.findall(r"^\| [\dF]+\.\d+ \| \[[^\]]+\]\((ex-[^)]+)\)", PAGE, re.MULTILINE)
    assert sorted(labels) == sorted(listed)
    assert set(exercises.estimates()) == set(labels)
    assert len(labels) == sum(
        len(re.findall(r"^:label: ex-", page.read_text(), re.MULTILINE))
        for chapter in CHAPTERS
        for page in chapter
    )


@pytest.mark.parametrize("chapter", CHAPTERS, ids=first)
def test_every_exercise_is_rated_as_its_minutes_are(chapter):
    """In its title; the scale is that of the page of ways."""
    every, known = (
        [one for page in chapter for one in exercises.of_chapter(page)],
        exercises.estimates(),
    )
    span = {"2": (6, 20), "3": (21, 75), "4": (76, 240), "5": (120, 240)}
    for one in every:
        low, high = span[one.rating[-1]]
        assert low <= known[one.label]["minutes"] <= high, one.label
    recommended = [one for one in every if one.rating.startswith("▷")]
    assert len(every) / 6 <= len(recommended) <= len(every) / 2
    for page in chapter:
        if exercises.of_chapter(page):
            assert "[rating](ways.md#ratings-of-exercises)" in page.read_text()


@pytest.mark.parametrize("chapter", CHAPTERS, ids=first)
def test_exercise_is_set_after_what_it_needs(chapter):
    """A formula that an exercise refers to stands before the end of the section named."""
    text = "".join(exercises.without_code(page.read_text()) for page in chapter)
    known, titles = exercises.estimates(), [title for _, title in places(chapter[0].name)]
    for match in exercises.EXERCISE.finditer(text):
        after = known[match["label"]]["after"]
        assert titles.count(after) == 1, f"{match['label']}: no section {after!r}, or two"
        begin = re.search(rf"^#+ {re.escape(after)}$", text, re.MULTILINE).end()
        end = begin + re.search(r"^#+ ", text[begin:], re.MULTILINE).start()
        for label in re.findall(r"\[\]\((eq-[^)]+)\)", match["body"]):
            assert text.find(f"$$ ({label})") < end, f"{match['label']} needs {label}"


def test_links_lead_to_headings():
    links = LINK.findall(PAGE)
    assert len(links) > 100
    for title, name, anchor in links:
        page = notebooks.BOOK / name
        assert title in exercises.headings(page), f"{name} has no section {title!r}"
        assert anchor == exercises.anchor(title)
        found = [exercises.anchor(one) for one in exercises.headings(page)]
        assert found.count(anchor) == 1


def test_marked_report_adds_up():
    """It keeps to a page, and its points are those of the scale."""
    text = exercises.without_code((notebooks.BOOK / "report.md").read_text())
    report = text.split("## The report\n")[1].split("\n## ")[0]
    assert len(report.split()) < 600
    scale = PAGE.split("| what is judged |")[1].split("\n\n")[0]
    possible = dict(re.findall(r"^\| (\w+) \| (\d) \|", scale, re.MULTILINE))
    given = re.findall(r"\{admonition\} (\w+): (\d) of (\d)", report)
    assert {name.lower(): of for name, _, of in given} == possible
    assert sum(int(points) for _, points, _ in given) == 7
    assert "Seven of ten." in text


@pytest.mark.parametrize("course", COURSES)
def test_course_sets_no_exercise_too_early(course):
    known, seen, rows = exercises.estimates(), set(), lectures(course)
    for row in rows:
        seen |= sections(row)
        for label in SET.findall(row):
            page = next(one.chapter for one in exercises.everywhere() if one.label == label)
            every, after = places(f"{page}.md"), known[label]["after"]
            there = next(place for place in every if place[1] == after)
            assert there in seen, f"{label} in {row[:40]}"
    count = {"four": 4, "eight": 8, "fourteen": 14, "more": 4}
    assert len(rows) == count[course.split("-")[1]]


def test_whole_book_sets_nothing_twice_and_leaves_little_out():
    rows = lectures("sec-fourteen-lectures") + lectures("sec-more-lectures")
    labels = [label for row in rows for label in SET.findall(row)]
    assert len(set(labels)) == len(labels)
    assert len(labels) > 0.9 * len(exercises.everywhere())


@pytest.mark.parametrize("chapter", CHAPTERS, ids=first)
def test_times_are_those_of_the_chapter(chapter, html):
    text, page = chapter[0].read_text(), f"book/{chapter[0].stem}"
    title = re.search(r"^# .+$", text, re.MULTILINE)[0]
    title = numbering.titled(title, page, numbering.numbers()).removeprefix("# ")
    assert f"### {title}\n" in PAGE
    about = spoken(PAGE.split(f"### {title}\n")[1].split("Afterwards")[0])
    pencil = re.search(r"\*\*Time\*\*: (.+? with a pencil)", spoken(text))[1]
    run = re.search(r"cells\*{0,2} (?:run in|take) (.+?)(?: on two cores|,)", spoken(text))[1]
    assert f"Reading: {pencil}; running: {run}." in about
    said = re.findall(r"\d", about.split("Needs")[1].split(". ")[0])
    assert set(re.findall(r"[Cc]hapter (\d)", needs(text))) <= set(said)


HOURS = {"an hour": 60, "two hours": 120, "six hours": 360}
PARTS = {"": 0, " and a quarter": 15, " and a half": 30, " and three quarters": 45}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=first)
def test_time_with_a_pencil_is_that_of_words_displays_and_code(chapter):
    """On the first page; what lecturers read is compared with it above."""
    text = spoken(chapter[0].read_text())
    hours, part = re.search(r"\*\*Time\*\*: (\w+ hours?)(.*?) with a pencil", text).groups()
    assert HOURS[hours] + PARTS[part] == pytest.approx(times.chapter(chapter, "follow"), rel=0.15)
    assert times.chapter(chapter, "read") < times.chapter(chapter, "follow")
    assert times.chapter(chapter, "redo") > 2 * times.chapter(chapter, "follow")


def test_minutes_of_the_ways_are_those_of_their_pages():
    rows = re.findall(r"^\| (\[.+)\|$", (notebooks.BOOK / "ways.md").read_text(), re.MULTILINE)
    compared = 0
    for what, _, said, _ in (row.split("|") for row in rows if row.count("|") == 3):
        links = re.findall(r"\]\(([^)]+)\)", what)
        if all(re.fullmatch(r"\d\S+\.md", link) for link in links):  # whole pages of chapters
            found = sum(times.minutes(notebooks.BOOK / link, "read") for link in links)
            assert int(said) == pytest.approx(found, rel=0.15), what
            compared += 1
    assert compared > 20


def test_words_displays_and_cells_are_counted():
    text = "---\na: b\n---\n\nAn $x + y$ of\n\n$$\nx y\n$$ (eq-x)\n\n"
    text += "```{code-cell} ipython3\nx = 1\n```\n\n"
    text += "```{code-cell} ipython3\n:tags: [hide-input]\n\nx = 1\n```\n\n## Warm-ups\n\nDo it.\n"
    assert times.counted(times.lecture(text)) == (3, 1, 1)


def needs(text: str) -> str:
    """Return what the chapter says that one needs, before the time that it takes."""
    return spoken(text.split("**You need**")[1].split("**Time**")[0])


def test_exercise_without_level_is_refused(tmp_path):
    chapter = tmp_path / "01_toy.md"
    begin, end = "```{exercise-start} A toy\n:label: ex-toy\n```\n", "```{exercise-end}\n```\n"
    text = f"{begin}*By hand.* Do it.\n{end}"
    chapter.write_text(text)
    assert [(one.label, one.title, one.level) for one in exercises.of_chapter(chapter)] == [
        ("ex-toy", "A toy", "by hand")
    ]
    with pytest.raises(SystemExit, match=r"01_toy\.md: .*ex-toy"):
        exercises.table([chapter], {})
    with pytest.raises(SystemExit, match=r"01_toy\.md: ex-toy is set after no section 'None'"):
        exercises.table([chapter], {"ex-toy": {"after": "None", "minutes": 5}})
    chapter.write_text(text.replace("*By hand.* ", ""))
    with pytest.raises(ValueError, match=r"01_toy\.md: ex-toy must begin with"):
        exercises.of_chapter(chapter)
