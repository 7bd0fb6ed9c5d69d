"""Episodes as groups that stay together, with the strata of each: whole columns at a time."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.curation.assign import Groups

Int64Array = npt.NDArray[np.int64]

_ESCAPED_IN_JSON = r'[\x00-\x1f"\\]'


def group_episodes(group: pa.Array, stratum: pa.Array) -> tuple[Groups, Int64Array]:
    """Return the groups of some episodes, and the number of each episode's group.

    Parameters
    ----------
    group, stratum : pyarrow.Array of text, length n
        Those of each episode.
    """
    held = group.dictionary_encode()
    of_episode = held.indices.to_numpy().astype(np.int64)
    strata = _ranks(stratum)
    pairs, size = np.unique(of_episode * (strata.max(initial=0) + 1) + strata, return_counts=True)
    of_entry = pairs // (strata.max(initial=0) + 1)
    groups = Groups(
        names=held.dictionary,
        first=np.searchsorted(of_entry, np.arange(len(held.dictionary) + 1)),
        stratum=pairs % (strata.max(initial=0) + 1),
        size=size.astype(np.int64),
    )
    return groups, of_episode


def _ranks(texts: pa.Array) -> Int64Array:
    """Return the place of each text among the different ones, sorted."""
    held = texts.dictionary_encode()
    order = pc.array_sort_indices(held.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    ranks: Int64Array = rank[held.indices.to_numpy()]
    return ranks


def joined_values(episodes: pa.Table, columns: tuple[str, ...]) -> pa.Array:
    """Return each episode's values as text that no other values share; null equals null.

    It is the JSON list of the values, or nothing where there are no columns.
    """
    if not columns:
        return pa.repeat("", len(episodes))
    values = [_as_json(episodes[name].combine_chunks()) for name in columns]
    listed = pc.binary_join_element_wise(*values, ", ")
    return pc.binary_join_element_wise("[", listed, "]", "")


def _as_json(texts: pa.Array) -> pa.Array:
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    is_escaped = pc.fill_null(pc.match_substring_regex(texts, _ESCAPED_IN_JSON), False)
    if pc.any(is_escaped).as_py():
        as_text = json.JSONEncoder(ensure_ascii=False).encode
        escaped = [as_text(text) for text in texts.filter(is_escaped).to_pylist()]
        quoted = pc.replace_with_mask(quoted, is_escaped, pa.array(escaped, pa.string()))
    return pc.fill_null(quoted, "null")
