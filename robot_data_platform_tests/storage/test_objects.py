from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.errors import (
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    StorageError,
)
from robot_data_platform.storage.objects import (
    ObjectStore,
    check_conditional_put,
    object_store,
)
from robot_data_platform_tests.servers import S3Server
from robot_data_platform_tests.storage.silent_servers import answering


@pytest.fixture
def store(root: str) -> ObjectStore:
    """A store, locally and on S3."""
    return object_store(root)


def test_an_object_comes_back_and_may_be_written_over(store: ObjectStore) -> None:
    store.put_bytes(b"one", "a/b.bin")
    store.put_bytes(b"two", "a/b.bin")
    assert store.get_bytes("a/b.bin") == b"two"


def test_an_object_that_may_only_be_new_is_never_written_over(store: ObjectStore) -> None:
    store.put_bytes(b"one", "a/b.bin", only_new=True)
    with pytest.raises(InvalidInputError, match=r"a/b\.bin") as caught:
        store.put_bytes(b"two", "a/b.bin", only_new=True)
    assert caught.value.kind is ErrorKind.ALREADY_EXISTS
    assert store.get_bytes("a/b.bin") == b"one"


def test_a_file_comes_back(store: ObjectStore, tmp_path: Path) -> None:
    data = bytes(range(256)) * 40_000  # more than one part of an S3 upload
    (tmp_path / "out").write_bytes(data)
    store.put_file(tmp_path / "out", "deep/er/file")
    store.fetch("deep/er/file", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == data


def test_an_object_that_is_not_there_is_told(store: ObjectStore, tmp_path: Path) -> None:
    for read in (
        lambda: store.get_bytes("a/none"),
        lambda: store.fetch("a/none", tmp_path / "back"),
    ):
        with pytest.raises(NotFoundError, match="a/none") as caught:
            read()
        assert caught.value.kind is ErrorKind.UPLOAD_NOT_FOUND


def test_keys_are_listed_below_a_folder_sorted_from_any_key_on(store: ObjectStore) -> None:
    keys = [f"a/{name}" for name in ("1", "1-", "10", "b/c", "b/d/e", "ü")]
    for key in [*reversed(keys), "ab", "b/1"]:
        store.put_bytes(b"", key)
    assert store.list_keys("a") == sorted(keys)
    assert store.list_keys("a", after="a/10") == sorted(keys)[3:]
    assert store.list_keys("a", after="a/1", limit=2) == sorted(keys)[1:3]
    assert store.list_keys("none") == []


@pytest.mark.parametrize("key", ["", "../a", "/a", "a/../../b"])
def test_a_key_never_leaves_the_root(store: ObjectStore, key: str) -> None:
    for access in (
        lambda: store.put_bytes(b"", key),
        lambda: store.get_bytes(key),
        lambda: store.list_keys(key),
    ):
        with pytest.raises(InvalidInputError) as caught:
            access()
        assert caught.value.kind is ErrorKind.UNSAFE_PATH


def test_a_real_store_honours_the_conditional_put(s3_root: str) -> None:
    for _ in range(2):
        check_conditional_put(s3_root)


def test_a_local_folder_needs_no_probe(tmp_path: Path) -> None:
    check_conditional_put(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b""), (501, b"<Error><Code>NotImplemented</Code></Error>")],
    ids=["ignores the header", "refuses it"],
)
def test_a_store_without_conditional_puts_is_refused(
    s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch, status: int, body: bytes
) -> None:
    with answering(status, body) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(StorageError, match=r"s3://bucket/lake.*If-None-Match") as caught:
            check_conditional_put("s3://bucket/lake")
    assert caught.value.kind is ErrorKind.STORE_UNSAFE
    assert s3_environment.secret_key not in str(caught.value)
