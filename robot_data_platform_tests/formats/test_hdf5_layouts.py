"""Formats that live in HDF5 files never claim each other's, and share their safety."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.hdf5_files import open_hdf5
from robot_data_platform.formats.hdf5_members import datasets_below
from robot_data_platform.formats.hdf5_pictures import picture_sequence
from robot_data_platform.formats.registry import detect_format, known_formats
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats import droid_files, hdf5_files, robomimic_files
from robot_data_platform_tests.formats.coded_video import code_of, coded_picture

WRITERS: dict[str, Callable[[Path], object]] = {
    "aloha_hdf5": lambda root: hdf5_files.write_episode(root / "episode_0.hdf5"),
    "robomimic_hdf5": lambda root: robomimic_files.write_file(root / "demo.hdf5", demos=(0,)),
    "droid": lambda root: droid_files.write_episode(root / "a"),
}
FILES = {"aloha_hdf5": "episode_0.hdf5", "robomimic_hdf5": "demo.hdf5", "droid": "a/trajectory.h5"}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_claimed_by_its_own_format_alone(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path)
    source = LocalSource(tmp_path)
    assert [f.name for f in known_formats().values() if f.sniff(source)] == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_keeps_its_format_under_the_name_of_another(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path)
    for number, other in enumerate(("trajectory.h5", "episode_0.hdf5")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / other).write_bytes((tmp_path / FILES[name]).read_bytes())
        claimed = {f.name for f in known_formats().values() if f.sniff(LocalSource(folder))}
        # A DROID episode is a folder with a file of that name.
        assert claimed == ({name} if other == "trajectory.h5" or name != "droid" else set())


def test_files_of_two_layouts_are_refused_naming_both(tmp_path: Path) -> None:
    for name in ("aloha_hdf5", "robomimic_hdf5"):
        WRITERS[name](tmp_path)
    with pytest.raises(DataFaultError, match="signs of aloha_hdf5 and robomimic_hdf5") as caught:
        detect_format(LocalSource(tmp_path))
    assert caught.value.kind is ErrorKind.UNKNOWN_FORMAT


def test_a_dataset_where_a_layout_has_a_group_is_no_sign_of_it(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["data"] = np.zeros(3)
        file["observations"] = np.zeros(3)
        file["action/joint_position"] = np.zeros((3, 7))
    assert not any(f.sniff(LocalSource(tmp_path)) for f in known_formats().values())


def sequence_of(root: Path, dataset: h5py.Dataset, num_rows: int) -> PictureSequence:
    """Return the pictures of a dataset of ``x.hdf5``."""
    return picture_sequence(LocalSource(root), "x.hdf5", dataset, num_rows, None)


@pytest.mark.parametrize("byte_order", ["<u2", ">u2"])
@pytest.mark.parametrize("shape", [(5, 6, 8), (5, 6, 8, 1)])
def test_depth_maps_of_16_bits_come_as_they_are(
    tmp_path: Path, shape: tuple[int, ...], byte_order: str
) -> None:
    depth = np.arange(240, dtype=np.uint16).reshape(shape) * 250
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["depth"] = depth.astype(byte_order)
        sequence = sequence_of(tmp_path, file["depth"], 5)
    assert sequence.is_depth
    np.testing.assert_array_equal(np.stack(list(sequence.read())), depth.reshape(5, 6, 8))


@pytest.mark.parametrize("rows_per_chunk", [1, 4, 25, None])
def test_pictures_come_in_order_however_they_are_chunked(
    tmp_path: Path, rows_per_chunk: int | None
) -> None:
    codes = list(range(25))
    pictures = np.stack([coded_picture(code) for code in codes])
    chunks = (rows_per_chunk, *pictures.shape[1:]) if rows_per_chunk else None
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file.create_dataset("a/view", data=pictures, chunks=chunks)
        sequence = sequence_of(tmp_path, file["a/view"], 22)
    shown = [code_of(picture.astype(np.uint8)) for picture in sequence.read()]
    assert shown == codes[:22]


def test_pictures_that_are_gone_when_they_are_read_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["view"] = np.zeros((3, 4, 4, 3), np.uint8)
        sequence = sequence_of(tmp_path, file["view"], 5)
    with pytest.raises(DataFaultError, match="got no 5 pictures in '/view'"):
        list(sequence.read())


def test_a_packed_picture_of_absurd_size_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        small, large = (1 << 10, 1 << 10, 3), (1 << 14, 1 << 14, 3)
        file.create_dataset("chunk", (500, *small), np.uint8, chunks=(250, *small))
        file.create_dataset("picture", (2, *large), np.uint8, chunks=(1, 64, 64, 3))
        sequences = [sequence_of(tmp_path, file[path], 2) for path in ("chunk", "picture")]
    for sequence in sequences:
        with pytest.raises(DataFaultError, match="absurd size"):
            next(iter(sequence.read()))


def test_groups_that_hold_each_other_end_in_a_refusal(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        for name in ("a", "b"):
            file.create_group(name)
        for number in range(3):
            file[f"a/to_b_{number}"] = file["b"]
            file[f"b/to_a_{number}"] = file["a"]
    with (
        pytest.raises(DataFaultError, match="absurd size"),
        open_hdf5(LocalSource(tmp_path), "x.hdf5") as file,
    ):
        list(datasets_below(file, "x"))
