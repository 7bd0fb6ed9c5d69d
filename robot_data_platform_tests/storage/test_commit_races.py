"""Several processes change one table at once."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from robot_data_platform.storage.commit import write_rows
from robot_data_platform.storage.table import open_table
from robot_data_platform_tests.storage import racing
from robot_data_platform_tests.storage.racing import race
from robot_data_platform_tests.storage.small_table import (
    SCHEMA,
    add,
    keys_by_upload,
    latest_keys,
    make_table,
    rows_of,
    scores,
)

NUM_RACERS = 4
UPLOADS = [f"upload-{number}" for number in range(5)]


def test_drivers_of_the_same_uploads_write_each_once(
    writers: ProcessPoolExecutor, table_uri: str
) -> None:
    make_table(table_uri)
    race(writers, table_uri, *[(racing.append_uploads, UPLOADS)] * NUM_RACERS)
    assert latest_keys(table_uri) == {upload: [n] for n, upload in enumerate(UPLOADS)}


def test_the_same_fragments_committed_by_several_at_once_are_there_once(
    writers: ProcessPoolExecutor, local_uri: str
) -> None:
    make_table(local_uri)
    fragments = write_rows(local_uri, SCHEMA, rows_of(range(3), "a").to_batches())
    race(writers, local_uri, *[(racing.commit_written, fragments)] * NUM_RACERS)
    assert latest_keys(local_uri) == {"a": [0, 1, 2]}


def test_swaps_of_one_upload_leave_the_rows_of_one_of_them(
    writers: ProcessPoolExecutor, table_uri: str
) -> None:
    make_table(table_uri)
    add(table_uri, [1], "same")
    add(table_uri, [2], "other")
    proposed = [[range(100 * n + 10 * r, 100 * n + 10 * r + 3) for r in range(3)] for n in range(4)]
    race(writers, table_uri, *[(racing.replace_upload, ("same", p)) for p in proposed])
    found = latest_keys(table_uri)
    assert found["other"] == [2]
    assert found["same"] in [list(p[-1]) for p in proposed]


def test_swaps_of_an_upload_that_is_not_there_yet_leave_one_of_them(
    writers: ProcessPoolExecutor, local_uri: str
) -> None:
    make_table(local_uri)
    proposed = [[range(10 * n, 10 * n + 3)] for n in range(NUM_RACERS)]
    race(writers, local_uri, *[(racing.replace_upload, ("same", p)) for p in proposed])
    assert latest_keys(local_uri)["same"] in [list(p[0]) for p in proposed]


def test_swaps_of_several_uploads_in_one_fragment_all_arrive(
    writers: ProcessPoolExecutor, table_uri: str
) -> None:
    make_table(table_uri)
    fragments = write_rows(
        table_uri, SCHEMA, [b for n in range(4) for b in rows_of([n], f"u{n}").to_batches()]
    )
    racing.commit_written(table_uri, fragments)
    swaps = [
        (f"u{n}", [range(10 * n, 10 * n + 2), range(10 * n + 5, 10 * n + 9)]) for n in range(4)
    ]
    race(writers, table_uri, *[(racing.replace_upload, swap) for swap in swaps])
    assert latest_keys(table_uri) == {upload: list(keys[-1]) for upload, keys in swaps}


def test_column_rewrites_of_one_fragment_lose_no_value(
    writers: ProcessPoolExecutor, table_uri: str
) -> None:
    make_table(table_uri)
    add(table_uri, range(12), "a")
    race(
        writers,
        table_uri,
        *[(racing.score_rows, (list(range(n, 12, 4)), float(n))) for n in range(4)],
    )
    assert scores(open_table(table_uri)) == {key: float(key % 4) for key in range(12)}


def test_rewrites_appends_swaps_and_new_columns_at_once_all_hold(
    writers: ProcessPoolExecutor, local_uri: str
) -> None:
    make_table(local_uri)
    add(local_uri, range(4), "scored")
    add(local_uri, [50], "swapped")
    race(
        writers,
        local_uri,
        (racing.score_rows, ([0, 1, 2, 3], 7.0)),
        (racing.append_uploads, UPLOADS),
        (racing.replace_upload, ("swapped", [range(60, 62), range(70, 73)])),
        (racing.add_columns, ["one", "two", "three"]),
    )
    table = open_table(local_uri)
    assert scores(table) == dict.fromkeys(range(4), 7.0)
    assert keys_by_upload(table) == {
        "scored": [0, 1, 2, 3],
        "swapped": [70, 71, 72],
        **{upload: [n] for n, upload in enumerate(UPLOADS)},
    }
    assert {"one", "two", "three"} <= set(table.schema.names)


def test_compaction_meanwhile_changes_nothing(writers: ProcessPoolExecutor, local_uri: str) -> None:
    make_table(local_uri)
    for number in range(6):
        add(local_uri, [number], "scored")
    race(
        writers,
        local_uri,
        (racing.compact_often, 5),
        (racing.score_rows, (list(range(6)), 3.0)),
        (racing.append_uploads, UPLOADS),
        (racing.replace_upload, ("swapped", [range(60, 62), range(70, 73)])),
    )
    table = open_table(local_uri)
    assert scores(table) == dict.fromkeys(range(6), 3.0)
    assert {upload: sorted(keys) for upload, keys in keys_by_upload(table).items()} == {
        "scored": list(range(6)),
        "swapped": [70, 71, 72],
        **{upload: [n] for n, upload in enumerate(UPLOADS)},
    }


def test_numbers_reserved_at_once_are_given_out_once(
    writers: ProcessPoolExecutor, table_uri: str
) -> None:
    make_table(table_uri)
    race(writers, table_uri, *[(racing.reserve_numbers, (f"w{n}", 4)) for n in range(NUM_RACERS)])
    found = latest_keys(table_uri)
    assert sorted(key for keys in found.values() for key in keys) == list(range(16))
    assert {upload: len(keys) for upload, keys in found.items()} == dict.fromkeys(
        [f"w{n}" for n in range(NUM_RACERS)], 4
    )


def test_the_same_new_columns_from_several_writers_are_there_once(
    writers: ProcessPoolExecutor, table_uri: str
) -> None:
    make_table(table_uri)
    add(table_uri, [1], "a")
    race(writers, table_uri, *[(racing.add_columns, ["one", "two"])] * NUM_RACERS)
    table = open_table(table_uri)
    assert table.schema.names == [*SCHEMA.names, "one", "two"]
    assert table.metadata["rdp.two"] == "there"
    assert table.read(["one", "two"]).to_pylist() == [{"one": None, "two": None}]


def kill_when(
    condition: Callable[[], bool], target: Callable[..., object], *arguments: object
) -> None:
    """Start a process and kill it, without notice, once the condition holds."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
    process.start()
    try:
        while not condition():
            assert process.is_alive()
            time.sleep(0.005)
    finally:
        process.kill()
        process.join()


def has_version(uri: str, version: int) -> bool:
    return open_table(uri).version >= version


def test_a_writer_killed_before_its_commit_leaves_no_trace(local_uri: str, tmp_path: Path) -> None:
    make_table(local_uri)
    before = add(local_uri, [1], "a").version
    ready = tmp_path / "ready"
    kill_when(ready.exists, racing.write_and_wait, local_uri, str(ready))
    assert open_table(local_uri).version == before
    assert latest_keys(local_uri) == {"a": [1]}
    assert add(local_uri, range(100), "killed").version == before + 1


def test_a_driver_killed_anywhere_and_run_again_has_written_each_upload_once(
    local_uri: str,
) -> None:
    uploads = [f"upload-{number}" for number in range(200)]
    make_table(local_uri)
    for kill in range(3):
        enough = open_table(local_uri).version + random.Random(kill).randrange(2, 20)
        kill_when(
            partial(has_version, local_uri, enough), racing.append_uploads, local_uri, uploads
        )
        found = latest_keys(local_uri)
        assert found == {upload: [n] for n, upload in enumerate(uploads[: len(found)])}
    racing.append_uploads(local_uri, uploads[:80])
    found = latest_keys(local_uri)
    assert found == {upload: [n] for n, upload in enumerate(uploads[: len(found)])}


@pytest.mark.parametrize("replace", [False, True])
def test_a_commit_whose_base_moved_is_built_again(local_uri: str, *, replace: bool) -> None:
    make_table(local_uri)
    add(local_uri, [1, 2], "a")
    overtaken: list[bool] = []

    def overtake(_: object) -> bool:
        if not overtaken:
            overtaken.append(True)
            add(local_uri, [3], "b")
        return False

    # The guard holds the table at the version before the other writer's.
    add(local_uri, [4], "a", replace=replace, is_done=overtake)
    assert latest_keys(local_uri) == {"a": [4] if replace else [1, 2, 4], "b": [3]}
