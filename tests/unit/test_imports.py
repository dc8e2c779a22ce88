"""Importing the package changes nothing of the process that it is imported into."""

import json
import subprocess
import sys

CODE = """
import importlib, json, os, pkgutil, sys
import numba, sklearn  # what they change is theirs
from numba.core import caching

def state():
    classes = [vars(caching)[name] for name in sorted(vars(caching)) if name[0] != "_"]
    members = [sorted((n, id(m)) for n, m in vars(c).items()) for c in classes if type(c) is type]
    return [
        dict(os.environ),
        [type(finder).__name__ + str(id(finder)) for finder in sys.meta_path],
        [id(one) for one in classes],
        str(members),
        [str(one) for one in caching.CacheImpl._locator_classes],
        numba.config.CACHE_DIR,
    ]

before = state()
import wfmlib
names = [one.name for one in pkgutil.walk_packages(wfmlib.__path__, "wfmlib.")]
for name in names:
    importlib.import_module(name)
after = state()
print(json.dumps([len(names), [a == b for a, b in zip(before, after)]]))
"""


def test_importing_any_part_leaves_the_process_as_it_was():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    count, same = json.loads(done.stdout)
    assert count > 100
    assert same == [True] * 6
