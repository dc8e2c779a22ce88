"""The ledger: what the papers state, what we find, and whether the two agree.

The claims are written down in ``claims.toml``, and each that is checked names a function of
``claim_checks`` that finds its answer:

    >>> from wfmlib.book import claims
    >>> claims.check("max-margin-half-load")
    max-margin-half-load: quoted 0.418 (P3, letter, Fig. 3), found 0.41806: holds

To add a claim, add an entry to ``claims.toml`` and, where it can be checked, a function to
``claim_checks``. A claim that fails, or that cannot be reached, stays with its verdict. A claim on
a run at paper scale is read from the archive of that run; without the archive it is not checked.
Where the data or the words of the source cannot tell, the claim is undecided, and the verdict says
how many samples would, or what is left open.
"""

from __future__ import annotations

import difflib
import html
import json
import math
import os
import re
import sys
import time
import tomllib
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from wfmlib.numerics import arguments

__all__ = [
    "CALIBRATED",
    "DIFFERS",
    "HOLDS",
    "LATER",
    "NOT_CHECKED",
    "PAPERS",
    "UNDECIDED",
    "VERDICTS",
    "Claim",
    "Scorecard",
    "Source",
    "Verdict",
    "check",
    "check_all",
    "get",
    "load",
    "scorecard",
    "summary",
    "to_markdown",
]


def __dir__():
    return __all__


#: Verdict: our value lies within the tolerance.
HOLDS = "holds"
#: Verdict: it does not, and the ledger says why.
DIFFERS = "differs"
#: Verdict: the data, or the words of the source, cannot tell.
UNDECIDED = "undecided"
#: Verdict: it agrees, but a setting that the paper leaves out was chosen so that it does.
CALIBRATED = "calibrated"
#: Verdict: checking needs something that is not here; the ledger says what.
NOT_CHECKED = "not checked here"

#: All verdicts, each with the word for several claims.
VERDICTS = {
    HOLDS: "hold",
    DIFFERS: "differ",
    UNDECIDED: "undecided",
    CALIBRATED: "calibrated",
    NOT_CHECKED: "not checked here",
}

#: The three papers, by the names that sources cite.
PAPERS = {
    "P1": "Baldassi, Pittorino, Zecchina, PNAS 117, 161 (2020)",
    "P2": "Baldassi, Malatesta, Zecchina, Phys. Rev. Lett. 123, 170602 (2019)",
    "P3": "Baldassi, Lauditi, Malatesta, Perugini, Zecchina, Phys. Rev. Lett. 127, 278301 (2021)",
}
#: Later papers, of which a few statements are checked, by the names that sources cite.
LATER = {
    "S1": "Stojnic, arXiv:2506.19276 (2025)",
    "S2": "Stojnic, arXiv:2511.01037 (2025)",
    "S3": "Stojnic, arXiv:2601.10628 (2026)",
    "S4": "Stojnic, arXiv:2604.19712 (2026)",
    "S5": "Stojnic, arXiv:2312.08244 (2023)",
    "E92": "Engel, Köhler, Tschepke, Vollmayr, Zippelius, Phys. Rev. A 45, 7590 (1992)",
    "A25": "Annesi, Malatesta, Zamponi, SciPost Phys. 18, 118 (2025)",
    "PZ26": "Parisi, Zamponi, arXiv:2606.03300 (2026)",
    "ZP21": "Zavatone-Veth, Pehlevan, Phys. Rev. E 103, L020301 (2021)",
    "A1": "Annesi and others, Phys. Rev. Lett. 131, 227301 (2023)",
    "D1": "Straziota, Demyanenko, Baldassi, Lucibello, arXiv:2502.16292 (2025)",
    "AT24": "Altschuler, Tikhomirov, arXiv:2401.15092 (2024)",
    "B23": "Barbier, El Alaoui, Krzakala, Zdeborová, arXiv:2310.02850 (2023)",
    "D17": "Dinh, Pascanu, Bengio, Bengio, ICML (2017), arXiv:1703.04933",
    "B20": "Baldassi, Malatesta, Negri, Zecchina, J. Stat. Mech. 124012 (2020)",
    "SB25": "Scherlis, Belrose, arXiv:2501.18812 (2025)",
}


#: Of each chapter the page whose table has its claims: lines of the scorecard lead there.
_PAGES = {
    1: "01_4_exercises",
    2: "02_4_exercises",
    3: "03_4_exercises",
    4: "04_4_exercises",
    5: "05_4_exercises",
    6: "06_4_exercises",
    7: "07_4_exercises",
    8: "08_4_exercises",
    9: "09_4_exercises",
    10: "10_3_exercises",
    11: "11_4_exercises",
    12: "12_3_exercises",
    13: "13_4_exercises",
}
_COLUMNS = ("Claim", "Quoted", "Found", "Verdict")
#: Letters that stand alone, each with what is below it or above: they are set as mathematics.
_LETTERS = re.compile(
    r"(?<![\w'’&#])(?<!\w-)([b-zB-HJ-Z]|[α-ωΑ-Ω]'?)(?:_([-−]?\w+)|(?<![A-Z])([01])\b)?(?![\w'’])"
    r"|((?<!\w)\d+|\))\^\(?([-−]?[\w/]+)\)?"
)


# ------------------------------------------------------------------------------------------------
# Claims
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where a claim stands: `paper` is a key of `PAPERS` or `LATER`, `at` the place in it.

    Examples
    --------
    >>> get("binary-perceptron-capacity").source.paper
    'P3'
    """

    paper: str
    at: str

    def __str__(self):
        return f"{self.paper}, {self.at}"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper.

    Attributes
    ----------
    id : str
        Short and stable; the anchor of the claim on the scorecard.
    chapter : int
        The chapter that checks it, 1 to 13.
    source : Source
        Paper, and place in it.
    statement : str
        What is claimed, in our own words.
    quoted : float or str
        The number as the paper prints it; for a claim without a number, the statement.
    printed : str
        The number as written in the paper; empty for a claim without a number.
    tolerance : float or None
        Largest ``|found - quoted|`` that agrees; None for a claim without a number.
    why : str
        Where the tolerance comes from.
    kind : str
        ``"live"``: computed on the spot; ``"archive"``: read from a stored run at paper scale.
    compute : str or None
        Name of the function of `claim_checks` that finds it; None where it is not checked.
    archive : str or None
        Name of the experiment whose archive `compute` reads; None where it reads none.
    expected : str
        The verdict that we know to come, once the archive is there.
    reason : str
        Why the claim is not checked here, why it differs, or why the data cannot tell.
    calibrated : str
        Which setting was chosen so that the claim comes out; empty where none was.
    hedge : str
        Which words of the source, or which setting of ours, allow another result, so that the
        claim is undecided where it does not come out; empty where none does.
    words : str
        The words of the source that decide, a few at most.
    fails : str
        What would have made the check fail; of a claim that is not checked, what would.

    Examples
    --------
    >>> claim = get("binary-perceptron-capacity")
    >>> claim.id, claim.numeric
    ('binary-perceptron-capacity', True)
    >>> claim.how
    'The load at which the replica-symmetric entropy vanishes.'
    """

    id: str
    chapter: int
    source: Source
    statement: str
    quoted: float | str
    printed: str
    tolerance: float | None
    why: str
    kind: str
    compute: str | None
    archive: str | None
    expected: str
    reason: str
    calibrated: str
    hedge: str
    words: str
    fails: str

    @property
    def numeric(self) -> bool:
        """Whether the claim is a number; otherwise it is true or false."""
        return self.tolerance is not None

    @property
    def how(self) -> str:
        """How it is found, in a line; empty where it is not checked."""
        return _function(self).__doc__.splitlines()[0] if self.compute else ""


@cache
def load():
    """Return all claims, in the order of the ledger.

    Returns
    -------
    tuple of Claim

    Examples
    --------
    >>> len(load()) > 200
    True
    """
    text = resources.files("wfmlib.book").joinpath("claims.toml").read_text(encoding="utf-8")
    return tuple(_claim(entry) for entry in tomllib.loads(text)["claim"])


def _claim(entry):
    """Return the `Claim` of one table of the file, with what it leaves out filled in."""
    quoted, agrees = entry.get("quoted"), CALIBRATED if "calibrated" in entry else HOLDS
    defaults = {
        "quoted": entry["statement"],
        "printed": "" if quoted is None else f"{quoted:g}",
        "tolerance": None,
        "why": "",
        "compute": None,
        "archive": None,
        "expected": agrees if "compute" in entry else NOT_CHECKED,
        "reason": "",
        "calibrated": "",
        "hedge": "",
        "words": "",
        "fails": f"more than {entry['tolerance']:g} from it" if "tolerance" in entry else "",
    }
    return Claim(**(defaults | entry | {"source": Source(**entry["source"])}))


def get(id: str) -> Any:
    """Return the claim with this id.

    Raises
    ------
    TypeError
        If `id` is not a string.
    ValueError
        If there is no such claim; the message names those with a similar id.

    Examples
    --------
    >>> get("binary-perceptron-capacity").numeric
    True
    """
    if not isinstance(id, str):
        raise TypeError(f"id must be a string, got {id!r}")
    claims = {claim.id: claim for claim in load()}
    if id in claims:
        return claims[id]
    close = (
        difflib.get_close_matches(id, claims, n=3) or [name for name in claims if id in name][:3]
    )
    hint = f"; did you mean {' or '.join(close)}?" if id and close else ""
    raise ValueError(f"id must be that of one of the {len(claims)} claims, got {id!r}{hint}")


# ------------------------------------------------------------------------------------------------
# Verdicts
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What came of one claim.

    Attributes
    ----------
    claim : Claim
        The claim; its `id`, `quoted`, `tolerance` and `kind` can be read from here too.
    found : float, str or None
        The number found; for a claim without a number, what was found in words; None where it
        was not checked.
    verdict : str
        One of `VERDICTS`.
    reason : str
        Why it was not checked, why it differs where we know, or which setting was chosen.
    seconds : float
        How long the check took.
    absent : bool
        Whether it was not checked because an archive, or a part of its samples, is not here.
    needed : str
        Where it is undecided, how many samples would decide, or which words or setting leave it
        open; otherwise empty.

    Examples
    --------
    >>> check("binary-perceptron-capacity").as_expected
    True
    >>> verdict = check("binary-perceptron-capacity")
    >>> verdict.id, verdict.kind, verdict.quoted, verdict.found_text
    ('binary-perceptron-capacity', 'live', 0.833, '0.83308')
    """

    claim: Claim
    found: float | str | None
    verdict: str
    reason: str
    seconds: float
    absent: bool = False
    needed: str = ""

    @property
    def id(self) -> Any:
        """The id of the claim."""
        return self.claim.id

    @property
    def quoted(self) -> Any:
        """The number as printed, or the statement."""
        return self.claim.quoted

    @property
    def tolerance(self) -> Any:
        """The largest difference that agrees; None for a claim without a number."""
        return self.claim.tolerance

    @property
    def kind(self) -> Any:
        """Either ``"live"`` or ``"archive"``."""
        return self.claim.kind

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the ledger expects; without the archive, any is."""
        return self.absent or self.verdict == self.claim.expected

    @property
    def found_text(self) -> str:
        """What was found: numbers with two digits more than the tolerance resolves."""
        if not isinstance(self.found, float):
            return self.found or ""
        decimals = max(0, 1 - math.floor(math.log10(self.tolerance)))
        return f"{self.found:.{decimals}f}"

    def as_dict(self) -> dict:
        """Return the claim and what came of it as plain values, for JSON."""
        return asdict(self.claim) | {
            "how": self.claim.how,
            "found": self.found,
            "verdict": self.verdict,
            "reason": self.reason,
            "needed": self.needed,
            "as_expected": self.as_expected,
            "absent": self.absent,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self):
        statement = f"quoted {self.claim.printed}" if self.claim.numeric else self.claim.statement
        finding = f", found {self.found_text}" if self.found is not None else ""
        return f"{self.id}: {statement} ({self.claim.source}){finding}: {self.verdict}"


def check(id: str) -> Verdict:
    """Check one claim.

    Parameters
    ----------
    id : str
        The id of the claim.

    Returns
    -------
    Verdict
        A number holds when it lies within the tolerance of the quoted one; where the claim has a
        setting that was chosen, it is calibrated then. Where an archive is needed and is not here
        whole, the claim is not checked.

    Raises
    ------
    TypeError
        If `id` is not a string.
    ValueError
        If there is no such claim; the message names those with a similar id.

    Examples
    --------
    >>> check("binary-perceptron-capacity").kind
    'live'
    """
    claim = get(id)
    if claim.compute is None:
        return Verdict(claim, None, NOT_CHECKED, claim.reason, 0.0)
    from wfmlib.book.experiments import ArchiveError
    from wfmlib.numerics.solvers import NotConverged

    start = time.perf_counter()
    try:
        with warnings.catch_warnings():  # that a run ends without a solution is what is counted
            warnings.simplefilter("ignore", UserWarning)
            answer = _answer(claim)
    except NotConverged as error:  # one claim less, not the end of the list
        seconds = time.perf_counter() - start
        return Verdict(claim, None, NOT_CHECKED, f"a solver gave up: {error}", seconds)
    except ArchiveError as error:
        seconds = time.perf_counter() - start
        return Verdict(claim, None, NOT_CHECKED, str(error), seconds, error.absent)
    seconds = time.perf_counter() - start
    agrees, finding, *needed = answer
    if claim.numeric and abs(finding - claim.quoted) <= claim.tolerance:
        agrees = True
    verdict = _verdict(claim, agrees)
    reason = claim.reason if verdict == claim.expected else ""
    if verdict == CALIBRATED:
        reason = claim.calibrated
    advice = ""
    if verdict == UNDECIDED:
        advice = _needed(*needed) if agrees is None else claim.hedge
    return Verdict(claim, finding, verdict, reason, seconds, needed=advice)


def _verdict(claim, agrees):
    """Return the verdict on a claim that agrees (True), does not (False), or may (None)."""
    if agrees is None or (claim.hedge and not agrees):
        return UNDECIDED
    if not agrees:
        return DIFFERS
    return CALIBRATED if claim.calibrated else HOLDS


def _needed(number, of):
    """Put into words how many samples would decide; nothing where no number of them would."""
    if number is None:
        return ""
    if number >= 1_000_000:
        return f"more than a million {of} would be needed to tell"
    digits = max(0, len(str(number)) - 2)  # of an estimate, two digits mean something
    about = -(-number // 10**digits) * 10**digits
    return f"about {about} {of} would tell"


def check_all(
    ids: Iterable[str] | None = None, *, progress: bool | None = None
) -> tuple[Verdict, ...]:
    """Check many claims.

    Parameters
    ----------
    ids : iterable of str, optional
        The claims to check; all where None.
    progress : bool, optional
        Show a progress bar: True, False, or None for a bar where stderr is a terminal.

    Returns
    -------
    tuple of Verdict
        In the order of `ids`.

    Raises
    ------
    TypeError
        If an id is not a string, or `ids` is one string.
    ValueError
        If there is no such claim, or `progress` is none of the three; nothing is checked then.

    Examples
    --------
    >>> [verdict.verdict for verdict in check_all(["binary-perceptron-capacity"])]
    ['holds']
    """
    if isinstance(ids, str):
        raise TypeError(f"ids must be several ids, got {ids!r}; check() takes a single one")
    if ids is not None and not isinstance(ids, Iterable):
        raise TypeError(f"ids must be several ids, got {ids!r}")
    arguments.choice("progress", progress, (None, False, True))
    claims = load() if ids is None else [get(id) for id in ids]
    if progress is None:
        progress = sys.stderr.isatty()
    verdicts = []
    with tqdm(claims, disable=not progress, unit="claim", leave=False) as bar:
        for claim in bar:
            bar.set_description(claim.id)
            verdicts.append(check(claim.id))
    return tuple(verdicts)


def _answer(claim):
    """Return what the check of a claim finds: whether it agrees, what was found, what would tell.

    With WFMLIB_ANSWERS naming a folder, answers are kept there and read back: the book asks for
    each on its chapter's page and on the scorecard. Whoever names the folder empties it when the
    sources change, as `make book` and `make test` do.
    """
    folder, function = os.environ.get("WFMLIB_ANSWERS"), _function(claim)
    if not folder or claim.archive:  # an archive may change while the sources do not
        return _plain(function())
    kept = Path(folder) / f"{claim.compute}.json"
    try:
        return json.loads(kept.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):  # or another process is writing it
        answer = _plain(function())
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(answer), encoding="utf-8")
    return answer


def _plain(answer):
    """Return an answer as a list of plain values; a number alone agrees only by its tolerance."""
    agrees, finding, *needed = answer if isinstance(answer, tuple) else (False, float(answer))
    return [None if agrees is None else bool(agrees), finding, *needed]


def _function(claim):
    """Return the function that checks a claim."""
    from wfmlib.book import claim_checks  # late: reading the list needs no numerics

    return getattr(claim_checks, claim.compute)


# ------------------------------------------------------------------------------------------------
# The scorecard
# ------------------------------------------------------------------------------------------------

_MARKS = {HOLDS: "✓", DIFFERS: "✗", UNDECIDED: "?", CALIBRATED: "=", NOT_CHECKED: "–"}


def summary(verdicts: Any) -> str:
    """Return a line that counts the verdicts.

    Examples
    --------
    >>> summary([check("binary-perceptron-capacity")])
    '1 claim: 1 holds, 0 differ, 0 undecided, 0 calibrated, 0 not checked here'
    """
    count = {kind: sum(v.verdict == kind for v in verdicts) for kind in VERDICTS}
    surprises = [v.id for v in verdicts if not v.as_expected]
    claims = f"{len(verdicts)} claim{'' if len(verdicts) == 1 else 's'}"
    line = f"{claims}: " + ", ".join(
        f"{number} {kind if number == 1 else VERDICTS[kind]}" for kind, number in count.items()
    )
    without = sorted({v.claim.archive or v.id for v in verdicts if v.absent})
    line += f". Archives missing or incomplete: {', '.join(without)}" if without else ""
    return line + (f". Not as expected: {', '.join(surprises)}" if surprises else "")


@dataclass(frozen=True)
class Scorecard:
    """Verdicts as a page shows them: a table a chapter, each line with its claim's id as anchor.

    A notebook renders the object itself; `to_markdown` gives the same as text. Of several chapters
    what differs comes first, in a table of its own, below a strip with a mark for every claim.

    Examples
    --------
    >>> card = scorecard(["binary-perceptron-capacity"])
    >>> card.to_markdown().splitlines()[0]
    '1 claim: 1 holds, 0 differ, 0 undecided, 0 calibrated, 0 not checked here'
    """

    verdicts: tuple[Verdict, ...]

    def __repr__(self):
        return f"Scorecard({summary(self.verdicts)})"

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        lines = [summary(self.verdicts), ""]
        for chapter, verdicts in _by_chapter(self.verdicts):
            lines += [f"**Chapter {chapter}**", "", "| claim | quoted | found | verdict |"]
            lines += ["| --- | --- | --- | --- |"]
            lines += [_markdown_row(verdict) for verdict in verdicts]
            lines += [""]
        return "\n".join(lines)

    def _repr_html_(self):
        whole = len(self.verdicts) == len(load())  # the scorecard leads to chapters, they to it
        chapters = [(f"Chapter {number}", list(own)) for number, own in _by_chapter(self.verdicts)]
        tables, strip = chapters, ""
        if len(chapters) > 1:
            strip = _strip(chapters)
            differ = [verdict for _, own in chapters for verdict in own if _differs(verdict)]
            kept = [(name, [v for v in own if not _differs(v)]) for name, own in chapters]
            tables = [("What differs", differ), *kept]
        said = summary(self.verdicts)
        if not strip or "." in said:  # the strip counts, but does not say what is missing
            strip = f"<p>{html.escape(said)}</p>\n" + strip
        return strip + "\n".join(_html_table(name, own, whole) for name, own in tables if own)


def scorecard(ids: Iterable[str] | None = None, *, progress: bool | None = None) -> Scorecard:
    """Check claims, all by default, and return the `Scorecard` of what came.

    Examples
    --------
    >>> len(scorecard(["binary-perceptron-capacity"]).verdicts)
    1
    """
    return Scorecard(check_all(ids, progress=progress))


def to_markdown(verdicts: Any) -> str:
    """Return verdicts as Markdown tables, one a chapter.

    Examples
    --------
    >>> to_markdown([check("binary-perceptron-capacity")]).splitlines()[0]
    '1 claim: 1 holds, 0 differ, 0 undecided, 0 calibrated, 0 not checked here'
    """
    return Scorecard(tuple(verdicts)).to_markdown()


def _by_chapter(verdicts):
    """Yield each chapter, in order, with its verdicts, in the order given."""
    ordered = sorted(verdicts, key=lambda verdict: verdict.claim.chapter)
    return groupby(ordered, key=lambda verdict: verdict.claim.chapter)


def _differs(verdict):
    return verdict.verdict == DIFFERS


def _result(verdict):
    """Return a verdict with its mark, and what was expected where that is another."""
    expected = "" if verdict.as_expected else f" (expected: {verdict.claim.expected})"
    return f"{_MARKS[verdict.verdict]} {verdict.verdict}{expected}"


def _markdown_row(verdict):
    claim = verdict.claim
    how = claim.how if verdict.found is not None else ""
    quoted = (f"{claim.printed} ± {claim.tolerance:g}", claim.why) if claim.numeric else ()
    cells = [
        "<br>".join(line.replace("|", "\\|") for line in cell if line)
        for cell in (
            (claim.statement, f"{claim.source}: {claim.words}".removesuffix(": ")),
            quoted,
            (verdict.found_text, how, verdict.needed, verdict.reason),
            (_result(verdict),),
        )
    ]
    return f'| <span id="{verdict.id}"></span>{" | ".join(cells)} |'


def _typeset(text):
    """Return a text as HTML, with single letters, indices and powers set as mathematics."""

    def letter(match):
        name, below, digit, base, power = match.groups()
        if base:
            return f"{base}<sup>{power}</sup>"
        below = below or digit or ""
        return f"<i>{name}</i>" + (f"<sub>{below}</sub>" if below else "")

    text = re.sub(r"(?<![\w.])-(?=\d)", "−", html.escape(text, quote=False))
    return _LETTERS.sub(letter, text)


def _strip(chapters):
    """Return a row of marks for each chapter, one a claim, that lead to the lines."""
    count = {kind: sum(v.verdict == kind for _, own in chapters for v in own) for kind in VERDICTS}
    legend = "".join(
        f'<li><b data-verdict="{kind}">{_MARKS[kind]}</b> {count[kind]} {VERDICTS[kind]}</li>'
        for kind in VERDICTS
    )
    rows = []
    for name, verdicts in chapters:
        marks = "".join(
            f'<a href="#{v.id}" data-verdict="{v.verdict}" aria-label="{v.id}: {v.verdict}" '
            f'title="{html.escape(v.claim.statement)}">{_MARKS[v.verdict]}</a>'
            for v in verdicts
        )
        rows.append(f"<dt>{name}</dt><dd>{marks}</dd>")
    number = sum(count.values())
    return (
        f'<div class="wfm-strip"><p>{number} claims:</p><ul>{legend}</ul>'
        f"<dl>{''.join(rows)}</dl></div>\n"
    )


def _html_table(name, verdicts, whole):
    """Return a table of claims. Wider than a phone it scrolls by itself, with the keyboard too."""
    heads = "".join(f'<th scope="col">{column}</th>' for column in _COLUMNS)
    rows = "\n".join(_html_row(verdict, whole) for verdict in verdicts)
    return (
        '<div class="wfm-scorecard" style="overflow-x: auto" tabindex="0" role="region" '
        f'aria-label="Claims: {name}">\n<table><caption>{name}</caption>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _html_row(verdict, whole):
    """Return a line of a table; its data say by what the page filters it and labels its cells.

    Below the statement stands the source, which unfolds to all the rest.
    """
    claim = verdict.claim
    page = _PAGES[claim.chapter] if whole else "scorecard"
    place = f"in chapter {claim.chapter}" if whole else "on the scorecard"
    shown = [verdict.reason] if _differs(verdict) else [verdict.needed]
    rest = {
        "Words of the source": claim.words,
        "Tolerance": f"{claim.tolerance:g}: {claim.why}" if claim.numeric else "",
        "How it is found": claim.how if verdict.found is not None else "",
        "Why": "" if verdict.reason in shown else verdict.reason,
        "What would have failed": claim.fails,
    }
    opened = "".join(
        f"<br>{key}: {_typeset(text.rstrip('.'))}." for key, text in rest.items() if text
    )
    source = f"<details><summary><small>{html.escape(str(claim.source))}</small></summary>"
    source += f'<small><a href="{page}.html#{claim.id}">{claim.id}</a>, {place}{opened}</small>'
    found = [_typeset(verdict.found_text)] if verdict.found_text else []
    found += [f"<small>{_typeset(line)}</small>" for line in shown if line]
    printed = _typeset(claim.printed) if claim.numeric else ""
    said = f"<div>{'<br>'.join(found)}</div>" if found else ""
    cells = printed, said, html.escape(_result(verdict))
    return (
        f'<tr id="{claim.id}" data-chapter="{claim.chapter}" data-paper="{claim.source.paper}" '
        f'data-verdict="{verdict.verdict}">'
        f'<th scope="row">{_typeset(claim.statement)} {source}</details></th>'
        + "".join(
            f'<td data-label="{name}">{cell}</td>'
            for name, cell in zip(_COLUMNS[1:], cells, strict=True)
        )
        + "</tr>"
    )
