"""Recordings go the whole way: inspected, landed, cut, aligned, published and read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.coded_video import code_of
from robot_data_platform_tests.formats.ingested import ingest_folder
from robot_data_platform_tests.formats.ros.test_video import DEFINITION, KIND, frames, video
from robot_data_platform_tests.formats.ros_files import (
    Sent,
    images,
    joint_state,
    joint_states,
    write_mcap,
    write_rosbag1,
    write_rosbag2,
)

PROFILE = "streams: {/commands: {signal: action}}\ntask: pick\n"


def recorded(count: int = 20) -> list[Sent]:
    commands = [
        joint_state(k, topic="/commands", position=[k + 0.5, 1.0, 2.0], velocity=[])
        for k in range(count)
    ]
    sent = [*joint_states(count), *commands, *images(count // 2)]
    return sorted(sent, key=lambda message: message.log_ns)


def test_rows_and_pictures_in_the_lake_are_those_of_the_messages(tmp_path: Path) -> None:
    root = tmp_path / "in"
    stream = video(frames("av1", 20), "av1")
    write_mcap(
        root / "take_7.mcap",
        [*recorded(), *stream],
        chunk_size=8192,
        definitions={KIND: DEFINITION},
    )
    (root / "profile.yaml").write_text(PROFILE + "cameras: {cam_video: {rename: wrist}}\n")
    lake = ingest_folder(root, tmp_path)
    np.testing.assert_allclose(
        lake.values("take_7.mcap"), np.arange(20)[:, None] + [0, 0.1, 0.2], rtol=1e-6
    )
    actions = lake.values("take_7.mcap", "action")
    np.testing.assert_array_equal(actions, [[k + 0.5, 1, 2] for k in range(20)])
    assert lake.codes("take_7.mcap", "cam_image_raw") == [k // 2 for k in range(20)]
    pictures = lake.pictures("take_7.mcap", "wrist")
    assert [code_of(picture[:48]) for picture in pictures] == list(range(20))


def test_a_source_of_good_and_bad_bags_is_ingested_but_for_the_bad(tmp_path: Path) -> None:
    root = tmp_path / "in"
    write_rosbag2(root / "good", recorded())
    write_rosbag2(root / "bad", recorded())
    database = root / "bad" / "bad.db3"
    database.write_bytes(database.read_bytes()[:5000])
    (root / "profile.yaml").write_text(PROFILE)
    lake = ingest_folder(root, tmp_path)
    assert lake.codes("good", "cam") == [k // 2 for k in range(20)]
    assert lake.shown["bad"].status == "quarantined"


def test_inspection_tells_streams_and_clocks_of_a_bag(tmp_path: Path) -> None:
    root = write_rosbag1(tmp_path / "a.bag", recorded())
    (root / "profile.yaml").write_text(PROFILE)
    report = inspect_source(LocalSource(root))
    (episode,) = report.episodes
    assert (report.format, episode.num_rows, episode.refused_reason) == ("rosbag1", 20, None)
    rates = {s.name: s.clock.rate_hz for s in episode.signals}
    assert rates["observation_state"] == 100
    assert [(c.name, c.clock.rate_hz) for c in episode.cameras] == [("cam", 50)]
