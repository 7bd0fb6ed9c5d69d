"""LeRobot's dtypes and shapes as tensors, and a data loader in other processes."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader import RobotLanceDataset, ShuffleSampler
from robot_data_platform.testing.lake_model import LakeModel


def test_without_torch_its_output_is_refused(
    built: LakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InvalidInputError, match=r"robot_data_platform\[torch\]") as caught:
        RobotLanceDataset(built.root, built.dataset, output="torch")
    assert caught.value.kind is ErrorKind.NOT_INSTALLED


def test_tensors_have_lerobots_dtypes_and_shapes(built: LakeModel) -> None:
    torch = pytest.importorskip("torch")
    window = {"action": [0.0, 0.02, 0.04], "observation.images.env": [-0.02, 0.0]}
    rows = RobotLanceDataset(built.root, built.dataset, output="torch", delta_timestamps=window)
    item = rows[10]
    tensors = {key: value for key, value in item.items() if isinstance(value, torch.Tensor)}
    found = {key: (tensor.dtype, tuple(tensor.shape)) for key, tensor in tensors.items()}
    assert found == {
        "index": (torch.int64, ()),
        "episode_index": (torch.int64, ()),
        "frame_index": (torch.int64, ()),
        "timestamp": (torch.float32, ()),
        "observation.state": (torch.float32, (7,)),
        "action": (torch.float32, (3, 3)),
        "action_is_pad": (torch.bool, (3,)),
        "observation.gripper": (torch.float32, (1,)),
        "is_intervention": (torch.bool, ()),
        "is_intervention_is_missing": (torch.bool, ()),
        "observation.images.env": (torch.float32, (2, 3, 64, 96)),
        "observation.images.env_is_pad": (torch.bool, (2,)),
        "observation.images.env_is_missing": (torch.bool, (2,)),
        "observation.images.wrist": (torch.float32, (3, 64, 96)),
        "observation.images.wrist_is_missing": (torch.bool, ()),
    }


def test_tensors_hold_what_the_arrays_hold(built: LakeModel) -> None:
    torch = pytest.importorskip("torch")
    arrays = RobotLanceDataset(built.root, built.dataset)[10]
    tensors = RobotLanceDataset(built.root, built.dataset, output="torch")[10]
    np.testing.assert_array_equal(tensors["action"].numpy(), arrays["action"])
    pixels = torch.from_numpy(arrays["observation.images.env"]).permute(2, 0, 1)
    expected = pixels.to(torch.float32) / 255
    assert torch.equal(tensors["observation.images.env"], expected)
    assert tensors["observation.images.env"].is_contiguous()


@pytest.mark.parametrize("start_method", [None, "spawn", "forkserver"])
def test_a_data_loader_gives_every_row_once(built: LakeModel, start_method: str | None) -> None:
    data = pytest.importorskip("torch.utils.data")
    rows = RobotLanceDataset(built.root, built.dataset, output="torch")
    loader = data.DataLoader(
        rows,
        batch_size=16,
        num_workers=0 if start_method is None else 2,
        multiprocessing_context=start_method,
    )
    batches = list(loader)
    assert [int(n) for batch in batches for n in batch["index"]] == list(range(len(rows)))
    assert batches[0]["observation.images.env"].shape == (16, 3, 64, 96)
    assert batches[0]["task"] == [built.episodes[0].task] * 16


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_data_loader_follows_a_sampler_and_resumes_it(built: LakeModel, num_workers: int) -> None:
    data = pytest.importorskip("torch.utils.data")
    rows = RobotLanceDataset(built.root, built.dataset, output="torch", cameras=["env"])

    def order(sampler: ShuffleSampler) -> list[int]:
        loader = data.DataLoader(
            rows,
            batch_size=16,
            sampler=sampler,
            num_workers=num_workers,
            multiprocessing_context="spawn" if num_workers else None,
        )
        return [int(n) for batch in loader for n in batch["index"]]

    sampler = ShuffleSampler(rows, seed=2)
    state = sampler.state_dict(num_taken=48)
    whole = order(sampler)
    resumed = ShuffleSampler(rows, seed=2)
    resumed.load_state_dict(state)
    assert order(resumed) == whole[48:]


def test_batches_are_tensors_that_share_memory_with_nothing_else(built: LakeModel) -> None:
    torch = pytest.importorskip("torch")
    rows = RobotLanceDataset(built.root, built.dataset, output="torch")
    batches = list(rows.iter_batches(40))
    for batch in batches:
        for n, index in enumerate(batch["index"].tolist()):
            expected = rows[index]["observation.images.env"]
            assert torch.equal(batch["observation.images.env"][n], expected)
