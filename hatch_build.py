"""What the build of the wheel adds: which archives the book's site has, and where the site is.

`wfmlib/runs/site.json` is written into the wheel, and nowhere else: in a checkout the
archives lie in `book/results`. The address is the environment's WFMLIB_SITE, if it is set.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARRIED = "wfmlib/runs/site.json"


def archives(results: Path) -> list[Path]:
    """Return the files of the archives at paper scale, and their provenance."""
    found = [path for kind in ("nc", "provenance.json") for path in results.glob(f"*.{kind}")]
    return sorted(path for path in found if ".quick." not in path.name)


def carried(results: Path, site: str) -> dict:
    """Return what the wheel is told: the site's address, and the SHA-256 of each file.

    A folder may stand for the site on one machine: the wheel, which goes to others, is not told.
    """
    on_the_web = site.startswith(("http://", "https://"))
    site = site.strip().rstrip("/") + "/" if on_the_web else ""
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives(results)}
    return {"site": site, "files": sums}


class SiteHook(BuildHookInterface):
    """Add the file to a wheel that is not an editable one."""

    def initialize(self, version, build_data):
        """Write the file aside, and name it to the builder."""
        if version == "editable":
            return
        told = carried(Path(self.root) / "book" / "results", os.environ.get("WFMLIB_SITE", ""))
        file = Path(tempfile.mkdtemp()) / "site.json"
        file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        build_data["force_include"][str(file)] = CARRIED

    def finalize(self, version, build_data, artifact_path):
        """Remove it again."""
        for file, place in build_data["force_include"].items():
            if place == CARRIED:
                Path(file).unlink()
                Path(file).parent.rmdir()
