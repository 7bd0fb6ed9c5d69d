"""``meta/info.json``: what a LeRobot dataset declares of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from robot_data_platform.core.source import Source
from robot_data_platform.core.time_base import rate_fraction
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.json_files import JsonObject, read_json
from robot_data_platform.formats.lerobot.path_template import PathTemplate
from robot_data_platform.formats.protocol import DeclaredCamera

INFO_FILE = "meta/info.json"
VERSIONS = ("v2.0", "v2.1", "v3.0")
"""Values of ``codebase_version`` that are read."""
PARQUET, LANCE = "parquet", "lance"
"""Values of ``storage_format``; it is absent where it is parquet."""
_LAYOUTS = (*((version, PARQUET) for version in VERSIONS), ("v3.0", LANCE))
_CHANNELS = (1, 3, 4)
_DEFAULT_CHUNK = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One entry of ``features``."""

    key: str
    dtype: str
    shape: tuple[int, ...]
    names: tuple[str, ...] | None
    """All names in order, from whatever nesting they are written in; None = none stated."""
    info: Mapping[str, object]
    """What is declared of a video or image."""

    @property
    def is_camera(self) -> bool:
        """Whether it holds pictures."""
        return self.dtype in ("video", "image")

    @property
    def is_depth(self) -> bool:
        """Whether its pictures are depth maps."""
        flags = ("is_depth_map", "video.is_depth_map")
        return any(self.info.get(flag) is True for flag in flags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """The parts of ``info.json`` that reading needs."""

    version: str
    storage: str
    """What holds the rows: ``PARQUET`` or ``LANCE``."""
    fps: Fraction
    """Rows, and pictures, per second."""
    features: tuple[Feature, ...]
    data_path: PathTemplate
    video_path: PathTemplate | None
    chunks_size: int
    """Episodes per chunk folder (v2)."""
    robot_type: str | None
    num_episodes_claimed: int | None
    num_rows_claimed: int | None

    @property
    def cameras(self) -> tuple[Feature, ...]:
        """The features that hold pictures."""
        return tuple(feature for feature in self.features if feature.is_camera)


def read_info(source: Source) -> Info:
    """Return a dataset's declaration.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: absent, or no JSON, or lacks what reading needs.
        ``unknown-format``: another version of LeRobot's format.
    """
    raw = read_json(source, INFO_FILE)
    version, storage = _layout(raw, source)
    features, data_path = raw.get("features"), raw.get("data_path")
    if not isinstance(features, dict) or not isinstance(data_path, str):
        raise unreadable(source, INFO_FILE, "expected an object `features` and a text `data_path`")
    video_path = raw.get("video_path")
    return Info(
        version=version,
        storage=storage,
        fps=read_rate(source, INFO_FILE, raw),
        features=tuple(_feature(source, key, value) for key, value in features.items()),
        data_path=PathTemplate(data_path),
        video_path=PathTemplate(video_path) if isinstance(video_path, str) else None,
        chunks_size=_count(raw, "chunks_size") or _DEFAULT_CHUNK,
        robot_type=str(raw["robot_type"]) if raw.get("robot_type") else None,
        num_episodes_claimed=_count(raw, "total_episodes"),
        num_rows_claimed=_count(raw, "total_frames"),
    )


def declared_camera(feature: Feature, fps: Fraction) -> DeclaredCamera:
    """Return what a picture feature declares, with height first or channels first."""
    sides = feature.shape
    if len(sides) == 3 and sides[2] not in _CHANNELS and sides[0] in _CHANNELS:  # (C, H, W)
        sides = sides[1:]
    height, width = sides[:2] if len(sides) >= 2 else (None, None)
    codec, rate = feature.info.get("video.codec"), feature.info.get("video.fps")
    return DeclaredCamera(
        codec=codec if isinstance(codec, str) else None,
        width_px=width,
        height_px=height,
        fps=float(rate) if isinstance(rate, int | float) else float(fps),
    )


def read_rate(source: Source, relative: str, raw: JsonObject) -> Fraction:
    """Return the rate in ``fps``.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: it is absent, or no number above 0.
    """
    fps = raw.get("fps")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps < 1e6:
        raise unreadable(source, relative, f"got fps {fps!r}, expected a rate above 0")
    return rate_fraction(fps)


def _layout(raw: JsonObject, source: Source) -> tuple[str, str]:
    version, storage = raw.get("codebase_version"), raw.get("storage_format") or PARQUET
    for layout in _LAYOUTS:
        if layout == (version, storage):
            return layout
    raise DataFaultError(
        f"{INFO_FILE!r} of {source.label!r} names a LeRobot layout that is not read: got "
        f"codebase_version {version!r}, storage_format {storage!r}, expected one of "
        f"{list(_LAYOUTS)}. Convert it with LeRobot's own scripts first.",
        kind=ErrorKind.UNKNOWN_FORMAT,
        version=str(version),
    )


def _feature(source: Source, key: str, value: object) -> Feature:
    raw = cast("JsonObject", value) if isinstance(value, dict) else {}
    dtype, shape = raw.get("dtype"), raw.get("shape")
    if not isinstance(dtype, str):
        got = f"got feature {key!r} {value!r:.80}, expected an object with a text `dtype`"
        raise unreadable(source, INFO_FILE, got)
    sides = [side for side in shape if isinstance(side, int)] if isinstance(shape, list) else []
    info = raw.get("info") or raw.get("video_info")
    return Feature(
        key=key,
        dtype=dtype,
        shape=tuple(sides),
        names=tuple(_texts(raw.get("names"))) or None,
        info=cast("JsonObject", info) if isinstance(info, dict) else {},
    )


def _texts(names: object) -> Iterator[str]:
    if isinstance(names, str):
        yield names
    elif isinstance(names, list | tuple):
        for item in names:
            yield from _texts(item)
    elif isinstance(names, dict):
        # {"motors": [...]} lists names; {"joint_1": 0, ...} is keyed by them.
        yield from _texts(list(names) if _is_keyed_by_name(names) else list(names.values()))


def _is_keyed_by_name(names: Mapping[str, object]) -> bool:
    return all(isinstance(value, int) for value in names.values())


def _count(raw: JsonObject, key: str) -> int | None:
    value = raw.get(key)
    return value if isinstance(value, int) and value >= 0 and not isinstance(value, bool) else None
