"""The recorded end effector of an episode of the lake, as the spatial checks take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.spatial.recorded_hand import RecordedHand, hand_signals

if TYPE_CHECKING:
    import numpy.typing as npt

    from robot_data_platform.core.rotation import Float64Array, QuaternionOrder
    from robot_data_platform.quality.rules.values import SignalRows
    from robot_data_platform.quality.stored_episode import StoredEpisode


def recorded_hand(
    stored: StoredEpisode, declared_order: QuaternionOrder | None
) -> RecordedHand | None:
    """Return the one end effector that an episode records; None = none, or several."""
    signals = {signal.name: signal for signal in stored.signals()}
    found = hand_signals({name: signal.values.shape[1] for name, signal in signals.items()})
    if len(found) != 1:
        return None
    ((name, quaternion),) = found.items()
    return RecordedHand(
        signal=name,
        t_ns=_taken_ns(stored, name),
        position=_values(signals[name])[:, :3],
        quaternion=None if quaternion is None else _values(signals[quaternion])[:, -4:],
        declared_order=declared_order,
    )


def _values(signal: SignalRows) -> Float64Array:
    return np.where(signal.is_present[:, None], signal.values, np.nan).astype(np.float64)


def _taken_ns(stored: StoredEpisode, signal: str) -> npt.NDArray[np.int64]:
    """Return when the value of each row was taken, (N,): a slower signal is held."""
    age = f"{signal}_age_ns"
    if age not in stored.rows.schema.names:
        return stored.timestamp_ns
    ages = stored.rows[age].fill_null(0).to_numpy()
    return np.asarray(stored.timestamp_ns - ages, dtype=np.int64)
