"""Names of signals and cameras, made from topics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.formats.names import camera_name, column_name

_PICTURE_WORDS = re.compile(r"(/(image\w*|compressed\w*|video\w*|theora|ffmpeg))+$")
"""Ends of topics that say only that there are pictures."""
_OBSERVATION = "observation_"


def signal_name(topic: str, suffix: str = "") -> str:
    """Return the name of a topic's signal, or of one more of its signals.

    Examples
    --------
    >>> signal_name("/left/joint_states"), signal_name("/left/joint_states", "velocity")
    ('observation_left_joint_states', 'observation_left_joint_states_velocity')
    """
    name = column_name(topic)
    is_plain = name in (ACTION, STATE) or name.startswith(_OBSERVATION)
    return with_suffix(name if is_plain else _OBSERVATION + name, suffix)


def with_suffix(name: str, suffix: str) -> str:
    """Return the name of one more signal of a topic, beside its main one.

    Examples
    --------
    >>> with_suffix("observation_state", "effort"), with_suffix("action", "effort")
    ('observation_effort', 'action_effort')
    """
    if not suffix:
        return name
    is_part_of_state = name == STATE and not suffix.isdigit()
    return _OBSERVATION + suffix if is_part_of_state else f"{name}_{suffix}"


def camera_folder(topic: str) -> str:
    """Return a topic without the words that say only that there are pictures.

    Examples
    --------
    >>> camera_folder("/arm/cam/image_raw/compressed"), camera_folder("/cam_left")
    ('/arm/cam', '/cam_left')
    """
    return _PICTURE_WORDS.sub("", topic)


def camera_names(topics: Iterable[str]) -> dict[str, str]:
    """Return the camera name of each topic: its folder, or all of it where that is not unique.

    Examples
    --------
    >>> camera_names(["/cam/image_raw", "/cam/image_raw/compressed", "/arm/image_raw"])
    {'/cam/image_raw': 'cam_image_raw', '/cam/image_raw/compressed': 'cam_image_raw_compressed', \
'/arm/image_raw': 'arm'}
    """
    short = {topic: camera_name(camera_folder(topic)) for topic in topics}
    counts = Counter(short.values())
    return {
        topic: name if name and counts[name] == 1 else camera_name(topic)
        for topic, name in short.items()
    }


def lens_topic_of(camera_topic: str, lens_topics: Iterable[str]) -> str | None:
    """Return the topic that describes a camera's lens: the one in the camera's folder.

    Examples
    --------
    >>> lens_topic_of("/arm/cam/image_raw", ["/arm/camera_info", "/arm/cam/camera_info"])
    '/arm/cam/camera_info'
    """
    folder = camera_folder(camera_topic)
    return next((topic for topic in lens_topics if topic.rpartition("/")[0] == folder), None)
