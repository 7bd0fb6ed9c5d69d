"""``meta_data/info.json`` of LeRobot v1, and the features that its rows show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pyarrow as pa

from robot_data_platform.core.source import Source
from robot_data_platform.formats.json_files import JsonObject, read_json
from robot_data_platform.formats.lerobot.info import PARQUET, Feature, Info, read_rate
from robot_data_platform.formats.lerobot.path_template import PathTemplate

INFO_FILE_V1 = "meta_data/info.json"
VERSION_1 = "v1"
_CAMERA_BY_FIELDS = {("path", "timestamp"): "video", ("bytes", "path"): "image"}
"""What a struct column is, by the sorted names of its fields."""


def read_info_v1(source: Source, schema: pa.Schema) -> Info:
    """Return what a v1 dataset declares; its features are its columns.

    Parameters
    ----------
    source : Source
        The dataset.
    schema : pyarrow.Schema
        Columns of its rows.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: no JSON object, or one without a rate.
    """
    raw = read_json(source, INFO_FILE_V1)
    version = raw.get("codebase_version")
    return Info(
        version=version if isinstance(version, str) else VERSION_1,
        storage=PARQUET,
        fps=read_rate(source, INFO_FILE_V1, raw),
        features=tuple(_feature(field, _codec(raw)) for field in schema),
        data_path=PathTemplate(""),
        video_path=None,
        chunks_size=1,
        robot_type=None,
        num_episodes_claimed=None,
        num_rows_claimed=None,
    )


def _feature(field: pa.Field, codec: str | None) -> Feature:
    names = [inner.name for inner in field.type] if pa.types.is_struct(field.type) else []
    dtype = _CAMERA_BY_FIELDS.get(tuple(sorted(names)), str(field.type))
    info: Mapping[str, object] = {"video.codec": codec} if codec and dtype == "video" else {}
    return Feature(key=field.name, dtype=dtype, shape=(), names=None, info=info)


def _codec(raw: JsonObject) -> str | None:
    encoding = raw.get("encoding")
    codec = cast("JsonObject", encoding).get("vcodec") if isinstance(encoding, dict) else None
    return codec if isinstance(codec, str) else None
