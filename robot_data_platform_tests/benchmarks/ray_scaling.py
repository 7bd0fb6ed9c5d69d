"""``python -m …benchmarks.ray_scaling``: one upload on a Ray cluster of one core, and of two."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.registration import register_upload
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.compute.uploads import RUN, land

SHAPE = RawlogShape(
    num_episodes=16,
    num_rows=1600,
    cameras=("top",),
    rows_per_picture=1,
    width_px=640,
    height_px=480,
)
UPLOAD = "u1"
NUM_ROUNDS = 3


def main() -> None:
    """Measure in turns, and print the seconds and their ratio."""
    with tempfile.TemporaryDirectory(prefix="rdp-ray-") as name:
        place = Workplace(lake_root=f"{name}/lake", landing_root=f"{name}/landing")
        land(place, "robot", UPLOAD, SHAPE)
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for num_cores, taken in [*seconds.items()] * NUM_ROUNDS:
            with cluster(num_cores) as address:
                taken.append(encode_s(place, address, num_cores))
    medians = {num_cores: statistics.median(taken) for num_cores, taken in seconds.items()}
    ratio = statistics.median(a / b for a, b in zip(seconds[1], seconds[2], strict=True))
    print(f"one core {medians[1]:.1f} s, two {medians[2]:.1f} s: {ratio:.2f} x")  # noqa: T201


@contextmanager
def cluster(num_cores: int) -> Iterator[str]:
    """Start a head that does no work, and nodes of a core each; yield the address."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        for _ in range(num_cores):
            made.add_node(num_cpus=1)
        ray.init(address=made.address, log_to_driver=False)
        _warm_up(num_cores)
        yield str(made.address)
    finally:
        ray.shutdown()
        made.shutdown()


def _warm_up(num_cores: int) -> None:
    """Let each node start a worker that has the package, which a cluster does once."""
    import ray

    task = ray.remote(num_cpus=1)(_import)
    ray.get([task.remote() for _ in range(2 * num_cores)])


def _import() -> None:
    import robot_data_platform.compute.gop_video  # noqa: F401

    time.sleep(1)


def encode_s(place: Workplace, address: str, num_cores: int) -> float:
    """Return the seconds in which an upload is cut and encoded into an empty lake."""
    shutil.rmtree(place.lake_root, ignore_errors=True)
    settings = GopSettings(profile="anchored", preset="veryslow")
    ingestion = register_upload(place, UPLOAD, settings, RUN).ingestion
    fanout = Fanout(backend="ray", ray_address=address, num_workers=num_cores)
    start = time.perf_counter()
    write_gop_video(ingestion, fanout, RUN)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
