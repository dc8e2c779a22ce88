"""`wfm data`: the image data: where the files are, get them, check them."""

from __future__ import annotations

import argparse
import sys
import textwrap

from wfmlib.book.commands._table import named, table


def add(commands):
    """Add `wfm data`."""
    parser = commands.add_parser(
        "data",
        help="list, get and check the files of the image data",
        description=textwrap.dedent(
            """\
            List, get and check the official files of Fashion-MNIST, MNIST and CIFAR-10.

            A file is looked for in the folder that WFMLIB_DATA names, then in the user's cache.
            Both have the folders fashion-mnist, mnist and cifar-10-batches-bin, with the official
            names. What is in neither is downloaded into the cache when it is first needed."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm data list                    the files, their sizes and where they are
              wfm data get mnist               download those that are not here, or are damaged
              wfm data get fashion_mnist cifar10
              wfm data check                   check size, SHA-256 and format of those here

            The exit status of `check` is 1 if a file is damaged, or if none is here; that of `get`
            if a file could not be had. `check` changes nothing; `get` only changes the cache."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action")
    for name, run, help_ in (
        ("list", _list, "where the files are"),
        ("get", _get, "download what is not here"),
        ("check", _check, "check what is here"),
    ):
        action = actions.add_parser(name, help=help_, description=f"{help_.capitalize()}.")
        several = "+" if name == "get" else "*"
        action.add_argument(
            "names",
            nargs=several,
            metavar="NAME",
            help="fashion_mnist, mnist or cifar10" + (" (default: all)" * (several == "*")),
        )
        action.set_defaults(run=_guarded(run))
    parser.set_defaults(run=lambda args: parser.print_help() or 0)


def _guarded(run):
    """Return a run that tells of a file that is damaged or missing, and ends with status 1."""

    def guarded(args):
        from wfmlib.datasets import DamagedDataError, sources

        chosen = [sources.get(name) for name in dict.fromkeys(args.names)]
        try:
            return run(chosen or list(sources.SOURCES.values()))
        except (DamagedDataError, OSError) as error:
            print(f"wfm data {args.action}: {error}", file=sys.stderr)
            return 1

    return guarded


def _list(chosen):
    from wfmlib.datasets import store

    rows = [("file", "bytes", "where")]
    rows += [
        (file.label, str(file.size), store.find(file)[1])
        for source in chosen
        for file in source.files
    ]
    print("\n".join(table(rows, right=(1,))))
    print()
    for source in chosen:
        print(named(source.title, f"{source.citation}. Licence: {source.licence}.", 0, 15))
    folder = store.data_folder()
    print(named("folder", str(folder or f"none: {store.VARIABLE} is not set"), 0, 15))
    print(named("cache", str(store.cache_folder()), 0, 15))
    return 0


def _get(chosen):
    from wfmlib.datasets import download, store

    for source in chosen:
        for file in source.files:
            path, origin = store.find(file)
            wrong = path and _wrong(path, file)
            if wrong and origin == "folder":
                print(f"wfm data get: {wrong}", file=sys.stderr)
                return 1
            if wrong:
                print(f"{wrong}: removed", file=sys.stderr)
                path.unlink()
            if wrong or path is None:
                download.get(source, file)
                origin = "downloaded"
            print(f"{file.label}: {origin}", flush=True)
    return 0


def _check(chosen):
    from wfmlib.datasets import store

    rows, damaged = [], 0
    for source in chosen:
        for file in source.files:
            path, origin = store.find(file)
            if path is None:
                continue
            wrong = _wrong(path, file)
            damaged += bool(wrong)
            rows.append((file.label, origin, "damaged" if wrong else _how(path, file)))
            if wrong:
                print(wrong, file=sys.stderr)
    if not rows:
        print("none of the files is here: `wfm data get` downloads them", file=sys.stderr)
        return 1
    print("\n".join(table([("file", "where", "state"), *rows])))
    return 1 if damaged else 0


def _wrong(path, file):
    """Return what is wrong with a file, or None."""
    from wfmlib.datasets import DamagedDataError, store

    try:
        file.parse(store.contents(path, file), str(path))
    except DamagedDataError as error:
        return str(error)
    return None


def _how(path, file):
    """Say what a good file was checked for."""
    from wfmlib.datasets import store

    known = file.sha256 or store.noted(path)
    return "good" if known else "good size and format; its SHA-256 is not known here"
