"""docs/formats.md names every format, profile key and finding that the code knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import robot_data_platform.formats
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.formats.registry import known_formats
from robot_data_platform_tests.documents import blocks_of

RULE = re.compile(r'\b(?:rule=|(?:_finding|_warning|difference)\(\s*|yield )f?"([a-z0-9_{}]+)"')


OTHER_WAYS = {"matrix", "euler"}
"""Keys of a camera's place that stand for others; the page has them as text."""


@pytest.fixture(scope="module")
def page(repository: Path) -> Path:
    return repository / "docs" / "formats.md"


def rules_in_code() -> set[str]:
    """Return the rule of every finding that the package spells out."""
    folder = Path(robot_data_platform.formats.__file__).parent
    found = {r for path in folder.rglob("*.py") for r in RULE.findall(path.read_text())}
    totals = {"total_episodes_as_declared", "total_frames_as_declared"}
    return {rule for rule in found if "{" not in rule} | totals


def test_every_format_is_described(page: Path) -> None:
    assert [name for name in known_formats() if f"`{name}`" not in page.read_text()] == []


def test_every_rule_is_described_and_no_other(page: Path) -> None:
    table_cells = re.findall(r"^\| (`[a-z0-9_`, ]+`) \|", page.read_text(), flags=re.MULTILINE)
    described = {rule for cell in table_cells for rule in re.findall(r"`([a-z0-9_]+)`", cell)}
    described -= {*known_formats()}
    assert described == rules_in_code()


def test_the_example_profile_uses_every_key_and_is_valid(page: Path) -> None:
    (block,) = (block for block in blocks_of(page) if block.language == "yaml")
    profile = load_profile(block.source)
    rawlog = profile.rawlog
    assert rawlog is not None
    stated = (profile, profile.joints, profile.gripper, profile.cameras["cam_high"])
    for model in (*stated, rawlog, rawlog.signals["action"]):
        assert model.model_fields_set == set(type(model).model_fields)


def test_the_example_profile_converts_joints_and_calibrates_a_camera(page: Path) -> None:
    (block,) = (block for block in blocks_of(page) if block.language == "yaml")
    profile = load_profile(block.source)
    camera, stored_as = profile.cameras["cam_high"], profile.joints.stored_as
    assert stored_as is not None
    assert stored_as.model_fields_set == set(type(stored_as).model_fields)
    for model, left_out in ((camera.intrinsics, {"matrix"}), (camera.extrinsics, OTHER_WAYS)):
        assert model is not None
        assert model.model_fields_set == set(type(model).model_fields) - left_out
    assert [way for way in OTHER_WAYS if f"`{way}" not in page.read_text()] == []
