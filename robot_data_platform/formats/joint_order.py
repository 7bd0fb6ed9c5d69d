"""The order of joints that a profile states, found by the names that the data has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE, Signal
from robot_data_platform.errors import DataFaultError, ErrorKind


def in_order(
    signals: Sequence[Signal], order: Mapping[str, str], subject: str
) -> tuple[tuple[Signal, ...], tuple[Finding, ...]]:
    """Return the signals with the dimensions of ``order`` alone, in its order and under its names.

    It holds for every signal that has all of its names, and for an action without names that is
    as wide as the recorded state.

    Parameters
    ----------
    signals : sequence of Signal
        As recorded.
    order : mapping of str to str
        Recorded name by the name to store.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: the state lacks a name, or has it twice.
    """
    state = next((signal for signal in signals if signal.name == STATE), None)
    if state is not None and _positions(state, order) is None:
        raise _names_lack(state, order, subject)
    pairs = [(signal, _taken(signal, order, state)) for signal in signals]
    findings = [finding for old, new in pairs for finding in _told(old, new, order, subject)]
    return tuple(new for _, new in pairs), tuple(findings)


def _positions(signal: Signal, order: Mapping[str, str]) -> list[int] | None:
    names = signal.names or ()
    if any(names.count(recorded) != 1 for recorded in order.values()):
        return None
    return [names.index(recorded) for recorded in order.values()]


def _taken(signal: Signal, order: Mapping[str, str], state: Signal | None) -> Signal:
    positions = _positions(signal, order)
    if positions is None and state is not None and _is_unnamed_action(signal, state):
        positions = _positions(state, order)
    if positions is None:
        return signal
    units = signal.units and tuple(signal.units[p] for p in positions)
    limits = signal.limits and tuple(signal.limits[p] for p in positions)
    values = signal.values[:, positions]
    return replace(signal, values=values, names=tuple(order), units=units, limits=limits)


def _is_unnamed_action(signal: Signal, state: Signal) -> bool:
    return (
        signal.name == ACTION
        and signal.names is None
        and signal.values.shape[1] == state.values.shape[1]
    )


def _told(old: Signal, new: Signal, order: Mapping[str, str], subject: str) -> Iterable[Finding]:
    if new.names != old.names:
        recorded = list(old.names) if old.names else "without names"
        yield Finding(
            rule="joints_as_profile_orders",
            severity=Severity.INFO,
            message=f"{subject}: {old.name} was recorded {recorded} and is stored in the order of "
            f"the profile: {list(order)}.",
            where=old.name,
        )
    elif old.name == ACTION and new is old:
        yield Finding(
            rule="joints_as_profile_orders",
            severity=Severity.WARN,
            message=f"{subject}: {old.name} was left in its order: got names {old.names}, expected "
            f"the profile's {list(order.values())}.",
            where=old.name,
        )


def _names_lack(state: Signal, order: Mapping[str, str], subject: str) -> DataFaultError:
    names = list(state.names) if state.names else "no names"
    return DataFaultError(
        f"{subject}: {state.name} can't be put in the profile's order: got {names}, expected each "
        f"of {list(order.values())} once. Correct `joints.order`, or state `joints.names`.",
        kind=ErrorKind.METADATA_CONTRADICTION,
        signal=state.name,
    )
