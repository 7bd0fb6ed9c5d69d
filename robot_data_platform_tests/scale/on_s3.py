"""The same measures on a real S3 server that answers each request 20 ms late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from robot_data_platform_tests.benchmarks.object_store import DelayingProxy, replace_endpoint
from robot_data_platform_tests.scale.lake import Say
from robot_data_platform_tests.scale.measures import MADE_BY_COMMANDS, Place
from robot_data_platform_tests.scale.session import Session
from robot_data_platform_tests.servers import S3Server, run_seaweedfs

BUCKET = "scale"
COPIES_AT_ONCE = 8


@contextmanager
def session_on_s3(
    folder: Path, say: Say, repeats: int, after: Callable[[str, dict[str, Any]], None]
) -> Iterator[Session]:
    """Copy the lake of a folder to an S3 server, and yield a session on it.

    What commands make is not copied. The landing folder stays on the disk.
    """
    with TemporaryDirectory() as place, run_seaweedfs(Path(place)) as server:
        say("copying to S3")
        uri = copied(server, folder / "lake")
        with DelayingProxy(server.endpoint_url) as proxy:
            yield Session(
                place=Place(lake_root=uri, landing_root=str(folder / "landing")),
                say=say,
                repeats=repeats,
                environment=replace_endpoint(server, proxy).environment,
                after=after,
            )


def copied(server: S3Server, lake: Path) -> str:
    """Copy the files of a lake into a new bucket, and return where it is."""
    uri = server.make_bucket(BUCKET)
    left_out = tuple(lake / f"{table}.lance" for table in MADE_BY_COMMANDS)
    files = [
        path
        for path in sorted(lake.rglob("*"))
        if path.is_file() and not any(path.is_relative_to(table) for table in left_out)
    ]
    with ThreadPoolExecutor(COPIES_AT_ONCE) as pool:
        list(pool.map(lambda path: _put(server, path, f"lake/{path.relative_to(lake)}"), files))
    return f"{uri}/lake"


def _put(server: S3Server, path: Path, key: str) -> None:
    server.client.upload_file(str(path), BUCKET, key)
