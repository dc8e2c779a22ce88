"""`wfm list`: the experiments, and which archives are there."""

from __future__ import annotations

import argparse
import sys
import textwrap

from wfmlib.book.commands._table import table

ON_SITE = "on the site"


def add(commands):
    """Add `wfm list`."""
    parser = commands.add_parser(
        "list",
        help="list the experiments and their archives",
        description=textwrap.dedent(
            """\
            List the experiments: chapter, source, samples at each scale, how complete the archive
            at the scale of the papers is, and whether the code that is here made or verified it.
            Below them, archives of your own: of experiments run with other settings.

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
            set has changed since: run it anew), `damaged` (it, or its provenance, is not as it was
            written; below the table stands what is wrong), `on the site` (fetched when it is first
            read), or `none`.
            code: `made` (all samples, by the code that is here), `verified` (the others agree with
            new ones, see `wfm verify`), `differs` (they do not), or `unverified`.
            The exit status is 1 if an archive is damaged."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--chapter", type=int, choices=range(1, 13), metavar="N", help="only chapter N, 1 to 12"
    )
    parser.add_argument("--folder", metavar="FOLDER", help="where the archives are")
    parser.set_defaults(run=_run)


def _run(args):
    from wfmlib.book import experiments

    folder, wrong = args.folder, []
    chosen = [experiments.get(name) for name in experiments.names()]
    chosen = [one for one in chosen if args.chapter in (None, one.chapter)]
    if not chosen:
        print("no experiments", file=sys.stderr)
        return 0
    chosen.sort(key=lambda one: (one.chapter, one.name))
    rows = [("experiment", "chapter", "source", "quick", "paper", "archive", "code")]
    for one in chosen:
        counts = [str(one.scale(scale).wanted) for scale in ("quick", "paper")]
        source = textwrap.shorten(one.source, 28, placeholder=" ...")
        told = _state(one, folder, wrong)
        code = "" if told == ON_SITE else experiments.state(one.name, folder)
        rows.append((one.name, str(one.chapter), source, *counts, told, code))
    print("\n".join(table(rows, right=(1, 3, 4))))
    rows = [("your own", "scale", "archive", "code")]
    for name, scale in experiments.own(folder):
        one = experiments.get(name.partition(experiments.MARK)[0])
        if one in chosen:
            code = experiments.state(name, folder, scale=scale)
            rows.append((name, scale, _state(one, folder, wrong, name, scale), code))
    if len(rows) > 1:
        print("\n" + "\n".join(table(rows)))
    for error in wrong:
        print(f"wfm list: {error}", file=sys.stderr)
    return 1 if wrong else 0


def _state(experiment, folder, wrong, name=None, scale="paper"):
    """Say in a few words what archive an experiment has, or one of this name.

    What is wrong with a damaged one is added to `wrong`.
    """
    from wfmlib.book import experiments

    try:
        path = experiments.find(name or experiment.name, folder, scale=scale, download=False)
        data = experiments.read(path)
    except experiments.NotFetchedError:
        return ON_SITE
    except FileNotFoundError:
        return "none"
    except (OSError, experiments.DamagedArchiveError) as error:
        wrong.append(error)
        return "damaged"
    experiment = experiments.as_archived(experiment, data, scale)
    if not experiments.is_current(data, experiment, scale):
        return "of another definition"
    done, wanted = int(data["done"].sum()), experiment.scale(scale).wanted
    return "complete" if done == wanted else f"{done} of {wanted}"
