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
import contextlib
import dataclasses
import json
import sys
from datetime import UTC, datetime

from wfmlib.book import experiments
from wfmlib.runs import archive, samples

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
    data, told = archive.read(path), archive.read_provenance(path)
    old, new = data.attrs["definition"], experiment.definition(SCALE)
    if old == new:
        return "nothing to do"
    settings = json.loads(data.attrs["settings"])
    before = with_settings(experiment, settings)
    if before.definition(SCALE) != old:
        raise ValueError(f"{name}: not only the settings differ from those of the archive")
    data.attrs |= {
        "definition": new,
        "settings": json.dumps(experiment.scale(SCALE).settings),
        "version": experiment.version,
    }
    note = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "definition_before": old,
        "settings_before": settings,
    }
    told |= {
        "computed_by_code": {archive.UNKNOWN: told["samples_done"]},
        "resettled": [*told.get("resettled", []), note],
    }
    for name_of_code in ("code_per_sample", "verified"):
        told.pop(name_of_code, None)
    archive.put(path, data, told)
    copied = _copy_samples(experiment, before)
    return f"settings stated anew, {copied} samples of the cache copied"


def with_settings(experiment, settings):
    """Return the experiment as it would be with other settings at the papers' scale."""
    scale = dataclasses.replace(experiment.scale(SCALE), settings=settings)
    return dataclasses.replace(experiment, scales=experiment.scales | {SCALE: scale})


def _copy_samples(experiment, before):
    """Copy finished samples of the old definition; return how many there were."""
    source, target, found = samples.Store(before, SCALE), samples.Store(experiment, SCALE), 0
    target.prepare()
    for task in experiments.tasks(experiment, SCALE):
        with contextlib.suppress(samples.DamagedSampleError):
            record = source.read(task)
            if record is not None:
                found += 1
                if not target.path(task).exists():
                    target.write(task, record)
    return found


if __name__ == "__main__":
    sys.exit(main())
