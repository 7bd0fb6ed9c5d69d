"""A store that ignores ``If-None-Match`` is refused before anything is written to it."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform.storage.landing import Landing
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.cli.rdp import rdp
from robot_data_platform_tests.cli.recordings import record
from robot_data_platform_tests.faults.faulty_proxy import Fault, FaultyProxy, Plan

REASON = (
    r"accepted a second conditional PUT .* expected 412.* use a store that honours If-None-Match"
)
WRITING = [
    ("ingest", "recording", "--dataset", "robot"),
    ("upload", "recording", "--dataset", "robot"),
    ("release", "create", "robot", "v1"),
    ("maintain", "robot"),
    ("calibration", "accept", "robot", "--episode", "0", "--camera", "env"),
    ("rendition", "add", "robot", "32x32-crop"),
]


@pytest.fixture
def unsafe(faulty: FaultyProxy) -> FaultyProxy:
    """A store that writes over what is there, whatever it is asked for."""
    faulty.plan = Plan(share=1.0, reads=(), writes=(Fault.UNCONDITIONAL,))
    return faulty


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording."""
    folder = tmp_path_factory.mktemp("lab")
    record(folder / "recording", RawlogShape(num_episodes=1, num_rows=8, cameras=("env",)))
    return folder


@pytest.mark.parametrize("arguments", WRITING, ids=lambda arguments: " ".join(arguments[:2]))
def test_every_command_that_writes_refuses_it(
    unsafe: FaultyProxy, root: str, folder: Path, arguments: tuple[str, ...]
) -> None:
    through = unsafe.server.environment | {"AWS_ENDPOINT_URL": unsafe.endpoint_url}
    places = {"RDP_LAKE": f"{root}/lake", "RDP_LANDING": f"{root}/landing"}
    done = rdp(folder, *arguments, **through, **places)
    assert done.exit_code == 1, done.err
    assert "expected 412" in done.err
    assert "If-None-Match" in done.err
    assert unsafe.server.access_key not in done.err
    assert keys_written(unsafe, root) == []


def keys_written(proxy: FaultyProxy, root: str) -> list[str]:
    """Return what lies below a root, the probes of the check left out."""
    bucket, _, prefix = root.removeprefix("s3://").partition("/")
    found = proxy.server.client.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/")
    keys = (entry["Key"] for entry in found.get("Contents", ()))
    return [key for key in keys if not key.endswith("/.conditional-put-probe")]


def test_the_code_location_refuses_it_when_a_run_starts(unsafe: FaultyProxy, root: str) -> None:
    platform = Platform(lake=f"{root}/lake", landing=f"{root}/landing")
    job = build_definitions(platform).resolve_job_def("maintenance")
    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(dg.Failure) as caught:
        job.execute_in_process(instance=instance)
    assert caught.value.metadata["error_kind"].value == ErrorKind.STORE_UNSAFE
    assert keys_written(unsafe, root) == []


def test_a_program_that_lands_an_upload_is_refused(
    unsafe: FaultyProxy, root: str, folder: Path
) -> None:
    with pytest.raises(StorageError, match=REASON):
        Landing(f"{root}/landing").put(folder / "recording", "robot", "u1")
    assert keys_written(unsafe, root) == []


def test_a_store_that_was_safe_is_asked_once(faulty: FaultyProxy, root: str) -> None:
    for _ in range(3):
        Platform(lake=f"{root}/lake").workplace.lake.check_writable()
    probes = [each for each in faulty.requests if each.path.endswith(".conditional-put-probe")]
    told = [(each.method, each.status) for each in probes]
    assert told == [("GET", 404), ("PUT", 200), ("PUT", 412)]
