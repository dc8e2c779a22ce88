"""Files of finished samples: bound to their task, refused if they are not what they should be."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading

import pytest

from tests import toy_experiment as toy
from wfmlib.book import experiments
from wfmlib.runs import archive, samples
from wfmlib.runs.samples import DamagedSampleError, Record, Store


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep samples in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))


@pytest.fixture
def store():
    """Return the store of a toy with all its samples, and their tasks."""
    experiments.run(toy.EXPERIMENT)
    return Store(toy.EXPERIMENT, "quick")


TASKS = experiments.tasks(toy.EXPERIMENT, "quick")


def rewrite(path, change):
    """Change what a file of a sample says, under a digest that is right."""
    body = json.loads(path.read_bytes().partition(b"\n")[2])
    write(path, json.dumps(change(body)))


def write(path, text):
    text = text.encode()
    path.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)


def put(*names, value):
    """Return a change of one entry, at any depth."""

    def change(body):
        inner = body
        for name in names[:-1]:
            inner = inner[name]
        inner[names[-1]] = value
        return body

    return change


def lose(name):
    return lambda body: {one: value for one, value in body.items() if one != name}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: [1], "it is no object"),
        (lambda body: None, "it is no object"),
        (lose("values"), "'values'"),
        (lose("definition"), "it is of another definition"),
        (lose("code"), "code is missing, or of the wrong kind"),
        (put("experiment", value="other"), "it is of another experiment"),
        (put("scale", value="paper"), "it is of another scale"),
        (put("task", 1, value=1), "it is of another task"),
        (put("task", 0, "alpha", value=0.5), "it is of another task"),
        (put("seconds", value="long"), "seconds is missing, or no time"),
        (put("seconds", value=-1.0), "seconds is missing, or no time"),
        (put("seconds", value=float("nan")), "seconds is missing, or no time"),
        (put("commit", value=1), "commit is missing, or of the wrong kind"),
        (put("values", value=[]), "list indices must be"),
        (put("values", "positive", value=2**40), "."),
        (put("values", "curve", value=[1.0]), r"curve must have shape \(3,\)"),
        (put("values", "mean", value="text"), "could not convert"),
        (put("values", "mean", value={}), "."),
    ],
)
def test_what_is_no_sample_of_ours_is_refused_and_computed_anew(store, change, said):
    path = store.path(TASKS[0])
    content = path.read_bytes()
    rewrite(path, change)
    with pytest.raises(DamagedSampleError, match=rf"cannot be used \({said}.*{path.name}"):
        store.read(TASKS[0])
    lines = []
    assert experiments.run(toy.EXPERIMENT, say=lines.append).computed == 1
    assert "cannot be used" in lines[0]
    assert lines[0].endswith(": it is computed anew")
    values = [
        json.loads(one.partition(b"\n")[2])["values"] for one in (content, path.read_bytes())
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("text", ["", "[", "{} {}", "[" * 100_000, '{"seconds": 1e999'])
def test_bad_json_under_a_digest_that_is_right_is_refused(store, text):
    write(store.path(TASKS[3]), text)
    with pytest.raises(DamagedSampleError, match="cannot be used"):
        store.read(TASKS[3])
    assert experiments.run(toy.EXPERIMENT).computed == 1


def test_a_file_copied_over_another_is_refused(store):
    before = archive.to_bytes(experiments.run(toy.EXPERIMENT).dataset)
    shutil.copy(store.path(TASKS[0]), store.path(TASKS[1]))
    again = experiments.run(toy.EXPERIMENT)
    assert again.computed == 1
    assert archive.to_bytes(again.dataset) == before


def test_files_of_other_settings_are_refused(store):
    """Even where somebody copies a whole folder."""
    scales = {"quick": toy.scale(2, settings={"N": 33, "units": 3}), "paper": toy.scale(5)}
    other = Store(toy.experiment(scales=scales), "quick")
    shutil.copytree(store.folder, other.folder)
    for task in TASKS:
        with pytest.raises(DamagedSampleError, match="it is of another definition"):
            other.read(task)


def test_the_code_that_made_a_sample_comes_back(store):
    record = store.read(TASKS[0])
    told = Record(record.values, 1.5, "a processor", None, "0123456789abcdef")
    store.write(TASKS[0], told)
    found = store.read(TASKS[0])
    assert (found.seconds, found.processor, found.commit, found.code) == (
        1.5,
        "a processor",
        None,
        "0123456789abcdef",
    )


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_the_user_and_of_no_other_thread(tmp_path, monkeypatch):
    """The mask belongs to the whole process: to look at it would change it for other threads."""

    def refuse(mask):
        raise AssertionError("the process-wide mask was changed")

    mask = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", refuse)
        done = threading.Thread(target=samples.write_atomically, args=(tmp_path / "a", b"a"))
        done.start()
        done.join()
        samples.write_atomically(tmp_path / "b", b"b")
    finally:
        monkeypatch.undo()
        os.umask(mask)
    assert [(tmp_path / one).stat().st_mode & 0o777 for one in "ab"] == [0o640, 0o640]
