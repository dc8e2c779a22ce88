"""What only people can fill in before a release: who answers for it, and where it is found.

`make release` prints what is missing, and the workflow makes no release while anything is.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = ("Documentation", "Source", "Issues")


def missing(project: dict, cited: dict) -> list[str]:
    """Return what is missing in the tables of `pyproject.toml` and `CITATION.cff`."""
    lines, urls = [], project.get("urls", {})
    if not any("email" in one for one in project.get("maintainers", ())):
        lines.append("pyproject.toml: maintainers, with an e-mail address of one of them")
    if any("family-names" not in one for one in cited["authors"]):
        lines.append("CITATION.cff: authors, as people (and `authors` of pyproject.toml)")
    absent = [name for name in ADDRESSES if name not in urls]
    lines += [f"pyproject.toml: {name} in [project.urls]" for name in absent]
    if urls.get("Source") != cited.get("repository-code"):
        lines.append("CITATION.cff: repository-code, the Source of pyproject.toml")
    return lines


def main() -> int:
    """Print what is missing; 1 if anything is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = missing(project, yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8")))
    if lines:
        print("Before a release people fill in:", *lines, sep="\n  ")
    return bool(lines)


if __name__ == "__main__":
    raise SystemExit(main())
