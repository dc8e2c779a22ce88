"""`wfm data get`: the image data, downloaded before it is needed."""

from __future__ import annotations

import argparse
import sys
import textwrap


def add(commands):
    """Add `wfm data`."""
    parser = commands.add_parser(
        "data",
        help="get the files of the image data",
        description="Get the official files of Fashion-MNIST, MNIST and CIFAR-10.",
        epilog=textwrap.dedent(
            """\
            examples:
              wfm data get                     all of them
              wfm data get mnist               one data set
              wfm data get fashion_mnist cifar10"""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action")
    get_parser = actions.add_parser(
        "get",
        help="download what is not here, and check what is",
        description=textwrap.dedent(
            """\
            Get the official files of Fashion-MNIST, MNIST and CIFAR-10, and compare their SHA-256.

            A file is looked for in the folder that WFMLIB_DATA names, then in the user's cache.
            Both have the folders fashion-mnist, mnist and cifar-10-batches-bin, with the official
            names. What is in neither is downloaded into the cache, as it is when it is first
            needed. The exit status is 1 if a file could not be had, or is not the official one."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    get_parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="fashion_mnist, mnist or cifar10 (default: all)",
    )
    get_parser.set_defaults(run=_run)
    parser.set_defaults(run=lambda args: parser.print_help() or 0)


def _run(args):
    """Find every file of the data sets that are named, and print where it is."""
    from wfmlib.datasets import sources, store
    from wfmlib.numerics import arguments

    names = [arguments.choice("NAME", data_set, tuple(sources.FOLDERS)) for data_set in args.names]
    folders = [sources.FOLDERS[name] for name in names or sources.FOLDERS]
    labels = {**sources.REGISTRY, **sources.BATCHES}
    labels.pop(sources.ARCHIVE)
    for label in labels:
        if label.partition("/")[0] in folders:
            try:
                print(f"{label}: {store.find(label)}", flush=True)
            except (ValueError, OSError) as error:
                print(f"wfm data get: {error}", file=sys.stderr)
                return 1
    return 0
