"""Rules on what is stored: blobs are whole, counts agree, references lead somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.runs import Bools, Ints, name_list, name_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class GopCheck:
    """One GOP blob: what its row declares, and what reading and decoding it gave."""

    camera: str
    gop_index: int
    first_frame: int
    """Stream frame number that the row declares for its first picture."""
    num_frames: int
    """Pictures that the row declares."""
    sha256: str
    """Hash that the row declares."""
    sha256_found: str
    num_frames_decoded: int | None
    """Pictures that came out; None = not decoded, since the blob is not what was stored."""
    decode_error: str | None = None
    """Why decoding stopped, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number that one table declares and another holds."""

    what: str
    """What is counted: ``rows``, ``camera=env frames``."""
    declared: int
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Where an episode's rows say their pictures of one camera are; -1 stands for null."""

    camera: str
    ref_id: Ints
    """(N,)"""
    gop_index: Ints
    """(N,)"""
    frame_index_in_gop: Ints
    """(N,)"""
    stream_ref_id: int
    """Key of the camera's stored stream; -1 where there is none."""
    stored_gop_index: Ints
    """(G,) the stored GOPs, increasing."""
    stored_num_frames: Ints
    """(G,) pictures in each."""


def gop_hash_matches(gops: Sequence[GopCheck]) -> list[Finding]:
    """Fail where a blob is not the one that was stored."""
    return [
        _gop_finding("gop_hash_matches", gops, camera, broken, "have another sha256 than stored")
        for camera, broken in _by_camera([g for g in gops if g.sha256 != g.sha256_found]).items()
    ]


def gop_decodes_to_declared_frames(gops: Sequence[GopCheck]) -> list[Finding]:
    """Fail where an empty decoder does not give as many pictures as the GOP declares."""
    return [
        _gop_finding("gop_decodes_to_declared_frames", gops, camera, broken, _decoding(broken[0]))
        for camera, broken in _by_camera([g for g in gops if _decodes_wrongly(g)]).items()
    ]


def _decodes_wrongly(gop: GopCheck) -> bool:
    return gop.num_frames_decoded is not None and (
        gop.decode_error is not None or gop.num_frames_decoded != gop.num_frames
    )


def _decoding(gop: GopCheck) -> str:
    reason = f" ({gop.decode_error})" if gop.decode_error else ""
    return (
        f"do not decode as declared; GOP {gop.gop_index} gave {gop.num_frames_decoded} frames, "
        f"expected {gop.num_frames}{reason}"
    )


def gops_follow_each_other(gops: Sequence[GopCheck]) -> list[Finding]:
    """Fail where a stream lacks a GOP, has one twice, or its frame numbers don't add up."""
    findings = []
    for camera, mine in _by_camera(gops).items():
        starts = np.cumsum([0, *(g.num_frames for g in mine[:-1])])
        broken = [
            gop
            for place, (gop, start) in enumerate(zip(mine, starts.tolist(), strict=True))
            if gop.gop_index != place or gop.first_frame != start
        ]
        if broken:
            what = "do not continue the GOP before them"
            findings.append(_gop_finding("gops_follow_each_other", gops, camera, broken, what))
    return findings


def _by_camera(gops: Sequence[GopCheck]) -> dict[str, list[GopCheck]]:
    cameras = dict.fromkeys(gop.camera for gop in gops)
    return {camera: [gop for gop in gops if gop.camera == camera] for camera in cameras}


def _gop_finding(
    rule: str, gops: Sequence[GopCheck], camera: str, broken: Sequence[GopCheck], what: str
) -> Finding:
    numbers = name_list([str(gop.gop_index) for gop in broken])
    total = sum(gop.camera == camera for gop in gops)
    return Finding(
        rule=rule,
        severity=Severity.FAIL,
        message=f"{len(broken)} of {total} GOPs of camera {camera!r} {what}: GOP {numbers}. "
        "Ingest the upload again.",
        where=f"camera={camera} gops {numbers}",
        value=len(broken),
        threshold=0,
        unit="gops",
    )


def counts_match_declared(counts: Sequence[Count]) -> list[Finding]:
    """Fail where ``episodes`` declares another number than the other tables hold."""
    return [
        Finding(
            rule="counts_match_declared",
            severity=Severity.FAIL,
            message=f"The episode declares {count.declared} {count.what}: found {count.found}.",
            where=count.what,
            value=count.found,
            threshold=count.declared,
            unit="1",
        )
        for count in counts
        if count.declared != count.found
    ]


def row_references_exist(references: References) -> list[Finding]:
    """Fail where a row points at a picture that is not stored."""
    is_broken = _is_claimed(references) & ~_is_stored(references)
    if not is_broken.any():
        return []
    row = int(np.argmax(is_broken))
    return [
        Finding(
            rule="row_references_exist",
            severity=Severity.FAIL,
            message=f"{int(is_broken.sum())} rows point at pictures of camera "
            f"{references.camera!r} that are not stored: row {row} names stream "
            f"{int(references.ref_id[row])} GOP {int(references.gop_index[row])} frame "
            f"{int(references.frame_index_in_gop[row])}; the episode's stream is "
            f"{references.stream_ref_id} with {len(references.stored_gop_index)} GOPs.",
            where=f"camera={references.camera} rows {name_runs(is_broken)}",
            value=int(is_broken.sum()),
            threshold=0,
            unit="rows",
        )
    ]


def _is_claimed(references: References) -> Bools:
    """Return which rows name a picture at all, be it by half."""
    return (
        (references.ref_id >= 0)
        | (references.gop_index >= 0)
        | (references.frame_index_in_gop >= 0)
    )


def _is_stored(references: References) -> Bools:
    if not len(references.stored_gop_index):
        return np.zeros(len(references.ref_id), dtype=np.bool_)
    place = np.searchsorted(references.stored_gop_index, references.gop_index)
    place = np.minimum(place, len(references.stored_gop_index) - 1)
    is_gop = references.stored_gop_index[place] == references.gop_index
    num_frames = references.stored_num_frames[place]
    is_frame = (references.frame_index_in_gop >= 0) & (references.frame_index_in_gop < num_frames)
    return np.asarray((references.ref_id == references.stream_ref_id) & is_gop & is_frame)
