"""Which release or model a name means."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.storage.catalog import ModelRow, list_models
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import ReleaseRow, find_release, list_releases

MOST_NEAR = 5
"""Near matches that a message lists."""


def resolve(lake: Lake, name: str) -> tuple[ModelRow | None, ReleaseRow]:
    """Return the model of a name, if it is one, and the release that is meant or trained on.

    Parameters
    ----------
    name : str
        A model, ``dataset/release``, or a release that only one dataset has. A model comes first.

    Raises
    ------
    NotFoundError
        ``model-not-found``, or ``release-not-found`` where the name has a slash; the message
        lists near matches.
    InvalidInputError
        ``invalid-argument``: several datasets have a release of that name.
    """
    for model in list_models(lake, name):
        return model, find_release(lake, model["dataset"], model["release"])
    releases = list_releases(lake)
    meant = [row for row in releases if name in {row["release_key"], row["release"]}]
    if len(meant) == 1:
        return None, meant[0]
    keys = [row["release_key"] for row in meant or releases]
    raise _ambiguous(name, keys) if meant else _unknown(lake, name, keys)


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return known names that look like ``name``, or the first few where none does."""
    names = sorted(set(known))
    return get_close_matches(name, names, MOST_NEAR, 0.4) or names[:MOST_NEAR]


def _unknown(lake: Lake, name: str, releases: list[str]) -> NotFoundError:
    models = [row["model"] for row in list_models(lake)]
    names = [*models, *releases, *(key.partition("/")[2] for key in releases)]
    return NotFoundError(
        f"{name!r} is no model and no release in {lake.root!r}: near are {near(name, names)}. "
        "Name a model, or a release as dataset/release.",
        kind=ErrorKind.RELEASE_NOT_FOUND if "/" in name else ErrorKind.MODEL_NOT_FOUND,
        name=name,
    )


def _ambiguous(name: str, keys: list[str]) -> InvalidInputError:
    return InvalidInputError(
        f"Release {name!r} is in several datasets: got {name!r}, expected one of {sorted(keys)}.",
        kind=ErrorKind.INVALID_ARGUMENT,
        name=name,
    )
