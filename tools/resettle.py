"""Give an archive the settings that its experiment states now, and leave its samples as they are.

    python -m tools.resettle NAME [NAME ...]

For the case that an experiment comes to state in its settings what stood in its code before: the
samples are those of the same recipe, but their definition is another one. The archive's settings
and definition are replaced, finished samples in the user's cache are copied to the folder of the
new definition, and the provenance notes both and the date under `resettled`. Whether the recipe is
the same is not taken on trust: the archive counts as unverified, and `wfm verify` computes some of
its samples with the new settings.

It refuses an archive whose definition differs in anything but the settings.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import shutil
import sys
from datetime import UTC, datetime

from wfmlib import experiments
from wfmlib.experiments import archive, samples

SCALE = "paper"


def main(argv=None):
    """Convert the archives that are named; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME")
    for name in parser.parse_args(argv).names:
        print(f"{name}: {resettle(name)}")
    return 0


def resettle(name, folder=None):
    """Convert one archive; return what was done, in words.

    Raises
    ------
    ValueError
        If its definition differs from the experiment's in more than the settings.
    """
    experiment = experiments.get(name)
    folder = experiments.results_folder() if folder is None else folder
    path = archive.archive_path(name, SCALE, folder)
    data, told = archive.read(path), archive.read_provenance(path) or {}
    old, new = data.attrs["definition"], experiment.definition(SCALE)
    if old == new:
        return "nothing to do"
    settings = json.loads(data.attrs["settings"])
    if with_settings(experiment, settings).definition(SCALE) != old:
        raise ValueError(f"{name}: not only the settings differ from those of the archive")
    data.attrs |= {
        "definition": new,
        "settings": json.dumps(experiment.scale(SCALE).settings),
        "version": experiment.version,
    }
    content = archive.to_bytes(data)
    note = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "definition_before": old,
        "settings_before": settings,
    }
    told |= {
        "archive_sha256": hashlib.sha256(content).hexdigest(),
        "computed_by_code": {archive.UNKNOWN: told["samples_done"]},
        "resettled": [*told.get("resettled", []), note],
    }
    for name_of_code in ("code_per_sample", "verified"):
        told.pop(name_of_code, None)
    samples.write_atomically(path, content)
    archive.write_provenance(path, told)
    copied = _copy_samples(experiment, old)
    return f"settings stated anew, {copied} samples of the cache copied"


def with_settings(experiment, settings):
    """Return the experiment as it would be with other settings at the papers' scale."""
    scale = dataclasses.replace(experiment.scale(SCALE), settings=settings)
    return dataclasses.replace(experiment, scales=experiment.scales | {SCALE: scale})


def _copy_samples(experiment, old):
    """Copy finished samples of the old definition; return how many there were."""
    target = samples.Store(experiment, SCALE).folder
    source = target.with_name(f"{experiment.name}-{SCALE}-{old}")
    found = sorted(source.glob("*.json")) if source.is_dir() else []
    target.mkdir(parents=True, exist_ok=True)
    for path in found:
        if not (target / path.name).exists():
            shutil.copy2(path, target)
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
