"""GOP length by profile at equal quality: bytes, and what random and batched reading cost.

One thread, packets in memory: encoder and decoder alone, no storage.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from robot_data_platform.core.recording import Picture
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.settings import GopProfile, GopSettings
from robot_data_platform_tests.benchmarks.clips import clip_sources, frames_of, load_clip
from robot_data_platform_tests.benchmarks.figures import Figure, figure, ratio, rounded, take_turns
from robot_data_platform_tests.benchmarks.matching import Encoded, encode_clip, encode_matched
from robot_data_platform_tests.benchmarks.source_index import psnr_db, squared_error
from robot_data_platform_tests.benchmarks.stores import Bench

CLIPS = {"rendered": "top", "real": "head"}
"""Clips of the sweep, and the camera of each."""
PROFILES: tuple[GopProfile, ...] = ("anchored", "chain")
ARTICLE = GopSettings(profile="chain", gop_size=8, crf=23)
"""The profile of the article that GOP blobs come from."""
DEFAULT = GopSettings(profile="anchored")
NUM_ROUNDS = 3
BATCH = 64
"""Random pictures of one batched read."""
JPEG_QUALITY = 95


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Random places of an encoded clip, as a reader finds them."""

    encoded: Encoded
    decoder: GopDecoder

    def random(self, number: int) -> float:
        """Return the processor seconds of one picture of a GOP."""
        picks = self._picks(number)
        start = time.process_time()
        for frame in picks:
            self._read([frame])
        return (time.process_time() - start) / len(picks)

    def batched(self, number: int) -> float:
        """Return the processor seconds of one picture of a batch that decodes each GOP once."""
        picks = self._picks(number)
        start = time.process_time()
        self._read(picks)
        return (time.process_time() - start) / len(picks)

    def decoding(self, number: int) -> float:
        """Return the processor seconds of decoding one picture of a GOP, left as it is coded."""
        places = [divmod(frame, self.encoded.settings.gop_size) for frame in self._picks(number)]
        start = time.process_time()
        for gop_number, place in places:
            gop, at = self.encoded.gops[gop_number], np.array([place], np.int64)
            self.decoder.decode(gop.packets, gop.data, at, self.encoded.form)
        return (time.process_time() - start) / len(places)

    def _picks(self, number: int) -> list[int]:
        num_frames = sum(gop.num_frames for gop in self.encoded.gops)
        rng = np.random.default_rng(number)
        picks: list[int] = rng.permutation(num_frames)[:BATCH].tolist()
        return picks

    def _read(self, frames: Sequence[int]) -> None:
        wanted: dict[int, list[int]] = {}
        for frame in frames:
            number, place = divmod(frame, self.encoded.settings.gop_size)
            wanted.setdefault(number, []).append(place)
        for number, places in wanted.items():
            gop = self.encoded.gops[number]
            at = np.array(places, np.int64)
            self.decoder.decode_rgb(gop.packets, gop.data, at, self.encoded.form)


def measure(bench: Bench) -> dict[str, Any]:
    """Sweep both clips, and hold the default profile against the article's."""
    sweep, pairs = {}, []
    for name, camera in CLIPS.items():
        clip = _clip(bench, camera)
        article = encode_clip(clip, ARTICLE)
        sweep[name] = {
            "goal_psnr_db": rounded(article.psnr_db),
            "cells": _cells(bench, name, clip, article.psnr_db),
            "jpeg": _jpeg(clip),
        }
        default = encode_matched(clip, DEFAULT, article.psnr_db)
        pairs.append(_pair(default, article))
    return {"sweep": sweep, "figures": _by_clip(pairs), "ratios": _ratios(pairs)}


def _clip(bench: Bench, camera: str) -> list[Picture]:
    count = bench.scale.sweep_frames
    clip = load_clip(clip_sources()[camera], bench.scale.size_px, count)
    return [np.ascontiguousarray(picture) for picture in frames_of(clip, 0, count)]


def _cells(bench: Bench, name: str, clip: list[Picture], goal_db: float) -> list[dict[str, Any]]:
    cells = []
    for profile in PROFILES:
        crf = DEFAULT.crf
        for gop_size in bench.scale.sweep_gop_sizes:
            bench.say(f"sweep, {name}, {profile}, GOP of {gop_size}")
            settings = GopSettings(profile=profile, gop_size=gop_size, crf=crf)
            encoded = encode_matched(clip, settings, goal_db)
            crf = encoded.settings.crf
            cells.append(_cell(encoded))
    return cells


def _cell(encoded: Encoded) -> dict[str, Any]:
    reading = Reading(encoded=encoded, decoder=GopDecoder())
    seconds = take_turns(NUM_ROUNDS, {"random": reading.random, "batched": reading.batched})
    return {
        "profile": encoded.settings.profile,
        "gop_size": encoded.settings.gop_size,
        "crf": encoded.settings.crf,
        "psnr_db": rounded(encoded.psnr_db),
        "bytes_per_frame": round(encoded.bytes_per_picture),
        **{f"{name}_fps": _rate(values) for name, values in seconds.items()},
    }


def _rate(seconds: Sequence[float]) -> Figure:
    return figure([1 / each for each in seconds], "frames/s of one core")


def _jpeg(clip: list[Picture]) -> dict[str, Any]:
    coded = [_as_jpeg(picture) for picture in clip]
    errors = [squared_error(_from_jpeg(c), picture) for c, picture in zip(coded, clip, strict=True)]
    seconds = [_seconds_of(lambda: [_from_jpeg(c) for c in coded]) for _ in range(NUM_ROUNDS)]
    return {
        "bytes_per_frame": round(sum(map(len, coded)) / len(coded)),
        "psnr_db": rounded(psnr_db(errors)),
        "random_fps": _rate([each / len(coded) for each in seconds]),
    }


def _as_jpeg(picture: Picture) -> bytes:
    with io.BytesIO() as file:
        Image.fromarray(picture).save(file, "JPEG", quality=JPEG_QUALITY)
        return file.getvalue()


def _from_jpeg(coded: bytes) -> Picture:
    with Image.open(io.BytesIO(coded)) as image:
        return np.asarray(image.convert("RGB"))


def _seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The default profile against the article's, on one clip at equal quality."""

    default: Encoded
    article: Encoded
    seconds: dict[str, list[float]]
    """Processor seconds of decoding a random picture, by profile and round."""


def _pair(default: Encoded, article: Encoded) -> Pair:
    readings = {
        name: Reading(encoded=encoded, decoder=GopDecoder())
        for name, encoded in (("anchored", default), ("chain", article))
    }
    for reading in readings.values():
        reading.decoding(0)
    measures = {name: reading.decoding for name, reading in readings.items()}
    return Pair(default=default, article=article, seconds=take_turns(2 * NUM_ROUNDS + 1, measures))


def _ratios(pairs: Sequence[Pair]) -> dict[str, Figure]:
    """Return the ratios over all clips: decoding round by round, bytes as one geometric mean."""
    decode = [ratio(p.seconds["anchored"], p.seconds["chain"]) for p in pairs]
    sizes = [p.default.bytes_per_picture / p.article.bytes_per_picture for p in pairs]
    return {
        "anchored_decode_over_chain": {
            key: rounded(_geometric([each[key] for each in decode]))
            for key in ("median", "p25", "p75")
        }
        | {"n": decode[0]["n"], "unit": "x"},
        "anchored_bytes_over_chain": figure([_geometric(sizes)], "x"),
    }


def _geometric(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _by_clip(pairs: Sequence[Pair]) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for name, pair in zip(CLIPS, pairs, strict=True):
        figures |= {
            f"default_decode_over_chain_{name}": ratio(
                pair.seconds["anchored"], pair.seconds["chain"]
            ),
            f"default_bytes_over_chain_{name}": figure(
                [pair.default.bytes_per_picture / pair.article.bytes_per_picture], "x"
            ),
            f"default_psnr_above_chain_{name}": figure(
                [pair.default.psnr_db - pair.article.psnr_db], "dB"
            ),
        }
    return figures
