from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from robot_data_platform.core.catalog_schema import releases_schema
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import default_spec
from robot_data_platform.curation.verify import ReleaseReport, verify
from robot_data_platform.errors import ErrorKind, NotFoundError, StorageError
from robot_data_platform.storage.commit import commit_fragments, write_rows
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.snapshot import find_release
from robot_data_platform.storage.table import LakeTable
from robot_data_platform_tests.curation.small_lake import (
    RUN,
    SmallLake,
    append_gops,
    episodes_named,
    gop_row,
    replace_gop,
)


@pytest.fixture
def filled(small: SmallLake) -> SmallLake:
    """Episodes 0 to 5, and a flagged one, number 6, that no release takes."""
    small.ingest([*episodes_named("abcdef"), *episodes_named("x", status="flagged")])
    return small


def release_and_verify(small: SmallLake) -> ReleaseReport:
    create_release(small.lake, "aloha", default_spec(), RUN, name="v1")
    return verify(small.lake, "aloha", "v1")


def rules(report: ReleaseReport) -> list[tuple[str, str]]:
    return [(problem.rule, problem.where) for problem in report.problems]


def remove_rows(small: SmallLake, table: str, predicate: str) -> None:
    found = small.lake.open("aloha", table)
    commit_fragments(found.uri, [], properties={}, replace=predicate)


def alter_release(small: SmallLake, **changes: object) -> None:
    """Overwrite the release's row, which the platform never does."""
    row = {**find_release(small.lake, "aloha", "v1"), **changes}
    rows = pa.Table.from_pylist([row], schema=releases_schema())
    uri = small.lake.catalog_uri("releases")
    written = write_rows(uri, rows.schema, rows.to_batches())
    commit_fragments(uri, written, properties={}, replace=equals("release", "v1"))


def test_a_release_as_it_was_made_is_intact(filled: SmallLake) -> None:
    report = release_and_verify(filled)
    assert report.is_intact
    assert (report.num_episodes, report.num_rows, report.num_gops) == (6, 18, 12)


def test_it_stays_intact_whatever_is_ingested_later(filled: SmallLake) -> None:
    release_and_verify(filled)
    filled.ingest(episodes_named("abxyz", content="new"))
    assert verify(filled.lake, "aloha", "v1").is_intact


def test_uploads_that_were_published_in_another_order_than_they_began_are_intact(
    small: SmallLake,
) -> None:
    first = small.reserve(2)
    small.ingest(episodes_named("cd", upload="u2", num_rows=5))
    small.ingest(episodes_named("ab", upload="u1", num_rows=4), first)
    assert release_and_verify(small).is_intact


def test_a_store_out_of_reach_is_an_error_and_no_damage(
    filled: SmallLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_away(*_: object) -> list[bytes]:
        raise StorageError("no answer", kind=ErrorKind.STORE_UNREACHABLE)

    monkeypatch.setattr(LakeTable, "read_blobs", is_away)
    with pytest.raises(StorageError, match="no answer"):
        release_and_verify(filled)


def test_a_flipped_byte_in_a_blob_is_found_and_named(filled: SmallLake) -> None:
    row = gop_row(2, 1)
    replace_gop(filled.lake, "aloha", row, f"Blob {row['gop_key']}".encode())
    report = release_and_verify(filled)
    assert rules(report) == [("gop_has_its_hash", "episode_index=2 camera=top gop=1")]
    assert str(row["sha256"]) in report.problems[0].message


def test_a_flipped_byte_of_an_episode_that_is_not_released_is_no_problem(
    filled: SmallLake,
) -> None:
    replace_gop(filled.lake, "aloha", gop_row(6, 1), b"other")
    assert release_and_verify(filled).is_intact


def test_a_flipped_byte_on_the_disk_is_found(filled: SmallLake) -> None:
    report = release_and_verify(filled)
    assert report.is_intact
    stored = Path(filled.lake.table_uri("aloha", "gops"))
    (sidecar,) = stored.rglob("*.blob")
    whole = sidecar.read_bytes()
    sidecar.write_bytes(whole[:3] + bytes([whole[3] ^ 1]) + whole[4:])
    assert rules(verify(filled.lake, "aloha", "v1")) == [
        ("gop_has_its_hash", "episode_index=0 camera=top gop=0")
    ]


def test_a_blob_file_that_is_gone_is_found_gop_by_gop(filled: SmallLake) -> None:
    release_and_verify(filled)
    (sidecar,) = Path(filled.lake.table_uri("aloha", "gops")).rglob("*.blob")
    sidecar.unlink()
    report = verify(filled.lake, "aloha", "v1")
    assert [problem.rule for problem in report.problems] == ["gop_is_readable"] * 12


def test_a_missing_and_a_doubled_gop_are_found(filled: SmallLake) -> None:
    remove_rows(filled, "gops", "episode_index = 1 AND gop_index = 1")
    append_gops(filled.lake.open("aloha", "gops"), [gop_row(3, 0)], [b"blob 786432"])
    report = release_and_verify(filled)
    incomplete = [where for rule, where in rules(report) if rule == "gops_are_complete"]
    assert incomplete == ["episode_index=1", "episode_index=3"]


def test_missing_rows_are_found(filled: SmallLake) -> None:
    remove_rows(filled, "frames", "episode_index = 4 AND frame_index = 2")
    report = release_and_verify(filled)
    assert rules(report) == [("frames_are_complete", "episode_index=4")]
    assert "got 2 rows, expected 3" in report.problems[0].message


def test_a_missing_and_a_wrong_tag_are_found(filled: SmallLake) -> None:
    release_and_verify(filled)
    filled.lake.open("aloha", "gops").lance.tags.delete("rel-v1")
    filled.ingest(episodes_named("y"))
    filled.lake.open("aloha", "frames").move_tag("rel-v1")
    report = verify(filled.lake, "aloha", "v1")
    assert sorted(rules(report)) == [("tag_holds_version", "frames"), ("tag_holds_version", "gops")]


def test_another_digest_is_found(filled: SmallLake) -> None:
    release_and_verify(filled)
    alter_release(filled, digest="0" * 64)
    assert rules(verify(filled.lake, "aloha", "v1")) == [("digest_matches", "splits")]


def test_a_changed_spec_is_found(filled: SmallLake) -> None:
    release_and_verify(filled)
    text = str(find_release(filled.lake, "aloha", "v1")["spec_json"])
    alter_release(filled, spec_json=text.replace('"seed": 0', '"seed": 1'))
    assert rules(verify(filled.lake, "aloha", "v1")) == [("digest_matches", "splits")]


def test_another_size_is_found(filled: SmallLake) -> None:
    release_and_verify(filled)
    alter_release(filled, num_rows=17)
    assert rules(verify(filled.lake, "aloha", "v1")) == [("release_has_its_size", "episodes")]


def test_an_episode_whose_content_differs_at_the_pinned_version_is_found(
    filled: SmallLake,
) -> None:
    release_and_verify(filled)
    filled.ingest(episodes_named("c", content="new"))
    tables = find_release(filled.lake, "aloha", "v1")["tables"]
    latest = filled.lake.open("aloha", "episodes").version
    alter_release(
        filled, tables=[t | {"version": latest} if t["table"] == "episodes" else t for t in tables]
    )
    (changed,) = (e.id_in("aloha") for e in episodes_named("c"))
    report = verify(filled.lake, "aloha", "v1")
    assert ("episode_is_unchanged", changed) in rules(report)


def test_a_version_that_is_gone_is_told_instead_of_raised(filled: SmallLake) -> None:
    release_and_verify(filled)
    tables = find_release(filled.lake, "aloha", "v1")["tables"]
    alter_release(filled, tables=[t | {"version": 999} for t in tables])
    report = verify(filled.lake, "aloha", "v1")
    assert {rule for rule, _ in rules(report)} == {"version_is_there"}


def test_an_unknown_release_is_not_found(filled: SmallLake) -> None:
    with pytest.raises(NotFoundError) as caught:
        verify(filled.lake, "aloha", "v9")
    assert caught.value.kind is ErrorKind.RELEASE_NOT_FOUND
