"""Camera streams of episodes as their GOPs hold them: where pictures lie, and of what kind."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.gop import is_depth_pix_fmt
from robot_data_platform.core.rows import StreamIndex
from robot_data_platform.core.schema import camera_names, depth_cameras
from robot_data_platform.errors import DataFaultError, ErrorKind, NotFoundError
from robot_data_platform.storage.predicate import all_of, in_range, in_slot

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from robot_data_platform.compute.ingestion import BatchTask, Ingestion
    from robot_data_platform.core.recording import Recording
    from robot_data_platform.storage.table import LakeTable


def cameras_of(ingestion: Ingestion, gops: LakeTable) -> tuple[list[str], list[str]]:
    """Return the cameras of an ingestion, and those of depth maps, as the first GOP of each says.

    Both are sorted.
    """
    columns = ["camera", "pix_fmt", "gop_key"]
    rows = gops.read(columns, all_of(ingestion.where(), in_slot(0)))
    ordered = rows.sort_by([("gop_key", "descending")])
    pix_fmt: dict[str, str] = dict(
        zip(ordered["camera"].to_pylist(), ordered["pix_fmt"].to_pylist(), strict=True)
    )
    return sorted(pix_fmt), sorted(name for name in pix_fmt if is_depth_pix_fmt(pix_fmt[name]))


def streams_by_episode(batch: BatchTask, gops: LakeTable) -> dict[int, dict[str, StreamIndex]]:
    """Return where each camera's pictures lie, for every episode of the batch."""
    first, last = batch.episodes[0].episode_index, batch.episodes[-1].episode_index
    columns = ["episode_index", "camera", "ref_id", "gop_index", "first_frame", "pts_ns", "pix_fmt"]
    table = gops.read(columns, all_of(in_range("episode_index", first, last + 1), in_slot(0)))
    rows = table.sort_by([("ref_id", "ascending"), ("gop_index", "ascending")])
    refs = rows["ref_id"].to_numpy()
    bounds = [*np.flatnonzero(np.diff(refs, prepend=-1)), len(refs)]
    streams: dict[int, dict[str, StreamIndex]] = {}
    for start, stop in itertools.pairwise(bounds):
        part = rows.slice(int(start), int(stop - start))
        index = part["episode_index"][0].as_py()
        streams.setdefault(index, {})[part["camera"][0].as_py()] = StreamIndex(
            ref_id=int(refs[start]),
            first_frame=part["first_frame"].to_numpy(),
            pts_ns=part["pts_ns"].combine_chunks().flatten().to_numpy(),
            is_depth=is_depth_pix_fmt(part["pix_fmt"][0].as_py()),
        )
    return streams


def check_streams(
    recording: Recording, streams: Mapping[str, StreamIndex], ingestion: Ingestion
) -> None:
    """Refuse an episode that lacks the GOPs of a camera.

    Raises
    ------
    NotFoundError
        ``gop-missing``.
    """
    absent = sorted({camera.name for camera in recording.cameras} - streams.keys())
    if absent:
        raise NotFoundError(
            f"Episode {recording.ref.source_key!r} of upload {ingestion.upload!r} has no GOP of "
            f"cameras {absent} in dataset {ingestion.dataset!r}: expected every camera's. "
            "Materialize gop_video for the upload first.",
            kind=ErrorKind.GOP_MISSING,
            upload=ingestion.upload,
            cameras=absent,
        )


def check_kinds(key: str, streams: Mapping[str, StreamIndex], schema: pa.Schema) -> None:
    """Refuse an episode with a camera that is depth here and colour in the table, or reversed.

    Parameters
    ----------
    key : str
        The episode's ``source_key``.
    streams : mapping of str to StreamIndex
        Its streams by camera.
    schema : pyarrow.Schema
        Of ``frames``.

    Raises
    ------
    DataFaultError
        ``mixed-conventions``.
    """
    depth, known = depth_cameras(schema), camera_names(schema)
    words = {True: "depth maps", False: "colour pictures"}
    for camera, stream in streams.items():
        is_depth = camera in depth
        if camera in known and stream.is_depth is not is_depth:
            raise DataFaultError(
                f"Episode {key!r} camera {camera!r} has other pictures than the dataset: got "
                f"{words[stream.is_depth]}, expected {words[is_depth]}. Rename the camera in the "
                "profile (`cameras.<name>.rename`), or upload the episode to another dataset.",
                kind=ErrorKind.MIXED_CONVENTIONS,
                episode=key,
                camera=camera,
            )
