from __future__ import annotations

import shutil
from dataclasses import replace

import pyarrow as pa
import pytest

from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import default_spec
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.lineage.edges import record_edges
from robot_data_platform.lineage.models import training_run
from robot_data_platform.lineage.query import lineage_of
from robot_data_platform.storage.commit import rewrite_columns
from robot_data_platform.storage.snapshot import find_release
from robot_data_platform_tests.curation.small_lake import (
    RUN,
    SmallLake,
    episodes_named,
    run_named,
    sha256_of,
)


def train(small: SmallLake, model: str, splits: str = "train") -> None:
    with training_run(
        small.lake, "aloha", "v1", model=model, splits=splits, code_commit="c0ffee", run_id="t1"
    ):
        pass


def test_a_release_leads_to_all_its_episodes_uploads_and_sources(released: SmallLake) -> None:
    found = lineage_of(released.lake, "v1").to_json()
    row = find_release(released.lake, "aloha", "v1")
    members = [*episodes_named("abcd", upload="u1"), *episodes_named("ef", upload="u2")]
    assert found == {
        "model": None,
        "dataset": "aloha",
        "release": "v1",
        "digest": row["digest"],
        "tables": {entry["table"]: entry["version"] for entry in row["tables"]},
        "episodes": sorted(member.id_in("aloha") for member in members),
        "uploads": ["u1", "u2"],
        "sources": [
            *({"path": f"{name}.mp4", "sha256": sha256_of(name)} for name in "abcdef"),
            *({"path": "meta.json", "sha256": sha256_of(upload)} for upload in ("u2", "u1")),
        ],
        "runs": ["release-run", "ingest-u1", "ingest-u2"],
        "code_version": "7",
    }


def test_a_model_leads_to_the_episodes_of_its_splits_only(released: SmallLake) -> None:
    train(released, "m", splits="val")
    found = lineage_of(released.lake, "m")
    assert (found.model, found.release, len(found.episodes)) == ("m", "v1", 1)
    assert len(found.sources) == 2
    assert (found.runs[:2], found.code_version) == (["t1", "release-run"], "c0ffee")


def test_the_last_run_of_each_asset_that_the_release_saw_is_told(released: SmallLake) -> None:
    seen = find_release(released.lake, "aloha", "v1")["tables"][0]
    output = (seen["table"], seen["version"])
    for run_id, partition, version in [
        ("replaced", "u1", output[1] - 1),
        ("last", "u1", output[1]),
        ("after the release", "u1", output[1] + 1),
        ("of another upload", "u3", output[1]),
    ]:
        run = replace(run_named(run_id), partition=partition)
        record_edges(released.lake, "aloha", (output[0], version), [("gops", 1)], run)
    assert lineage_of(released.lake, "v1").runs == ["release-run", "last", "ingest-u1", "ingest-u2"]


def test_what_is_ingested_later_changes_no_answer(released: SmallLake) -> None:
    before = lineage_of(released.lake, "v1")
    released.ingest(episodes_named("abz", content="new"))
    assert lineage_of(released.lake, "v1") == before


@pytest.mark.parametrize("name", ["v1", "aloha/v1"])
def test_a_release_may_be_named_with_its_dataset(released: SmallLake, name: str) -> None:
    assert lineage_of(released.lake, name).release == "v1"


def test_a_release_that_two_datasets_have_must_be_named_with_its_dataset(
    released: SmallLake,
) -> None:
    other = SmallLake(released.lake.root, dataset="so101")
    other.ingest(episodes_named("a"))
    create_release(other.lake, "so101", default_spec(), RUN, name="v1")
    with pytest.raises(InvalidInputError, match=r"\['aloha/v1', 'so101/v1'\]"):
        lineage_of(released.lake, "v1")
    assert lineage_of(released.lake, "so101/v1").dataset == "so101"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("policy-8", ErrorKind.MODEL_NOT_FOUND), ("aloha/v2", ErrorKind.RELEASE_NOT_FOUND)],
)
def test_an_unknown_name_is_not_found_and_near_ones_are_listed(
    released: SmallLake, name: str, kind: ErrorKind
) -> None:
    train(released, "policy-7")
    near = {"policy-8": "'policy-7'", "aloha/v2": "'aloha/v1'"}[name]
    with pytest.raises(NotFoundError, match=f"near are .*{near}") as caught:
        lineage_of(released.lake, name)
    assert caught.value.kind is kind


def test_a_lake_without_anything_has_nothing_near(released: SmallLake) -> None:
    shutil.rmtree(released.lake.root)
    with pytest.raises(NotFoundError, match=r"near are \[\]"):
        lineage_of(released.lake, "v1")


def test_a_source_that_no_manifest_lists_has_no_hash(released: SmallLake) -> None:
    episodes = released.lake.open("aloha", "episodes")
    unlisted = [None, sha256_of("u1")]
    rows = pa.table(
        {
            "episode_index": pa.array([0, 1], pa.int64()),
            "source_paths": pa.array([["meta.json", "meta.json"]] * 2, pa.list_(pa.string())),
            "source_sha256": pa.array([unlisted] * 2, pa.list_(pa.string())),
        }
    )
    rewrite_columns(episodes.uri, rows, key="episode_index", properties={})
    create_release(released.lake, "aloha", default_spec(), RUN, name="v2")
    sources = lineage_of(released.lake, "v2").sources
    assert [s["sha256"] for s in sources if s["path"] == "meta.json"] == [
        None,
        *sorted((sha256_of("u1"), sha256_of("u2"))),
    ]
