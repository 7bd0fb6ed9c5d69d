"""Ways to spoil a source, and the choice among them by a number."""

from __future__ import annotations

from collections.abc import Mapping

from robot_data_platform_tests.fuzz.mutations.arrays import ARRAYS
from robot_data_platform_tests.fuzz.mutations.content import CONTENT
from robot_data_platform_tests.fuzz.mutations.documents import DOCUMENTS
from robot_data_platform_tests.fuzz.mutations.files import FILES
from robot_data_platform_tests.fuzz.mutations.hdf5 import HDF5
from robot_data_platform_tests.fuzz.mutations.messages import MESSAGES
from robot_data_platform_tests.fuzz.mutations.outside import OUTSIDE
from robot_data_platform_tests.fuzz.mutations.pictures import PICTURES
from robot_data_platform_tests.fuzz.mutations.tables import TABLES
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

MUTATIONS: dict[str, Mutation] = {
    **CONTENT,
    **FILES,
    **DOCUMENTS,
    **TABLES,
    **HDF5,
    **ARRAYS,
    **MESSAGES,
    **PICTURES,
    **OUTSIDE,
}
"""By name, in the order in which numbers choose them."""
BLIND = {**CONTENT, **FILES}
"""Those that need no library to open a file, which may be spoilt already."""
SHARE_OF_STACKED = 0.1
"""Runs in which two to four things are wrong at once."""


def spoil(tree: Tree) -> Change:
    """Spoil a source in a way that its random numbers choose."""
    first = _one(tree, MUTATIONS)
    if first.promise is Promise.INSIDE or tree.random.random() > SHARE_OF_STACKED:
        return first
    more = [_one(tree, BLIND).what for _ in range(tree.random.randint(1, 3))]
    return Change(what="; ".join([first.what, *more]), promise=Promise.TYPED)


def _one(tree: Tree, mutations: Mapping[str, Mutation]) -> Change:
    for name in tree.random.sample(list(mutations), len(mutations)):
        change = mutations[name](tree)
        if change is not None:
            return Change(what=f"{name}: {change.what}", promise=change.promise)
    return Change(what="nothing is left to spoil", promise=Promise.TYPED)
