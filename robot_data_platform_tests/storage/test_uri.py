from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.storage.uri import (
    is_s3,
    join,
    normalise_root,
    s3_bucket_and_key,
    storage_options,
)


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("S3://bucket/a//b/", "s3://bucket/a/b"),
        ("s3://my.bucket-1/a b/ü%20", "s3://my.bucket-1/a b/ü%20"),
    ],
)
def test_an_s3_root_has_no_empty_folders(given: str, root: str) -> None:
    assert normalise_root(given) == root


def test_a_local_root_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert normalise_root("lake/../lake") == str(tmp_path / "lake")
    assert normalise_root(Path("lake")) == str(tmp_path / "lake")
    assert normalise_root("~/lake") == str(tmp_path / "lake")


@pytest.mark.parametrize(
    "location",
    [
        "s3://AKIAKEY:hunter22@bucket/lake",
        "s3://hunter22@bucket/lake",
        "s3://AKIAKEY:hunter22/bucket",
        "s3://bucket/lake?secret=hunter22",
        "s3://bucket/lake#hunter22",
        "https://hunter22.s3.amazonaws.com/lake",
        "gs://hunter22/lake",
        "file:///hunter22",
        "s3:///hunter22",
        "s3://bucket/hunter22/../../x",
        "s3://[hunter22/lake",
        "s3://hunter22 /lake",
        "",
        "  ",
    ],
)
def test_any_other_location_is_refused_without_repeating_it(location: str) -> None:
    with pytest.raises(InvalidInputError, match=r"expected a local path or s3://bucket") as caught:
        normalise_root(location)
    error = caught.value
    assert error.kind is ErrorKind.INVALID_URI
    assert "hunter22" not in f"{error} {error.facts} {error.__cause__}"


def test_parts_of_a_location() -> None:
    assert join("s3://b/", "set", "gops.lance") == "s3://b/set/gops.lance"
    assert s3_bucket_and_key("s3://b/set/gops.lance") == ("b", "set/gops.lance")
    assert s3_bucket_and_key("s3://b") == ("b", "")
    assert (is_s3("s3://b"), is_s3("/data/s3")) == (True, False)


@pytest.fixture
def no_variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without any variable that says how S3 is reached."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "REGION", "DEFAULT_REGION"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_local_table_needs_no_options() -> None:
    assert storage_options("/data/lake/set/gops.lance") is None


@pytest.mark.usefixtures("no_variables")
def test_without_variables_the_store_finds_its_keys_itself() -> None:
    options = storage_options("s3://bucket") or {}
    assert options["aws_region"] == "us-east-1"
    assert not {"aws_access_key_id", "aws_endpoint", "allow_http"} & set(options)


def test_the_more_special_variable_wins(no_variables: pytest.MonkeyPatch) -> None:
    no_variables.setenv("AWS_ENDPOINT_URL", "http://general")
    no_variables.setenv("AWS_ENDPOINT_URL_S3", "https://special")
    no_variables.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    no_variables.setenv("AWS_REGION", "eu-west-3")
    options = storage_options("s3://bucket") or {}
    assert (options["aws_endpoint"], options["aws_region"]) == ("https://special", "eu-west-3")
    assert "allow_http" not in options


def test_plain_http_is_allowed_where_the_endpoint_says_so(no_variables: pytest.MonkeyPatch) -> None:
    no_variables.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    assert (storage_options("s3://bucket") or {})["allow_http"] == "true"
