"""A fifth of all requests to the store fails, one way or another; nothing is lost or doubled."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from robot_data_platform.errors import ErrorKind, NotFoundError, StorageError
from robot_data_platform.storage import attempts, s3_store
from robot_data_platform.storage import uri as uri_module
from robot_data_platform.storage.commit import append_rows, grow_schema, rewrite_columns
from robot_data_platform.storage.objects import object_store
from robot_data_platform.storage.table import open_table
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform_tests.faults.faulty_proxy import Fault, FaultyProxy, Plan
from robot_data_platform_tests.faults.passage import find_truth, pass_through
from robot_data_platform_tests.storage.small_table import (
    add,
    latest_keys,
    make_table,
    rows_of,
    scores,
)

SHARE = 0.2
LOST_ANSWERS = (Fault.DONE_BUT_500, Fault.DONE_BUT_RESET)


@pytest.mark.usefixtures("impatient")
def test_an_upload_gets_through_a_store_that_fails_at_a_fifth_of_all_requests(
    faulty: FaultyProxy, root: str, tmp_path: Path
) -> None:
    plan = Plan(share=SHARE, seed=7)
    passage = pass_through(faulty, root, find_truth(tmp_path), plan)
    assert passage.problems == []
    assert plan.met.total() > plan.num_requests * SHARE / 2
    assert set(plan.met) >= {Fault.SLOW_DOWN, Fault.RESET, Fault.CUT_BODY, *LOST_ANSWERS}


@pytest.mark.parametrize("fault", LOST_ANSWERS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("table_has_rows", [False, True])
def test_a_commit_whose_answer_is_lost_is_known_as_one_s_own(
    faulty: FaultyProxy, root: str, fault: Fault, *, table_has_rows: bool
) -> None:
    uri = f"{root}/numbers.lance"
    make_table(uri)
    if table_has_rows:
        add(uri, [0], "before")
    version = open_table(uri).version
    faulty.plan = once(fault)
    committed = append_rows(uri, rows_of([1, 2], "a"), properties={})
    assert faulty.plan.met == {fault: 1}
    assert (committed.version, committed.is_new) == (version + 1, True)
    assert open_table(uri).version == version + 1
    assert latest_keys(uri)["a"] == [1, 2]


def once(fault: Fault) -> Plan:
    """Return the plan that loses the first answer to a PUT of a manifest."""
    return Plan(share=1.0, reads=(), writes=(fault,), only=".manifest", limit=1)


CHANGES: dict[str, Callable[[str], object]] = {
    "replace": partial(add, keys=[7, 8], upload="a", replace=True),
    "rewrite": lambda uri: rewrite_columns(
        uri, pa.table({"key": [1], "score": [0.5]}), key="key", properties={}
    ),
    "grow": lambda uri: grow_schema(uri, [pa.field("new", pa.int64())], {}),
    "delete": lambda uri: delete_rows(uri, "key = 1", {}),
    "tag": lambda uri: open_table(uri).add_tag("rel-1"),
}
EXPECTED: dict[str, tuple[list[int], dict[int, float]]] = {
    "replace": ([7, 8], {}),
    "rewrite": ([1, 2], {1: 0.5}),
    "grow": ([1, 2], {}),
    "delete": ([2], {}),
    "tag": ([1, 2], {}),
}


@pytest.mark.parametrize("fault", LOST_ANSWERS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_whose_answer_is_lost_is_made_once(
    faulty: FaultyProxy, root: str, change: str, fault: Fault
) -> None:
    uri = f"{root}/numbers.lance"
    make_table(uri)
    add(uri, [1, 2], "a")
    faulty.plan = once(fault)
    faulty.plan.only = "rel-1" if change == "tag" else ".manifest"
    CHANGES[change](uri)
    assert faulty.plan.met == {fault: 1}
    faulty.plan = Plan(share=0.0)
    keys, score_by_key = EXPECTED[change]
    assert latest_keys(uri)["a"] == keys
    assert scores(open_table(uri)) == score_by_key
    assert ("new" in open_table(uri).schema.names) == (change == "grow")
    assert ("rel-1" in open_table(uri).tags()) == (change == "tag")


@pytest.mark.parametrize("make", ["table", "tag"])
def test_a_conditional_put_that_is_lost_on_its_way_is_sent_again(
    faulty: FaultyProxy, root: str, monkeypatch: pytest.MonkeyPatch, make: str
) -> None:
    monkeypatch.setattr(attempts, "_pause", lambda _: None)
    uri = f"{root}/numbers.lance"
    if make == "tag":
        make_table(uri)
    only = ".manifest" if make == "table" else "rel-1"
    # Lance's client sends such a request once, since it may have been done.
    faulty.plan = Plan(share=1.0, reads=(), writes=(Fault.RESET,), only=only, limit=2)
    make_table(uri) if make == "table" else open_table(uri).add_tag("rel-1")
    assert faulty.plan.met == {Fault.RESET: 2}
    assert open_table(uri).tags() == ({"rel-1": 1} if make == "tag" else {})


@pytest.mark.parametrize("fault", LOST_ANSWERS, ids=lambda fault: fault.name)
def test_a_table_whose_creation_is_not_answered_is_there(
    faulty: FaultyProxy, root: str, fault: Fault
) -> None:
    faulty.plan = once(fault)
    assert make_table(f"{root}/numbers.lance").count_rows() == 0
    assert faulty.plan.met == {fault: 1}


REQUESTS_OF_A_ROW = (uri_module.MAX_RETRIES + 1) * (uri_module.MAX_THROTTLE_RETRIES + 1)
ROWS_OF_A_READ = 4
"""How often Lance starts anew to read a file; that is fixed in it."""


@pytest.mark.parametrize(
    ("fault", "most"),
    [
        (Fault.SLOW_DOWN, ROWS_OF_A_READ * REQUESTS_OF_A_ROW),
        (Fault.RESET, ROWS_OF_A_READ * REQUESTS_OF_A_ROW),
        (Fault.CUT_BODY, ROWS_OF_A_READ * (uri_module.MAX_DOWNLOAD_RETRIES + 1)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_reads_of_a_store_that_always_fails_end_in_an_error_after_bounded_requests(
    faulty: FaultyProxy, root: str, fault: Fault, most: int
) -> None:
    uri = f"{root}/numbers.lance"
    make_table(uri)
    add(uri, range(50), "a")
    table = open_table(uri)
    faulty.plan = Plan(share=1.0, reads=(fault,))
    with pytest.raises(StorageError, match=r"numbers\.lance"):
        table.read()
    assert 1 < faulty.plan.most_alike() <= most


@pytest.mark.parametrize("fault", [Fault.SLOW_DOWN, Fault.RESET], ids=lambda fault: fault.name)
def test_a_commit_to_a_store_that_always_fails_ends_in_an_error_and_shows_nothing(
    faulty: FaultyProxy, root: str, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(attempts, "_pause", lambda _: None)
    uri = f"{root}/numbers.lance"
    make_table(uri)
    faulty.plan = Plan(share=1.0, reads=(), writes=(fault,), only=".manifest")
    with pytest.raises(StorageError, match=r"numbers\.lance"):
        append_rows(uri, rows_of([1], "a"), properties={})
    assert faulty.plan.most_alike() <= attempts.MAX_FAILURES * REQUESTS_OF_A_ROW
    faulty.plan = Plan(share=0.0)
    assert latest_keys(uri) == {}


def test_tries_at_a_failing_store_are_counted_and_logged(
    faulty: FaultyProxy,
    root: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(attempts, "_pause", lambda _: None)
    store = object_store(root)
    store.put_bytes(b"content" * 100, "a")
    faulty.plan = Plan(share=1.0, reads=(Fault.CUT_BODY,))
    with caplog.at_level(logging.WARNING, attempts.__name__), pytest.raises(StorageError):
        store.get_bytes("a")
    assert faulty.plan.met == {Fault.CUT_BODY: attempts.MAX_FAILURES}
    told = [record.message.partition(",")[0] for record in caplog.records]
    assert told == [f"Failure {n} of {attempts.MAX_FAILURES}" for n in (1, 2)]


def test_an_object_whose_body_breaks_off_once_is_read_again(
    faulty: FaultyProxy, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_pause", lambda _: None)
    store = object_store(root)
    store.put_bytes(b"content" * 100, "a")
    faulty.plan = Plan(share=1.0, reads=(Fault.CUT_BODY,), limit=1)
    assert store.get_bytes("a") == b"content" * 100


def test_an_error_whose_body_breaks_off_is_asked_for_again(
    faulty: FaultyProxy, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_pause", lambda _: None)
    faulty.plan = Plan(share=1.0, reads=(Fault.CUT_BODY,), limit=1)
    with pytest.raises(NotFoundError) as caught:
        object_store(root).get_bytes("none")
    assert caught.value.kind is ErrorKind.UPLOAD_NOT_FOUND


def test_botocore_gives_up_after_as_many_requests_as_are_stated(
    faulty: FaultyProxy, root: str
) -> None:
    faulty.plan = Plan(share=1.0, reads=(Fault.SLOW_DOWN,))
    with pytest.raises(StorageError, match="SlowDown"):
        object_store(root).list_keys("a")
    assert Counter(faulty.plan.met) == {Fault.SLOW_DOWN: s3_store.MAX_REQUESTS}
