"""Files are there whole or not at all."""

import os

import pytest

from ganet_tf.files import UNFINISHED, draft, remove_unfinished, write_whole


def test_text_bytes_and_a_function(tmp_path):
    path = tmp_path / "file"
    for content, expected in (
        ("ü", b"\xc3\xbc"),
        (b"\x00\xff", b"\x00\xff"),
        (lambda file: file.write(b"abc"), b"abc"),
    ):
        write_whole(path, content)
        assert path.read_bytes() == expected


def test_the_folder_is_made(tmp_path):
    write_whole(tmp_path / "a" / "b" / "file", "text")
    assert (tmp_path / "a" / "b" / "file").read_text() == "text"


def test_a_failed_write_changes_nothing(tmp_path):
    path = tmp_path / "file"
    write_whole(path, "before")

    def half(file):
        file.write(b"hal")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, half)
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_draft_stands_beside_its_file_and_ends_like_it(tmp_path):
    with draft(tmp_path / "model.keras") as path:
        assert path.parent == tmp_path and path.suffix == ".keras" and path.name.startswith(UNFINISHED)
        path.write_text("done")
    assert (tmp_path / "model.keras").read_text() == "done"


def test_content_is_on_the_disk_before_it_takes_the_files_place(tmp_path, monkeypatch):
    steps, replace = [], os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: steps.append("folder" if os.path.isdir(handle) else "file"))
    monkeypatch.setattr(os, "replace", lambda old, new: (steps.append("replace"), replace(old, new)))
    write_whole(tmp_path / "file", "text")
    assert steps == ["file", "replace", "folder"]


def test_only_drafts_are_removed(tmp_path):
    for name in (f"{UNFINISHED}1234-model.keras", "model.keras"):
        (tmp_path / name).touch()
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]
