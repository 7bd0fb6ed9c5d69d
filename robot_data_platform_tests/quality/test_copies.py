"""An episode that is another one again is told, whole, trimmed or stored anew; others are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.finding import Finding
from robot_data_platform.quality.row_measurements import measure_rows
from robot_data_platform.quality.rules.copies import (
    EpisodePrint,
    episode_is_mostly_new,
    episode_is_no_copy,
    shared_rows,
)
from robot_data_platform.quality.rules.values import SignalRows
from robot_data_platform.quality.thresholds import THRESHOLDS

Floats = npt.NDArray[np.float64]


def attempt(seed: int, num_rows: int = 300) -> Floats:
    """Return the state of an attempt, (N, 6): the same reach, as nobody does it twice alike."""
    rng = np.random.default_rng(seed)
    time_s = np.linspace(0, 6, num_rows)[:, None]
    reach = np.sin(time_s + np.arange(6))
    return np.asarray(reach + rng.normal(0, 0.02, (1, 6)) + rng.normal(0, 1e-3, (num_rows, 6)))


def episode(index: int, state: Floats, pictures: str = "p") -> EpisodePrint:
    signal = SignalRows(
        name="observation_state",
        values=state.astype(np.float32),
        is_present=np.ones(len(state), np.bool_),
        names=None,
        units=(None,) * state.shape[1],
    )
    rows = measure_rows([signal], np.arange(len(state), dtype=np.int64) * 20_000_000)
    return EpisodePrint(
        episode_index=index,
        name=f"take_{index} of upload-1",
        rows_digest=rows.digest,
        pictures_digests={"env": pictures},
        sketch=rows.sketch,
        num_distinct=rows.num_distinct,
        num_moving=rows.num_moving,
    )


def findings(mine: EpisodePrint, other: EpisodePrint) -> list[Finding]:
    earlier = {other.episode_index: other}
    return [
        *episode_is_no_copy(mine, earlier, THRESHOLDS),
        *episode_is_mostly_new(mine, earlier, THRESHOLDS),
    ]


def test_two_attempts_at_one_task_are_two_episodes() -> None:
    assert findings(episode(5, attempt(1)), episode(2, attempt(2), "q")) == []


def test_the_same_rows_and_pictures_again_are_a_copy_and_nothing_else() -> None:
    (finding,) = findings(episode(5, attempt(1)), episode(2, attempt(1)))
    assert (finding.rule, finding.where) == ("episode_is_no_copy", "episode=2")
    assert "take_2 of upload-1" in finding.message


def test_the_same_rows_with_pictures_coded_anew_are_mostly_the_same() -> None:
    (finding,) = findings(episode(5, attempt(1), "q"), episode(2, attempt(1)))
    assert (finding.rule, finding.value) == ("episode_is_mostly_new", 1.0)


@pytest.mark.parametrize("num_kept", [280, 200])
def test_a_copy_that_was_trimmed_is_told_with_its_share(num_kept: int) -> None:
    (finding,) = findings(episode(5, attempt(1)[10 : 10 + num_kept], "q"), episode(2, attempt(1)))
    assert finding.rule == "episode_is_mostly_new"
    assert finding.value == pytest.approx(num_kept / 300, abs=0.15)


def test_values_that_were_stored_with_fewer_digits_are_known_again() -> None:
    again = attempt(1) * (1 + 1e-7)
    assert shared_rows(episode(5, again), episode(2, attempt(1))) > 0.9


def test_a_robot_that_rests_is_no_copy_of_another_that_does() -> None:
    rest = np.zeros((300, 6))
    assert findings(episode(5, rest), episode(2, rest)) == []


def test_two_coarse_numbers_may_come_back() -> None:
    switches = np.random.default_rng(0).integers(0, 40, (300, 2)).astype(np.float64)
    again = replace(episode(5, switches), rows_digest="other")
    assert findings(again, episode(2, switches, "q")) == []


def test_shared_rows_are_estimated_as_counting_them_would_say() -> None:
    whole = attempt(3, 600)
    mine, other = whole[:400], whole[200:]
    assert shared_rows(episode(1, mine), episode(0, other)) == pytest.approx(200 / 600, abs=0.15)
