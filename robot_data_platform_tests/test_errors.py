"""The error tree: what each class is, and that nothing of it is lost between processes."""

from __future__ import annotations

import pickle
import re

import pytest

from robot_data_platform import errors
from robot_data_platform.errors import ErrorKind, RobotDataError

MESSAGE = "Episode 'ep_1' camera 'wrist' has 3 frames: got 3, expected 4. Upload it again."
FACTS = {"episode_id": "ep_1", "num_frames": 3, "rate_hz": 29.97, "cameras": ["wrist", "env"]}

CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, RobotDataError)
]
each_class = pytest.mark.parametrize("error_class", CLASSES, ids=lambda each: each.__name__)


def example(error_class: type[RobotDataError]) -> RobotDataError:
    """Return an error with a message and one fact of every allowed type."""
    return error_class(MESSAGE, kind=ErrorKind.GOP_DAMAGED, **FACTS)


def piped(error: RobotDataError) -> RobotDataError:
    """Return the error as a second process receives it."""
    received = pickle.loads(pickle.dumps(error))
    assert isinstance(received, RobotDataError)
    return received


@each_class
def test_an_error_survives_two_processes(error_class: type[RobotDataError]) -> None:
    received = piped(piped(example(error_class)))
    assert type(received) is error_class
    assert (str(received), received.kind, received.facts) == (
        MESSAGE,
        ErrorKind.GOP_DAMAGED,
        FACTS,
    )


@each_class
def test_a_message_is_printed_without_quotes(error_class: type[RobotDataError]) -> None:
    assert str(example(error_class)) == MESSAGE


@each_class
def test_every_class_says_what_it_is_for(error_class: type[RobotDataError]) -> None:
    assert error_class.__doc__


@each_class
def test_every_class_is_one_of_the_tree(error_class: type[RobotDataError]) -> None:
    assert error_class.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize(
    ("error_class", "builtin"),
    [(errors.InvalidInputError, ValueError), (errors.NotFoundError, KeyError)],
    ids=["invalid input", "not found"],
)
def test_callers_may_catch_the_builtin(
    error_class: type[RobotDataError], builtin: type[Exception]
) -> None:
    with pytest.raises(builtin, match=re.escape("Episode 'ep_1'")):
        raise example(error_class)


def test_a_kind_may_be_given_by_its_code() -> None:
    error = RobotDataError(MESSAGE, kind=ErrorKind("gop-damaged"))
    assert error.kind is ErrorKind.GOP_DAMAGED


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no-such-kind"):
        RobotDataError(MESSAGE, kind="no-such-kind")  # type: ignore[arg-type]


def test_every_kind_has_a_code_of_its_own() -> None:
    assert len({kind.value for kind in ErrorKind.__members__.values()}) == len(
        ErrorKind.__members__
    )


@pytest.mark.parametrize("name", list(ErrorKind.__members__))
def test_a_code_is_its_name_in_kebab_case(name: str) -> None:
    assert ErrorKind[name].value == name.lower().replace("_", "-")
