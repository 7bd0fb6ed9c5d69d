"""The same reads from a real S3 server."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.testing.lake import build_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape
from robot_data_platform.testing.pictures import read_number
from robot_data_platform_tests.counting_proxy import CountingProxy
from robot_data_platform_tests.reader.test_processes import in_fork
from robot_data_platform_tests.servers import S3Server

BUCKET = "reader"


@pytest.fixture(scope="module")
def remote(s3_server: S3Server) -> LakeModel:
    """Two episodes on S3."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in s3_server.environment.items():
            patch.setenv(name, value)
        root = s3_server.make_bucket(BUCKET) + "/lake"
        return build_lake(root, num_episodes=2, shape=LakeShape(num_rows=20))


@pytest.mark.usefixtures("s3_environment")
def test_every_row_on_s3_has_its_own_pictures(remote: LakeModel) -> None:
    rows = RobotLanceDataset(remote.root, remote.dataset)
    items = rows.__getitems__(range(len(rows)))
    for camera in remote.shape.cameras:
        shown = [read_number(item[f"observation.images.{camera}"]) for item in items]
        assert shown == [
            number for episode in remote.episodes for number in episode.picture_number[camera]
        ]


def test_a_picture_costs_one_range_read_of_one_object(
    remote: LakeModel,
    s3_environment: S3Server,
    s3_proxy: CountingProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_proxy.endpoint_url)
    rows = RobotLanceDataset(remote.root, remote.dataset, cameras=["env"], columns=[])
    rows[0]
    s3_proxy.clear()
    rows[17]
    blobs = [request for request in s3_proxy.requests if request.path.endswith(".blob")]
    assert [(request.method, request.status) for request in blobs] == [("GET", 206)]
    assert blobs[0].byte_range is not None


@pytest.mark.usefixtures("s3_environment")
def test_a_read_of_s3_in_a_fork_is_refused(remote: LakeModel, repository: Path) -> None:
    done = in_fork(remote.root, remote.dataset, repository)
    assert done.stdout.startswith("fork-unsafe: "), done.stderr
