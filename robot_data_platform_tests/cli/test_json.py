"""Every command that prints JSON prints exactly the keys that docs/cli.md documents."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from robot_data_platform.cli.main import cli
from robot_data_platform_tests.cli.conftest import DATASET, Lab, Released
from robot_data_platform_tests.cli.documented import documented
from robot_data_platform_tests.cli.golden_lab import accepted
from robot_data_platform_tests.cli.rdp import Json
from robot_data_platform_tests.conftest import REPOSITORY

PAGE = documented(REPOSITORY / "docs" / "cli.md")

Printed = Callable[[Lab, Released], object]


def printed_by(*arguments: object) -> Printed:
    return lambda lab, _: lab.rdp_json(*arguments)


def rendered_copy(lab: Lab) -> Json:
    """Add a rendition to a copy of the lake: other tests count what the lake has."""
    copy = shutil.copytree(lab.lake, lab.folder / "rendered", dirs_exist_ok=True)
    return lab.rdp_json("rendition", "add", DATASET, "24x32-crop", "--lake", copy)


def retired_from_a_copy(lab: Lab) -> Json:
    """Retire an episode of a copy of the lake: what is retired never comes back."""
    copy = shutil.copytree(lab.lake, lab.folder / "retired", dirs_exist_ok=True)
    episode = lab.rdp_json("episodes", DATASET)[-1]["episode_id"]
    return lab.rdp_json("retire", DATASET, episode, "--reason", "test", "--lake", copy)


def restored_copy(lab: Lab) -> Json:
    """Go back to a version of a copy of the lake that had no episode yet."""
    copy = shutil.copytree(lab.lake, lab.folder / "restored", dirs_exist_ok=True)
    return lab.rdp_json("restore", DATASET, "--version", 1, "--lake", copy)


PRINTED: dict[str, Printed] = {
    "upload": printed_by("upload", "recording", "--dataset", "other", "--landing", "elsewhere"),
    "inspect": printed_by("inspect", "recording"),
    "profile init": printed_by("profile", "init", "recording"),
    "ingest": lambda lab, _: lab.ingested.json(),
    "datasets": printed_by("datasets"),
    "episodes": printed_by("episodes", DATASET),
    "findings": printed_by("findings", DATASET),
    "docs list": printed_by("docs", "list", DATASET),
    "calibration show": printed_by("calibration", "show", DATASET),
    "calibration accept": lambda lab, _: accepted(lab.folder.with_name("golden")),
    "release create": lambda _, released: released.created.json(),
    "release list": printed_by("release", "list"),
    "release show": printed_by("release", "show", DATASET, "v1"),
    "release diff": printed_by("release", "diff", DATASET, "v1", "v2"),
    "release verify": printed_by("release", "verify", DATASET, "v1"),
    "lineage": lambda lab, released: lab.rdp_json("lineage", released.model),
    "impact": lambda lab, _: lab.rdp_json("impact", lab.upload),
    "rendition add": lambda lab, _: rendered_copy(lab),
    "rendition list": printed_by("rendition", "list", DATASET),
    "retire": lambda lab, _: retired_from_a_copy(lab),
    "restore": lambda lab, _: restored_copy(lab),
    "maintain": printed_by("maintain", DATASET),
    "maintain --all": printed_by("maintain", "--all"),
    "doctor": printed_by("doctor"),
    "backup": printed_by("backup", "a-copy"),
    "metrics": printed_by("metrics"),
    "alert test": printed_by("alert", "test"),
}


def commands_with_json(group: click.Group, prefix: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands_with_json(command, f"{prefix}{name} ")
        elif any("--json" in option.opts for option in command.params):
            yield prefix + name


def test_the_page_documents_every_command_with_json_and_no_other() -> None:
    assert sorted({command.partition(" --")[0] for command in PAGE}) == sorted(
        commands_with_json(cli)
    )


@pytest.mark.parametrize("command", sorted(PAGE))
def test_a_command_prints_the_documented_keys(lab: Lab, released: Released, command: str) -> None:
    assert list(PAGE[command].faults(PRINTED[command](lab, released))) == []


def test_an_ingestion_names_its_tables_in_the_order_they_are_made(lab: Lab) -> None:
    made = ["gops", "frames", "episodes", "quality", "spatial"]
    assert list(lab.ingested.json()["tables"]) == made


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": 1, "b": [{"c": 1}], "d": {"x": {"e": 2}}}, []),
        ({"a": 1, "b": [], "d": {}, "f": 0}, ["$ has keys"]),
        ({"a": 1, "b": [{}], "d": {}}, ["$.b[] has keys"]),
        ({"a": 1, "b": {}, "d": {"x": {"e": 2, "g": 3}}}, ["$.b is no list", "$.d.x has keys"]),
    ],
)
def test_a_value_that_is_not_as_documented_is_told(
    tmp_path: Path, value: object, told: list[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text('`rdp x --json`; words:\n`{"a", "b": [{"c"}], "d": {name: {"e"}}}`\n')
    faults = sorted(documented(page)["x"].faults(value))
    assert [fault[: len(start)] for fault, start in zip(faults, told, strict=True)] == told
