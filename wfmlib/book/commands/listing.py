"""`wfm list`: the experiments, and which archives are there."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from wfmlib.book.commands._table import table


def add(commands):
    """Add `wfm list`."""
    parser = commands.add_parser(
        "list",
        help="list the experiments and their archives",
        description=textwrap.dedent(
            """\
            List the experiments: chapter, source, samples at each scale, and how complete the
            archive at the scale of the papers is. Below them, archives of your own: of
            experiments run with other settings.

            Archives are looked for in the folder that WFMLIB_RESULTS names, else in book/results
            of the current folder or of one above it, and among those fetched from the book's
            site. This command fetches none."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm list                   all experiments
              wfm list --chapter 7       those of one chapter
              wfm list --folder results  with the archives of another folder

            archive: `complete`, `40 of 200` (samples), `of another definition` (what is swept or
            set has changed since: run it anew), `damaged` (it has not the SHA-256 of the
            registry), `on the site` (fetched when it is first read), or `none`.
            The exit status is 1 if an archive is damaged."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--chapter", type=int, choices=range(1, 14), metavar="N", help="only chapter N, 1 to 13"
    )
    parser.add_argument("--folder", metavar="FOLDER", help="where the archives are")
    parser.set_defaults(run=_run)


def _run(args):
    from wfmlib.book import experiments, runs

    folder = args.folder or experiments.results_folder()
    chosen = [experiments.get(name) for name in experiments.names()]
    chosen = [experiment for experiment in chosen if args.chapter in (None, experiment.chapter)]
    chosen.sort(key=lambda experiment: (experiment.chapter, experiment.name))
    rows = [("experiment", "chapter", "source", "quick", "paper", "archive")]
    for experiment in chosen:
        counts = [str(experiment.scale(scale).wanted) for scale in ("quick", "paper")]
        source = textwrap.shorten(experiment.source, 28, placeholder=" ...")
        files = [Path(folder, f"{experiment.name}.nc")] if folder else []
        if args.folder is None:
            files.append(experiments.cache_folder() / f"{experiment.name}.nc")
        archive = next((file for file in files if file.exists()), None)
        on_site = args.folder is None and f"{experiment.name}.nc" in runs.sums(runs.REGISTRY)
        state = _state(archive) if archive else "on the site" if on_site else "none"
        rows.append((experiment.name, str(experiment.chapter), source, *counts, state))
    print("\n".join(table(rows, right=(1, 3, 4))))
    own = sorted(Path(folder).glob(f"*{runs.MARK}*.nc")) if folder else []
    named = {experiment.name for experiment in chosen}
    own = [file for file in own if file.name.partition(runs.MARK)[0] in named]
    states = [_state(file) for file in own]
    if own:
        lines = [(file.name, state) for file, state in zip(own, states, strict=True)]
        print("\n" + "\n".join(table([("your own", "archive"), *lines])))
    return 1 if "damaged" in [*(row[-1] for row in rows), *states] else 0


def _state(file):
    """Say in a few words what an archive is; on stderr, what is wrong with a damaged one."""
    from wfmlib.book import experiments, runs

    try:
        data = runs.read(file)
    except (OSError, experiments.DamagedArchiveError) as error:
        print(f"wfm list: {error}", file=sys.stderr)
        return "damaged"
    experiment, scale = experiments.as_archived(data), data.attrs["scale"]
    if not runs.is_current(data, experiment, scale):
        return "of another definition"
    done, wanted = int(data["done"].sum()), experiment.scale(scale).wanted
    return "complete" if done == wanted else f"{done} of {wanted}"
