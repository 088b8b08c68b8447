import io
import os
import zipfile
from pathlib import Path

import pytest

from ganet_tf.data import archive
from ganet_tf.data.archive import Archive
from ganet_tf.errors import DataFormatError, UnsafeFileError

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def write(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def read(path, name):
    with Archive(path) as files, files.open(name) as stream:
        return stream.read()


def test_zip_and_folder_look_the_same(tmp_path):
    path = write(tmp_path / "a.zip", {"D/": "", "D/x.txt": "1", "D/._x.txt": "junk"})
    folder = tmp_path / "D"
    folder.mkdir()
    (folder / "x.txt").write_text("1")
    for place in (path, folder):
        with Archive(place) as files:
            assert files.names() == ["x.txt"] and "x.txt" in files and "y.txt" not in files
        assert read(place, "x.txt") == b"1"


@pytest.mark.parametrize("method", METHODS)
def test_damage_is_named(tmp_path, method):
    path = write(tmp_path / "a.zip", {"x.txt": "".join(f"{i}\n" for i in range(20000))}, method)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 8] = bytes(255 - value for value in data[middle : middle + 8])
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match=r"a\.zip is damaged"):
        read(path, "x.txt")
    assert path.read_bytes() == data


def test_truncated_and_other_files(tmp_path):
    path = write(tmp_path / "a.zip", {"x.txt": "1" * 1000})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataFormatError, match="not a whole zip file"):
        Archive(path)
    path.write_text("<html>404</html>")
    with pytest.raises(DataFormatError, match="not a whole zip file"):
        Archive(path)
    path.write_bytes(b"")
    with pytest.raises(DataFormatError, match="0 bytes"):
        Archive(path)


@pytest.mark.parametrize("name", ["../x.txt", "/x.txt", "D/../../x.txt", "C:\\x.txt", "..\\x.txt"])
def test_members_that_would_escape(tmp_path, name):
    path = write(tmp_path / "a.zip", {name: "1"})
    with pytest.raises(UnsafeFileError, match="escape its folder"):
        Archive(path)


def test_zip_bomb(tmp_path):
    path = write(tmp_path / "a.zip", {"x.txt": bytes(archive.SMALL + 1)})
    assert path.stat().st_size < 100_000
    with pytest.raises(UnsafeFileError, match="zip bomb"):
        Archive(path)


def test_too_large_altogether(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 100)
    with pytest.raises(UnsafeFileError, match="zip bomb"):
        Archive(write(tmp_path / "a.zip", {"x.txt": "1" * 101}, zipfile.ZIP_STORED))


def test_two_files_of_one_name_are_refused_when_they_are_wanted(tmp_path):
    path = write(
        tmp_path / "a.zip", {"D/x.txt": "1", "E/x.txt": "2", "D/.DS_Store": "", "E/.DS_Store": "", "y.txt": "3"}
    )
    assert read(path, "y.txt") == b"3"
    with pytest.raises(DataFormatError, match=r"two files 'x\.txt'"):
        read(path, "x.txt")
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("y.txt", "4")
    with pytest.raises(DataFormatError, match=r"two files 'y\.txt'"):
        read(path, "y.txt")


def test_a_name_that_differs_between_the_two_lists_is_damage(tmp_path):
    path = write(tmp_path / "a.zip", {"D/x.txt": "1", "D/y.txt": "2"})
    data = path.read_bytes()
    for place in (data.find(b"D/y.txt"), data.rfind(b"D/y.txt")):
        path.write_bytes(data[: place + 2] + b"z" + data[place + 3 :])
        with pytest.raises(DataFormatError, match=r"cannot be read: .*differ"):
            Archive(path)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("zeros", [(16, 24), (16, 28)], ids=["packed size", "both sizes"])
def test_a_checksum_and_a_size_of_zero_are_no_empty_file(tmp_path, method, zeros):
    """What zipfile reads of it is nothing, whose checksum is 0: a graph without its edges."""
    path = write(tmp_path / "a.zip", {"T/T_A.txt": "1, 2\n2, 1\n"}, method)
    content = bytearray(path.read_bytes())
    first = content.index(b"PK\1\2")
    content[first + zeros[0] : first + zeros[1]] = bytes(zeros[1] - zeros[0])
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        assert file.read("T/T_A.txt") == b"", "or the attack is none"
    with pytest.raises(DataFormatError, match="not the same in both lists"):
        Archive(path)


def test_a_zip_written_as_a_stream(tmp_path):
    """Its sizes stand behind each member."""

    class Stream(io.BytesIO):
        def seekable(self):
            return False

    stream = Stream()
    write(stream, {"T/a.txt": "1\n"})
    (tmp_path / "a.zip").write_bytes(stream.getvalue())
    assert read(tmp_path / "a.zip", "a.txt") == b"1\n"


def test_a_list_of_members_that_is_cut_is_damage(tmp_path):
    """The end of the file says how many members there are."""
    path = write(tmp_path / "a.zip", {"x.txt": "1", "y.txt": "2"})
    data = bytearray(path.read_bytes())
    end = data.rfind(b"PK\5\6")
    data[end + 10] = 3
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="list of members is not whole"):
        Archive(path)


@pytest.mark.parametrize("place", [6, 4])
def test_a_zip_of_a_later_version_is_a_sentence(tmp_path, place):
    path = write(tmp_path / "a.zip", {"x.txt": "1"})
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\1\2") + place] = 99
    path.write_bytes(data)
    if place == 6:
        with pytest.raises(DataFormatError, match=r"not a whole zip file .zip file version 9\.9"):
            Archive(path)
    else:
        assert read(path, "x.txt") == b"1"  # the version that made it does not matter


def test_encrypted_members_are_a_sentence(tmp_path):
    path = write(tmp_path / "a.zip", {"x.txt": "1"})
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.rfind(mark) + place] |= 1
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="encrypted"):
        Archive(path)


def test_devices_and_pipes_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.zip")
    for path in (tmp_path / "pipe.zip", Path("/dev/zero")):
        with pytest.raises(DataFormatError, match="devices and pipes"):
            Archive(path)


def test_a_member_without_a_name(tmp_path):
    path = write(tmp_path / "a.zip", {"x": "1"})
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 26), (b"PK\1\2", 28)):
        start = data.rfind(mark) + place
        data[start], data[start + 2] = 0, 1  # the name's one byte belongs to the extra field
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="a member has no name"):
        Archive(path)
