"""docs/splits.md states every key of a spec, with its default."""

from __future__ import annotations

import re

import yaml

from robot_data_platform.curation.spec import Caps, EpisodeFilter, SplitSpec
from robot_data_platform_tests.conftest import REPOSITORY
from robot_data_platform_tests.documents import blocks_of

PAGE = REPOSITORY / "docs" / "splits.md"
KEYS = {
    *(SplitSpec.model_fields.keys() - {"filter", "caps"}),
    *(f"filter.{name}" for name in EpisodeFilter.model_fields),
    *(f"caps.{name}" for name in Caps.model_fields),
}


def example() -> str:
    """Return the spec that the page writes to a file."""
    shell = next(block.source for block in blocks_of(PAGE) if "<<'EOF'" in block.source)
    return shell.partition("<<'EOF'\n")[2].partition("EOF\n")[0]


def test_the_example_has_every_key() -> None:
    stated = yaml.safe_load(example())
    parts = {"filter": stated.pop("filter"), "caps": stated.pop("caps")}
    nested = {f"{part}.{key}" for part, keys in parts.items() for key in keys}
    assert stated.keys() | nested == KEYS


def rows_of_the_table() -> dict[str, str]:
    """Return the default of each key that the page's table has; short names follow a long one."""
    defaults: dict[str, str] = {}
    for names, default in re.findall(
        r"^\| (`[^|]+`) \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE
    ):
        first, *others = re.findall(r"`([^`]+)`", names)
        owner = first.partition(".")[0]
        defaults |= dict.fromkeys((first, *(owner + other for other in others)), default)
    return defaults


def test_the_table_has_every_key() -> None:
    assert rows_of_the_table().keys() == KEYS


def test_the_defaults_are_those_of_the_spec() -> None:
    written = {
        key: yaml.safe_load(text.strip("`"))
        for key, text in rows_of_the_table().items()
        if text not in ("any", "none")
    }
    spec = SplitSpec().model_dump(mode="json", exclude_none=True)
    flat = {key: value for key, value in spec.items() if key not in ("filter", "caps")}
    assert written == flat | {f"filter.{key}": value for key, value in spec["filter"].items()}
