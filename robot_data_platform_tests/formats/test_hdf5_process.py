"""What a damaged HDF5 file does to its reader ends another process than this one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats import hdf5_process
from robot_data_platform.formats.hdf5_files import open_hdf5
from robot_data_platform.formats.hdf5_process import close_worker, read_apart
from robot_data_platform.storage.source import LocalSource

HEAP = b"GCOL"
FILE = "x.h5"


def about(source: Source, path: str) -> str:
    with open_hdf5(source, path) as file:
        return str(file.attrs["about"])


def process_id(source: Source) -> int:
    return os.getpid()


def end(source: Source, how: int) -> None:
    os.kill(os.getpid(), how)


def stop(source: Source) -> None:
    os._exit(7)


def refuse(source: Source) -> None:
    raise DataFaultError("File 'x' is odd.", kind=ErrorKind.ROW_MISMATCH, rows=[1, 2])


def take_memory(source: Source, path: str) -> int:
    with open_hdf5(source, path):
        return len(np.ones(3 << 30, np.uint8))


def allow_links(source: Source, path: str) -> str:
    return str(source.local_path(path))


@pytest.fixture
def source(tmp_path: Path) -> LocalSource:
    with h5py.File(tmp_path / FILE, "w") as file:
        file.attrs["about"] = "a text"
    (tmp_path / "other").write_text("x")
    return LocalSource(tmp_path, "the label")


def test_a_file_is_read_in_a_process_that_is_kept(source: LocalSource) -> None:
    assert read_apart(source, (FILE,), about, FILE) == "a text"
    first = read_apart(source, (FILE,), process_id)
    assert first != os.getpid()
    assert read_apart(source, (FILE,), process_id) == first


@pytest.mark.parametrize("how", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_is_told_by_the_files_name_once_and_the_next_file_is_read(
    source: LocalSource, how: signal.Signals
) -> None:
    with pytest.raises(DataFaultError, match=f"end of the process .*{how.name}") as caught:
        read_apart(source, (FILE,), end, int(how))
    assert (caught.value.kind, caught.value.facts["path"]) == (ErrorKind.UNREADABLE_FILE, FILE)
    other = read_apart(source, ("other",), process_id)
    with pytest.raises(DataFaultError, match=how.name):
        read_apart(source, (FILE,), about, FILE)
    assert read_apart(source, ("other",), process_id) == other


def test_a_process_that_something_else_ended_is_no_fault_of_the_file(source: LocalSource) -> None:
    with pytest.raises(DataFaultError, match="SIGKILL"):
        read_apart(source, (FILE,), end, int(signal.SIGKILL))
    assert read_apart(source, (FILE,), about, FILE) == "a text"


def test_a_file_that_was_mended_is_read_again(source: LocalSource, tmp_path: Path) -> None:
    with pytest.raises(DataFaultError, match="SIGSEGV"):
        read_apart(source, (FILE,), end, int(signal.SIGSEGV))
    with h5py.File(tmp_path / FILE, "a") as file:
        file.attrs["about"] = "another text, which is longer"
    assert read_apart(source, (FILE,), about, FILE) == "another text, which is longer"


def test_a_process_that_ends_on_its_own_is_told(source: LocalSource) -> None:
    with pytest.raises(DataFaultError, match="exit code 7"):
        read_apart(source, (FILE,), stop)


def test_a_file_in_which_the_library_goes_round_for_ever_is_refused(
    source: LocalSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray((tmp_path / FILE).read_bytes())
    first_free = data.find(HEAP) + 16
    data[first_free : first_free + 64] = bytes(64)  # objects that take no room
    (tmp_path / FILE).write_bytes(data)
    monkeypatch.setattr(hdf5_process, "MOST_CPU_S", 0.3)
    with pytest.raises(DataFaultError, match="no end of it within 0 s of computing"):
        read_apart(source, (FILE,), about, FILE)


def test_memory_beyond_the_limit_is_refused(source: LocalSource) -> None:
    with pytest.raises(DataFaultError, match="Unable to allocate") as caught:
        read_apart(source, (FILE,), take_memory, FILE)
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


def test_errors_arrive_as_they_were_raised(source: LocalSource) -> None:
    with pytest.raises(DataFaultError, match="File 'x' is odd") as caught:
        read_apart(source, (FILE,), refuse)
    assert (caught.value.kind, caught.value.facts) == (ErrorKind.ROW_MISMATCH, {"rows": [1, 2]})


def test_the_process_gets_only_the_files_that_were_named(source: LocalSource) -> None:
    with pytest.raises(DataFaultError, match="'other' is not in 'the label'") as caught:
        read_apart(source, (FILE,), allow_links, "other")
    assert caught.value.kind is ErrorKind.MISSING_FILE


def test_a_file_that_is_not_there_is_told_before_a_process_starts(source: LocalSource) -> None:
    close_worker()
    with pytest.raises(DataFaultError) as caught:
        read_apart(source, ("absent.h5",), about, "absent.h5")
    assert caught.value.kind is ErrorKind.MISSING_FILE
    assert hdf5_process._running == []
