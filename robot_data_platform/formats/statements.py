"""What a profile states, laid over what the data says of itself."""

from __future__ import annotations

from dataclasses import replace

from robot_data_platform.core.recording import Recording
from robot_data_platform.formats.camera_statements import with_cameras
from robot_data_platform.formats.joint_statements import with_joints
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.rate_statements import rate_findings


def apply_profile(recording: Recording, profile: Profile) -> Recording:
    """Return the recording with the profile's statements, and findings where the two differ.

    Values and times stay as recorded, but for what the profile declares to be converted: an order
    of joints, `stored_as`, and an offset of a camera's clock.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``, ``shape-mismatch``: a declared conversion does not fit.
    InvalidInputError
        ``invalid-profile``: a camera is renamed to a name that another one has.
    """
    signals, of_signals = with_joints(recording, profile)
    cameras, of_cameras = with_cameras(recording, profile)
    return replace(
        recording,
        signals=signals,
        cameras=cameras,
        task=recording.task or profile.task,
        robot=profile.robot or recording.robot,
        findings=(
            *recording.findings,
            *of_signals,
            *of_cameras,
            *rate_findings(recording, profile),
        ),
    )
