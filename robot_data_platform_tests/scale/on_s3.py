"""The same measures on a real S3 server that answers each request 20 ms late."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from robot_data_platform_tests.benchmarks.object_store import DelayingProxy, replace_endpoint
from robot_data_platform_tests.scale.lake import Say
from robot_data_platform_tests.scale.measures import Place
from robot_data_platform_tests.scale.session import Results, Session, command_names
from robot_data_platform_tests.servers import S3Server, run_seaweedfs

BUCKET = "scale"
LEFT_OUT = ("add",)
"""Ingesting is measured on a disk: most of its requests are those of a run of any size."""
MADE_ON_S3 = ("split", "release", "split_again")
"""What the kept lake has already: it is copied with its release, and read."""


def measure_on_s3(kept: Path, say: Say, repeats: int) -> Results:
    """Copy a lake that has a release to an S3 server, and return what reading it takes."""
    with TemporaryDirectory() as folder, run_seaweedfs(Path(folder)) as server:
        say("copying to S3")
        uri = copied(server, kept / "lake")
        with DelayingProxy(server.endpoint_url) as proxy:
            session = Session(
                place=Place(lake_root=uri, landing_root=str(kept / "landing")),
                say=say,
                repeats=repeats,
                environment=replace_endpoint(server, proxy).environment,
            )
            left_out = (*LEFT_OUT, *MADE_ON_S3)
            return session.run(name for name in command_names() if name not in left_out)


def copied(server: S3Server, lake: Path) -> str:
    """Copy every file of a lake into a new bucket, and return where it is."""
    uri = server.make_bucket(BUCKET)
    for path in sorted(lake.rglob("*")):
        if path.is_file():
            server.client.upload_file(str(path), BUCKET, f"lake/{path.relative_to(lake)}")
    return f"{uri}/lake"
