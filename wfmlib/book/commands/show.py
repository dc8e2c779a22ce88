"""`wfm show`: what an archive holds."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import textwrap

from wfmlib.book.commands._table import GAP, WIDTH, named, table

SHOWN = 40  # points of the grid


def add(commands):
    """Add `wfm show`."""
    parser = commands.add_parser(
        "show",
        help="show what an archive holds",
        description=textwrap.dedent(
            """\
            Show what an archive holds: dimensions, parameters, where it comes from, and means over
            the samples with their standard errors.

            Samples without a value (NaN) are left out of a mean; how many it is then taken over
            stands behind it in brackets. Of a curve the last value is shown."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm show NAME                   the archive at the scale of the papers
              wfm show NAME --scale quick     that of the last quick run
              wfm show NAME --folder results  that of another folder
              wfm show NAME--N=501 --scale quick
                                              one of your own, by its name in `wfm list`"""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="experiment, see `wfm list`")
    parser.add_argument(
        "--scale", choices=("quick", "paper"), default="paper", help="which (default: paper)"
    )
    parser.add_argument("--folder", metavar="FOLDER", help="where the archive is")
    parser.set_defaults(run=_run)


def _run(args):
    from wfmlib.book import experiments

    try:
        path = experiments.find(args.name, args.folder, scale=args.scale)
        data = experiments.read(path)
    except (OSError, experiments.DamagedArchiveError) as error:
        print(f"wfm show: {error}", file=sys.stderr)
        return 1
    experiment = experiments.get(args.name.partition(experiments.MARK)[0])
    experiment = experiments.as_archived(experiment, data, args.scale)
    print(f"{args.name}: {data.attrs['title']}")
    for name, text in _parameters(data) + _origin(experiments.read_provenance(path)):
        print(named(name, text, indent=2))
    if not experiments.is_current(data, experiment, args.scale):
        print(named("note", "the experiment's definition has changed since", indent=2))
    print()
    _print_variables(data)
    grid = [name for name in experiment.scale(args.scale).grid if name in data.dims]
    _print_means(data, grid)
    return 0


def _parameters(data):
    """Return what was run, as pairs of name and text."""
    attributes = data.attrs
    settings = json.loads(attributes["settings"])
    sizes = [f"{name} {size}{_range(data, name)}" for name, size in data.sizes.items()]
    done, wanted = int(data["done"].sum()), data["done"].size
    return [
        ("source", f"{attributes['source']} (chapter {attributes['chapter']})"),
        *_changes(attributes),
        ("samples", f"{done} of {wanted}, {attributes['scale']} scale"),
        ("sweep", ", ".join(sizes)),
        ("settings", ", ".join(f"{name} = {value}" for name, value in settings.items()) or "none"),
        ("seed", f"{attributes['seed']}: {attributes['seeds']}"),
    ]


def _changes(attributes):
    """Return the settings that are not the book's, as a pair of name and text."""
    changes = json.loads(attributes.get("changes", "{}"))
    return [("changed", ", ".join(f"{name} = {value}" for name, value in changes.items()))] * bool(
        changes
    )


def _range(data, name):
    """Say which values a dimension has."""
    if name not in data.coords:
        return ""
    values = data[name].values.tolist()
    if len(values) > 4 and not isinstance(values[0], (str, bool)):
        return f" (from {values[0]:g} to {values[-1]:g})"
    return f" ({', '.join(_value(one) for one in values)})"


def _value(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def _origin(told):
    """Return where an archive comes from, as pairs of name and text."""
    commit = told["commit"] or "unknown commit"
    state = " with changes" if told["dirty"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    failed = ", ".join(f"{count} {kind}" for kind, count in told["samples_failed"].items())
    lines = [
        ("from", f"{told['date']}, {commit[:12]}{state}"),
        ("with", versions),
        ("on", ", ".join(told["computed_on"]) or told["processor"]),
        ("took", f"{told['seconds_total']:.1f} s of processor time"),
    ]
    return lines + [("failed", failed)] * bool(failed)


def _print_variables(data):
    names = sorted(name for name in data.data_vars if name != "done")
    width = max(map(len, names)) + len(GAP)
    for name in names:
        attributes = data[name].attrs
        inner = data[name].dims[data["done"].ndim :]
        along = f", along {', '.join(inner)}" if inner else ""
        text = f"{attributes['long_name']} ({attributes['units']}){along}"
        print(named(name, text, indent=2, width=width))
    print()


def _print_means(data, grid):
    """Print a row for each point of the grid, a column for each variable, in several tables."""
    places = list(itertools.product(*(range(data.sizes[name]) for name in grid)))
    shown = places[:SHOWN]
    labels = [
        [name, *(_value(data[name].values[place[axis]]) for place in shown)]
        for axis, name in enumerate(grid)
    ]
    labels.append(["samples", *(str(int(data["done"].values[place].sum())) for place in shown)])
    columns = [_column(data, name, shown) for name in sorted(data.data_vars) if name != "done"]
    width = sum(max(map(len, column)) + len(GAP) for column in labels)
    while columns:
        block, used = [], width
        while columns and (not block or used + max(map(len, columns[0])) <= WIDTH):
            used += max(map(len, columns[0])) + len(GAP)
            block.append(columns.pop(0))
        rows = list(zip(*labels, *block, strict=True))
        print("\n".join(table(rows, right=range(len(grid), len(rows[0])))))
        if columns:
            print()
    if len(places) > len(shown):
        print(f"and {len(places) - len(shown)} more points")


def _column(data, name, places):
    """Return a variable's name and its mean at each point, of a curve at its end."""
    values, done = data[name].values.astype(float), data["done"].values
    inner = data[name].dims[done.ndim :]
    at = [f"{dim}={_value(data[dim].values[-1])}" for dim in inner]
    head = f"{name}[{', '.join(at)}]" if inner else name
    last = (slice(None), *([-1] * len(inner)))
    return [head, *(_mean(values[place][last][done[place]]) for place in places)]


def _mean(values):
    """Return mean and standard error in text, with how many they come from if not all."""
    found = values[values == values]
    note = f" [{found.size}]" if found.size < values.size else ""
    if not found.size:
        return "-" + note
    mean = found.mean()
    if found.size == 1 or not math.isfinite(mean):
        return f"{mean:.4g}{note}"
    error = found.std(ddof=1) / math.sqrt(found.size)
    if error == 0:
        return f"{mean:.6g} ± 0{note}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}{note}"
