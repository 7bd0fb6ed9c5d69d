"""Lens and place of each camera topic, from the topics that describe them."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.ros.lens_topics import LensTopic
from robot_data_platform.formats.ros.picture_topics import PictureTopic
from robot_data_platform.formats.ros.topic_names import lens_topic_of
from robot_data_platform.formats.ros.topics import Topics


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraFacts:
    """What a recording says of one camera."""

    calibration: CameraCalibration | None = None
    lens_topic: str | None = None
    """The topic that describes its lens."""
    fault: str | None = None
    """What it says that can't be; it was left out."""


def camera_facts(topics: Topics) -> dict[str, CameraFacts]:
    """Return what is known of each camera, by its topic."""
    lenses = {topic.channel.topic: lens for topic, lens in topics.of(LensTopic)}
    facts: dict[str, CameraFacts] = {}
    for topic, pictures in topics.of(PictureTopic):
        name = lens_topic_of(topic.channel.topic, lenses)
        lens = LensTopic() if name is None else lenses[name]
        calibration, fault = lens.lens, lens.fault
        try:
            frame_id = lens.frame_id or pictures.frame_id
            calibration = topics.transforms.placed(lens.lens, frame_id)
        except InvalidInputError as err:
            fault = fault or str(err)
        facts[topic.channel.topic] = CameraFacts(
            calibration=calibration, lens_topic=name, fault=fault
        )
    return facts
