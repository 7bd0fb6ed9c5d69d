from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from robot_data_platform.errors import (
    DataFaultError,
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    StorageError,
)
from robot_data_platform.storage.landing import MARKERS, Landing, Manifest
from robot_data_platform.storage.objects import object_store
from robot_data_platform.storage.uri import join

FILES = {"meta/info.json": b'{"fps": 30}', "data/ü 1.bin": bytes(range(256)) * 40, ".hidden": b""}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A folder of three files."""
    root = tmp_path / "recording"
    for relative, data in FILES.items():
        path = root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


@pytest.fixture
def landing(root: str) -> Landing:
    """A landing folder, locally and on S3."""
    return Landing(join(root, "landing"))


@pytest.fixture
def local_landing(tmp_path: Path) -> Landing:
    """A landing folder on this machine."""
    return Landing(tmp_path / "landing")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where files of S3 are fetched to."""
    return tmp_path / "cache"


def mark(landing: Landing, upload: str, content: object = None) -> None:
    """Write a marker as another uploader may; by default one of an upload without files."""
    facts = {"dataset": "set", "files": []} if content is None else content
    data = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    object_store(landing.root).put_bytes(data, f"{MARKERS}/{upload}.json")


def entry(path: str, data: bytes = b"") -> dict[str, object]:
    return {"path": path, "size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_an_upload_comes_back_byte_for_byte(landing: Landing, recording: Path, cache: Path) -> None:
    put = landing.put(recording, "set", "upload-1", format_hint="rawlog", profile="robot: x\n")
    manifest = landing.manifest("upload-1")
    assert manifest == put
    assert (manifest.dataset, manifest.format, manifest.profile) == ("set", "rawlog", "robot: x\n")
    source = landing.source(manifest, cache)
    assert source.list_files() == tuple(sorted(FILES))
    for relative, data in FILES.items():
        assert source.local_path(relative).read_bytes() == data
        assert source.size_bytes(relative) == len(data)


def test_a_manifest_states_each_file_s_size_and_sha256(landing: Landing, recording: Path) -> None:
    manifest = landing.put(recording, "set", "upload-1")
    stated = {e.path: (e.size_bytes, e.sha256) for e in manifest.files}
    assert stated == {
        path: (len(data), hashlib.sha256(data).hexdigest()) for path, data in FILES.items()
    }
    landing.verify(manifest)


def test_a_single_file_is_an_upload_too(landing: Landing, recording: Path) -> None:
    manifest = landing.put(recording / "data" / "ü 1.bin", "set", "upload-1")
    assert [e.path for e in manifest.files] == ["ü 1.bin"]


def test_progress_is_told_file_by_file(local_landing: Landing, recording: Path) -> None:
    told: list[tuple[int, int]] = []
    local_landing.put(
        recording, "set", "upload-1", progress=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_id_that_is_taken_is_refused_and_no_file_of_it_changes(
    landing: Landing, recording: Path, tmp_path: Path
) -> None:
    manifest = landing.put(recording, "set", "upload-1")
    other = tmp_path / "other"
    (other / "meta").mkdir(parents=True)
    (other / "meta" / "info.json").write_text("changed")
    with pytest.raises(InvalidInputError, match=r"upload-1\.json.*exists") as caught:
        landing.put(other, "set", "upload-1")
    assert caught.value.kind is ErrorKind.ALREADY_EXISTS
    assert landing.manifest("upload-1") == manifest
    landing.verify(manifest)


def test_of_two_puts_of_one_id_at_once_one_is_refused(landing: Landing, tmp_path: Path) -> None:
    def put(number: int) -> str:
        path = tmp_path / f"{number}.txt"
        path.write_text(f"file {number}")
        try:
            return landing.put(path, "set", "upload-1").files[0].path
        except InvalidInputError as err:
            return err.kind

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(put, range(4)))
    won = [end for end in ends if end != ErrorKind.ALREADY_EXISTS]
    assert len(won) == 1
    assert [e.path for e in landing.manifest("upload-1").files] == won


def test_a_put_that_died_before_its_marker_may_be_done_again(
    landing: Landing, recording: Path, cache: Path
) -> None:
    def die(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        landing.put(recording, "set", "upload-1", progress=die)
    assert landing.list_uploads() == []
    (recording / "meta" / "info.json").unlink()
    manifest = landing.put(recording, "set", "upload-1")
    landing.verify(manifest)
    assert landing.source(manifest, cache).list_files() == (".hidden", "data/ü 1.bin")


def test_a_marker_put_whose_answer_was_lost_is_no_conflict(
    local_landing: Landing, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = type(object_store(local_landing.root))
    put_bytes = store.put_bytes

    def repeated(self: object, data: bytes, key: str, *, only_new: bool = False) -> None:
        for _ in range(2):
            put_bytes(self, data, key, only_new=only_new)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "put_bytes", repeated)
    assert local_landing.put(recording, "set", "upload-1").upload == "upload-1"


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir()], ids=["absent", "empty"])
def test_nothing_to_upload_is_told(
    local_landing: Landing, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "nothing")
    with pytest.raises(DataFaultError, match=r"nothing.*holds no file") as caught:
        local_landing.put(tmp_path / "nothing", "set", "upload-1")
    assert caught.value.kind is ErrorKind.EMPTY_SOURCE


@pytest.mark.parametrize(("dataset", "upload"), [("../x", "u"), ("_catalog", "u"), ("set", "a/b")])
def test_names_that_are_no_folder_names_are_refused(
    local_landing: Landing, recording: Path, dataset: str, upload: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        local_landing.put(recording, dataset, upload)
    assert caught.value.kind is ErrorKind.INVALID_NAME


def test_uploads_are_listed_in_pages(landing: Landing) -> None:
    ids = [f"20260101t00000{n}z-set-{n:04d}" for n in range(7)]
    for upload in reversed(ids):
        mark(landing, upload)
    assert landing.list_uploads() == ids
    assert landing.list_uploads(limit=3) == ids[:3]
    assert landing.list_uploads(after=ids[2], limit=3) == ids[3:6]
    assert landing.list_uploads(after=ids[5], limit=3) == ids[6:]
    assert landing.list_uploads(after=ids[6]) == []


def test_a_late_marker_is_listed_by_whoever_looks_back(landing: Landing) -> None:
    for upload in ("b", "d"):
        mark(landing, upload)
    assert landing.list_uploads(after="b") == ["d"]
    mark(landing, "a")
    mark(landing, "c")
    assert landing.list_uploads(after="b") == ["c", "d"]
    assert landing.list_uploads() == ["a", "b", "c", "d"]


def test_pages_that_go_on_from_their_last_id_miss_none(landing: Landing) -> None:
    # As file names `a-1.json` comes before `a.json`, though as an id `a` comes first.
    ids = {"a", "a-1", "a.b", "a_1", "b", "b-"}
    for upload in ids:
        mark(landing, upload)
    found: list[str] = []
    while page := landing.list_uploads(after=found[-1] if found else "", limit=2):
        found += page
    assert len(found) == len(ids)
    assert set(found) == ids


def test_what_is_no_marker_is_not_listed_and_costs_no_place_in_a_page(landing: Landing) -> None:
    store = object_store(landing.root)
    for name in ("README.md", "a.json.tmp", "b/c.json", "c", "d.txt"):
        store.put_bytes(b"{}", f"{MARKERS}/{name}")
    for upload in ("e", "f", "g"):
        mark(landing, upload)
    assert landing.list_uploads() == ["e", "f", "g"]
    assert landing.list_uploads(limit=2) == ["e", "f"]


def test_a_folder_without_uploads_lists_none(landing: Landing) -> None:
    assert landing.list_uploads() == []
    assert landing.list_uploads(after="a", limit=5) == []


def test_a_marker_that_is_not_there_is_told(landing: Landing) -> None:
    with pytest.raises(NotFoundError, match="upload-9") as caught:
        landing.manifest("upload-9")
    assert caught.value.kind is ErrorKind.UPLOAD_NOT_FOUND


SOUND = entry("a.bin")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", ErrorKind.UNREADABLE_FILE),
        (b"{", ErrorKind.UNREADABLE_FILE),
        (b"\xff\xfe", ErrorKind.UNREADABLE_FILE),
        (b"[" * 100_000, ErrorKind.UNREADABLE_FILE),
        ([], ErrorKind.UNREADABLE_FILE),
        ({}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set"}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [{}]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": ["a.bin"]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [{**SOUND, "size_bytes": -1}]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [{**SOUND, "size_bytes": "0"}]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [{**SOUND, "sha256": "beef"}]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [{**SOUND, "path": 7}]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [SOUND, SOUND]}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [], "profile": 7}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "set", "files": [], "upload": "b"}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": 7, "files": []}, ErrorKind.UNREADABLE_FILE),
        ({"dataset": "../set", "files": []}, ErrorKind.INVALID_NAME),
        ({"dataset": "set", "files": [entry("../a.bin")]}, ErrorKind.UNSAFE_PATH),
        ({"dataset": "set", "files": [entry("/etc/passwd")]}, ErrorKind.UNSAFE_PATH),
        ({"dataset": "set", "files": [entry("a\\..\\b")]}, ErrorKind.UNSAFE_PATH),
    ],
)
def test_a_marker_that_can_t_be_used_is_a_fault_of_its_upload(
    local_landing: Landing, content: object, kind: ErrorKind
) -> None:
    mark(local_landing, "upload-1", content)
    with pytest.raises(DataFaultError, match="'upload-1'") as caught:
        local_landing.manifest("upload-1")
    assert caught.value.kind is kind


def test_a_marker_whose_name_is_no_id_is_a_fault_of_its_upload(local_landing: Landing) -> None:
    mark(local_landing, "Upload 1")
    assert local_landing.list_uploads() == ["Upload 1"]
    with pytest.raises(DataFaultError, match="'Upload 1'") as caught:
        local_landing.manifest("Upload 1")
    assert caught.value.kind is ErrorKind.INVALID_NAME


def test_a_corrected_marker_has_another_digest(local_landing: Landing) -> None:
    mark(local_landing, "upload-1")
    first = local_landing.manifest("upload-1").manifest_sha256
    mark(local_landing, "upload-1", {"dataset": "set", "files": [SOUND]})
    assert local_landing.manifest("upload-1").manifest_sha256 != first


def damaged(landing: Landing, recording: Path, data: bytes | None) -> Manifest:
    """Return the manifest of an upload of which one file was changed, or taken away, since."""
    manifest = landing.put(recording, "set", "upload-1")
    store = object_store(landing.root)
    if data is not None:
        store.put_bytes(data, "set/upload-1/meta/info.json")
        return manifest
    lost = {**json.loads(store.get_bytes(f"{MARKERS}/upload-1.json"))}
    lost["files"] = [*lost["files"], entry("meta/lost.json")]
    mark(landing, "upload-1", lost)
    return landing.manifest("upload-1")


@pytest.mark.parametrize("data", [b"short", b'{"fps": 31}'], ids=["size", "content"])
def test_a_file_that_changed_since_is_told(
    landing: Landing, recording: Path, cache: Path, data: bytes
) -> None:
    manifest = damaged(landing, recording, data)
    # Local files are hashed by `verify`, those on S3 when they are fetched.
    with pytest.raises(DataFaultError, match=r"'upload-1' file 'meta/info\.json' has") as caught:
        read_checked(landing, manifest, cache)
    assert caught.value.kind is ErrorKind.HASH_MISMATCH
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def read_checked(landing: Landing, manifest: Manifest, cache: Path) -> bytes:
    landing.verify(manifest)
    return landing.source(manifest, cache).local_path("meta/info.json").read_bytes()


def test_a_file_that_is_lacking_is_told(landing: Landing, recording: Path, cache: Path) -> None:
    manifest = damaged(landing, recording, None)
    for look in (
        lambda: landing.verify(manifest),
        lambda: landing.source(manifest, cache).local_path("meta/lost.json"),
    ):
        with pytest.raises(DataFaultError, match=r"lost\.json") as caught:
            look()
        assert caught.value.kind is ErrorKind.MISSING_FILE


def test_a_file_that_no_manifest_names_is_not_there(
    landing: Landing, recording: Path, cache: Path
) -> None:
    manifest = landing.put(recording, "set", "upload-1")
    object_store(landing.root).put_bytes(b"late", "set/upload-1/late.bin")
    source = landing.source(manifest, cache)
    assert "late.bin" not in source.list_files()
    with pytest.raises(DataFaultError, match=r"late\.bin"):
        source.local_path("late.bin")
    with pytest.raises(InvalidInputError, match="leaves its folder"):
        source.local_path("../upload-1/late.bin")


def test_a_file_is_fetched_once(s3_root: str, recording: Path, cache: Path) -> None:
    landing = Landing(s3_root)
    manifest = landing.put(recording, "set", "upload-1")
    source = landing.source(manifest, cache)
    first = source.local_path("meta/info.json")
    inode = first.stat().st_ino
    assert landing.source(manifest, cache).local_path("meta/info.json").stat().st_ino == inode


def test_uploads_that_share_a_cache_do_not_share_files(
    s3_root: str, tmp_path: Path, cache: Path
) -> None:
    landing = Landing(s3_root)
    for number in (1, 2):
        (tmp_path / "same.txt").write_text(f"file {number}")
        landing.put(tmp_path / "same.txt", "set", f"upload-{number}")
    texts = [
        landing.source(landing.manifest(f"upload-{n}"), cache).local_path("same.txt").read_text()
        for n in (1, 2)
    ]
    assert texts == ["file 1", "file 2"]


def test_a_half_written_marker_is_not_seen(local_landing: Landing, tmp_path: Path) -> None:
    mark(local_landing, "upload-1")
    folder = Path(local_landing.root) / MARKERS
    (folder / ".rdp-0123.partial").write_text("{")
    assert local_landing.list_uploads() == ["upload-1"]
    assert object_store(local_landing.root).list_keys(MARKERS) == [f"{MARKERS}/upload-1.json"]


def test_others_may_read_what_was_landed(local_landing: Landing, recording: Path) -> None:
    mask = os.umask(0o022)
    try:
        local_landing.put(recording, "set", "upload-1")
    finally:
        os.umask(mask)
    modes = {p.stat().st_mode & 0o777 for p in Path(local_landing.root).rglob("*") if p.is_file()}
    assert modes == {0o644}


def test_a_file_in_the_place_of_a_folder_is_an_error_of_the_store(
    local_landing: Landing, recording: Path
) -> None:
    Path(local_landing.root).mkdir()
    (Path(local_landing.root) / "set").write_text("in the way")
    with pytest.raises(StorageError) as caught:
        local_landing.put(recording, "set", "upload-1")
    assert caught.value.kind is ErrorKind.STORE_FAILED
