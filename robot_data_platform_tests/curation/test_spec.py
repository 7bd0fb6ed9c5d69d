from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.curation.spec import SplitSpec, default_spec, parse_spec
from robot_data_platform.errors import ErrorKind, InvalidInputError


def test_the_documented_default_is_what_an_empty_document_means() -> None:
    assert default_spec() == parse_spec("")


def test_the_default_digests_never_change() -> None:
    digests = (SplitSpec().digest()[:12], SplitSpec().scheme_digest()[:12])
    assert digests == ("a57ede556cf0", "98324d2288f5")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("filter: {min_row: 3}", r"'filter.min_row' is unknown, allowed: \['max_findings', 'min_r"),
        ("ratio: {train: 1}", r"'ratio' is unknown, allowed: \['caps', 'filter', 'group_by'"),
        ("caps: {per_day: 3}", r"'caps.per_day' is unknown, allowed: \['per_robot', 'per_task'"),
        ("ratios: {train: 0.5, val: 0.4}", "'ratios': the ratios add up to 0.9, expected 1"),
        ("ratios: {train: 1.5, val: -0.5}", "'ratios.train': input should be less than or equal"),
        ("ratios: {Train: 1}", "the split name 'Train' can't be used"),
        ("ratios: {train: '1'}", "'ratios.train': input should be a valid number, got '1'"),
        ("filter: {status: [fine]}", "'filter.status.0': input should be 'ok', 'flagged' or"),
        ("filter: {tasks: []}", "'filter.tasks': expected at least one value"),
        ("filter: {max_findings: {error: 1}}", "'filter.max_findings.error': input should be 'inf"),
        ("group_by: [session]", "'group_by.0': input should be 'episode_id', 'upload', 'task' or"),
        ("stratify_by: 3", "'stratify_by': input should be a list, got 3"),
        ("seed: true", "'seed': input should be a valid integer, got True"),
        ("caps: {per_task: 0}", "'caps.per_task': input should be greater than or equal to 1"),
        ("- train", "input should be a valid dictionary"),
        ("seed: 1\nseed: 2", "key 'seed' stands twice"),
        ("ratios: [", "is no valid split spec: while parsing a flow node"),
    ],
)
def test_a_wrong_spec_is_refused_with_the_key_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said) as caught:
        parse_spec(text, "split.yaml")
    assert caught.value.kind is ErrorKind.INVALID_SPLIT_SPEC


def test_every_fault_of_a_spec_is_told_at_once() -> None:
    with pytest.raises(InvalidInputError, match=r"'seed'.*'ratio' is unknown"):
        parse_spec("seed: x\nratio: 1")


def test_one_text_may_stand_for_a_list_of_one() -> None:
    spec = parse_spec("group_by: upload\nfilter: {tasks: fold}")
    assert (spec.group_by, spec.filter.tasks) == (("upload",), ("fold",))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("", "seed: 0"),
        ("name: a", "name: b"),
        ("group_by: [task, upload]", "group_by: [upload, task, upload]"),
        ("ratios: {a: 0.5, b: 0.5}", "ratios: {b: 0.5, a: 0.5}"),
        ("ratios: {a: 1}", "ratios: {a: 1.0}"),
    ],
)
def test_specs_that_mean_the_same_share_a_digest(one: str, two: str) -> None:
    assert parse_spec(one).digest() == parse_spec(two).digest()


@pytest.mark.parametrize("text", ["filter: {min_rows: 9}", "caps: {per_task: 3}"])
def test_filter_and_caps_are_no_part_of_the_scheme(text: str) -> None:
    spec = parse_spec(text)
    assert spec.digest() != SplitSpec().digest()
    assert spec.scheme_digest() == SplitSpec().scheme_digest()


@pytest.mark.parametrize(
    "text", ["seed: 1", "group_by: task", "stratify_by: task", "ratios: {train: 1}"]
)
def test_groups_strata_ratios_and_seed_make_another_scheme(text: str) -> None:
    assert parse_spec(text).scheme_digest() != SplitSpec().scheme_digest()


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.text(max_size=5),
            "seed": st.integers(),
            "group_by": st.lists(st.sampled_from(["task", "upload"]), min_size=1),
            "stratify_by": st.lists(st.sampled_from(["task", "robot"])),
            "ratios": st.sampled_from([{"train": 1}, {"a": 0.1, "b": 0.2, "c": 0.7}]),
            "caps": st.fixed_dictionaries({}, optional={"per_task": st.integers(1)}),
            "filter": st.fixed_dictionaries(
                {},
                optional={
                    "tasks": st.lists(st.text(), min_size=1) | st.none(),
                    "min_rows": st.integers(0),
                    "max_findings": st.dictionaries(
                        st.sampled_from(["warn", "fail"]), st.integers(0)
                    ),
                },
            ),
        },
    )
)
def test_a_spec_survives_being_written_and_read(stated: dict[str, object]) -> None:
    spec = parse_spec(yaml.safe_dump(stated))
    again = SplitSpec.model_validate_json(spec.to_json())
    assert (again, again.digest()) == (spec, spec.digest())
