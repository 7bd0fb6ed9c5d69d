"""Real failures of stores and disks become this project's errors, and no message holds a secret."""

from __future__ import annotations

import errno
import multiprocessing
import os
import resource
import signal
import subprocess
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from robot_data_platform.errors import (
    ErrorKind,
    NotFoundError,
    RobotDataError,
    StorageError,
)
from robot_data_platform.storage import reach, s3_store
from robot_data_platform.storage.commit import append_rows, write_rows
from robot_data_platform.storage.faults import store_errors, translate, without_secrets
from robot_data_platform.storage.landing import Landing
from robot_data_platform.storage.table import open_table
from robot_data_platform_tests.servers import S3Server
from robot_data_platform_tests.storage.silent_servers import (
    answering,
    closed_port,
    full_port,
    silent_port,
)
from robot_data_platform_tests.storage.small_table import SCHEMA, make_table, rows_of

if TYPE_CHECKING:
    import pyarrow as pa


def open_by_lance(root: str) -> None:
    open_table(f"{root}/numbers.lance")


def make_by_lance(root: str) -> None:
    make_table(f"{root}/numbers.lance")


def list_by_boto(root: str) -> None:
    Landing(root).list_uploads()


def put_by_boto(root: str) -> None:
    Landing(root).put(Path(__file__), "set", "upload-1")


ACCESSES = [open_by_lance, make_by_lance, list_by_boto, put_by_boto]
Access = Callable[[str], None]


def failure_of(access: Access, root: str) -> RobotDataError:
    with pytest.raises(RobotDataError, match=r"s3://") as caught:
        access(root)
    return caught.value


def shown(error: BaseException) -> str:
    """Return all that a log shows of an error: its message and its causes'."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("variable", ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"])
def test_wrong_keys_are_denied_and_not_shown(
    s3_root: str,
    s3_environment: S3Server,
    monkeypatch: pytest.MonkeyPatch,
    access: Access,
    variable: str,
) -> None:
    monkeypatch.setenv(variable, "a-wrong-value-of-someone")
    error = failure_of(access, s3_root)
    assert (type(error), error.kind) == (StorageError, ErrorKind.STORE_DENIED)
    assert "AWS_SECRET_ACCESS_KEY" in str(error)
    for secret in (s3_environment.secret_key, "a-wrong-value-of-someone"):
        assert secret not in shown(error)


@pytest.mark.parametrize("access", ACCESSES)
def test_a_bucket_that_is_not_there_is_told(s3_environment: S3Server, access: Access) -> None:
    error = failure_of(access, "s3://no-such-bucket/prefix")
    assert (type(error), error.kind) == (NotFoundError, ErrorKind.BUCKET_NOT_FOUND)
    assert "no-such-bucket" in str(error)
    assert s3_environment.secret_key not in shown(error)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("port", "access"),
    [
        *((closed_port, access) for access in ACCESSES),
        (silent_port, open_by_lance),
        (silent_port, list_by_boto),
        (full_port, make_by_lance),
        (full_port, put_by_boto),
    ],
)
def test_a_store_that_can_t_be_reached_is_told_in_bounded_time(
    s3_root: str,
    monkeypatch: pytest.MonkeyPatch,
    access: Access,
    port: Callable[[], AbstractContextManager[str]],
) -> None:
    monkeypatch.setitem(reach._IMPATIENCE, "timeout", "1s")
    monkeypatch.setitem(reach._IMPATIENCE, "connect_timeout", "1s")
    monkeypatch.setattr(s3_store, "READ_TIMEOUT_S", 1)
    monkeypatch.setattr(s3_store, "CONNECT_TIMEOUT_S", 1)
    with port() as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        error = failure_of(access, s3_root)
    assert (type(error), error.kind) == (StorageError, ErrorKind.STORE_UNREACHABLE)
    assert "AWS_ENDPOINT_URL" in str(error)


def test_no_keys_at_all_are_denied(s3_root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert failure_of(list_by_boto, s3_root).kind is ErrorKind.STORE_DENIED
    assert failure_of(open_by_lance, s3_root).kind is ErrorKind.STORE_DENIED


def test_an_answer_that_repeats_keys_shows_none(
    s3_root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "a-session-token-that-is-long"
    body = (
        "<?xml version='1.0'?>\n<Error><Code>ExpiredToken</Code><Message>The token has expired."
        f"</Message><Token-0>{token}</Token-0><AWSAccessKeyId>AKIAEXAMPLEEXAMPLE</AWSAccessKeyId>"
        "<StringToSign>AWS4-HMAC-SHA256 20260101</StringToSign></Error>"
    )
    monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    with answering(400, body.encode()) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        error = failure_of(open_by_lance, s3_root)
    assert error.kind is ErrorKind.STORE_DENIED
    assert "ExpiredToken: The token has expired" in str(error)
    for secret in (token, "AKIAEXAMPLEEXAMPLE", "AWS4-HMAC-SHA256"):
        assert secret not in shown(error)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("GET https://h/b/k?X-Amz-Credential=AKIA/x&X-Amz-Signature=beef01", "beef01"),
        ("GET https://h/b/k?AWSAccessKeyId=AKIAXYZ&Signature=s%2Fg%3D&Expires=1", "s%2Fg%3D"),
        ("connect to https://robot:hunter22@host/bucket failed", "hunter22"),
        ("<SignatureProvided>c0ffee</SignatureProvided>", "c0ffee"),
        ("the value long-secret-of-env was refused", "long-secret-of-env"),
    ],
)
def test_secrets_are_taken_out_of_text(
    monkeypatch: pytest.MonkeyPatch, text: str, secret: str
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "long-secret-of-env")
    assert secret not in without_secrets(text)
    error = translate(OSError(text), "s3://bucket/key")
    assert secret not in shown(error)
    with pytest.raises(StorageError) as caught, store_errors("s3://bucket/key"):
        raise OSError(text)
    assert secret not in shown(caught.value)


def test_an_endpoint_is_not_taken_for_a_secret() -> None:
    text = "error sending request for http://127.0.0.1:38683/bucket?list-type=2"
    assert without_secrets(text) == text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user can't mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def many_rows() -> pa.Table:
    keys = np.random.default_rng(0).integers(0, 1 << 62, 400_000)
    return rows_of(keys.tolist(), "big")


def test_a_full_disk_is_told_and_nothing_half_written_shows(small_disk: Path) -> None:
    uri = f"{small_disk}/numbers.lance"
    version = make_table(uri).version
    with pytest.raises(StorageError, match=r"numbers\.lance.*No space left") as caught:
        append_rows(uri, many_rows(), properties={})
    assert caught.value.kind is ErrorKind.DISK_FULL
    assert (open_table(uri).version, open_table(uri).count_rows()) == (version, 0)
    append_rows(uri, rows_of([1], "small"), properties={})


def test_a_full_landing_disk_keeps_no_half_of_a_file(small_disk: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.bin"
    big.write_bytes(bytes(3 << 20))
    landing = Landing(small_disk)
    with pytest.raises(StorageError, match=r"big\.bin") as caught:
        landing.put(big, "set", "upload-1")
    assert caught.value.kind is ErrorKind.DISK_FULL
    assert [path for path in small_disk.rglob("*") if path.is_file()] == []
    assert landing.list_uploads() == []


def write_with_little_room(uri: str) -> str:
    """Return the kind of error that writing meets where no file may exceed 100 kB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        write_rows(uri, SCHEMA, many_rows().to_batches())
    except RobotDataError as err:
        return err.kind
    return "none"


def test_a_quota_is_a_full_disk(local_uri: str) -> None:
    make_table(local_uri)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(write_with_little_room, local_uri).result() == ErrorKind.DISK_FULL


def test_a_read_only_disk_is_denied(small_disk: Path) -> None:
    uri = f"{small_disk}/numbers.lance"
    make_table(uri)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for access in (
        lambda: append_rows(uri, rows_of([1], "a"), properties={}),
        lambda: Landing(small_disk).put(Path(__file__), "set", "upload-1"),
    ):
        with pytest.raises(StorageError, match=r"small/") as caught:
            access()
        assert caught.value.kind is ErrorKind.STORE_DENIED


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, ErrorKind.STORE_DENIED),
        (errno.EPERM, ErrorKind.STORE_DENIED),
        (errno.ENOSPC, ErrorKind.DISK_FULL),
        (errno.EDQUOT, ErrorKind.DISK_FULL),
        (errno.EIO, ErrorKind.STORE_FAILED),
    ],
)
def test_the_system_s_errors_have_their_kind(number: int, kind: ErrorKind) -> None:
    error = translate(OSError(number, os.strerror(number)), "/data/lake")
    assert error.kind is kind
    assert "'/data/lake'" in str(error)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("forbidden", ErrorKind.TABLE_NOT_FOUND),
        ("403", ErrorKind.TABLE_NOT_FOUND),
        ("timed out", ErrorKind.TABLE_NOT_FOUND),
    ],
)
def test_the_name_of_a_folder_says_nothing_of_what_went_wrong(
    tmp_path: Path, name: str, kind: ErrorKind
) -> None:
    with pytest.raises(NotFoundError) as caught:
        open_table(f"{tmp_path}/{name}/numbers.lance")
    assert caught.value.kind is kind


@pytest.mark.parametrize("damage", ["gone", "garbage", "cut"])
def test_a_damaged_table_is_told_and_not_taken_for_an_absent_one(
    local_uri: str, damage: str
) -> None:
    make_table(local_uri)
    append_rows(local_uri, rows_of(range(100), "a"), properties={})
    (path,) = Path(local_uri, "data").glob("*.lance")
    content = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes(b"garbage" * 99 if damage == "garbage" else content[:50])
    with pytest.raises(StorageError, match=r"numbers\.lance.*gone or damaged") as caught:
        open_table(local_uri).read()
    assert caught.value.kind is ErrorKind.STORE_FAILED


def test_an_error_of_this_project_passes_unchanged() -> None:
    original = NotFoundError("No episode 3.", kind=ErrorKind.EPISODE_NOT_FOUND)
    with pytest.raises(NotFoundError) as caught, store_errors("/data/lake"):
        raise original
    assert caught.value is original


def test_an_error_says_in_one_line_what_the_store_said() -> None:
    text = "LanceError(IO): odd thing, /build/rust/lance-io/src/local.rs:273:40\nbacktrace\nmore"
    said = str(translate(OSError(text), "/data/lake"))
    assert said == (
        "Access to '/data/lake' failed (store-failed): OSError: LanceError(IO): odd thing. "
        "Run the same command again."
    )
