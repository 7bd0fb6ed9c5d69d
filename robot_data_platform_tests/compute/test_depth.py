"""Depth maps from an upload to the reader: every value, in every form, in their own unit."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.pictures import contact_sheets
from robot_data_platform.compute.registration import find_ingestion, register_upload
from robot_data_platform.compute.rendering import add_rendition
from robot_data_platform.core.finding import Severity
from robot_data_platform.core.rendition import parse_rendition
from robot_data_platform.core.schema import depth_cameras
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.quality.episode import check_episode, snapshot_at
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.reader import RobotLanceDataset, read_frame
from robot_data_platform.storage.column_metadata import restate
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform.video.depth import nearest
from robot_data_platform_tests.compute.depth_uploads import (
    DATASET,
    PROFILE,
    STILLS,
    UPLOAD,
    VIDEO,
    ingested,
    rows_of,
    write_source,
)
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    ingest,
    published,
    workplace,
)
from robot_data_platform_tests.formats.rawlog_files import (
    ROWS,
    folder_of,
    times,
    write_depth,
    write_episode,
    write_pictures,
)

KEYS = {camera: f"observation.images.{camera}" for camera in (STILLS, VIDEO)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Two episodes in a lake that tests only read."""
    return ingested(tmp_path_factory.mktemp("depth"), num_episodes=2)[0]


@pytest.fixture
def dataset(place: Workplace) -> Iterator[RobotLanceDataset]:
    with_handles = RobotLanceDataset(place.lake_root, DATASET)
    yield with_handles
    with_handles.close()


def expected(camera: str) -> np.ndarray:
    """Return what every row of both episodes shows, (2 N, H, W)."""
    return np.concatenate([rows_of(camera, episode) for episode in (0, 1)])


@pytest.mark.parametrize("camera", [STILLS, VIDEO])
def test_the_reader_gives_every_recorded_value(dataset: RobotLanceDataset, camera: str) -> None:
    shown = np.stack([item[KEYS[camera]] for item in dataset[:]])
    assert shown.dtype == np.uint16
    assert shown.shape == (2 * ROWS, 48, 64, 1)
    np.testing.assert_array_equal(shown[..., 0], expected(camera))


def test_a_row_without_a_depth_map_says_so(dataset: RobotLanceDataset) -> None:
    last = dataset[ROWS - 1]
    assert last[f"{KEYS[STILLS]}_is_missing"]
    assert not last[KEYS[STILLS]].any()


def test_colour_beside_depth_stays_colour(dataset: RobotLanceDataset) -> None:
    shown = dataset[0]["observation.images.env"]
    assert shown.dtype == np.uint8
    assert shown.shape == (48, 64, 3)


def test_the_dataset_says_which_cameras_are_depth_and_in_which_unit(
    place: Workplace, dataset: RobotLanceDataset
) -> None:
    assert dataset.depth_unit_m == {VIDEO: None, STILLS: 0.001}
    assert RobotLanceDataset(place.lake_root, DATASET, cameras=["env"]).depth_unit_m == {}
    schema = Lake(place.lake_root).open(DATASET, "frames").schema
    assert depth_cameras(schema) == {VIDEO: None, STILLS: 0.001}
    for column in ("ref_id", "gop_index", "frame_index_in_gop", "offset_ns"):
        metadata = schema.field(f"observation_images_{STILLS}_{column}").metadata
        assert metadata[b"rdp.is_depth"] == b"true"
        assert metadata[b"rdp.depth_unit_m"] == b"0.001"
    assert not schema.field("observation_images_env_ref_id").metadata


@pytest.mark.parametrize("channels_first", [False, True])
def test_float32_is_in_recorded_units(place: Workplace, channels_first: bool) -> None:
    rows = RobotLanceDataset(
        place.lake_root, DATASET, picture_dtype="float32", channels_first=channels_first
    )
    shown = np.stack([item[KEYS[STILLS]] for item in rows[:]])
    assert shown.dtype == np.float32
    assert shown.shape[1:] == ((1, 48, 64) if channels_first else (48, 64, 1))
    np.testing.assert_array_equal(shown.reshape(-1, 48, 64), expected(STILLS))
    assert rows[0]["observation.images.env"].max() <= 1


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_torch_gets_the_same_values(place: Workplace, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    rows = RobotLanceDataset(
        place.lake_root,
        DATASET,
        output="torch",
        picture_dtype=dtype,  # type: ignore[arg-type]
    )
    shown = rows[7][KEYS[VIDEO]]
    assert shown.dtype == (torch.uint16 if dtype == "uint8" else torch.float32)
    assert shown.shape == (1, 48, 64)
    np.testing.assert_array_equal(shown.numpy()[0], expected(VIDEO)[7])


def test_torch_loaders_stack_depth(place: Workplace) -> None:
    data = pytest.importorskip("torch.utils.data")
    rows = RobotLanceDataset(place.lake_root, DATASET, output="torch", columns=[])
    (batch,) = data.DataLoader(rows, batch_size=len(rows))
    np.testing.assert_array_equal(batch[KEYS[STILLS]].numpy()[:, 0], expected(STILLS))


def test_windows_stack_depth_maps_and_repeat_the_edge(place: Workplace) -> None:
    offsets = [-0.02, 0.0, 0.01]
    rows = RobotLanceDataset(place.lake_root, DATASET, delta_timestamps={KEYS[STILLS]: offsets})
    maps = rows_of(STILLS, 1)
    for row in (0, 1, 15, ROWS - 1):
        item = rows[ROWS + row]
        at = np.clip(row + np.array([-2, 0, 1]), 0, ROWS - 1)
        np.testing.assert_array_equal(item[KEYS[STILLS]][..., 0], maps[at])
        is_pad = (row + np.array([-2, 0, 1]) != at).tolist()
        assert item[f"{KEYS[STILLS]}_is_pad"].tolist() == is_pad


@pytest.mark.parametrize("size", [(24, 32), (17, 29), (96, 128)])
def test_scaling_chooses_pixels_and_never_makes_a_distance_up(
    place: Workplace, size: tuple[int, int]
) -> None:
    rows = RobotLanceDataset(place.lake_root, DATASET, image_size=size)
    for row in (0, 11, ROWS + 3):
        shown = rows[row][KEYS[STILLS]][..., 0]
        recorded = expected(STILLS)[row]
        np.testing.assert_array_equal(shown, nearest(recorded, size))
        assert set(np.unique(shown)) <= set(np.unique(recorded))


@pytest.mark.parametrize("zero_copy", [False, True])
def test_batches_of_an_epoch_hold_the_same(place: Workplace, zero_copy: bool) -> None:
    rows = RobotLanceDataset(place.lake_root, DATASET, zero_copy=zero_copy)
    parts = [batch[KEYS[VIDEO]][..., 0].copy() for batch in rows.iter_batches(7)]
    np.testing.assert_array_equal(np.concatenate(parts), expected(VIDEO))
    rows.close()


def test_pictures_alone_are_taken_without_their_rows(dataset: RobotLanceDataset) -> None:
    taken = dataset.take_frames_decoded(STILLS, [3, 40, 3])
    assert taken[STILLS].dtype == np.uint16
    np.testing.assert_array_equal(taken[STILLS][..., 0], expected(STILLS)[[3, 40, 3]])


def test_one_frame_is_read_with_its_channel(place: Workplace) -> None:
    episode = published(place, DATASET, UPLOAD)["ep_1"].episode_id
    shown = read_frame(place.lake_root, DATASET, episode, 12, STILLS)
    assert shown.dtype == np.uint16
    np.testing.assert_array_equal(shown[..., 0], rows_of(STILLS, 1)[12])


def test_a_lake_that_is_moved_and_opened_again_holds_the_same(
    place: Workplace, tmp_path: Path
) -> None:
    moved = shutil.copytree(place.lake_root, tmp_path / "moved")
    rows = RobotLanceDataset(moved, DATASET, cameras=[STILLS])
    assert rows.depth_unit_m == {STILLS: 0.001}
    shown = np.stack([item[KEYS[STILLS]][..., 0] for item in rows[:]])
    np.testing.assert_array_equal(shown, expected(STILLS))


def test_streams_are_stored_without_loss(place: Workplace) -> None:
    gops = Lake(place.lake_root).open(DATASET, "gops")
    columns = ["codec", "profile", "pix_fmt", "num_frames"]
    for camera in (STILLS, VIDEO):
        rows = gops.read(columns, equals("camera", camera)).to_pylist()
        assert {(r["codec"], r["profile"], r["pix_fmt"]) for r in rows} == {
            ("ffv1", "lossless", "gray16le")
        }
        assert [row["num_frames"] for row in rows] == [4, 4, 1] * 2


def test_the_same_upload_gives_the_same_bytes_in_another_lake(
    place: Workplace, tmp_path: Path
) -> None:
    other, _ = ingested(tmp_path, num_episodes=2)
    digests = [
        sorted(Lake(p.lake_root).open(DATASET, "gops").read(["sha256"])["sha256"].to_pylist())
        for p in (place, other)
    ]
    assert digests[0] == digests[1]


def test_a_rendition_of_depth_has_recorded_values_only(tmp_path: Path) -> None:
    own, _ = ingested(tmp_path)
    name = "24x24-crop"
    add_rendition(Lake(own.lake_root), DATASET, parse_rendition(name), IN_PROCESS, RUN)
    rows = RobotLanceDataset(own.lake_root, DATASET, rendition=name)
    recorded = rows_of(STILLS)
    for row, item in enumerate(rows[:]):
        shown = item[KEYS[STILLS]][..., 0]
        np.testing.assert_array_equal(shown, nearest(recorded[row][:, 8:56], (24, 24)))
        assert item["observation.images.env"].shape == (24, 24, 3)


def test_a_contact_sheet_shows_depth_in_grey(place: Workplace) -> None:
    ingestion = find_ingestion(place, UPLOAD, SETTINGS)
    version = Lake(place.lake_root).open(DATASET, "gops").version
    sheets = contact_sheets(ingestion, version)
    assert sorted(sheets) == ["env", VIDEO, STILLS]
    shown = np.asarray(Image.open(io.BytesIO(sheets[STILLS]))).astype(int)
    # The patch that was not measured is black in the first tile, and nothing else is.
    assert shown[14:22, 18:30].max() < 16
    assert shown[30:46, 2:62].min() > 24
    assert np.ptp(shown, axis=2).max() <= 8


def test_depth_is_decoded_by_the_checks_and_not_judged_as_light(tmp_path: Path) -> None:
    own = workplace(tmp_path)
    source = write_episode(tmp_path / "source")
    clock = times(60, 33_333_333).tolist()
    dark = {time: np.full((48, 64), 7 + n % 2, np.uint16) for n, time in enumerate(clock)}
    write_depth(folder_of(source) / "cameras" / STILLS, dark)
    own.landing.put(source, DATASET, UPLOAD)
    ingest(own, UPLOAD)
    found = Lake(own.lake_root).open(DATASET, "quality").read().to_pylist()
    about_depth = {row["rule"] for row in found if STILLS in (row["where"] or "")}
    assert not {rule for rule in about_depth if rule.startswith("picture_")}


def flip_a_bit(place: Workplace, camera: str) -> None:
    """Spoil the first GOP of a camera where it lies on the disk."""
    gops = Lake(place.lake_root).open(DATASET, "gops")
    rows = gops.read(["gop_index"], equals("camera", camera), with_row_id=True)
    blob = gops.read_blobs(rows.sort_by("gop_index")["_rowid"].to_numpy()[:1])[0]
    for path in (Path(place.lake_root) / DATASET / "gops.lance").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if blob in data:
            at = data.index(blob) + len(blob) // 2
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            return
    raise AssertionError(f"no file below {gops.uri} holds the GOP")


def test_a_damaged_gop_of_depth_is_found(tmp_path: Path) -> None:
    own, _ = ingested(tmp_path)
    lake = Lake(own.lake_root)
    versions = {name: lake.open(DATASET, name).version for name in ("episodes", "frames", "gops")}
    (index,) = lake.open(DATASET, "episodes").read(["episode_index"])["episode_index"].to_pylist()
    pinned = snapshot_at(own.lake_root, DATASET, versions)
    checked = check_episode(pinned, read_episode(pinned, index))
    assert not [f for f in checked.findings if f.severity is Severity.FAIL]
    gops = [
        gop for stream in checked.measured.streams for gop in stream.gops if gop.camera == STILLS
    ]
    assert [gop.num_frames_decoded for gop in gops] == [4, 4, 1]
    flip_a_bit(own, STILLS)
    pinned = snapshot_at(own.lake_root, DATASET, versions)
    damaged = check_episode(pinned, read_episode(pinned, index))
    (finding,) = [f for f in damaged.findings if f.severity is Severity.FAIL]
    assert (finding.rule, finding.where) == ("gop_hash_matches", f"camera={STILLS} gops 0")
    with pytest.raises(DataFaultError, match="can't be read: got sha256") as caught:
        RobotLanceDataset(own.lake_root, DATASET)[0]
    assert caught.value.kind is ErrorKind.GOP_DAMAGED


def test_a_camera_that_is_depth_here_and_colour_there_is_refused_there(tmp_path: Path) -> None:
    own = workplace(tmp_path)
    source = write_source(tmp_path / "source", num_episodes=2)
    folder = folder_of(source, "ep_1") / "cameras" / STILLS
    clock = sorted(int(path.stem) for path in folder.iterdir())
    shutil.rmtree(folder)
    write_pictures(folder, dict.fromkeys(clock, 5))
    own.landing.put(source, DATASET, UPLOAD)
    ingest(own, UPLOAD)
    rows = published(own, DATASET, UPLOAD)
    assert rows["ep_0"].status == "ok"
    assert rows["ep_1"].status == "quarantined"
    assert "camera 'tof' has other pictures than the dataset: got colour pictures, expected" in (
        rows["ep_1"].status_reason or ""
    )
    shown = RobotLanceDataset(own.lake_root, DATASET)
    assert len(shown) == ROWS
    np.testing.assert_array_equal(shown[5][KEYS[STILLS]][..., 0], rows_of(STILLS)[5])


def test_a_later_upload_with_colour_for_depth_is_refused(tmp_path: Path) -> None:
    own, _ = ingested(tmp_path, profile=None)
    source = write_episode(tmp_path / "later")
    write_pictures(folder_of(source) / "cameras" / STILLS, dict.fromkeys(times(9).tolist(), 5))
    own.landing.put(source, DATASET, "20260102t000000z-depth-0000")
    ingest(own, "20260102t000000z-depth-0000")
    (row,) = published(own, DATASET, "20260102t000000z-depth-0000").values()
    assert row.status == "quarantined"
    assert "`cameras.<name>.rename`" in (row.status_reason or "")


def test_uploads_of_different_units_are_not_mixed(tmp_path: Path) -> None:
    own, _ = ingested(tmp_path)
    tenth = PROFILE.replace("0.001", "0.0001")
    later = "20260102t000000z-depth-0000"
    own.landing.put(write_source(tmp_path / "later"), DATASET, later, profile=tenth)
    with pytest.raises(
        DataFaultError, match=r"depth_unit_m: got 0\.0001, expected 0\.001"
    ) as caught:
        register_upload(own, later, SETTINGS, RUN)
    assert caught.value.kind is ErrorKind.MIXED_CONVENTIONS


def test_a_unit_that_is_stated_later_is_told_of_all(tmp_path: Path) -> None:
    own, _ = ingested(tmp_path, profile=None)
    assert RobotLanceDataset(own.lake_root, DATASET).depth_unit_m == {VIDEO: None, STILLS: None}
    later = "20260102t000000z-depth-0000"
    own.landing.put(write_source(tmp_path / "later"), DATASET, later, profile=PROFILE)
    ingest(own, later)
    assert RobotLanceDataset(own.lake_root, DATASET).depth_unit_m == {VIDEO: None, STILLS: 0.001}
    rules = Lake(own.lake_root).open(DATASET, "quality").read(["rule", "where"]).to_pylist()
    told = [row["where"] for row in rules if row["rule"] == "conventions_are_stated"]
    assert told == [f"observation_images_{STILLS}.depth_unit_m"]


def test_a_gop_that_is_not_what_the_columns_say_is_never_shown(tmp_path: Path) -> None:
    own, _ = ingested(tmp_path)
    frames = Lake(own.lake_root).open(DATASET, "frames")
    columns = (
        name for name in frames.schema.names if name.startswith(f"observation_images_{VIDEO}")
    )
    restate(frames.uri, {}, {name: {"rdp.is_depth": None} for name in columns})
    rows = RobotLanceDataset(own.lake_root, DATASET)
    assert rows.depth_unit_m == {STILLS: 0.001}
    with pytest.raises(DataFaultError, match="got pictures of pixel format gray16le") as caught:
        rows[0]
    assert caught.value.kind is ErrorKind.ROW_MISMATCH
