"""Where the platform's locations and workers come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import InvalidInputError


def test_a_field_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDP_LAKE", "s3://elsewhere/lake")
    assert Platform(lake="s3://here/lake").workplace.lake_root == "s3://here/lake"


def test_the_environment_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    platform = Platform()
    monkeypatch.setenv("RDP_LAKE", "s3://late/lake")
    assert platform.workplace.lake_root == "s3://late/lake"


def test_without_either_the_lake_lies_below_this_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("RDP_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert Platform().workplace.lake_root == str(tmp_path / ".rdp" / "lake")


def test_an_unknown_backend_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"'slurm' is not known.*'local', 'ray'"):
        _ = Platform(backend="slurm").fanout


def test_ray_is_chosen_by_name() -> None:
    assert Platform(backend="ray").fanout.backend == "ray"


@pytest.mark.parametrize(
    "url", ["ftp://pages.lab", "http://me:secret@pages.lab", "https://pages.lab?X-Amz-Signature=1"]
)
def test_an_address_of_pages_that_could_carry_a_credential_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="without user") as refused:
        _ = Platform(pages_url=url).pages
    assert "secret" not in str(refused.value)
