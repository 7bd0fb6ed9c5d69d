"""Checks of episodes that were really encoded and stored."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.fingerprint import table_digest
from robot_data_platform.core.gop import Gop
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.quality.episode import EpisodeCheck, check_episode, snapshot_at
from robot_data_platform.quality.measurement_rows import measurement_rows
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.storage.snapshot import Snapshot
from robot_data_platform_tests.quality.recorded_lake import DATASET, Take, store
from robot_data_platform_tests.quality.scenes import Scene

GOOD, NAN, FROZEN, DAMAGED, BAD_FROM_START = range(5)
FROZEN_FRAMES = range(31, 56)


def _flip_a_bit(camera: str, gop: Gop) -> bytes:
    if (camera, gop.gop_index) != ("wrist", 2):
        return gop.data
    middle = len(gop.data) // 2
    return gop.data[:middle] + bytes([gop.data[middle] ^ 1]) + gop.data[middle + 1 :]


def _zero_the_middle(camera: str, gop: Gop) -> bytes:
    if (camera, gop.gop_index) != ("wrist", 2):
        return gop.data
    third = len(gop.data) // 3
    return gop.data[:third] + bytes(third) + gop.data[2 * third :]


def _state_with_nan() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    state = Scene().state()
    state[17, 1] = np.nan
    return state


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Episodes: good, with a NaN, a frozen camera, a damaged blob, one damaged when hashed."""
    scenes = {"env": Scene(seed=1), "wrist": Scene(seed=2)}
    frozen = {"env": Scene(seed=1), "wrist": Scene(seed=2, frozen=frozenset(FROZEN_FRAMES))}
    return store(
        tmp_path_factory.mktemp("lake"),
        [
            Take(scenes=scenes),
            Take(scenes=scenes, state=_state_with_nan()),
            Take(scenes=frozen),
            Take(scenes=scenes, damage=_flip_a_bit),
            Take(scenes=scenes, damage=_zero_the_middle, is_hashed_late=True),
        ],
    )


def test_a_good_episode_has_no_finding(snapshot: Snapshot) -> None:
    assert _doubts(snapshot, GOOD) == []


def test_a_nan_in_the_state_is_the_only_finding(snapshot: Snapshot) -> None:
    (finding,) = _doubts(snapshot, NAN)
    assert (finding.rule, finding.severity) == ("state_is_finite", Severity.FAIL)
    assert finding.where == "observation_state[1] rows 17..17"


def test_a_frozen_camera_is_the_only_finding(snapshot: Snapshot) -> None:
    (finding,) = _doubts(snapshot, FROZEN)
    assert (finding.rule, finding.severity) == ("picture_changes_while_moving", Severity.WARN)
    assert finding.where == "camera=wrist frames 30..55"
    assert finding.value == pytest.approx(25 * 1000 / 30, rel=1e-3)


def test_a_damaged_blob_is_the_only_finding(snapshot: Snapshot) -> None:
    (finding,) = _doubts(snapshot, DAMAGED)
    assert (finding.rule, finding.severity) == ("gop_hash_matches", Severity.FAIL)
    assert finding.where == "camera=wrist gops 2"


def test_a_blob_that_never_decoded_is_the_only_finding(snapshot: Snapshot) -> None:
    (finding,) = _doubts(snapshot, BAD_FROM_START)
    assert (finding.rule, finding.severity) == ("gop_decodes_to_declared_frames", Severity.FAIL)
    assert finding.where == "camera=wrist gops 2"


def test_every_gop_is_decoded_and_counted(snapshot: Snapshot) -> None:
    streams = _check(snapshot, GOOD).measured.streams
    assert [stream.pictures.camera for stream in streams] == ["env", "wrist"]
    for stream in streams:
        assert sum(gop.num_frames_decoded or 0 for gop in stream.gops) == Scene().num_frames


def test_pictures_of_a_damaged_blob_are_not_measured(snapshot: Snapshot) -> None:
    _, wrist = _check(snapshot, DAMAGED).measured.streams
    gop = wrist.gops[2]
    is_unknown = np.isnan(wrist.pictures.percentiles[:, 0])
    expected = np.arange(gop.first_frame, gop.first_frame + gop.num_frames)
    assert np.flatnonzero(is_unknown).tolist() == expected.tolist()


def _check(snapshot: Snapshot, episode_index: int) -> EpisodeCheck:
    return check_episode(snapshot, read_episode(snapshot, episode_index))


def _doubts(snapshot: Snapshot, episode_index: int) -> list[Finding]:
    """Return what is wrong; that little moves in three seconds is none of it."""
    found = _check(snapshot, episode_index).findings
    return [f for f in found if f.severity is not Severity.INFO]


def _check_at(root: str, versions: dict[str, int], episode_index: int) -> EpisodeCheck:
    return _check(snapshot_at(root, DATASET, versions), episode_index)


def test_a_worker_process_finds_the_same(snapshot: Snapshot) -> None:
    root = snapshot.episodes.uri.removesuffix(f"/{DATASET}/episodes.lance")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        job = pool.submit(_check_at, root, snapshot.versions(), FROZEN)
        check = job.result(timeout=120)
    here = _check(snapshot, FROZEN)
    assert check.findings == here.findings
    there, mine = (table_digest(measurement_rows("c", 0, c.measured)) for c in (check, here))
    assert there == mine


def test_an_unknown_episode_is_refused(snapshot: Snapshot) -> None:
    with pytest.raises(NotFoundError, match="'robot' has no episode_index 9") as caught:
        read_episode(snapshot, 9)
    assert caught.value.kind is ErrorKind.EPISODE_NOT_FOUND
