"""Renditions beside pictures as recorded: made by ingestion and afterwards, read in their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.rendering import add_rendition, recorded_renditions
from robot_data_platform.core.rendition import parse_rendition
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.curation.verify import verify
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.lake import build_lake, release_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import IN_PROCESS, RUN, ingest, land, workplace

NAME = "32x48-crop"
SHAPE = LakeShape(num_rows=20, rows_per_picture=1, cameras=("env", "wrist"))


@pytest.fixture
def built(tmp_path: Path) -> LakeModel:
    return build_lake(tmp_path / "lake", num_episodes=2, shape=SHAPE)


def add(root: str, dataset: str, name: str = NAME) -> tuple[int, int]:
    result = add_rendition(Lake(root), dataset, parse_rendition(name), IN_PROCESS, RUN)
    return result.num_episodes, result.num_gops


def blobs(root: str, dataset: str, version: int | None = None) -> dict[int, str]:
    rows = Lake(root).open(dataset, "gops", version).read(["gop_key", "sha256"])
    return dict(zip(rows["gop_key"].to_pylist(), rows["sha256"].to_pylist(), strict=True))


def test_every_rendered_picture_is_that_of_its_row(built: LakeModel) -> None:
    add(built.root, built.dataset)
    rows = RobotLanceDataset(built.root, built.dataset, rendition=NAME)
    wanted = [n for e in built.episodes for n in e.picture_number["wrist"].tolist()]
    pictures = [item["observation.images.wrist"] for item in rows[:]]
    assert pictures[0].shape == (32, 48, 3)
    assert [read_number(picture) for picture in pictures] == wanted


def test_pictures_as_recorded_stay_untouched(built: LakeModel) -> None:
    before = blobs(built.root, built.dataset)
    add(built.root, built.dataset)
    after = blobs(built.root, built.dataset)
    assert len(after) == 2 * len(before)
    assert {key: after[key] for key in before} == before
    assert RobotLanceDataset(built.root, built.dataset)[0]["observation.images.env"].shape == (
        SHAPE.height_px,
        SHAPE.width_px,
        3,
    )


def test_adding_it_again_makes_nothing(built: LakeModel) -> None:
    assert add(built.root, built.dataset)[0] == 2
    version = Lake(built.root).open(built.dataset, "gops").version
    assert add(built.root, built.dataset) == (0, 0)
    assert Lake(built.root).open(built.dataset, "gops").version == version


def test_two_renditions_are_read_apart(built: LakeModel) -> None:
    add(built.root, built.dataset)
    add(built.root, built.dataset, "64x64-letterbox")
    for name, shape in ((NAME, (32, 48, 3)), ("64x64-letterbox", (64, 64, 3))):
        item = RobotLanceDataset(built.root, built.dataset, rendition=name)[5]
        assert item["observation.images.env"].shape == shape


def test_a_reader_opened_before_reads_what_it_read(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    add(built.root, built.dataset)
    wanted = built.episodes[0].picture_number["env"][3]
    assert read_number(rows[3]["observation.images.env"]) == wanted


def test_a_release_made_before_verifies_and_does_not_have_it(built: LakeModel) -> None:
    release_lake(built.root, built.dataset, "v1", {e.episode_id: "train" for e in built.episodes})
    add(built.root, built.dataset)
    with pytest.raises(NotFoundError, match=f"{NAME}.*release 'v1'.*rdp rendition add") as caught:
        RobotLanceDataset(built.root, built.dataset, release="v1", rendition=NAME)
    assert caught.value.kind is ErrorKind.RENDITION_NOT_FOUND


def test_a_release_made_after_counts_gops_as_recorded(tmp_path: Path) -> None:
    place = ingested(tmp_path, "u1", 1)
    add(place.lake_root, "robot")
    create_release(place.lake, "robot", SplitSpec(), RUN, name="r1")
    report = verify(place.lake, "robot", "r1")
    assert (report.problems, report.num_gops) == ((), len(blobs(place.lake_root, "robot")) // 2)


def test_an_episode_without_it_is_told_with_what_makes_it(built: LakeModel) -> None:
    gops = Lake(built.root).open(built.dataset, "gops")
    gops.lance.update_schema_metadata({"rdp.renditions": f'["{NAME}"]'})
    rows = RobotLanceDataset(built.root, built.dataset, rendition=NAME)
    with pytest.raises(DataFaultError, match="rdp rendition add") as caught:
        rows[0]
    assert caught.value.kind is ErrorKind.GOP_MISSING
    assert add(built.root, built.dataset)[0] == 2


def test_a_fourth_rendition_is_refused(built: LakeModel) -> None:
    for side in (32, 40, 48):
        add(built.root, built.dataset, f"{side}x{side}-crop")
    with pytest.raises(InvalidInputError, match="no room") as caught:
        add(built.root, built.dataset, "56x56-crop")
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def ingested(tmp_path: Path, upload: str, seed: int) -> Workplace:
    place = workplace(tmp_path)
    land(place, "robot", upload, RawlogShape(num_episodes=1, num_rows=12, seed=seed))
    ingest(place, upload)
    return place


def test_later_uploads_get_it_by_themselves(tmp_path: Path) -> None:
    place = ingested(tmp_path, "u1", 1)
    assert add(place.lake_root, "robot")[0] == 1
    ingested(tmp_path, "u2", 2)
    assert add(place.lake_root, "robot") == (0, 0)
    own = RobotLanceDataset(place.lake_root, "robot")
    small = RobotLanceDataset(place.lake_root, "robot", rendition=NAME)
    camera = f"observation.images.{own.cameras[0]}"
    for position in range(len(own)):
        assert own[position][f"{camera}_is_missing"] == small[position][f"{camera}_is_missing"]
        difference = own[position][camera].mean() - small[position][camera].mean()
        assert abs(difference) < 12
    assert len(recorded_renditions(Lake(place.lake_root).open("robot", "gops"))) == 1


def test_episode_facts_speak_of_pictures_as_recorded(tmp_path: Path) -> None:
    place = ingested(tmp_path, "u1", 1)
    add(place.lake_root, "robot")
    ingested(tmp_path, "u2", 2)
    cameras = Lake(place.lake_root).open("robot", "episodes").read(["cameras"])["cameras"]
    first, second = ([(c["name"], c["num_gops"]) for c in row] for row in cameras.to_pylist())
    assert first == second


def test_renditions_are_the_same_bytes_whoever_makes_them(tmp_path: Path) -> None:
    place = ingested(tmp_path / "a", "u1", 1)
    add(place.lake_root, "robot")
    other = ingested(tmp_path / "b", "u0", 3)
    add(other.lake_root, "robot")
    ingested(tmp_path / "b", "u1", 1)
    made = set(blobs(place.lake_root, "robot").values())
    assert made <= set(blobs(other.lake_root, "robot").values())
    assert np.all([len(digest) == 64 for digest in made])
