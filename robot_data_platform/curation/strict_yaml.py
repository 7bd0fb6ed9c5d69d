"""YAML mappings in which a key that stands twice is an error, not a silent override."""

from __future__ import annotations

from collections.abc import Hashable

import yaml


class _StrictLoader(yaml.SafeLoader):
    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key.value!r} stands twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_mapping(text: str) -> object:
    """Return what a YAML document states; an empty one is an empty mapping.

    Raises
    ------
    yaml.YAMLError
        The text is no YAML, or a key stands twice in one mapping.
    """
    loader = _StrictLoader(text)
    try:
        found: object = loader.get_single_data()
    finally:
        loader.dispose()
    return {} if found is None else found
