from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.storage.source import LocalSource, safe_relative


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files, one of them hidden and deeper, and a file outside."""
    root = tmp_path / "upload"
    (root / "data" / "deep").mkdir(parents=True)
    (root / "data" / "a.bin").write_bytes(b"12345")
    (root / "data" / "deep" / ".hidden").write_bytes(b"")
    (tmp_path / "outside").write_text("not yours")
    return root


def test_files_are_listed_by_relative_path_sorted(folder: Path) -> None:
    assert LocalSource(folder).list_files() == ("data/a.bin", "data/deep/.hidden")


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert LocalSource(tmp_path / "none").list_files() == ()


def test_a_file_is_reached_by_its_relative_path(folder: Path) -> None:
    source = LocalSource(folder, "my upload")
    assert source.local_path("data/a.bin").read_bytes() == b"12345"
    assert (source.size_bytes("data/a.bin"), source.label) == (5, "my upload")


@pytest.mark.parametrize(
    "path", ["", ".", "/etc/passwd", "../outside", "data/../../outside", "a\\b", "a\0b"]
)
def test_a_path_that_leaves_the_folder_is_refused(folder: Path, path: str) -> None:
    with pytest.raises(InvalidInputError, match="leaves its folder") as caught:
        LocalSource(folder).local_path(path)
    assert caught.value.kind is ErrorKind.UNSAFE_PATH


@pytest.mark.parametrize("target", ["../outside", "/etc/hostname"])
def test_a_link_that_leads_out_is_refused_by_name(folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target)
    with pytest.raises(InvalidInputError, match=r"'link'.*symbolic link") as caught:
        LocalSource(folder).local_path("link")
    assert caught.value.kind is ErrorKind.UNSAFE_PATH


def test_a_link_to_a_file_inside_is_that_file(folder: Path) -> None:
    (folder / "link").symlink_to("data/a.bin")
    assert LocalSource(folder).local_path("link").read_bytes() == b"12345"


def test_a_folder_of_links_is_not_walked_into(folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    assert LocalSource(folder).list_files() == ("data/a.bin", "data/deep/.hidden")


@pytest.mark.parametrize("path", ["none.bin", "data"])
def test_what_is_no_file_is_missing(folder: Path, path: str) -> None:
    with pytest.raises(DataFaultError, match=f"'{path}'.*upload") as caught:
        LocalSource(folder).size_bytes(path)
    assert caught.value.kind is ErrorKind.MISSING_FILE


def test_files_that_do_not_belong_to_the_source_are_not_there(folder: Path) -> None:
    source = LocalSource(folder, files=["data/a.bin"])
    assert source.list_files() == ("data/a.bin",)
    with pytest.raises(DataFaultError, match="hidden"):
        source.local_path("data/deep/.hidden")


@given(st.text())
def test_a_path_that_is_let_pass_stays_below_any_root(text: str) -> None:
    try:
        relative = safe_relative(text, "any")
    except InvalidInputError:
        return
    assert Path("/root/x", relative).resolve().is_relative_to("/root/x")
    assert relative.parts


def test_links_that_lead_to_each_other_are_refused_by_name(folder: Path) -> None:
    (folder / "link").symlink_to("back")
    (folder / "back").symlink_to("link")
    assert LocalSource(folder).list_files() == ("data/a.bin", "data/deep/.hidden")
    with pytest.raises(InvalidInputError, match=r"'link'.*symbolic link"):
        LocalSource(folder).local_path("link")


def test_a_name_that_is_no_text_is_refused_by_name(folder: Path) -> None:
    (folder / "take_\udcff.mcap").touch()
    with pytest.raises(InvalidInputError, match=r"expected text\. Rename it") as caught:
        LocalSource(folder).list_files()
    assert caught.value.kind is ErrorKind.INVALID_NAME
    str(caught.value).encode()


def test_a_name_longer_than_a_file_can_have_is_a_missing_file(folder: Path) -> None:
    with pytest.raises(DataFaultError, match="is not in"):
        LocalSource(folder).local_path("x" * 5000)
