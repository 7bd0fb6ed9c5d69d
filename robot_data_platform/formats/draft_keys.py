"""Keys of a drafted profile: stated where the data says them, examples where it does not."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.recording import STATE
from robot_data_platform.formats.draft_facts import CameraFacts, SignalFacts, SourceFacts
from robot_data_platform.formats.draft_text import Key, Section

NOMINAL_TOLERANCE = 0.01
"""Share by which a measured rate may be off a whole number and still be drafted as that."""
KNOWN = "The data says it."
UNITS = "rad, deg, m, percent or ticks; one for all, or a list of one each"


def draft_keys(facts: SourceFacts) -> list[Key | Section]:
    """Return every key that the source may need, in the order of the text."""
    state = next((signal for signal in facts.signals if signal.name == STATE), None)
    return [
        Key(name="version", value=1, is_stated=True),
        *_texts(facts),
        _rate(facts, state),
        *(() if state is None else (_joints(state),)),
        _gripper(),
        *_pictures(facts),
        Key(
            name="quaternion_order",
            value="wxyz",
            note="Where signals hold quaternions: wxyz or xyzw.",
        ),
        *_cameras(facts),
    ]


def _texts(facts: SourceFacts) -> Iterator[Key]:
    robot = facts.robot
    yield Key(
        name="robot",
        value=robot or "model of the robot",
        must=None if robot else "the robot's model; the data does not say it.",
        note=f"The data says {robot!r}." if robot else None,
    )
    yield Key(name="description", value="what was recorded, for people")
    task = facts.task
    yield Key(
        name="task",
        value=task or "what the robot does",
        must=None if task else "the task in words; the data does not say it.",
        note=f"The data says {task!r}, which wins." if task else None,
    )


def _rate(facts: SourceFacts, state: SignalFacts | None) -> Key:
    measured = state.rate_hz if state else None
    return Key(
        name="control_hz",
        value=_nominal(measured) or 50,
        must=None if facts.has_clock else "rows per second; the data has no clock.",
        note=f"The data has a clock; {STATE} comes at {measured:g} Hz." if measured else None,
    )


def _joints(state: SignalFacts) -> Section:
    numbered = tuple(f"joint_{number}" for number in range(state.width))
    return Section(
        name="joints",
        note=f"{STATE} has {state.width} dimensions; an action of the same width reads alike.",
        entries=[*_said_joints(state, numbered), *_joint_examples(state.names or numbered)],
    )


def _said_joints(state: SignalFacts, numbered: tuple[str, ...]) -> Iterator[Key]:
    names, units = state.names, state.units
    is_known = None not in units
    yield Key(
        name="unit",
        value=_one_or_list(units) if is_known else "rad",
        is_stated=is_known,
        must=None if is_known else f"{UNITS}.",
    )
    yield Key(
        name="names",
        value=list(names or numbered),
        is_stated=names is not None,
        must=None if names else "names of the dimensions, in the order of the data.",
    )


def _joint_examples(names: tuple[str, ...]) -> Iterator[Key]:
    limits = [[-3.14, 3.14] for _ in names]
    note = "To store them in another order, or fewer of them."
    yield Key(name="order", value=list(names), note=note)
    note = "To convert them: stored = scale * recorded + shift."
    yield Key(name="stored_as", value={"unit": "rad"}, note=note)
    note = "Lowest and highest stored value of each; null = not known."
    yield Key(name="limits", value=limits, note=note)
    note = "Joint of the model = sign * value + offset."
    yield Key(name="sign", value=[1] * len(names), note=note)
    yield Key(name="offset", value=[0] * len(names))


def _one_or_list(units: tuple[str | None, ...]) -> str | list[str | None] | None:
    return units[0] if len(set(units)) == 1 else list(units)


def _gripper() -> Section:
    return Section(
        name="gripper",
        entries=[
            Key(
                name="convention",
                value="zero_is_closed",
                must="zero_is_closed or zero_is_open, where there is a gripper.",
            ),
            Key(name="range", value=[0, 1], note="Smallest and largest value of the gripper."),
            Key(name="joints", value=["gripper"], note="Its dimensions, by name."),
        ],
    )


def _pictures(facts: SourceFacts) -> Iterator[Key]:
    asked = "rgb or bgr; the pictures are no video, and nothing says their order."
    if any(not camera.is_video and not camera.is_depth for camera in facts.cameras):
        yield Key(
            name="picture_channel_order",
            value="rgb",
            must=None if facts.has_channel_order else asked,
        )


def _cameras(facts: SourceFacts) -> Iterator[Section]:
    if facts.cameras:
        yield Section(name="cameras", entries=[_camera(camera) for camera in facts.cameras])


def _camera(camera: CameraFacts) -> Section:
    nominal = _nominal(camera.fps)
    is_sure = nominal is not None and nominal == (_nominal(camera.header_fps) or nominal)
    return Section(
        name=camera.name,
        note=_said_of(camera),
        entries=[
            Key(name="fps", value=nominal or 30, is_stated=is_sure),
            Key(name="rename", value=camera.name, note="To store it under another name."),
            Key(name="time_offset_ns", value=0, note="Added to the times of its pictures."),
            *_depth(camera),
            _lens(camera),
            _place(camera),
        ],
    )


def _depth(camera: CameraFacts) -> Iterator[Key]:
    if camera.is_depth:
        is_known = camera.depth_unit_m is not None
        yield Key(
            name="depth_unit_m",
            value=camera.depth_unit_m or 0.001,
            must=None if is_known else "metres per unit of its depth maps.",
            note=KNOWN if is_known else None,
        )


def _lens(camera: CameraFacts) -> Key:
    width_px, height_px = camera.width_px or 640, camera.height_px or 480
    asked = "the lens, where nothing else says it; in pixels of this size."
    return Key(
        name="intrinsics",
        value={
            "width_px": width_px,
            "height_px": height_px,
            "fx": float(width_px),
            "fy": float(width_px),
            "cx": (width_px - 1) / 2,
            "cy": (height_px - 1) / 2,
        },
        must=None if camera.has_intrinsics else asked,
        note=KNOWN if camera.has_intrinsics else None,
    )


def _place(camera: CameraFacts) -> Key:
    asked = "the place, where nothing else says it; in metres."
    return Key(
        name="extrinsics",
        value={
            "direction": "base_from_cam",
            "axes": "opencv",
            "parent": "base",
            "xyz_m": [0.0, 0.0, 1.0],
            "quaternion": {"order": "wxyz", "values": [0.0, 1.0, 0.0, 0.0]},
        },
        must=None if camera.has_extrinsics else asked,
        note=KNOWN if camera.has_extrinsics else None,
    )


def _said_of(camera: CameraFacts) -> str:
    kind = "Video" if camera.is_video else "Still pictures"
    depth = " of depth" if camera.is_depth else ""
    size = f" of {camera.width_px}x{camera.height_px}" if camera.width_px else ""
    rate = f", {camera.fps:g} pictures per second measured" if camera.fps else ""
    header = f", {camera.header_fps:g} in its header" if camera.header_fps else ""
    return f"{kind}{depth}{size}{rate}{header}."


def _nominal(measured_hz: float | None) -> int | None:
    """Return the whole rate that a measured one is, or None where it is off any."""
    if measured_hz is None or measured_hz < 1:
        return None
    whole = round(measured_hz)
    return whole if abs(measured_hz - whole) <= NOMINAL_TOLERANCE * whole else None
