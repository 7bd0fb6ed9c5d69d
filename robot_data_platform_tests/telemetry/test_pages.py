"""The runbook and the page of alerts, logs and metrics say what there is, and all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from robot_data_platform.cli.main import cli
from robot_data_platform.errors import ErrorKind
from robot_data_platform.telemetry import alert_settings, logs
from robot_data_platform.telemetry.log_facts import FACTS
from robot_data_platform.telemetry.metrics import metrics_of
from robot_data_platform_tests.conftest import REPOSITORY
from robot_data_platform_tests.documents import blocks_of

RUNBOOK = REPOSITORY / "docs" / "runbook.md"
PAGE = REPOSITORY / "docs" / "observability.md"
PARTS = ("Means", "Look at", "Mend", "Escalate")

_ENTRY = re.compile(r"^### (.+)\n\n((?:.+\n)+)", re.MULTILINE)


def entries() -> dict[str, str]:
    return dict(_ENTRY.findall(RUNBOOK.read_text()))


def test_every_error_kind_has_an_entry_and_no_other_has() -> None:
    assert sorted(entries()) == sorted(kind.value for kind in ErrorKind)


@pytest.mark.parametrize("kind", sorted(entries()))
def test_an_entry_says_what_it_means_where_to_look_how_to_mend_and_when_to_escalate(
    kind: str,
) -> None:
    assert re.findall(r"^- \*\*(.+?)\*\*", entries()[kind], re.MULTILINE) == list(PARTS)


def faults_of(words: list[str]) -> Iterator[str]:
    """Yield what `rdp` doesn't have of a command with placeholders in capitals."""
    command: click.Command = cli
    for word in words:
        if isinstance(command, click.Group) and word in command.commands:
            command = command.commands[word]
        elif word.startswith("-"):
            context = click.Context(command)
            if word not in {opt for param in command.get_params(context) for opt in param.opts}:
                yield f"{command.name} has no {word}"
        elif isinstance(command, click.Group):
            yield f"{command.name} has no command {word}"


@pytest.mark.parametrize("page", [RUNBOOK, PAGE], ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`rdp( [^`]+)`", page.read_text())
    assert [fault for text in named for fault in faults_of(text.split())] == []
    assert len(named) > 3


@pytest.mark.parametrize(
    "words", [["nothing"], ["episodes", "--nothing"], ["release", "nothing", "DATASET"]]
)
def test_a_command_that_does_not_exist_is_told(words: list[str]) -> None:
    assert len(list(faults_of(words))) >= 1


def test_every_variable_is_documented_and_no_other() -> None:
    read = {
        value
        for module in (alert_settings, logs)
        for value in vars(module).values()
        if isinstance(value, str) and value.startswith("RDP_")
    }
    assert set(re.findall(r"`(RDP_[A-Z_]+)`", PAGE.read_text())) == read


def test_every_fact_of_a_line_is_documented() -> None:
    assert [name for name in FACTS if f"`{name}`" not in PAGE.read_text()] == []


def metric_names() -> set[str]:
    return {"rdp_lake_up", *(metric.name for metric in metrics_of([], 0))}


def test_every_metric_is_documented_and_no_other() -> None:
    section = PAGE.read_text().partition("| metric |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(rdp_\w+)`", section)) == metric_names()


@pytest.mark.parametrize("page", [RUNBOOK, PAGE], ids=lambda page: page.name)
def test_every_metric_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"rdp_[a-z_]+", page.read_text())) - {"rdp_gop_read_errors"}
    assert {name.removesuffix("_bucket") for name in named} <= metric_names()


def test_the_rules_are_yaml_with_an_expression_each() -> None:
    (rules, _) = (yaml.safe_load(b.source) for b in blocks_of(PAGE) if b.language == "yaml")
    listed = [rule for group in rules["groups"] for rule in group["rules"]]
    assert [rule for rule in listed if "rdp_" not in rule["expr"]] == []
