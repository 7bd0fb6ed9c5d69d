"""Every threshold of the quality rules: a value, its unit, and the reason for the value."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from robot_data_platform.core.fingerprint import digest

RULES_CODE_VERSION = "2"
"""Raised by hand when a rule would judge the same recording differently at equal thresholds."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """One limit that a rule holds a measurement against."""

    value: float
    unit: str
    reason: str
    """Why this value and no other, so that it can be argued with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits of all rules; another instance judges the same measurements anew."""

    # time
    missing_step: Threshold = Threshold(
        1.5, "periods", "A step nearer to two periods than to one lacks a sample."
    )
    gap: Threshold = Threshold(
        250, "ms", "An operator reacts within a quarter of a second: longer gaps hide an action."
    )
    missing_rows_share: Threshold = Threshold(
        0.05,
        "1",
        "At one row in twenty missing, a window of 16 rows has a hole more often than not.",
    )
    rate_error: Threshold = Threshold(
        0.05,
        "1",
        "Clocks agree within 0.01 % and time stamps in ms round by up to 2 % at 60 Hz: "
        "5 % is neither, and moves half a second in ten.",
    )
    jitter: Threshold = Threshold(
        0.25, "periods", "Past a quarter of a period, speeds by differences are off by a quarter."
    )
    clocks_apart: Threshold = Threshold(
        60, "s", "Recorders start and stop their streams within seconds; clocks differ by hours."
    )
    # coverage
    rows_without_value_share: Threshold = Threshold(
        0.05, "1", "At one row in twenty, a batch of 32 rows without a hole is the exception."
    )
    hole: Threshold = Threshold(
        500, "ms", "A few dropped frames are shorter; a reach or a grasp takes about this long."
    )
    camera_spread: Threshold = Threshold(
        500,
        "ms",
        "Cameras of one recorder start and stop within a few frames of each other; half "
        "a second apart, one came up late or died.",
    )
    # values
    constant_spread: Threshold = Threshold(
        0.0, "unit of the value", "Exactly one value: a normaliser would divide by zero."
    )
    jump_over_usual: Threshold = Threshold(
        10,
        "1",
        "Joints accelerate over many samples: a step ten times the dimension's fast ones "
        "(95th percentile) has no run-up.",
    )
    jump_range_share: Threshold = Threshold(
        0.2, "1", "Smaller steps are noise of the sensor or a start from rest."
    )
    jump_neighbour_share: Threshold = Threshold(
        0.2, "1", "Motion goes on: beside its fastest step lies one of a fifth of it or more."
    )
    jump_min_rate: Threshold = Threshold(
        20, "Hz", "Slower than that, a gripper may close between two samples."
    )
    fewest_values: Threshold = Threshold(
        8, "values", "Fewer distinct values are a switch, or an encoder flickering at rest."
    )
    limit_slack_share: Threshold = Threshold(
        0.01, "1", "Encoders overshoot a joint's declared range by rounding and backlash."
    )
    saturated_rows_share: Threshold = Threshold(
        0.05, "1", "Touching an end stop is brief; longer, the joint wanted to go further."
    )
    # pictures, in grey levels of 8-bit luma
    black_level: Threshold = Threshold(
        10, "levels", "Noise of a covered sensor stays within ten levels above black."
    )
    white_level: Threshold = Threshold(
        3,
        "levels",
        "Within three levels of white, 95 % of the blocks have lost their detail: "
        "white tables and walls fill much of a picture, but a robot in view is more than 5 %.",
    )
    dark_or_bright: Threshold = Threshold(
        500, "ms", "A lamp switched or a hand before the lens takes less."
    )
    flat_contrast: Threshold = Threshold(
        8, "levels", "With less between its dark and bright blocks, a picture can't show motion."
    )
    exposure_margin: Threshold = Threshold(
        12,
        "levels",
        "With half of a picture within twelve levels of black or white, coding has left little of "
        "what is there.",
    )
    exposure_share: Threshold = Threshold(
        0.5, "1", "A dark corner passed in motion is brief; half of a stream is its exposure."
    )
    sharpness: Threshold = Threshold(
        0.025,
        "1",
        "A sharp step has 1/8, a slope wider than 8 pixels 1/64, and what people recorded 1/20 or "
        "more: below 1/40, edges are as wide as a blur of three pixels makes them.",
    )
    # depth maps
    depth_measured_share: Threshold = Threshold(
        0.01, "1", "Sensors miss glass and what is too near; with 99 % missing, nothing is seen."
    )
    depth_still_share: Threshold = Threshold(
        0.001, "1", "Noise alone changes a third of a sensor's pixels; a repeated map, none."
    )
    # a camera that hands out its last picture
    frozen: Threshold = Threshold(
        500,
        "ms",
        "Cameras repeat single frames under load; half a second is a stall, and within "
        "it a moving arm leaves its place by many pixels.",
    )
    frozen_floor: Threshold = Threshold(
        3,
        "levels",
        "Two codings of one picture (crf 20 to 23, across GOPs) differ by up to this "
        "in the changed blocks; an edge that moves a pixel differs by more.",
    )
    frozen_ceiling: Threshold = Threshold(
        5, "levels", "Coarser coding (crf 26 of a source at crf 28) differs by up to this."
    )
    frozen_share_of_usual: Threshold = Threshold(
        0.1,
        "1",
        "Between floor and ceiling, a tenth of the stream's usual change in half a second while "
        "the robot moves: streams with little motion keep the lower limit.",
    )
    frozen_moving_share: Threshold = Threshold(
        0.5,
        "1",
        "An arm that starts at the end of a pause has moved in few of its half seconds.",
    )
    frozen_seen_change: Threshold = Threshold(
        4,
        "1",
        "Where the same joints change the picture by less than four times what coding does, a "
        "still picture may be one that they hardly show in: fingers, or an arm out of view.",
    )
    frozen_catch_up: Threshold = Threshold(
        2,
        "1",
        "The first picture after a stall holds the motion of many frames, an arm that starts less "
        "than that of one: twice the usual change from frame to frame lies between.",
    )
    frozen_most_of_state: Threshold = Threshold(
        0.5,
        "1",
        "Of two arms, one is half of the state: a camera on the idle one sees nothing move.",
    )
    motion_share: Threshold = Threshold(
        0.05, "1", "A joint that covers a twentieth of its range in half a second is on its way."
    )
    motion_noise: Threshold = Threshold(
        8, "sigma", "Peak to peak, the samples of half a second of mere noise stay within this."
    )
    motion_min_range: Threshold = Threshold(
        0.01,
        "unit of the value",
        "0.01 rad or 1 cm, the coarsest units in use: a camera sees next to nothing of less.",
    )
    motion_range_share: Threshold = Threshold(
        0.05, "1", "Beside a dimension that moves twenty times as far, it stands still."
    )
    # lag
    lag_confidence: Threshold = Threshold(
        0.9, "1", "With less, one lag in ten that is told would be a chance likeness of motions."
    )
    lag_told: Threshold = Threshold(
        60, "ms", "Exposure, transport and a frame's period of 33 ms come to less, as a rule."
    )
    lag: Threshold = Threshold(
        150,
        "ms",
        "An arm at half a metre per second is 7 cm elsewhere by then: the picture goes with "
        "another action. Slow cameras are late by up to two of their periods instead.",
    )
    lag_periods: Threshold = Threshold(
        2, "periods", "A picture is as old as its exposure and its transport, a period each."
    )
    command_lead: Threshold = Threshold(
        50, "ms", "A state before its action is no effect of it: rows are shifted by one or more."
    )
    command_lag: Threshold = Threshold(
        400, "ms", "Arms follow commands within a third of a second, leaders within less."
    )
    # idle
    idle: Threshold = Threshold(
        2000, "ms", "Operators start and stop within a second; a policy learns longer waits."
    )
    # meaning
    length_ratio: Threshold = Threshold(
        4, "1", "Attempts at one task differ by half as a rule; a quarter is one broken off."
    )
    length_sigma: Threshold = Threshold(
        6, "sigma", "Where lengths vary by themselves, six deviations are beyond any of them."
    )
    length_min_episodes: Threshold = Threshold(
        8, "episodes", "Of fewer, the usual length is not known."
    )
    # sets
    shared_rows_share: Threshold = Threshold(
        0.5,
        "1",
        "Two attempts share next to no row of several measured joints; a copy cut to half "
        "shares half of them.",
    )
    shared_min_rows: Threshold = Threshold(
        64, "rows", "Fewer distinct rows than the sketch holds are a robot at rest."
    )
    shared_min_dimensions: Threshold = Threshold(
        3, "dimensions", "One or two coarse numbers come back by chance."
    )
    look_min_episodes: Threshold = Threshold(
        3, "episodes", "Of fewer, a camera's usual view is not known."
    )
    look_other: Threshold = Threshold(
        0.5,
        "1",
        "A view that is twice as near to another camera's usual one, or to its own with red and "
        "blue exchanged, is not its own.",
    )
    look_distance: Threshold = Threshold(
        12, "levels", "Lamps, clothes and objects on the table change the mean picture by less."
    )
    drift_look: Threshold = Threshold(
        3, "1", "Three times what episodes of earlier uploads differ by: a camera was moved."
    )
    drift_range: Threshold = Threshold(
        10, "1", "A tenfold range is another unit: degrees for radians, percent for parts."
    )


THRESHOLDS = Thresholds()
"""The thresholds in use."""


def rules_version(limits: Thresholds) -> str:
    """Return what names the rules and their thresholds: equal names, equal judgements."""
    values = {name: [limit["value"], limit["unit"]] for name, limit in asdict(limits).items()}
    return "q_" + digest({"code": RULES_CODE_VERSION, "thresholds": values})[:16]


RULES_VERSION = rules_version(THRESHOLDS)
"""Version of the rules as they stand; kept with every finding."""
