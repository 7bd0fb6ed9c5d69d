"""All signals and cameras of a recording, on clocks that were chosen for all of them together."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.core.recording import CameraStream, Signal
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.calibrations import CameraFacts, camera_facts
from robot_data_platform.formats.ros.camera_drafts import camera_drafts
from robot_data_platform.formats.ros.clocks import ChosenTimes, MessageTimes, choose_times
from robot_data_platform.formats.ros.recording_files import RecordingFiles
from robot_data_platform.formats.ros.signal_drafts import signal_drafts
from robot_data_platform.formats.ros.topics import Topics


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """What a recording came to."""

    signals: tuple[Signal, ...]
    cameras: tuple[CameraStream, ...]
    times: tuple[MessageTimes, ...]
    """Recorded times of each signal, then of each camera."""
    chosen: tuple[ChosenTimes, ...]
    """Those of them that count."""
    facts_by_topic: dict[str, CameraFacts]
    """What is known of each camera, by topic."""
    num_skipped: dict[str, int]
    """Frames before the first key frame of a video, by camera."""

    @property
    def camera_by_topic(self) -> dict[str, str]:
        """The name of each camera, by its topic."""
        chosen = self.chosen[len(self.signals) :]
        return {c.label: camera.name for camera, c in zip(self.cameras, chosen, strict=True)}

    @property
    def clock_by_name(self) -> dict[str, str]:
        """The clock of each signal and camera."""
        names = [signal.name for signal in self.signals] + [c.name for c in self.cameras]
        return {n: c.clock.value for n, c in zip(names, self.chosen, strict=True)}


def build_streams(topics: Topics, files: RecordingFiles, profile: Profile) -> Streams:
    """Return the streams of a recording of which all messages were gathered.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``, ``time-not-increasing``, ``video-unreadable``.
    """
    facts = camera_facts(topics)
    signals = signal_drafts(topics, profile)
    cameras = list(camera_drafts(topics, files, profile, facts))
    times = [*(draft.times for draft in signals), *(draft.times for draft, _ in cameras)]
    chosen = choose_times(times)
    num_signals = len(signals)
    return Streams(
        signals=tuple(
            draft.build(clock) for draft, clock in zip(signals, chosen[:num_signals], strict=True)
        ),
        cameras=tuple(
            draft.build(clock)
            for (draft, _), clock in zip(cameras, chosen[num_signals:], strict=True)
        ),
        times=tuple(times),
        chosen=tuple(chosen),
        facts_by_topic=facts,
        num_skipped={draft.name: num_skipped for draft, num_skipped in cameras if num_skipped},
    )
